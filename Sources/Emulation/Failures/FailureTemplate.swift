import HTTPTypes
import JSON
import Wire

/// One failure of `failures.yaml`.
struct FailureTemplate: Sendable {
    let about: String
    let status: HTTPResponse.Status
    let evidence: Evidence
    let source: String
    private let fields: [Field]
    private let defaults: JSONObject
    private let body: BodyTemplate?
    private let variants: [(condition: FailureCondition, status: HTTPResponse.Status, body: BodyTemplate?)]

    init(_ node: FixtureNode, _ scope: FailureScope) throws(FixtureProblem) {
        let entry = try node.mapping(
            "about", "status", "headers", "parameters", "body", "variants", "evidence", "source")
        about = try entry.required("about").string()
        status = try HTTPResponse.Status(entry.required("status"))
        evidence = try entry.required("evidence").choice(of: Evidence.self)
        source = try entry.required("source").string()
        defaults = try Self.defaults(entry["parameters"])
        let names = defaults.map(\.name)
        fields = try Self.fields(entry["headers"], names)
        body = try Self.body(entry["body"], names)
        var variants: [(FailureCondition, HTTPResponse.Status, BodyTemplate?)] = []
        for variant in try entry["variants"]?.elements() ?? [] {
            let members = try variant.mapping("when", "status", "body")
            variants.append(
                (
                    try FailureCondition(members.required("when"), scope),
                    try members["status"].map(HTTPResponse.Status.init) ?? status,
                    try Self.body(members.required("body"), names)
                ))
        }
        self.variants = variants
    }

    /// Status, fields and body in a situation: the first variant whose condition holds, else the failure's own.
    func answer(
        _ parameters: JSONObject, in situation: FailureCondition.Situation
    ) -> (HTTPResponse.Status, HTTPFields, JSON?) {
        var values = defaults
        for parameter in parameters { values[parameter.name] = parameter.value }
        let fields = HTTPFields(fields.map { HTTPField(name: $0.name, value: $0.text(values)) })
        if let variant = variants.first(where: { $0.condition.holds(in: situation) }) {
            return (variant.status, fields, variant.body?.body(values))
        }
        return (status, fields, body?.body(values))
    }

    private static func body(_ node: FixtureNode?, _ parameters: [String]) throws(FixtureProblem) -> BodyTemplate? {
        guard let node else { return nil }
        return try BodyTemplate(node, roots: parameters)
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
        /// `nil` for the usual value, which names nothing.
        private let template: TextTemplate?

        init(_ name: String, _ node: FixtureNode, _ parameters: [String]) throws(FixtureProblem) {
            guard let name = HTTPField.Name(name) else { throw node.nameProblem("“\(name)” is no field name") }
            self.name = name
            value = try node.string()
            template =
                value.contains("{{")
                ? try TextTemplate(value, roots: parameters, escaping: .none, at: node) : nil
        }

        func text(_ values: JSONObject) -> String { template?.text(values) ?? value }
    }
}

/// What every body of a vendor is put into while a condition holds.
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
