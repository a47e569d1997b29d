import HTTPTypes
import JSON
import Wire

/// One failure of `failures.yaml`.
///
/// Its content is JSON (`body`) or plain text (`text`), or empty without either.
struct FailureTemplate: Sendable {
    let about: String
    let status: HTTPResponse.Status
    let evidence: Evidence
    let source: String
    private let fields: [Field]
    private let defaults: JSONObject
    private let content: Content?
    private let variants: [(condition: FailureCondition, status: HTTPResponse.Status, content: Content?)]

    private enum Content: Sendable {
        case json(BodyTemplate)
        case text(TextTemplate)
    }

    init(_ node: FixtureNode, _ scope: FailureScope) throws(FixtureProblem) {
        let entry = try node.mapping(
            "about", "status", "headers", "parameters", "body", "text", "variants", "evidence", "source")
        about = try entry.required("about").string()
        status = try HTTPResponse.Status(entry.required("status"))
        evidence = try entry.required("evidence").choice(of: Evidence.self)
        source = try entry.required("source").string()
        defaults = try Self.defaults(entry["parameters"])
        let names = defaults.map(\.name)
        fields = try Self.fields(entry["headers"], names)
        content = try Self.content(of: entry, names)
        var variants: [(FailureCondition, HTTPResponse.Status, Content?)] = []
        for variant in try entry["variants"]?.elements() ?? [] {
            let members = try variant.mapping("when", "status", "body", "text")
            if members["text"] == nil { _ = try members.required("body") }
            variants.append(
                (
                    try FailureCondition(members.required("when"), scope),
                    try members["status"].map(HTTPResponse.Status.init) ?? status,
                    try Self.content(of: members, names)
                ))
        }
        self.variants = variants
    }

    /// Its answer with the usual parameters and in no special situation, as a comparable string.
    var usualAnswer: String {
        let fields = fields.map { "\($0.name): \($0.text(defaults))" }.joined(separator: "\n")
        let content =
            switch Self.answer(content, defaults) {
            case .empty: ""
            case .json(let body): body.text
            case .text(let text): text
            }
        return "\(status.code)\n\(fields)\n\(content)"
    }

    /// What a failure contributes to its response.
    enum Answer {
        case empty
        case json(JSON)
        case text(String)
    }

    /// Status, fields and content in a situation: from the first variant whose condition holds, else the failure's own.
    func answer(
        _ parameters: JSONObject, in situation: FailureCondition.Situation
    ) -> (HTTPResponse.Status, HTTPFields, Answer) {
        var values = defaults
        for parameter in parameters { values[parameter.name] = parameter.value }
        let fields = HTTPFields(fields.map { HTTPField(name: $0.name, value: $0.text(values)) })
        if let variant = variants.first(where: { $0.condition.holds(in: situation) }) {
            return (variant.status, fields, Self.answer(variant.content, values))
        }
        return (status, fields, Self.answer(content, values))
    }

    private static func answer(_ content: Content?, _ values: JSONObject) -> Answer {
        switch content {
        case .json(let template): .json(template.body(values))
        case .text(let template): .text(template.text(values))
        case nil: .empty
        }
    }

    private static func content(
        of entry: FixtureMapping, _ parameters: [String]
    ) throws(FixtureProblem) -> Content? {
        if let node = entry["text"] {
            if let body = entry["body"] { throw body.nameProblem("a failure has a body or a text, not both") }
            return .text(try TextTemplate(try node.string(), roots: parameters, escaping: .none, at: node))
        }
        return try entry["body"].map { node throws(FixtureProblem) in
            .json(try BodyTemplate(node, roots: parameters))
        }
    }

    private static func defaults(_ node: FixtureNode?) throws(FixtureProblem) -> JSONObject {
        var defaults = JSONObject()
        for (name, value) in try node?.members() ?? [] { defaults.append(name, try value.json()) }
        return defaults
    }

    private static func fields(_ node: FixtureNode?, _ parameters: [String]) throws(FixtureProblem) -> [Field] {
        var fields: [Field] = []
        for (name, value) in try node?.members() ?? [] { fields.append(try Field(name, value, parameters)) }
        return fields
    }

    /// A field of the answer, whose value may name parameters.
    private struct Field: Sendable {
        let name: HTTPField.Name
        private let value: String
        /// `nil` for the usual value, which names no parameters.
        private let template: TextTemplate?

        init(_ name: String, _ node: FixtureNode, _ parameters: [String]) throws(FixtureProblem) {
            guard let name = HTTPField.Name(name) else { throw node.nameProblem("“\(name)” is no field name") }
            self.name = name
            value = try node.string()
            template =
                value.opensTag
                ? try TextTemplate(value, roots: parameters, escaping: .none, at: node) : nil
        }

        func text(_ values: JSONObject) -> String { template?.text(values) ?? value }
    }
}

/// A wrapper around every body of a vendor while a condition holds.
struct FailureEnvelope: Sendable {
    let condition: FailureCondition
    private let template: BodyTemplate

    init(_ node: FixtureNode, _ scope: FailureScope) throws(FixtureProblem) {
        let members = try node.mapping("when", "body")
        condition = try FailureCondition(members.required("when"), scope)
        template = try BodyTemplate(members.required("body"), roots: ["body"])
    }

    func wrap(_ body: JSON) -> JSON { template.body(["body": body]) }
}
