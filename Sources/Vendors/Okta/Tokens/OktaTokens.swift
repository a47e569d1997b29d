import Emulation
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

/// Answers of the token endpoint.
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

/// A claim that a server adds to tokens besides their own, or sets in place of one.
///
/// Source: guide:customize-tokens-returned-from-okta; that it may replace one of the standard: ours, to test apps.
struct OktaClaim: CodedRecord, RecordValue, Equatable {
    enum Target: String, CaseIterable, RecordValue { case access, id }

    /// Claims of the protocol, about the token and not the user, so that userinfo does not have them.
    private static let ofTokens: Set<String> = [
        "ver", "jti", "iss", "aud", "iat", "exp", "nbf", "sub", "amr", "acr", "idp", "nonce", "auth_time", "at_hash",
        "c_hash", "sid", "ds_hash", "azp",
    ]

    var name = ""
    /// `nil` for both.
    var target: Target?
    /// A constant, where null leaves the claim out; or `user.profile.NAME`, or `groups(…)`.
    var value = JSON.null
    /// The scope with which the claim comes; `nil` for any.
    var scope: String?
    /// Whether ID tokens have it; otherwise userinfo alone.
    var isAlways = true

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("name", &name)
        coder.member("in", &target)
        coder.member("value", &value)
        coder.member("scope", &scope)
        coder.member("always", &isAlways, or: true)
        coder.check(!name.isEmpty, or: "a claim needs a name")
        let text = value.string ?? ""
        coder.check(
            !text.hasPrefix("groups(") || Self.filter(text) != nil,
            or:
                "value is \(text); expected groups(), groups(starts-with TEXT), groups(equals TEXT) or groups(contains TEXT)"
        )
    }

    /// Which names of groups the value selects; `nil` for a value that is not about groups.
    private static func filter(_ text: String) -> ((String) -> Bool)? {
        guard let match = text.wholeMatch(of: /groups\((?:(starts-with|equals|contains) (.+))?\)/) else { return nil }
        let (word, part) = (match.1, String(match.2 ?? ""))
        return { name in
            switch word {
            case "starts-with"?: name.utf8.starts(with: part.utf8)
            case "equals"?: name.hasSameBytes(as: part)
            case .some: name.contains(part)
            case nil: true
            }
        }
    }

    /// The value for a user; `nil` when there is none, as for services.
    private func value(for user: OktaUser?, _ groups: RecordTable<OktaGroup>) -> JSON? {
        guard let text = value.string else { return value }
        if text.hasPrefix("user.profile.") { return user?.profileValue(String(text.dropFirst("user.profile.".count))) }
        guard let filter = Self.filter(text) else { return value }
        return user.map { .array(groups.names(of: $0.groups).filter(filter).map(JSON.string)) }
    }

    /// Sets the claim, if it belongs there.
    ///
    /// - Parameter target: `nil` for userinfo, which shows the claims of ID tokens (guide).
    func apply(
        to claims: inout JSONObject, of target: Target?, _ scopes: [String], _ user: OktaUser?,
        _ groups: RecordTable<OktaGroup>
    ) {
        let isMeant =
            switch target {
            case .access?: self.target != .id
            case .id?: self.target != .access && isAlways
            case nil: self.target != .access && !Self.ofTokens.contains(name)
            }
        guard isMeant, scope.map({ scopes.contains(exactly: $0) }) ?? true,
            let value = value(for: user, groups)
        else { return }
        claims[name] = value.isNull ? JSON?.none : value
    }
}

extension [OktaClaim] {
    /// What the journal says about tokens with claims that an action set.
    func interventions(in scopes: [String]) -> [JSON] {
        let targets = OktaClaim.Target.allCases.filter { $0 == .access || scopes.contains("openid") }
        return targets.compactMap { target in
            let names = filter { $0.target ?? target == target }.map(\.name)
            return names.isEmpty
                ? nil : ["set_claims": .string(names.joined(separator: ", ")), "of": .string(target.rawValue)]
        }
    }
}
