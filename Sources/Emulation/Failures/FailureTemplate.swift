import HTTPTypes
import JSON
import Wire

/// One failure of `failures.yaml`.
///
/// Its content is JSON (`body`) or plain text (`text`), or empty without either. A variant has its own content; its
/// status and fields are the failure's unless it names its own.
struct FailureTemplate: Sendable {
    let about: String
    let evidence: Evidence
    let source: String
    private let defaults: JSONObject
    private let usual: Form
    private let variants: [(condition: FailureCondition, form: Form)]

    /// The status outside of special situations.
    var status: HTTPResponse.Status { usual.status }

    /// One way in which the failure looks.
    private struct Form: Sendable {
        let status: HTTPResponse.Status
        let fields: [Field]
        let content: Content?
    }

    private enum Content: Sendable {
        case json(BodyTemplate)
        case text(TextTemplate)
    }

    init(_ node: FixtureNode, _ scope: FailureScope) throws(FixtureProblem) {
        let entry = try node.mapping(
            "about", "status", "headers", "parameters", "body", "text", "variants", "evidence", "source")
        about = try entry.required("about").string()
        evidence = try entry.required("evidence").choice(of: Evidence.self)
        source = try entry.required("source").string()
        defaults = try Self.defaults(entry["parameters"])
        let names = defaults.map(\.name)
        usual = Form(
            status: try HTTPResponse.Status(entry.required("status")),
            fields: try Self.fields(entry["headers"], names) ?? [],
            content: try Self.content(of: entry, names))
        var variants: [(FailureCondition, Form)] = []
        for variant in try entry["variants"]?.elements() ?? [] {
            let members = try variant.mapping("when", "status", "headers", "body", "text")
            // Without any of the three, a body was most likely forgotten.
            if members["text"] == nil, members["headers"] == nil { _ = try members.required("body") }
            let form = Form(
                status: try members["status"].map(HTTPResponse.Status.init) ?? usual.status,
                fields: try Self.fields(members["headers"], names) ?? usual.fields,
                content: try Self.content(of: members, names))
            variants.append((try FailureCondition(members.required("when"), scope), form))
        }
        self.variants = variants
    }

    /// Its answer with the usual parameters and in no special situation, as a comparable string.
    var usualAnswer: String {
        let fields = usual.fields.map { "\($0.name): \($0.text(defaults))" }.joined(separator: "\n")
        let content =
            switch Self.answer(usual.content, defaults) {
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
        let form = variants.first { $0.condition.holds(in: situation) }?.form ?? usual
        let fields = form.fields.map { HTTPField(name: $0.name, value: $0.text(values)) }
        return (form.status, HTTPFields(fields), Self.answer(form.content, values))
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

    private static func fields(_ node: FixtureNode?, _ parameters: [String]) throws(FixtureProblem) -> [Field]? {
        guard let node else { return nil }
        var fields: [Field] = []
        for (name, value) in try node.members() { fields.append(try Field(name, value, parameters)) }
        return fields
    }

    /// A field of the answer, whose value may name parameters.
    private struct Field: Sendable {
        let name: HTTPField.Name
        private let value: String
        /// `nil` for the usual value, which names no parameters.
        private let template: TextTemplate?

        init(_ name: String, _ node: FixtureNode, _ parameters: [String]) throws(FixtureProblem) {
            guard let name = HTTPField.Name(name) else { throw node.nameProblem("“\(name)” is not a field name") }
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
