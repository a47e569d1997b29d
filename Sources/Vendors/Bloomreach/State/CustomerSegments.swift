import Emulation
import JSON

/// The segments that a customer is in, by category.
struct CustomerSegments: Sendable, Hashable {
    /// The categories that the SDKs know, in the order of the vendor's answers.
    static let categories = ["discovery", "content", "merchandising"]

    private var segments: [String: [JSON]] = [:]

    /// In no segment.
    init() {}

    /// Whether there is no segment in any category.
    var isEmpty: Bool { segments.values.allSatisfy(\.isEmpty) }

    /// The segments as answered: an empty object without any, otherwise all categories (ours, the vendor's sample has an
    /// empty one among them).
    var json: JSON { isEmpty ? [:] : record }

    /// All categories, also empty ones.
    var record: JSON { .object(JSONObject(Self.categories.map { ($0, .array(segments[$0] ?? [])) })) }

    /// The most that the segments of a customer may have, in bytes of text (ours).
    static let byteLimit = 16 * 1024

    /// Reads the member `segments`, from fixtures, an action or an export.
    init(_ node: FixtureNode) throws(FixtureProblem) {
        try Self.shape.check(node)
        let length = try node.verbatim().bytes.count
        guard length <= Self.byteLimit else {
            throw node.problem("the segments have \(length) bytes; expected at most \(Self.byteLimit)")
        }
        for (category, list) in try node.members() {
            // None of a category is the same whether it is said or not.
            if let list = try list.verbatim().array, !list.isEmpty { segments[category] = list }
        }
    }

    /// Source: Android decodes string values only.
    private static let shape = ContentShape.record(
        ContentField.optional(categories, .list(of: .map(.text))))
}
