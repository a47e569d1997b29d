import JSON
import Wire

/// What a rule's templates may refer to: the request, the claims of its token, and the clock.
struct TemplateValues: Sendable {
    /// The names that a tag may begin with.
    static let roots = ["request", "claims", "clock"]

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
            "clock": [
                "now": .string(matchContext.moment.rfc3339), "unix": JSON(matchContext.moment.wholeSeconds),
            ],
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
