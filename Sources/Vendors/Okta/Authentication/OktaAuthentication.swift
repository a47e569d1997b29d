import Emulation
import JSON
import Synchronization
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
    /// The thumbprint of the key that the request proves to have; only valid once the call has passed its checks.
    var proofKey: String? { proof?.facts.proof?.key.thumbprint }
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

    // MARK: - Authenticates callers of the management API: by its API token, or by an access token of the org server

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

/// A token of a server as it reads it back; its members are unverified.
final class OktaToken: Sendable {
    let compact: CompactToken
    let keyID: String?
    let issuer: String?
    /// The `jti`.
    let id: String?
    /// The id of the user; `nil` in the token of a service or guest.
    let userID: String?
    let clientID: String?
    let scopes: [String]
    // One slot, since nearly every token meets one key only.
    private let verification = Mutex<(key: SigningKey, outcome: Finding.Outcome)?>(nil)

    /// Whether it is an ID token: an access token's id begins otherwise. Source: ref.
    var isIDToken: Bool { id?.hasPrefix("ID.") ?? false }

    init(bytes: [UInt8]) {
        let compact = CompactToken(bytes: bytes)
        self.compact = compact
        keyID = compact.header?["kid"]?.string
        let claims = compact.claims
        (issuer, id) = (claims?["iss"]?.string, claims?["jti"]?.string)
        (userID, clientID) = (claims?["uid"]?.string, claims?["cid"]?.string)
        scopes = claims?["scp"]?.array?.compactMap(\.string) ?? []
    }

    /// Whether that key made the signature; computed once, since it depends on nothing else.
    func signature(by key: SigningKey, _ finding: inout Finding?) -> Finding.Outcome {
        if finding == nil,
            let known = verification.withLock({ $0?.key.isIdentical(to: key) == true ? $0?.outcome : nil })
        {
            return known
        }
        let outcome = compact.signature(by: key.verificationKey, algorithm: .rs256, &finding)
        if finding == nil { verification.withLock { $0 = (key, outcome) } }
        return outcome
    }
}

/// A token that is presented to the server that should have issued it.
struct OktaTokenFacts: OktaRuleFacts {
    /// What only explains failures.
    private struct Setting {
        let vendor: Okta
        let server: OktaServer
        let sandbox: SandboxIdentity
        let changedKeys: [String: IssuerKeys]
    }

    let moment: Moment
    /// Released if there are no failures.
    private var setting: Setting?
    /// Where the token was sent; `nil` for one that is not in `Authorization`.
    var bearer: BearerToken?
    var isInQuery = false
    private(set) var token: OktaToken?
    /// The key of the server that the token names.
    private(set) var key: SigningKey?
    /// Whether only the server itself knows it.
    private(set) var isUnpublished = false
    /// Whether `iss` is the server's, in any form of the sandbox's address.
    private(set) var isOwn = false
    /// Whether it was revoked; `nil` until the state is asked.
    var isRevoked: Bool?

    var compact: CompactToken? { token?.compact }

    /// The facts about a token at a server.
    ///
    /// - Parameter base: the form of the address in which the client names the sandbox; others are tried after it.
    init(
        _ vendor: Okta, _ token: OktaToken?, at server: OktaServer, _ changedKeys: [String: IssuerKeys],
        in sandbox: SandboxIdentity, named base: String, _ moment: Moment
    ) {
        self.moment = moment
        self.token = token
        setting = Setting(vendor: vendor, server: server, sandbox: sandbox, changedKeys: changedKeys)
        guard let token else { return }
        // A file without a key is reported when it is asked to sign.
        let keys = (try? vendor.keys(of: server.id, among: changedKeys)) ?? nil
        key = token.keyID.flatMap { keys?.key(withID: $0) }
        if key == nil, let own = try? server.accessTokenKey?.read(), let id = own.id,
            token.keyID?.hasSameBytes(as: id) == true
        {
            (key, isUnpublished) = (own, true)
        }
        guard let issuer = token.issuer else { return }
        isOwn =
            server.isIssuer(issuer, at: base)
            || sandbox.addresses.contains { server.isIssuer(issuer, at: $0) }
    }

    init(_ token: OktaToken?, _ arrival: OktaArrival, at server: OktaServer) {
        self.init(
            arrival.vendor, token, at: server, arrival.authenticationContext.changedKeys, in: arrival.sandbox,
            named: arrival.base, arrival.moment)
    }

    mutating func dropExplanations() { setting = nil }

    // MARK: - Explanations

    var issuers: [String] {
        guard let setting else { return [] }
        return setting.sandbox.addresses.map(setting.server.issuer)
    }

    var keyIDs: [String] { setting.map { keyIDs(of: $0.server, $0) } ?? [] }

    var keyMistake: String? {
        guard let setting, let id = token?.keyID else { return nil }
        let owner = setting.vendor.accounts.servers.first { keyIDs(of: $0, setting).contains(exactly: id) }
        return owner.map { "It is a key of server \($0.id); this endpoint is that of server \(setting.server.id)." }
            ?? "The key was never published here, or it has left since."
    }

    var issuerMistake: String? {
        guard let setting, let issuer = token?.issuer else { return nil }
        let bases = setting.sandbox.addresses
        for server in setting.vendor.accounts.servers where bases.contains(where: { server.isIssuer(issuer, at: $0) }) {
            return "It is the issuer of server \(server.id); this endpoint is that of server \(setting.server.id)."
        }
        return
            "An issuer is the address of this server, which --public-base sets, in the form in which the client named "
            + "its sandbox when it got the token; then the path of the authorization server."
    }

    private func keyIDs(of server: OktaServer, _ setting: Setting) -> [String] {
        let keys = (try? setting.vendor.keys(of: server.id, among: setting.changedKeys)) ?? nil
        return keys?.published.compactMap(\.key.id) ?? []
    }
}

private typealias Rule = TokenRule<OktaTokenFacts>

/// The rules for tokens that come back to the server that issued them, in the order of its checks.
///
/// The order is ours: the signature comes before the claims, so that a forged token reveals nothing.
enum OktaTokenRules {
    /// An access token in `Authorization`.
    static let access = RuleList(
        [
            Rule("token-in-query", "no access_token in the query", "codes", orFail: .accessTokenInQuery) {
                facts, finding in facts.isInQuery ? finding.judge(.text("access_token in the query"), false) : nil
            },
            .bearerPresent("token-present", source: "ref; text inferred", .inferred, orFail: .accessTokenMissing),
        ] + Rule.bearerOnce(orFail: .accessTokenInvalid) + form + [notIDToken, expiryPresent, expiry])

    /// Any token of the server, wherever it was sent.
    static let any = RuleList(form + [expiryPresent, expiry])

    /// A token of the server, even an expired one.
    static let signed = RuleList(form)

    /// What the state knows about a token.
    static let use = RuleList([
        Rule("token-revoked", "a token that was not revoked", "guide:revoke-tokens", orFail: .accessTokenRevoked) {
            facts, finding in
            guard let isRevoked = facts.isRevoked else { return nil }
            return finding.judge(
                .text("\(facts.token?.id ?? "a token"), \(isRevoked ? "revoked" : "not revoked")"), !isRevoked)
        }
    ])

    private static let form =
        Rule.structure(orFail: .accessTokenInvalid)
        + [
            Rule(.algorithm(is: .rs256, source: "ref"), orFail: .accessTokenInvalid),
            Rule(.critical(), orFail: .accessTokenInvalid), Rule(.keyReferences),
            Rule("key-published", "kid of a published key of the server", "ref", orFail: .accessTokenInvalid) {
                facts, finding in
                guard let token = facts.token else { return nil }
                guard let header = token.compact.header else { return .notJudged }
                if facts.key == nil {
                    finding?.expected = .anyOf(facts.keyIDs)
                    finding?.note = facts.keyMistake
                }
                return finding.judge(header["kid"].map(Fact.json) ?? .nothing("no kid"), facts.key != nil)
            },
            Rule("signature", "RS256 by the key that kid names", "ref", orFail: .accessTokenInvalid) { facts, finding in
                guard let token = facts.token else { return nil }
                guard let key = facts.key else { return .notJudged }
                return token.signature(by: key, &finding)
            },
            Rule(
                "issuer", "the issuer of the server", "ref; any form of the sandbox's address: ours",
                orFail: .accessTokenInvalid
            ) { facts, finding in
                guard let token = facts.token else { return nil }
                guard let claims = token.compact.claims else { return .notJudged }
                if !facts.isOwn {
                    finding?.expected = .anyOf(facts.issuers)
                    finding?.note = facts.issuerMistake
                }
                return finding.judge(claims["iss"].map(Fact.json) ?? .absent, facts.isOwn)
            },
        ]

    private static let notIDToken = Rule(
        "access-token", "an access token, whose jti does not begin with “ID.”", "ours", .ours,
        orFail: .accessTokenInvalid
    ) { facts, finding in
        guard let token = facts.token, token.compact.claims != nil else { return nil }
        if token.isIDToken {
            finding?.note = "An ID token tells the client who signed in; the access token is what it sends."
        }
        return finding.judge(token.id.map(Fact.text) ?? .nothing("no jti"), !token.isIDToken)
    }

    private static let expiryPresent = Rule(.claim("exp", is: .number, source: "ref"), orFail: .accessTokenInvalid)

    private static let expiry = Rule("expiry", "exp later than now", "ref", orFail: .accessTokenExpired) {
        facts, finding in
        guard let token = facts.compact, token.date("exp").seconds() != nil else { return nil }
        return token.expiry(at: facts.moment.unixSeconds, &finding)
    }
}
