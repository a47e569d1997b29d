import Emulation
import JSON
import Tokens
import Wire

/// What a request presents, and what its authentication found.
struct OktaCredentials: Sendable {
    /// The parameters of the query or form, read once.
    var parameters = OktaParameters()
    /// What the rules for clients judged; `nil` on routes that need none.
    var clientFacts: OktaClientFacts?
    /// The presented token of a server, or the one that the request is about.
    var token: OktaTokenFacts?
    /// The presented token or assertion, trusted or not.
    var compact: CompactToken?
    var proof: OktaProofCheck?
    var device: OktaDeviceFacts?

    /// The client, once it is authenticated.
    var client: OktaClient? { clientFacts?.client }
    var claims: JSONObject? { compact?.claims }
}

/// What authentication sees of the state.
struct OktaContext: Sendable {
    let changedKeys: [String: IssuerKeys]
    let clients: RecordTable<OktaClient>
}

extension Okta {
    func authenticationContext(in state: OktaState) -> OktaContext {
        OktaContext(changedKeys: state.changedKeys, clients: state.clients)
    }

    func token(of credentials: OktaCredentials) -> CompactToken? { credentials.compact }

    /// Judges what needs no more of the state than the servers' keys; each kind of caller has a file of its own.
    func authenticate(_ arrival: OktaArrival, _ findings: inout Findings<OktaFailure>) -> OktaCredentials {
        var credentials = OktaCredentials(parameters: OktaParameters(of: arrival))
        switch arrival.route.access {
        case .open, .published, .browser, .signIn: break
        case .client: authenticateClient(arrival, &credentials, &findings)
        case .bearer: authenticateBearer(arrival, &credentials, &findings)
        case .api: authenticateAPI(arrival, &credentials, &findings)
        case .device: authenticateDevice(arrival, &credentials, &findings)
        }
        judgeProof(of: arrival, &credentials)
        return credentials
    }

    /// Judges what needs the state: what was revoked or used before, and whose it is.
    func authorize(_ call: inout OktaCall, _ state: inout OktaState) {
        countRequest(&call, &state)
        switch call.route.access {
        case .open, .published, .browser, .signIn: break
        case .client: authorizeClient(&call, &state)
        case .bearer: judgeUse(&call, state, by: OktaTokenRules.use)
        case .api: judgeUse(&call, state, by: Self.apiUseRules)
        case .device: authorizeDevice(&call, &state)
        }
        judgeOrigin(&call, &state)
        judgeProof(&call, &state)
    }

    // MARK: - Authenticates the senders of access tokens

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
        facts.isInQuery = arrival.request.query?.contains("access_token=") == true
        findings.judge(facts, by: OktaTokenRules.access)
        facts.dropExplanations()
        (credentials.token, credentials.compact) = (facts, token?.compact)
    }

    /// Judges what the state knows about the presented token.
    private func judgeUse(_ call: inout OktaCall, _ state: OktaState, by rules: RuleList<OktaTokenFacts>) {
        guard call.findings.failure == nil, var facts = call.credentials.token else { return }
        facts.isRevoked = facts.token?.id.map(state.isRevoked(tokenID:)) ?? false
        call.findings.judge(facts, by: rules)
    }
}

/// Authenticates callers of the management API: by the organization's API token, or by an access token of the org server.
extension Okta {
    func authenticateAPI(
        _ arrival: OktaArrival, _ credentials: inout OktaCredentials, _ findings: inout Findings<OktaFailure>
    ) {
        let presented = OktaSSWS(arrival.request.fields)
        let bearer = BearerToken(arrival.request.fields, orOf: "dpop")
        let isAPIToken = bearer.bytes?.elementsEqual(accounts.apiToken.utf8) == true
        guard case .api(let scope) = arrival.route.access, let bytes = bearer.bytes, !isAPIToken,
            let server = accounts.server(OktaServer.orgID)
        else {
            let facts = OktaAPIFacts(
                presented: presented, isKnown: presented.text?.hasSameBytes(as: accounts.apiToken) == true,
                isUnderBearer: isAPIToken)
            return findings.judge(facts, by: Self.apiRules)
        }
        let token = recentTokens.reading(of: bytes, OktaToken.init(bytes:))
        var facts = OktaTokenFacts(token, arrival, at: server)
        facts.bearer = bearer
        findings.judge(facts, by: Self.apiAccessRules)
        findings.judge(OktaScopeFacts(scopes: token.scopes, required: scope), by: Self.apiScopeRules)
        facts.dropExplanations()
        // A proof that goes with the token is judged like anywhere else.
        (credentials.token, credentials.compact) = (facts, token.compact)
    }

    /// The rule for callers with the organization's API token, or with nothing that is known here.
    static let apiRules = RuleList([
        TokenRule<OktaAPIFacts>(
            "api-token", "Authorization: SSWS and the API token, or Bearer and an access token",
            "postman; codes, E0000011; guide:implement-oauth-for-okta-serviceapp", orFail: .apiTokenInvalid
        ) { facts, finding in
            if facts.isUnderBearer { finding?.note = "It is the organization's API token: send it as SSWS TOKEN." }
            return finding.judge(
                facts.isKnown ? .text("the organization's API token") : facts.presented.found, facts.isKnown)
        }
    ])

    /// The rules for access tokens, with the answer that this API gives. Source of the answer: codes, E0000011.
    static let apiAccessRules = RuleList(
        OktaTokenRules.access.rules.map { $0.failing(with: .apiTokenInvalid, ids: "api-") })
    static let apiUseRules = RuleList(OktaTokenRules.use.rules.map { $0.failing(with: .apiTokenInvalid, ids: "api-") })

    static let apiScopeRules = RuleList([
        TokenRule<OktaScopeFacts>(
            "api-scope", "the scope of the route", "guide:implement-oauth-for-okta-serviceapp", orFail: .accessDeniedAPI
        ) { facts, finding in
            finding?.expected = .text(facts.required)
            return finding.judge(
                .text(facts.scopes.isEmpty ? "no scope" : facts.scopes.joined(separator: " ")),
                facts.scopes.contains(exactly: facts.required))
        }
    ])
}

/// What callers of the management API present under Okta's own scheme.
struct OktaAPIFacts: OktaRuleFacts {
    let presented: OktaSSWS
    /// Whether it is the organization's API token.
    let isKnown: Bool
    /// Whether that token came under the scheme of access tokens.
    let isUnderBearer: Bool

    var compact: CompactToken? { nil }
}

/// What an access token allows, and what a route needs.
struct OktaScopeFacts: OktaRuleFacts {
    let scopes: [String]
    let required: String

    var compact: CompactToken? { nil }
}

/// Authenticates devices by the tokens that they sign.
extension Okta {
    func authenticateDevice(
        _ arrival: OktaArrival, _ credentials: inout OktaCredentials, _ findings: inout Findings<OktaFailure>
    ) {
        let facts = OktaDeviceFacts(OktaSSWS(arrival.request.fields), accounts, arrival.switches, at: arrival.moment)
        credentials.device = facts
        credentials.compact = facts.compact
        findings.judge(facts, by: Self.deviceFormRules)
    }

    func authorizeDevice(_ call: inout OktaCall, _ state: inout OktaState) {
        guard var facts = call.credentials.device else { return }
        facts.find(call, in: state)
        call.findings.judge(facts, by: Self.deviceRules)
    }
}
