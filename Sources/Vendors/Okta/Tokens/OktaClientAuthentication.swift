import Emulation
import JSON
import Tokens
import Wire

/// Authenticates clients.
extension Okta {
    /// The routes that take a JSON object in place of a form. Source: api.
    private static let routesWithJSON: Set<String> = ["par"]
    private static let routesAboutTokens: Set<String> = ["token.introspect", "token.revoke"]

    func authenticateClient(
        _ arrival: OktaArrival, _ credentials: inout OktaCredentials, _ findings: inout Findings<OktaFailure>
    ) {
        // An unknown server is the handler's finding: it comes first.
        guard let server = server(of: arrival) else { return }
        let takesJSON = Self.routesWithJSON.contains(arrival.route.id)
        let content = Self.content(of: arrival.request, &credentials.parameters, takesJSON: takesJSON)
        var facts = OktaClientFacts(self, arrival, credentials.parameters, takesJSON: takesJSON)
        facts.content = content
        credentials.compact = facts.assertion
        findings.judge(facts, by: Self.clientRules)
        guard findings.failure == nil else { return }
        (credentials.client, credentials.method) = (facts.client, facts.method)
        facts.dropExplanations()
        credentials.clientFacts = facts
        if Self.routesAboutTokens.contains(arrival.route.id) {
            credentials.token = credentials.parameters["token"].flatMap { token($0, arrival, at: server) }
        }
    }

    /// The facts about a JWT that a request is about; `nil` for other tokens. Its signature is checked here, outside any
    /// lock.
    private func token(_ text: String, _ arrival: OktaArrival, at server: OktaServer) -> OktaTokenFacts? {
        guard text.utf8.contains(UInt8(ascii: ".")) else { return nil }
        let token = recentTokens.reading(of: Array(text.utf8)[...], OktaToken.init(bytes:))
        let facts = OktaTokenFacts(token, arrival, at: server)
        var nothing: Finding?
        if let key = facts.key { _ = token.signature(by: key, &nothing) }
        return facts
    }

    /// Uses up the assertion, whatever becomes of the request (observed, pysdk).
    func authorizeClient(_ call: inout OktaCall, _ state: inout OktaState) {
        guard call.findings.failure == nil, var facts = call.credentials.clientFacts, let client = facts.client,
            let claims = facts.assertion?.claims, let id = claims["jti"],
            let end = facts.assertion?.date("exp").seconds()
        else { return }
        let text = id.string ?? id.text
        // ours: a long one is remembered by its hash, so that it takes no more room than others.
        let name = text.utf8.count <= 255 ? text : Base64URL.encode(Digest.sha256(Array(text.utf8)))
        facts.isReplayed = !state.use(
            .assertion, name, of: client.id, until: Moment(unixSeconds: end), at: call.moment)
        call.findings.judge(facts, by: Self.assertionUseRules)
    }

    /// What the content is; the members of a JSON object become the parameters.
    private static func content(
        of request: Request, _ parameters: inout OktaParameters, takesJSON: Bool
    ) -> OktaClientFacts.Content {
        if request.isForm { return .form }
        guard request.isJSON, takesJSON else { return .other(request.fields[.contentType]) }
        do throws(JSONError) {
            let value = try JSON.parse(request.body)
            guard let object = value.object else { return .unreadableJSON("a JSON \(value.typeName)") }
            parameters = OktaParameters(object)
            return .json
        } catch {
            return .unreadableJSON(error.description)
        }
    }
}
