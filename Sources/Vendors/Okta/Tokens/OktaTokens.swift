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
    /// `ds_hash` of the device's secret; `nil` outside of device sessions.
    var deviceSecretHash: String?
    var overrides: [OktaClaimOverride] = []

    /// Source: ref; an ID token's lifetime cannot be configured.
    private static let idTokenLifetime = 3600

    var issuer: String { server.issuer(at: base) }

    /// The `exp` of an access token made now.
    var accessTokenExpiry: Moment { moment + .seconds(server.accessTokenLifetime) }

    /// The header of both tokens: no `typ`. Source: ref.
    static func header(_ key: SigningKey) -> JSONObject { ["kid": JSON(key.id), "alg": "RS256"] }

    /// An access token's claims.
    ///
    /// - Parameter id: its `jti`.
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
        for override in overrides where override.target == .access { override.apply(to: &claims) }
        return claims
    }

    /// An ID token's claims.
    ///
    /// - Parameters:
    ///   - id: its `jti`.
    ///   - accessToken: the access token that goes with it; `nil` for none.
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
            claims.append("groups", .array(vendor.accounts.groupNames(user.groups).map(JSON.string)))
        }
        for claim in authorization.idClaims?.object ?? [:] { claims[claim.name] = claim.value }
        for override in overrides where override.target == .id { override.apply(to: &claims) }
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
extension Okta {
    /// Begins a grant and answers with its first tokens: a refresh token only for `offline_access`, and only if the
    /// client may use one (ours).
    ///
    /// - Parameters:
    ///   - members: further members of the answer, such as `issued_token_type`.
    ///   - note: notes the grant where it came from, such as in its code.
    static func grantTokens(
        _ authorization: OktaAuthorization, _ call: inout OktaCall, _ state: inout State, _ request: OktaTokenRequest,
        adding members: JSONObject = [:], noting note: (OktaGrant, inout State) -> Void = { _, _ in }
    ) throws(Refused) -> Reply {
        let key = try signingKey(of: request.server, call, state)
        var authorization = authorization
        if let proofKey = request.proofKey { authorization.proofKey = proofKey }
        let grant = state.begin(authorization, at: call.moment)
        note(grant, &state)
        var refreshToken: String?
        let mayRefresh = request.client.allows(OktaGrantType.refreshToken.rawValue)
        if mayRefresh, authorization.scopes.contains("offline_access") {
            refreshToken = state.addRefreshToken(to: grant, of: request.server, call).id
        }
        return issueTokens(
            of: grant.number, authorization, refreshToken, &call, &state, request, signedBy: key, adding: members)
    }

    /// Makes the access token and, for `openid`, the ID token of a grant; they are signed after unlocking.
    ///
    /// - Parameters:
    ///   - authorization: that of the grant, perhaps with fewer scopes.
    ///   - refreshToken: the refresh token to answer with.
    ///   - members: further members of the answer.
    static func issueTokens(
        of grant: Int, _ authorization: OktaAuthorization, _ refreshToken: String?, _ call: inout OktaCall,
        _ state: inout State, _ request: OktaTokenRequest, signedBy key: SigningKey, adding members: JSONObject = [:]
    ) -> Reply {
        let overrides = state.claimOverrides.count == 0 ? [] : state.claimOverrides.all
        let maker = OktaTokenMaker(
            vendor: call.vendor, server: request.server, base: call.arrival.base, switches: call.switches,
            moment: call.moment, authorization: authorization,
            user: authorization.userID.flatMap { state.users[$0] }, client: request.client,
            deviceSecretHash: authorization.deviceSession.flatMap { state.deviceSecrets[named: ExactText($0)]?.hash },
            overrides: overrides)
        let accessTokenID = "AT." + call.identifiers.opaque(ofLength: 43)
        let idTokenID = "ID." + call.identifiers.opaque(ofLength: 43)
        state.issuedTokens.add(
            OktaIssuedToken(id: accessTokenID, grant: grant, expires: maker.accessTokenExpiry), within: OktaState.bound)
        for override in overrides where override.target == .access || authorization.scopes.contains("openid") {
            call.interventions.append(override.intervention)
        }
        return .later {
            // The key was read as one of a server, so it signs RS256.
            func sign(_ claims: JSONObject) -> String? {
                try? TokenDraft(header: OktaTokenMaker.header(key), claims: claims).mint(key: key, algorithm: .rs256)
            }
            guard let accessToken = sign(maker.accessClaims(id: accessTokenID)) else {
                return .empty(.internalServerError)
            }
            var answer: JSONObject = [
                "token_type": authorization.proofKey == nil ? "Bearer" : "DPoP",
                "expires_in": JSON(maker.server.accessTokenLifetime), "access_token": .string(accessToken),
                "scope": .string(authorization.scopes.joined(separator: " ")),
            ]
            if let refreshToken { answer.append("refresh_token", .string(refreshToken)) }
            if authorization.scopes.contains("openid") {
                guard let token = sign(maker.idClaims(id: idTokenID, with: accessToken)) else {
                    return .empty(.internalServerError)
                }
                answer.append("id_token", .string(token))
            }
            for member in members { answer.append(member.name, member.value) }
            return .json(.object(answer))
        }
    }

    static func signingKey(
        of server: OktaServer, _ call: OktaCall, _ state: State
    ) throws(Refused) -> SigningKey {
        do throws(MintRefusal) {
            if let key = try call.vendor.keys(of: server.id, in: state)?.signing { return key }
        } catch {
            throw Refusal(.internalError, because: "found \(error); expected the server's key")
        }
        throw Refusal(.internalError, because: "found no key of server \(server.id); expected one")
    }
}

/// Claims that all tokens of a kind have from now on, in place of their own or besides them, so that an app's checks can
/// be tested (ours).
struct OktaClaimOverride: Sendable, Equatable {
    enum Target: String, CaseIterable, RecordValue { case access, id }

    static let bound = RecordBound(count: Target.allCases.count)

    var target = Target.access
    /// Constants; a claim that is null is left out.
    var claims: JSON = [:]

    func apply(to claims: inout JSONObject) {
        for claim in self.claims.object ?? [:] {
            claims[claim.name] = claim.value.isNull ? JSON?.none : claim.value
        }
    }

    /// What the journal says of a token that was changed.
    var intervention: JSON {
        [
            "claim_override": .string((claims.object ?? [:]).map(\.name).joined(separator: ", ")),
            "of": .string(target.rawValue),
        ]
    }
}

extension OktaClaimOverride: KeyedRecord, CodedRecord {
    var key: ExactText { ExactText(target.rawValue) }

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("of", &target)
        coder.member("claims", &claims)
        coder.check(claims.object != nil, or: "claims is a JSON \(claims.typeName), not an object")
        coder.check(claims.bytes.count <= OktaSignIn.longestClaims, or: "claims has \(claims.bytes.count) bytes")
    }
}

extension Okta {
    static let claimActions: [VendorAction<Okta>] = [
        VendorAction(
            "claim-override",
            about: "Sets claims of all coming tokens, in place of the overrides before; {} ends them.",
            members: [
                ActionMember("of", "access or id; both"),
                ActionMember("claims", "an object of constants; null leaves a claim out", isRequired: true),
            ]
        ) { (call, state) throws(ActionRefusal) in
            let (target, claims) = try call.read { members in
                (
                    members.choice("of", of: OktaClaimOverride.Target.self),
                    members.object("claims", isRequired: true) ?? [:]
                )
            }
            let value = JSON.object(claims)
            guard value.bytes.count <= OktaSignIn.longestClaims else {
                throw ActionRefusal(
                    "claims has \(value.bytes.count) bytes; expected at most \(OktaSignIn.longestClaims)")
            }
            for target in target.map({ [$0] }) ?? OktaClaimOverride.Target.allCases {
                let override = OktaClaimOverride(target: target, claims: value)
                state.claimOverrides.remove(override.key)
                if !claims.isEmpty { state.claimOverrides.store(override) }
            }
            return ["claim_overrides": .array(state.claimOverrides.all.map { $0.json(.whole) })]
        }
    ]
}
