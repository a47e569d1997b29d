import HTTPTypes
import JSON
import Wire

struct ResponseTemplate: Sendable {
    private enum Body: Sendable {
        case none
        case json(BodyTemplate)
        case text(TextTemplate)
        /// A file that is not text is sent unchanged.
        case bytes([UInt8])
    }

    let status: HTTPResponse.Status
    /// ours: values from a request can be longer than any client accepts in a field.
    private static let longestFieldValue = 8192

    private let fields: [(name: HTTPField.Name, value: TextTemplate)]
    private let contentType: String?
    private let body: Body

    /// Reads `status` (200), `headers`, and `body` or `body_file`.
    ///
    /// A `body` that is a mapping or list is JSON; a string is text, or JSON when `Content-Type` says so. A file's type
    /// follows from its name's extension.
    init(_ node: FixtureNode, _ scope: InterventionScope) throws(FixtureProblem) {
        let mapping = try node.mapping("status", "headers", "body", "body_file")
        status = try mapping["status"].map(HTTPResponse.Status.init) ?? .ok
        var fields: [(name: HTTPField.Name, value: TextTemplate)] = []
        var ownType: String?
        for (text, value) in try mapping["headers"]?.members() ?? [] {
            let name = try value.fieldName(text)
            let content = try value.fieldValue()
            if name == .contentType { ownType = content }
            fields.append((name, try TextTemplate(content, roots: TemplateValues.roots, escaping: .none, at: value)))
        }
        let standardType: String?
        (body, standardType) = try Self.body(mapping, ownType, scope)
        self.fields = fields
        contentType = ownType == nil ? standardType : nil
    }

    private static func body(
        _ mapping: FixtureMapping, _ type: String?, _ scope: InterventionScope
    ) throws(FixtureProblem) -> (Body, String?) {
        guard let (name, node) = try mapping.one(of: "body_file", "body") else { return (.none, nil) }
        if name == "body_file" { return try file(node, type, scope) }
        let value = try node.json()
        if let text = value.string { return (try template(text, type, node), "text/plain; charset=utf-8") }
        if value.isNull { return (.none, nil) }
        return (.json(try BodyTemplate(node, roots: TemplateValues.roots)), "application/json; charset=utf-8")
    }

    private static func template(_ text: String, _ type: String?, _ node: FixtureNode) throws(FixtureProblem) -> Body {
        let isJSON = type?.lowercased().contains("json") == true
        return .text(try TextTemplate(text, roots: TemplateValues.roots, escaping: isJSON ? .json : .none, at: node))
    }

    private static let typesByEnding = [
        "json": "application/json; charset=utf-8", "html": "text/html; charset=utf-8",
        "txt": "text/plain; charset=utf-8", "csv": "text/csv; charset=utf-8", "xml": "application/xml",
        "png": "image/png", "jpg": "image/jpeg", "svg": "image/svg+xml",
    ]

    private static func file(
        _ node: FixtureNode, _ type: String?, _ scope: InterventionScope
    ) throws(FixtureProblem) -> (Body, String?) {
        let path = try node.string()
        guard let fixtures = scope.fixtures else {
            throw node.problem("body_file is for scenarios in fixture files; give the body itself")
        }
        guard !path.hasPrefix("/"), !path.split(separator: "/").contains("..") else {
            throw node.problem("“\(path)” leaves the vendor's folder; name a file below it")
        }
        let file = try fixtures.file(named: node)
        let standardType = typesByEnding[path.split(separator: ".").last.map(String.init) ?? ""]
        guard let text = String(validating: file.bytes, as: UTF8.self) else {
            return (.bytes(file.bytes), standardType)
        }
        return (try template(text, type ?? standardType, node), standardType ?? "text/plain; charset=utf-8")
    }

    /// The response for an exchange. Throws which template limit it would exceed.
    func response(_ values: TemplateValues) throws(TemplateExcess) -> Response {
        let budget = TemplateBudget()
        var response = Response(status: status)
        if let contentType { response.fields[.contentType] = contentType }
        for (name, value) in fields {
            // A value from a request must not start another field.
            let bytes = value.text(values.values, within: budget).utf8.prefix(Self.longestFieldValue)
            let text = String(decoding: bytes.map { $0 < 0x20 || $0 == 0x7F ? 0x20 : $0 }, as: UTF8.self)
            response.fields.append(HTTPField(name: name, value: text))
        }
        response.body =
            switch body {
            case .none: []
            case .json(let template): template.body(values.values, within: budget).bytes
            case .text(let template): Array(template.text(values.values, within: budget).utf8)
            case .bytes(let bytes): bytes
            }
        if let excess = budget.excess { throw TemplateExcess(description: excess) }
        return response
    }
}

extension HTTPResponse.Status {
    /// Reads a status code that is valid in an answer.
    init(_ node: FixtureNode) throws(FixtureProblem) {
        let code = try node.int()
        guard (200...599).contains(code) else {
            throw node.problem("status \(code) is not a number between 200 and 599")
        }
        self.init(standard: code)
    }
}

/// What a rule's templates may refer to: the request, the claims of its token, and the clock.
struct TemplateValues: Sendable {
    /// The names that a tag may begin with.
    static let roots =
        ["method", "path", "target", "host", "query", "headers", "parameters", "body"].map { "request.\($0)" }
        + ["claims", "clock.now", "clock.unix"]

    let values: JSONObject

    /// The values of an exchange: `request` with `method`, `path`, `target`, `host`, `query`, `headers` (in lower
    /// case), `parameters` (of the path) and `body`; `claims`; `clock` with `now` and `unix`.
    init(_ matchContext: MatchContext) {
        let request = matchContext.request
        let headers = request.fields.map { ($0.name.lowercased(), JSON.string($0.value)) }
        values = [
            "request": [
                "method": .string(request.method.rawValue), "path": .string(String(request.path)),
                "target": .string(request.target), "host": JSON(request.authority),
                "query": .object(JSONObject(request.queryItems.map { ($0.name, .string($0.value)) })),
                "headers": .object(JSONObject(headers)),
                "parameters": .object(JSONObject(matchContext.parameters.all.map { ($0.name, .string($0.value)) })),
                "body": Self.body(of: request),
            ],
            "claims": matchContext.claims.map(JSON.object) ?? .null,
            "clock": ["now": .string(matchContext.moment.rfc3339), "unix": JSON(matchContext.moment.wholeSeconds)],
        ]
    }

    /// JSON unchanged, a form by its names, anything else as text.
    private static func body(of request: Request) -> JSON {
        if request.body.isEmpty { return .null }
        if let json = try? JSON.parse(request.body) { return json }
        let form = request.formItems
        guard form.isEmpty else { return .object(JSONObject(form.map { ($0.name, .string($0.value)) })) }
        return .string(String(decoding: request.body, as: UTF8.self))
    }
}
