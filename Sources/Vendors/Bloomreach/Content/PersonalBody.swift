import Emulation
import JSON

/// Content whose strings may contain `{{customer.NAME}}` for a property or hard id of the reader.
///
/// A string stays a string for any property type, since strict clients decode it; unknown properties are empty text.
struct PersonalBody: Sendable {
    private enum Form {
        case fixed(JSON)
        case template(BodyTemplate)
    }

    private let form: Form

    /// Reads content to personalise; problems name `node`.
    init(_ json: JSON, at node: FixtureNode) throws(FixtureProblem) {
        guard Self.hasTag(json) else {
            form = .fixed(json)
            return
        }
        form = .template(try BodyTemplate(json, at: node, roots: ["customer"], keepsText: true))
    }

    func json(for customer: ContentReader) -> JSON {
        switch form {
        case .fixed(let json): json
        case .template(let template): template.body(["customer": .object(customer.values)])
        }
    }

    private static func hasTag(_ json: JSON) -> Bool {
        switch json {
        case .string(let text): text.contains("{{")
        case .array(let elements): elements.contains(where: hasTag)
        case .object(let object): object.contains { hasTag($0.value) }
        case .null, .bool, .number: false
        }
    }
}
