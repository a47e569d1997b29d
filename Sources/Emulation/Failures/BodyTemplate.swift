import JSON
import Mustache

/// A JSON body in which strings may name parameters.
///
/// A string that is nothing but `{{name}}` becomes the parameter itself, of whatever type; elsewhere in a string a
/// parameter becomes text. The result is JSON again whatever the parameters hold.
struct BodyTemplate: Sendable {
    private indirect enum Part: Sendable {
        case fixed(JSON)
        case parameter(String)
        case text(MustacheTemplate)
        case array([Part])
        case object([(String, Part)])
    }

    private let root: Part

    /// Reads the template at a place of a fixture.
    ///
    /// - Throws: a problem when a string is no Mustache template or names a parameter that is not among `parameters`.
    init(_ node: FixtureNode, parameters: [String]) throws(FixtureProblem) {
        root = try Self.part(try node.json(), at: node, parameters)
    }

    /// The body with these parameters.
    func body(_ parameters: JSONObject) -> JSON { Self.fill(root, parameters) }

    private static func part(
        _ value: JSON, at node: FixtureNode, _ parameters: [String]
    ) throws(FixtureProblem) -> Part {
        switch value {
        case .string(let text) where text.contains("{{"): return try part(text: text, at: node, parameters)
        case .array(let elements):
            var parts: [Part] = []
            for element in elements { parts.append(try part(element, at: node, parameters)) }
            return .array(parts)
        case .object(let object):
            var parts: [(String, Part)] = []
            for member in object { parts.append((member.name, try part(member.value, at: node, parameters))) }
            return .object(parts)
        case .null, .bool, .number, .string: return .fixed(value)
        }
    }

    private static func part(
        text: String, at node: FixtureNode, _ parameters: [String]
    ) throws(FixtureProblem) -> Part {
        let names = parameterNames(in: text)
        for name in names where !parameters.contains(name) {
            throw node.problem("“{{\(name)}}” names no parameter\(Nearest.hint(to: name, among: parameters))")
        }
        if names.count == 1, text == "{{\(names[0])}}" { return .parameter(names[0]) }
        do {
            return .text(try MustacheTemplate(string: "{{% CONTENT_TYPE:TEXT}}" + text))
        } catch {
            throw node.problem("“\(text)” is no Mustache template; each {{ needs a name and its }}")
        }
    }

    /// What stands between `{{` and `}}`; a regular expression would take a tenth of the whole start to be made.
    private static func parameterNames(in text: String) -> [String] {
        text.split(separator: "{{", omittingEmptySubsequences: false).dropFirst().compactMap { rest in
            let name = rest.prefix { $0 != "}" && $0 != "{" }
            return rest[name.endIndex...].hasPrefix("}}") ? String(name) : nil
        }
    }

    private static func fill(_ part: Part, _ parameters: JSONObject) -> JSON {
        switch part {
        case .fixed(let value): return value
        case .parameter(let name): return parameters[name] ?? .null
        case .text(let template):
            let texts = parameters.map { ($0.name, $0.value.string ?? $0.value.text) }
            return .string(template.render(Dictionary(texts, uniquingKeysWith: { first, _ in first })))
        case .array(let parts): return .array(parts.map { fill($0, parameters) })
        case .object(let parts): return .object(JSONObject(parts.map { ($0.0, fill($0.1, parameters)) }))
        }
    }
}
