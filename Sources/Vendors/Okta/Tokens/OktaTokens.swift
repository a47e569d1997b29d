import Emulation
import JSON
import Tokens

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
