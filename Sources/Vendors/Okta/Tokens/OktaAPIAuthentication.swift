import Emulation
import Tokens
import Wire

/// Authenticates callers of the management API: by the organization's API token, or by an access token of the org server.
extension Okta {
    func authenticateAPI(
        _ arrival: OktaArrival, _ credentials: inout OktaCredentials, _ findings: inout Findings<OktaFailure>
    ) {
        let presented = OktaSSWS(arrival.request.fields)
        let bearer = BearerToken(arrival.request.fields, orOf: "dpop")
        guard case .api(let scope) = arrival.route.access, let bytes = bearer.bytes,
            let server = accounts.server(OktaServer.orgID)
        else { return findings.judge(OktaAPIFacts(presented, accounts), by: Self.apiRules) }
        let token = recentTokens.reading(of: bytes, OktaToken.init(bytes:))
        var facts = OktaTokenFacts(token, arrival, at: server)
        facts.bearer = bearer
        findings.judge(facts, by: Self.apiAccessRules)
        findings.judge(OktaScopeFacts(scopes: token.scopes, required: scope), by: Self.apiScopeRules)
        facts.dropExplanations()
        // A proof that goes with the token is judged like anywhere else.
        (credentials.token, credentials.compact) = (facts, token.compact)
    }

    func authorizeAPI(_ call: inout OktaCall, _ state: inout OktaState) {
        guard call.findings.failure == nil, var facts = call.credentials.token else { return }
        facts.isRevoked = facts.token?.id.map(state.isRevoked(tokenID:)) ?? false
        call.findings.judge(facts, by: Self.apiUseRules)
    }

    /// The rule for callers with the organization's API token, or with nothing that is known here.
    static let apiRules = RuleList([
        TokenRule<OktaAPIFacts>(
            "api-token", "Authorization: SSWS and the API token, or Bearer and an access token",
            "postman; codes, E0000011; guide:implement-oauth-for-okta-serviceapp", orFail: .apiTokenInvalid
        ) { facts, finding in
            finding.judge(
                facts.isKnown ? .text("the organization's API token") : facts.presented.found, facts.isKnown)
        }
    ])

    /// The rules for access tokens, with the answer that this API gives. Source of the answer: codes, E0000011.
    static let apiAccessRules = RuleList(
        OktaTokenRules.access.rules.map { $0.failing(with: .apiTokenInvalid, ids: "api-") })
    static let apiUseRules = RuleList(
        OktaTokenRules.use.rules.map { $0.failing(with: .apiTokenInvalid, ids: "api-") })

    static let apiScopeRules = RuleList([
        TokenRule<OktaScopeFacts>(
            "api-scope", "the scope of the route", "guide:implement-oauth-for-okta-serviceapp", orFail: .accessDeniedAPI
        ) { facts, finding in
            finding?.expected = .text(facts.required)
            return finding.judge(
                .text(facts.scopes.isEmpty ? "no scope" : facts.scopes.joined(separator: " ")),
                facts.scopes.contains { $0.hasSameBytes(as: facts.required) })
        }
    ])
}

/// What callers of the management API present under Okta's own scheme.
struct OktaAPIFacts: RuleFacts {
    typealias Failure = OktaFailure

    let presented: OktaSSWS
    /// Whether it is the organization's API token.
    let isKnown: Bool

    init(_ presented: OktaSSWS, _ accounts: OktaAccounts) {
        self.presented = presented
        isKnown = presented.text?.hasSameBytes(as: accounts.apiToken) == true
    }

    var compact: CompactToken? { nil }
}

/// What an access token allows, and what a route needs.
struct OktaScopeFacts: RuleFacts {
    typealias Failure = OktaFailure

    let scopes: [String]
    let required: String

    var compact: CompactToken? { nil }
}
