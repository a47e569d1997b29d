import Emulation
import JSON

/// The required shape of a value in a content file; some clients reject a whole list for one wrong member.
///
/// The JSON Schemas beside the fixtures say the same for editors; a test compares the two.
indirect enum ContentShape: Sendable {
    case text
    /// A non-empty string.
    case name
    case bool
    /// A size such as `22px`.
    case pixels
    case int
    case number
    case time
    /// The same, but Unix seconds must be whole.
    case wholeTime
    case word([String])
    case optional(ContentShape)
    /// A list with a minimum length.
    case list(of: ContentShape, atLeast: Int = 0)
    /// A mapping with only these members.
    case record([ContentField])
    /// A mapping with these members and any others.
    case open([ContentField])
    /// A mapping from any names to this shape.
    case map(ContentShape)

    /// Rejects a value of another shape, and says where it is.
    func check(_ node: FixtureNode) throws(FixtureProblem) {
        switch self {
        case .text: _ = try node.string()
        case .name: if try node.string().isEmpty { throw node.problem("the string is empty") }
        case .bool: _ = try node.bool()
        case .pixels:
            let size = try node.string()
            let numbers = size.dropLast(2).split(separator: ".", omittingEmptySubsequences: false)
            guard size.hasSuffix("px"), numbers.count <= 2,
                numbers.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } })
            else {
                throw node.problem("“\(size)” is not a size in pixels, such as 22px; iOS reads 0 from any other unit")
            }
        case .int: _ = try node.int()
        case .number: _ = try node.number()
        case .time: _ = try ContentTime(node)
        case .wholeTime:
            if try node.json().string == nil { _ = try node.int() }
            _ = try ContentTime(node)
        case .word(let words): try Self.check(try node.string(), among: words, at: node)
        case .optional(let shape): if try !node.json().isNull { try shape.check(node) }
        case .list(let shape, let minimum): try Self.check(try node.elements(), shape, atLeast: minimum, at: node)
        case .record(let fields): try Self.check(try node.mapping(fields.map(\.name)), fields)
        case .open(let fields):
            let names = try node.members().map(\.name)
            try Self.check(try node.mapping(names), fields)
        case .map(let shape): for (_, value) in try node.members() { try shape.check(value) }
        }
    }

    private static func check(_ text: String, among words: [String], at node: FixtureNode) throws(FixtureProblem) {
        guard !words.contains(text) else { return }
        throw node.problem(
            "“\(text)” is not one of \(words.joined(separator: ", "))\(Nearest.hint(to: text, among: words))")
    }

    private static func check(
        _ elements: FixtureElements, _ shape: ContentShape, atLeast minimum: Int, at node: FixtureNode
    ) throws(FixtureProblem) {
        guard elements.count >= minimum else {
            throw node.problem("the list has \(elements.count) elements; expected at least \(minimum)")
        }
        for element in elements { try shape.check(element) }
    }

    private static func check(_ mapping: FixtureMapping, _ fields: [ContentField]) throws(FixtureProblem) {
        for field in fields {
            if let value = mapping[field.name] {
                try field.shape.check(value)
            } else if field.isRequired {
                _ = try mapping.required(field.name)
            }
        }
    }
}

/// A member of a mapping in a content file.
struct ContentField: Sendable {
    let name: String
    let shape: ContentShape
    let isRequired: Bool

    static func required(_ name: String, _ shape: ContentShape) -> ContentField {
        ContentField(name: name, shape: shape, isRequired: true)
    }

    /// A member that may be absent.
    static func optional(_ name: String, _ shape: ContentShape) -> ContentField {
        ContentField(name: name, shape: shape, isRequired: false)
    }

    /// A member that may be absent or null.
    static func nullable(_ name: String, _ shape: ContentShape) -> ContentField {
        .optional(name, .optional(shape))
    }

    /// Members that may be absent, all of the same shape.
    static func optional(_ names: [String], _ shape: ContentShape) -> [ContentField] {
        names.map { .optional($0, shape) }
    }
}
