import Emulation
import JSON

struct CustomerSegments: CodedRecord, Hashable {
    /// The categories that the SDKs know, in the order of the vendor's responses.
    static let categories = ["discovery", "content", "merchandising"]

    private var segments: [String: [JSON]] = [:]

    init() {}

    var isEmpty: Bool { segments.values.allSatisfy(\.isEmpty) }

    /// The segments as sent: an empty object without any, otherwise all categories (ours, the vendor's sample includes
    /// an empty one).
    var json: JSON { isEmpty ? [:] : allCategories }

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("segments", &self, or: nil, write: { $0.allCategories }, read: CustomerSegments.init)
    }

    /// All categories, including empty ones.
    var allCategories: JSON { .object(JSONObject(Self.categories.map { ($0, .array(segments[$0] ?? [])) })) }

    /// The maximum size of a customer's segments, in bytes of text (ours).
    static let byteLimit = 16 * 1024

    /// Reads the member `segments`, from fixtures, an action or an export.
    init(_ node: FixtureNode) throws(FixtureProblem) {
        try Self.shape.check(node)
        let length = try node.verbatim().bytes.count
        guard length <= Self.byteLimit else {
            throw node.problem("the segments have \(length) bytes; expected at most \(Self.byteLimit)")
        }
        for (category, list) in try node.members() {
            // An empty category is the same as an absent one.
            if let list = try list.verbatim().array, !list.isEmpty { segments[category] = list }
        }
    }

    /// Source: Android decodes string values only.
    private static let shape = ContentShape.record(ContentField.optional(categories, .list(of: .map(.text))))
}
