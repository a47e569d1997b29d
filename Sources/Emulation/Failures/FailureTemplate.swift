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

    var status: HTTPResponse.Status { usual.status }

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
        defaults = try entry["parameters"]?.object() ?? [:]
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

    func shape(_ name: String, in envelopes: [FailureEnvelope]) -> FailureShape {
        let forms = ([usual] + variants.map(\.form)).flatMap { form -> [FailureShape.Form] in
            let content: [(String, JSON)?]
            switch form.content {
            case .json(let template):
                var schemas = [template.schema(schema(ofValue:))]
                for envelope in envelopes { schemas += schemas.map(envelope.schema) }
                content = schemas.map { ("application/json", $0) }
            case .text(let template): content = [("text/plain", template.schema)]
            case nil: content = [nil]
            }
            return content.map { FailureShape.Form(status: form.status.code, content: $0) }
        }
        let content: JSON? =
            switch Self.answer(usual.content, defaults) {
            case .empty: nil
            case .json(let body): body
            case .text(let text): .string(text)
            }
        return FailureShape(
            name: name, about: about, evidence: evidence, source: source, forms: forms, usualContent: content)
    }

    /// The schema of a parameter, or of a value in it: the type of its default.
    private func schema(ofValue path: [String]) -> JSON {
        var value: JSON? = .object(defaults)
        for name in path { value = value?[name] }
        guard let value, !value.isNull else { return [:] }
        return ["type": .string(value.typeName)]
    }

    private static func answer(_ content: Content?, _ values: JSONObject) -> Answer {
        switch content {
        case .json(let template): .json(template.body(values))
        case .text(let template): .text(template.text(values))
        case nil: .empty
        }
    }

    private static func content(of entry: FixtureMapping, _ parameters: [String]) throws(FixtureProblem) -> Content? {
        if let node = entry["text"] {
            if let body = entry["body"] { throw body.nameProblem("a failure has a body or a text, not both") }
            return .text(try TextTemplate(try node.string(), roots: parameters, escaping: .none, at: node))
        }
        return try entry["body"].map { node throws(FixtureProblem) in .json(try BodyTemplate(node, roots: parameters)) }
    }

    private static func fields(_ node: FixtureNode?, _ parameters: [String]) throws(FixtureProblem) -> [Field]? {
        try node?.members().map { (member) throws(FixtureProblem) in try Field(member.name, member.value, parameters) }
    }

    /// A field of the answer, whose value may name parameters.
    private struct Field: Sendable {
        let name: HTTPField.Name
        private let value: String
        /// `nil` for the usual value, which names no parameters.
        private let template: TextTemplate?

        init(_ name: String, _ node: FixtureNode, _ parameters: [String]) throws(FixtureProblem) {
            self.name = try node.fieldName(name)
            value = try node.fieldValue()
            template = value.opensTag ? try TextTemplate(value, roots: parameters, escaping: .none, at: node) : nil
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
    func schema(_ body: JSON) -> JSON { template.schema { $0 == ["body"] ? body : [:] } }
}

/// What conditions in `failures.yaml` may refer to.
public struct FailureScope: Sendable {
    let switches: [SwitchDeclaration]
    let routes: [String]

    public init(switches: [SwitchDeclaration], routes: [String]) { (self.switches, self.routes) = (switches, routes) }
}

/// When a variant or envelope applies: required switch values and routes; all must hold.
struct FailureCondition: Sendable {
    struct Situation {
        let route: String?
        let switches: SwitchValues
    }

    private var required: [(name: String, value: String)] = []
    private var routes: [String]?

    init(_ node: FixtureNode, _ scope: FailureScope) throws(FixtureProblem) {
        for (name, value) in try node.members() {
            if name == "route" {
                routes = try value.elements().map { (node) throws(FixtureProblem) in
                    try node.known("route", among: scope.routes)
                }
                continue
            }
            guard let declaration = scope.switches.first(where: { $0.name == name }) else {
                let known = scope.switches.map(\.name) + ["route"]
                throw value.nameProblem("unknown switch “\(name)”\(Nearest.hint(to: name, among: known))")
            }
            let wanted = try value.string()
            guard declaration.allows(wanted) else {
                throw value.problem("switch \(name) is never “\(wanted)”; it can be \(declaration.allowedValues)")
            }
            required.append((name, wanted))
        }
    }

    func holds(in situation: Situation) -> Bool {
        required.allSatisfy { situation.switches[$0.name] == $0.value }
            && routes?.contains { $0 == situation.route } != false
    }
}

extension FixtureNode {
    /// The name of a field, which the member here has.
    func fieldName(_ text: String) throws(FixtureProblem) -> HTTPField.Name {
        if let name = HTTPField.Name(text) { return name }
        throw nameProblem("“\(text)” is not a field name")
    }

    /// The value of a field (RFC 9110 section 5.5).
    func fieldValue() throws(FixtureProblem) -> String {
        let text = try string()
        if HTTPField.isValidValue(text) { return text }
        throw problem("a field's value has no line breaks, and no blanks at its ends")
    }
}
