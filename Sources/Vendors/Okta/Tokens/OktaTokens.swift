import Emulation
import HTTPTypes
import JSON
import Tokens
import Wire

/// Makes the tokens of a grant. Source of the claims and their order: ref.
struct OktaTokenMaker: Sendable {
    let vendor: Okta
    let server: OktaServer
    let base: String
    let switches: OktaSwitches
    let moment: Moment
    var authorization: OktaAuthorization
    let user: OktaUser?
    let client: OktaClient
    let groups: RecordTable<OktaGroup>
    /// `ds_hash` of the device's secret; `nil` outside of device sessions.
    var deviceSecretHash: String?
    /// How long the access token lives, in seconds; `nil` as the server says.
    var accessTokenLifetime: Int?
    var claims: [OktaClaim] = []

    /// Source: ref; an ID token's lifetime cannot be configured.
    private static let idTokenLifetime = 3600

    var issuer: String { server.issuer(at: base) }

    var accessTokenExpiry: Moment { moment + .seconds(expiresIn) }

    var expiresIn: Int { accessTokenLifetime ?? server.accessTokenLifetime }

    /// The header of both tokens: no `typ`. Source: ref.
    static func header(_ key: SigningKey) -> JSONObject { ["kid": JSON(key.id), "alg": "RS256"] }

    /// Header and key of access tokens. Those of the org server are for Okta alone: they have a type, and their key is
    /// not published. Source: recorded answers (pysdk); docs:concepts/auth-servers.
    func access(signedBy key: SigningKey) -> (header: JSONObject, key: SigningKey) {
        guard server.isOrg else { return (Self.header(key), key) }
        // A file without a key is reported when tokens are read.
        let own = (try? server.accessTokenKey?.read()) ?? key
        return (["kid": JSON(own.id), "typ": "application/okta-internal-at+jwt", "alg": "RS256"], own)
    }

    func accessClaims(id: String) -> JSONObject {
        var claims: JSONObject = [
            "ver": 1, "jti": .string(id), "iss": .string(issuer), "aud": .string(server.audience(at: base)),
            "iat": JSON(moment.wholeSeconds), "exp": JSON(accessTokenExpiry.wholeSeconds),
        ]
        if let thumbprint = authorization.proofKey { claims.append("cnf", ["jkt": .string(thumbprint)]) }
        claims.append("cid", .string(client.id))
        if let userID = authorization.userID { claims.append("uid", .string(userID)) }
        claims.append("scp", .array(authorization.scopes.map(JSON.string)))
        appendAuthentication(to: &claims)
        claims.append("sub", .string(authorization.subject(user, switches)))
        for claim in authorization.accessClaims?.object ?? [:] { claims[claim.name] = claim.value }
        for claim in self.claims { claim.apply(to: &claims, of: .access, authorization.scopes, user, groups) }
        return claims
    }

    func idClaims(id: String, with accessToken: String?) -> JSONObject {
        var claims: JSONObject = ["sub": .string(authorization.guest ?? authorization.userID ?? client.id)]
        if let user, authorization.scopes.contains("profile") { claims.append("name", .string(user.name)) }
        if let user, authorization.scopes.contains("email") { claims.append("email", .string(user.address)) }
        for (name, value) in [
            ("ver", 1), ("iss", .string(issuer)), ("aud", .string(client.id)), ("iat", JSON(moment.wholeSeconds)),
            ("exp", JSON((moment + .seconds(Self.idTokenLifetime)).wholeSeconds)), ("jti", .string(id)),
        ] as [(String, JSON)] { claims.append(name, value) }
        claims.append("amr", .array(authorization.methods.map(JSON.string)))
        claims.append("idp", .string(vendor.accounts.orgID))
        if let nonce = authorization.nonce { claims.append("nonce", .string(nonce)) }
        if let user, authorization.scopes.contains("profile") {
            claims.append("preferred_username", .string(user.login))
        }
        appendAuthentication(to: &claims)
        if let accessToken { claims.append("at_hash", .string(Self.hash(of: accessToken))) }
        if let session = authorization.deviceSession { claims.append("sid", .string(session)) }
        if let deviceSecretHash { claims.append("ds_hash", .string(deviceSecretHash)) }
        if let user, authorization.scopes.contains("groups") {
            claims.append("groups", .array(groups.names(of: user.groups).map(JSON.string)))
        }
        for claim in authorization.idClaims?.object ?? [:] { claims[claim.name] = claim.value }
        for claim in self.claims { claim.apply(to: &claims, of: .id, authorization.scopes, user, groups) }
        return claims
    }

    /// Left half of a SHA-256 digest (OpenID Connect Core 1.0 section 3.1.3.6).
    static func hash(of token: String) -> String {
        Base64URL.encode(Array(Digest.sha256(Array(token.utf8)).prefix(16)))
    }

    private func appendAuthentication(to claims: inout JSONObject) {
        if let authenticated = authorization.authenticated {
            claims.append("auth_time", JSON((authenticated - .seconds(switches.authTimeLagSeconds)).wholeSeconds))
        }
        if let acr = authorization.acr { claims.append("acr", .string(acr)) }
    }
}

extension OktaTokenRequest {
    /// Begins a grant and answers with its first tokens: a refresh token only for `offline_access`, and only if the
    /// client may use one (ours).
    ///
    /// - Parameters:
    ///   - members: further members of the answer, such as `issued_token_type`.
    ///   - note: notes the grant where it came from, such as in its code.
    func grantTokens(
        _ authorization: OktaAuthorization, _ call: inout OktaCall, _ state: inout State,
        adding members: JSONObject = [:], noting note: (OktaGrant, inout State) -> Void = { _, _ in }
    ) throws(Refused) -> Reply {
        try Okta.requireAssigned(authorization.userID, to: client, in: state)
        let policy = try Okta.accessPolicy(
            for: client, parameters["grant_type"] ?? "", authorization.scopes, at: server, in: state)
        let key = try Okta.signingKey(of: server, call, state)
        var authorization = authorization
        if let proofKey { authorization.proofKey = proofKey }
        let grant = state.begin(authorization, at: call.moment)
        note(grant, &state)
        var refreshToken: String?
        let mayRefresh = client.allows(OktaGrantType.refreshToken.rawValue)
        if mayRefresh, authorization.scopes.contains("offline_access") {
            refreshToken = state.addRefreshToken(to: grant, of: server, under: policy, call).id
        }
        return issueTokens(
            of: grant.number, authorization, refreshToken, &call, &state, signedBy: key, under: policy, adding: members)
    }

    /// Makes the access token and, for `openid`, the ID token of a grant; they are signed after unlocking.
    func issueTokens(
        of grant: Int, _ authorization: OktaAuthorization, _ refreshToken: String?, _ call: inout OktaCall,
        _ state: inout State, signedBy key: SigningKey, under policy: OktaAccessPolicy?,
        adding members: JSONObject = [:]
    ) -> Reply {
        let maker = OktaTokenMaker(
            vendor: call.vendor, server: server, base: call.arrival.base, switches: call.switches,
            moment: call.moment, authorization: authorization, user: authorization.userID.flatMap { state.users[$0] },
            client: client, groups: state.groups,
            deviceSecretHash: authorization.deviceSession.flatMap { state.deviceSecrets[named: ExactText($0)]?.hash },
            accessTokenLifetime: policy?.accessTokenLifetime, claims: state.claims(of: server))
        let accessTokenID = "AT." + call.identifiers.opaque(ofLength: 43)
        let idTokenID = "ID." + call.identifiers.opaque(ofLength: 43)
        let issued = OktaIssuedToken(id: accessTokenID, grant: grant, expires: maker.accessTokenExpiry)
        call.note(roomMadeFor: "access token", by: state.add(issued))
        call.interventions += state.setClaims(of: server).interventions(in: authorization.scopes)
        return .later {
            // The key was read as one of a server, so it signs RS256.
            func sign(_ claims: JSONObject, _ signing: (header: JSONObject, key: SigningKey)) -> String? {
                try? TokenDraft(header: signing.header, claims: claims).mint(key: signing.key, algorithm: .rs256)
            }
            guard let accessToken = sign(maker.accessClaims(id: accessTokenID), maker.access(signedBy: key)) else {
                return .empty(.internalServerError)
            }
            var answer: JSONObject = [
                "token_type": authorization.proofKey == nil ? "Bearer" : "DPoP", "expires_in": JSON(maker.expiresIn),
                "access_token": .string(accessToken), "scope": .string(authorization.scopes.joined(separator: " ")),
            ]
            if let refreshToken { answer.append("refresh_token", .string(refreshToken)) }
            if authorization.scopes.contains("openid") {
                let claims = maker.idClaims(id: idTokenID, with: accessToken)
                guard let token = sign(claims, (OktaTokenMaker.header(key), key)) else {
                    return .empty(.internalServerError)
                }
                answer.append("id_token", .string(token))
            }
            for member in members { answer.append(member.name, member.value) }
            return .json(.object(answer))
        }
    }
}

extension Okta {
    static func signingKey(of server: OktaServer, _ call: OktaCall, _ state: State) throws(Refused) -> SigningKey {
        try Refused.require(
            try keys(of: server, call, state)?.signing, .internalError,
            "found no key of server \(server.id); expected one")
    }

    static func keys(of server: OktaServer, _ call: OktaCall, _ state: State) throws(Refused) -> IssuerKeys? {
        do throws(ControlRefusal) { return try call.vendor.keys(of: server.id, in: state) } catch {
            throw Refused(.internalError, because: "found \(error); expected the server's key")
        }
    }
}

/// Judges tokens without their requests.
extension Okta {
    static let requestFacts: [(name: String, about: String)] = [
        ("method", "the method of the request that a proof is for"),
        ("url", "the address to which an assertion or proof is sent"),
        ("access_token", "the access token beside a proof or an ID token"),
        ("code", "the authorization code beside an ID token"),
        ("user", "id or login of the user in the path of a device's answer"),
        ("factor", "id of the factor in the path of a device's answer"),
        ("transaction", "id of the challenge in the path of a device's answer"),
    ]

    func explain(
        _ text: String, knowing context: JSONObject, in setting: TokenSetting<Okta>,
        _ findings: inout Findings<OktaFailure>
    ) -> (kind: String?, account: String?) {
        var explanation = OktaExplanation(vendor: self, context: context, setting: setting)
        defer { findings = explanation.findings }
        return explanation.verdict(on: text)
    }
}

private struct OktaExplanation {
    let vendor: Okta
    /// What is known of the request; see ``Okta/requestFacts``.
    let context: JSONObject
    let setting: TokenSetting<Okta>
    var findings = Findings<OktaFailure>()

    mutating func verdict(on text: String) -> (kind: String?, account: String?) {
        let token = CompactToken(text)
        let kind = OktaTokenKind(of: token)
        let account: String?
        switch kind {
        case .clientAssertion: account = explain(assertion: token)
        case .dpopProof: account = explain(proof: token)
        case .ssws: account = explain(answer: text)
        case .access, .id, nil:
            let issuer = issuer(of: token)
            account = issuer.map { "server \($0.id)" }
            explain(token, kind, issuer ?? named(by: token))
            if kind == .id { compareHashes(of: token) }
        }
        return (kind?.rawValue, account)
    }

    /// Whether an ID token belongs to what came with it (OpenID Connect Core 1.0 section 3.1.3.6).
    private mutating func compareHashes(of token: CompactToken) {
        for (claim, fact) in [("at_hash", "access_token"), ("c_hash", "code")] {
            guard let text = context[fact]?.string, let found = token.claims?[claim] else { continue }
            let expected = OktaTokenMaker.hash(of: text)
            let isRight = found.string?.hasSameBytes(as: expected) == true
            findings.note(
                Finding(
                    claim, isRight ? .passed : .failed, expected: .text("\(expected), of \(fact)"), found: .json(found),
                    note: found.string.flatMap { DerivedValue.mistake(in: $0, of: text.utf8, count: 16) }, source: "ref"
                ))
        }
    }

    /// The server that has published the key of the signature.
    private func issuer(of token: CompactToken) -> OktaServer? {
        vendor.accounts.servers.first { server in
            // Minting reports a file without a key.
            let keys = (try? vendor.keys(of: server.id, in: setting.state)) ?? nil
            let known = (keys?.published.map(\.key) ?? []) + [try? server.accessTokenKey?.read()].compactMap(\.self)
            return known.contains { token.isSigned(by: $0.verificationKey, algorithm: .rs256) }
        }
    }

    /// The server whose `iss` the token has; the usual one when it has none.
    private func named(by token: CompactToken) -> OktaServer {
        let issuer = token.claims?["iss"]?.string ?? ""
        let bases = setting.sandbox.addresses
        return vendor.accounts.servers.first { server in bases.contains { server.isIssuer(issuer, at: $0) } }
            ?? vendor.accounts.defaultServer
    }

    private mutating func explain(_ token: CompactToken, _ kind: OktaTokenKind?, _ server: OktaServer) {
        let read = OktaToken(bytes: Array(token.bytes))
        var facts = OktaTokenFacts(
            vendor, read, at: server, setting.state.changedKeys, in: setting.sandbox, named: setting.base,
            setting.moment)
        facts.isRevoked = read.id.map(setting.state.isRevoked(tokenID:)) ?? false
        // A token of no known kind is judged as one for userinfo; how it is sent is unknown.
        let rules = kind == .id ? OktaTokenRules.any : OktaTokenRules.access
        findings.judge(facts, by: rules)
        findings.judge(facts, by: OktaTokenRules.use)
        guard facts.isUnpublished else { return }
        findings.note(
            Finding(
                "key-unpublished", .noted,
                found: .text(
                    "a key that keys never shows: an app cannot verify the token; introspection and userinfo can"),
                source: "docs:concepts/auth-servers"))
    }

    private mutating func explain(assertion token: CompactToken) -> String? {
        // Else the token endpoint of the server that is usually meant.
        let endpoint =
            context["url"]?.string ?? ownAudience(of: token)
            ?? setting.base + vendor.accounts.defaultServer.path + "/v1/token"
        var facts = OktaClientFacts(setting.state.clients, assertion: token, to: endpoint, at: setting.moment)
        findings.judge(facts, by: Okta.clientRules)
        if let client = facts.client, let id = token.claims?["jti"]?.string {
            facts.isReplayed = setting.state.isUsed(.assertion, id, of: client.id, at: setting.moment)
            findings.judge(facts, by: Okta.assertionUseRules)
        }
        return facts.client.map { "client \($0.id)" }
    }

    /// The audience, if it is an address of some server here: without a request, any of them may be the right one.
    private func ownAudience(of token: CompactToken) -> String? {
        let audience = token.claims?["aud"]
        let texts = (audience?.array ?? [audience ?? .null]).compactMap(\.string)
        let bases = setting.sandbox.addresses
        return texts.first { text in
            vendor.accounts.servers.contains { server in bases.contains { text.hasPrefix($0 + server.path + "/v1/") } }
        }
    }

    /// Without facts about the path, it is the one that the token is for.
    private mutating func explain(answer text: String) -> String? {
        var facts = OktaDeviceFacts(.value(text), vendor.accounts, setting.switches, at: setting.moment)
        let claims = facts.compact?.claims
        func named(_ fact: String, _ claim: String) -> String { context[fact]?.string ?? claims?[claim]?.string ?? "" }
        let path = OktaDeviceFacts.Path(
            user: named("user", "sub"), factor: named("factor", "iss"), transaction: named("transaction", "tx"))
        facts.find(path, of: setting.sandbox, in: setting.state)
        findings.judge(facts, by: Okta.deviceFormRules)
        findings.judge(facts, by: Okta.deviceRules)
        guard let key = facts.key, let token = facts.compact else { return nil }
        let isSigned = facts.algorithms.contains { token.isSigned(by: key, algorithm: $0) }
        return isSigned ? facts.factor.map { "factor \($0.id)" } : nil
    }

    private mutating func explain(proof token: CompactToken) -> String? {
        var facts = OktaProofFacts(OktaProof(bytes: Array(token.bytes)), context, in: setting)
        let (state, moment) = (setting.state, setting.moment)
        facts.nonces = state.goodNonces(at: moment).map(\.id)
        let thumbprint = facts.proof?.key.thumbprint
        if let thumbprint, let id = facts.proof?.id {
            facts.isReplayed = state.isUsed(.proof, id, of: thumbprint, at: moment)
        }
        let isBesideToken = facts.access != nil || token.claims?["ath"] != nil
        let rules = isBesideToken ? OktaProofRules.resources : OktaProofRules.tokens
        var unknown: Set<String> = []
        if context["method"] == nil { unknown.insert("proof-htm") }
        if context["url"] == nil { unknown.insert("proof-htu") }
        if facts.access == nil { unknown.formUnion(["proof-ath", "proof-access-key"]) }
        findings.judge(facts, by: RuleList(rules.rules.filter { !unknown.contains($0.check) }))
        for rule in rules.rules where unknown.contains(rule.check) {
            let claim = token.claims?[String(rule.check.dropFirst("proof-".count))]
            findings.note(
                Finding(
                    rule.check, .notJudged, expected: rule.expected, found: claim.map(Fact.json) ?? .absent,
                    source: rule.source))
        }
        let own = vendor.accounts.proofKeys.first {
            thumbprint != nil && (try? $0.key.read())?.thumbprint == thumbprint
        }
        return own.map { "key \($0.name)" }
    }
}

extension OktaProofFacts {
    /// A proof without its request.
    ///
    /// - Parameter context: what is known of the request; see ``Okta/requestFacts``.
    fileprivate init(_ proof: OktaProof, _ context: JSONObject, in setting: TokenSetting<Okta>) {
        (switches, moment, sandbox) = (setting.switches, setting.moment, setting.sandbox)
        method = context["method"]?.string.flatMap { HTTPRequest.Method($0) } ?? .post
        let url = context["url"]?.string ?? ""
        let base = setting.sandbox.addresses.filter { url.hasPrefix($0) }
            .max { $0.utf8.count < $1.utf8.count }
        path = base.map { String(url.dropFirst($0.count)) } ?? url
        lineCount = 1
        self.proof = proof
        access = context["access_token"]?.string.map { text in
            let claims = CompactToken(text).claims
            return Access(
                isUnderDPoP: true, boundKey: claims?["cnf"]?["jkt"]?.string,
                hash: Base64URL.encode(Digest.sha256(Array(text.utf8))), token: Array(text.utf8))
        }
    }
}
