import Emulation
import Wire

/// Authenticates the senders of access tokens.
extension Okta {
    func authenticateBearer(
        _ arrival: OktaArrival, _ credentials: inout OktaCredentials, _ findings: inout Findings<OktaFailure>
    ) {
        // An unknown server is the handler's finding: it comes first.
        guard let server = server(of: arrival) else { return }
        // Which scheme a token needs is a question of its binding.
        let bearer = BearerToken(arrival.request.fields, orOf: "dpop")
        let token = bearer.bytes.map { recentTokens.reading(of: $0, OktaToken.init(bytes:)) }
        var facts = OktaTokenFacts(token, arrival, at: server)
        facts.bearer = bearer
        findings.judge(facts, by: OktaTokenRules.access)
        facts.dropExplanations()
        (credentials.token, credentials.compact) = (facts, token?.compact)
    }

    func authorizeBearer(_ call: inout OktaCall, _ state: inout OktaState) {
        guard call.findings.failure == nil, var facts = call.credentials.token else { return }
        facts.isRevoked = facts.token?.id.map(state.isRevoked(tokenID:)) ?? false
        call.findings.judge(facts, by: OktaTokenRules.use)
    }
}
