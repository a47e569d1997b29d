import HTTPTypes
public import JSON
public import Wire

/// How each failure of a vendor looks on the wire, read from its `failures.yaml` and from `failures/*.yaml`.
///
/// The installed `failures.yaml` is complete; what another one lacks comes from there. A file in the folder `failures`
/// changes only the failures that it names.
public struct FailureCatalog<Failure: VendorFailure>: Sendable {
    private struct Sheet: Sendable {
        let templates: [Failure: FailureTemplate]
        let envelopes: [FailureEnvelope]

        /// - Parameter installed: the complete file of the bottom layer, for failures that this one lacks.
        init(
            _ file: FixtureStore.File, _ scope: FailureScope,
            installed: () throws(FixtureProblem) -> FixtureStore.File?
        ) throws(FixtureProblem) {
            let document = try FixtureNode(file: file).mapping("sources", "envelopes", "failures")
            var envelopes: [FailureEnvelope] = []
            for node in try document["envelopes"]?.elements() ?? [] {
                envelopes.append(try FailureEnvelope(node, scope))
            }
            self.envelopes = envelopes
            let failures = try document.required("failures")
            var templates = try FailureCatalog.templates(failures, scope)
            let missing = Failure.allCases.filter { templates[$0] == nil }
            if let first = missing.first {
                guard let installed = try installed() else {
                    throw failures.problem("failure “\(first.rawValue)” is missing")
                }
                templates.merge(try Sheet(installed, scope) { nil }.templates) { own, _ in own }
                failures.warn(
                    "these failures are missing and are as installed: \(missing.map(\.rawValue).joined(separator: ", "))"
                )
            }
            self.templates = templates
        }
    }

    /// Reads `failures.yaml`, once.
    private let sheet: Deferred<Sheet>
    private let changes: [Failure: FailureTemplate]

    /// Reads the failures, once for all callers; a `failures.yaml` that tests have already judged is read when one is
    /// first needed.
    ///
    /// - Throws: a problem when a file names a failure the vendor does not have, the bottom layer lacks one, two files
    ///   change the same one, or one uses a switch or value that does not exist.
    public init(_ fixtures: VendorFixtures, scope: FailureScope) throws(FixtureProblem) {
        self = try fixtures.once { () throws(FixtureProblem) in try FailureCatalog(reading: fixtures, scope) }
    }

    private init(reading fixtures: VendorFixtures, _ scope: FailureScope) throws(FixtureProblem) {
        let file = try fixtures.file("failures.yaml")
        sheet = try Deferred(file) { () throws(FixtureProblem) in
            try Sheet(file, scope) { () throws(FixtureProblem) in try fixtures.installed("failures.yaml", under: file) }
        }
        changes = try Self.changes(fixtures, scope)
    }

    /// The failures that `failures/*.yaml` change.
    private static func changes(
        _ fixtures: VendorFixtures, _ scope: FailureScope
    ) throws(FixtureProblem) -> [Failure: FailureTemplate] {
        var changes: [Failure: (template: FailureTemplate, file: String)] = [:]
        for file in fixtures.names(in: "failures") where file.hasSuffix(".yaml") {
            let failures = try fixtures.document("failures/\(file)").mapping("failures").required("failures")
            let templates = try Self.templates(failures, scope)
            for (name, node) in try failures.members() {
                guard let failure = Failure(rawValue: name), let template = templates[failure] else { continue }
                if let other = changes[failure] {
                    throw node.nameProblem("the file \(other.file) changes the failure \(name) already")
                }
                changes[failure] = (template, file)
            }
        }
        return changes.mapValues(\.template)
    }

    private static func templates(
        _ node: FixtureNode, _ scope: FailureScope
    ) throws(FixtureProblem) -> [Failure: FailureTemplate] {
        var templates: [Failure: FailureTemplate] = [:]
        for (name, value) in try node.members() {
            try value.readRecord { (value) throws(FixtureProblem) in
                guard let failure = Failure(rawValue: name) else {
                    let names = Failure.allCases.map(\.rawValue)
                    throw value.nameProblem("unknown failure “\(name)”\(Nearest.hint(to: name, among: names))")
                }
                templates[failure] = try FailureTemplate(value, scope)
            }
        }
        return templates
    }

    public func response(
        _ failure: Failure, _ parameters: JSONObject = [:], route: String?, switches: SwitchValues
    ) -> Response {
        // It was read before, here or by a test, and every case has an entry.
        guard let sheet = try? sheet.get(), let template = changes[failure] ?? sheet.templates[failure] else {
            return .empty(.internalServerError)
        }
        let situation = FailureCondition.Situation(route: route, switches: switches)
        let (status, fields, content) = template.answer(parameters, in: situation)
        var response: Response
        switch content {
        case .empty: response = .empty(status)
        case .text(let text): response = .text(text, status: status)
        case .json(var body):
            for envelope in sheet.envelopes where envelope.condition.holds(in: situation) { body = envelope.wrap(body) }
            response = .json(body, status: status)
        }
        response.fields.append(contentsOf: fields)
        return response
    }

    /// Status, evidence and source of every failure, in the order of the vendor's names.
    package var listing: [FailureListing] {
        let templates = ((try? sheet.get())?.templates ?? [:]).merging(changes) { $1 }
        let answers = templates.mapValues(\.usualAnswer)
        let groups = Dictionary(grouping: Failure.allCases) { answers[$0] }
        return Failure.allCases.compactMap { failure in
            templates[failure].map {
                FailureListing(
                    name: failure.rawValue, about: $0.about, status: $0.status.code, evidence: $0.evidence,
                    source: $0.source,
                    lookalikes: (groups[answers[failure]] ?? []).filter { $0 != failure }.map { $0.rawValue })
            }
        }
    }
}

extension FailureCatalog {
    /// What the content of each failure looks like, in the order of the vendor's names.
    func shapes() throws(FixtureProblem) -> [FailureShape] {
        let sheet = try sheet.get()
        return Failure.allCases.compactMap { failure in
            (changes[failure] ?? sheet.templates[failure]).map { $0.shape(failure.rawValue, in: sheet.envelopes) }
        }
    }
}

public struct FailureListing: Sendable {
    package let name: String
    /// When it occurs.
    package let about: String
    package let status: Int
    package let evidence: Evidence
    package let source: String
    /// The vendor's other failures that look the same on the wire.
    package let lookalikes: [String]
}

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
            value = try node.fieldValue()
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

    func schema(_ body: JSON) -> JSON { template.schema { $0 == ["body"] ? body : [:] } }
}

/// What conditions in `failures.yaml` may refer to.
public struct FailureScope: Sendable {
    let switches: [SwitchDeclaration]
    let routes: [String]

    public init(switches: [SwitchDeclaration], routes: [String]) {
        self.switches = switches
        self.routes = routes
    }
}

/// When a variant or envelope applies: required switch values and routes; all must hold.
struct FailureCondition: Sendable {
    /// What a condition is evaluated against.
    struct Situation {
        let route: String?
        let switches: SwitchValues
    }

    private var required: [(name: String, value: String)] = []
    private var routes: [String]?

    init(_ node: FixtureNode, _ scope: FailureScope) throws(FixtureProblem) {
        for (name, value) in try node.members() {
            if name == "route" {
                routes = try Self.routes(value, scope.routes)
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

    private static func routes(_ node: FixtureNode, _ known: [String]) throws(FixtureProblem) -> [String] {
        var routes: [String] = []
        for element in try node.elements() {
            let route = try element.string()
            guard known.contains(route) else {
                throw element.problem("unknown route “\(route)”\(Nearest.hint(to: route, among: known))")
            }
            routes.append(route)
        }
        return routes
    }

    func holds(in situation: Situation) -> Bool {
        required.allSatisfy { situation.switches[$0.name] == $0.value }
            && routes?.contains { $0 == situation.route } != false
    }
}

extension FixtureNode {
    /// The value of a field (RFC 9110 section 5.5).
    func fieldValue() throws(FixtureProblem) -> String {
        let text = try string()
        if HTTPField.isValidValue(text) { return text }
        throw problem("a field's value has no line breaks, and no blanks at its ends")
    }
}
