import Emulation
import JSON
import Tokens

/// Drafts a token of each kind as a mint request wants it, without any defect.
struct OktaMinter {
    let vendor: Okta
    let setting: TokenSetting<Okta>
    var order: MintRequest
    /// The keys of the server that issues the token; `nil` for tokens of clients and devices.
    private(set) var issuer: IssuerKeys?

    var now: Int { setting.moment.wholeSeconds }

    mutating func draft(_ kind: OktaTokenKind) throws(ControlRefusal) -> UnsignedToken {
        switch kind {
        case .access: try accessToken()
        case .id: try idToken()
        case .ssws: try deviceAnswer()
        case .clientAssertion: try clientAssertion()
        case .dpopProof: try proof()
        }
    }

    // MARK: - Tokens of a server

    private mutating func accessToken() throws(ControlRefusal) -> UnsignedToken {
        let server = try server()
        var maker = try maker(of: server)
        maker.authorization.proofKey = try order.string("jkt")
        var claims = maker.accessClaims(id: "AT." + setting.identifiers.opaque(ofLength: 43))
        claims["exp"] = try expiry(after: server.accessTokenLifetime)
        return try issued(by: server, claims) { maker.access(signedBy: $0) }
    }

    private mutating func idToken() throws(ControlRefusal) -> UnsignedToken {
        let server = try server()
        var maker = try maker(of: server)
        maker.authorization.nonce = try order.string("nonce")
        var claims = maker.idClaims(
            id: "ID." + setting.identifiers.opaque(ofLength: 43), with: try order.string("access_token"))
        claims["exp"] = try expiry(after: 3600)
        return try issued(by: server, claims) { (OktaTokenMaker.header($0), $0) }
    }

    private mutating func issued(
        by server: OktaServer, _ claims: JSONObject, signing: (SigningKey) -> (header: JSONObject, key: SigningKey)
    ) throws(ControlRefusal) -> UnsignedToken {
        let keys = try ControlRefusal.require(
            vendor.keys(of: server.id, in: setting.state), "server \(server.id) has no keys")
        issuer = keys
        let (header, key) = signing(keys.signing)
        return UnsignedToken(TokenDraft(header: header, claims: claims), key: key, algorithm: keys.algorithm)
    }

    private mutating func maker(of server: OktaServer) throws(ControlRefusal) -> OktaTokenMaker {
        let client = try client()
        let named = try order.string("user")
        let isService = client.type == .service && named == nil
        let user = isService ? nil : try setting.state.user(named: named ?? vendor.accounts.defaultUserID)
        var authorization = OktaAuthorization(clientID: client.id, serverID: server.id, userID: user?.id)
        authorization.scopes =
            try order.words("scopes") ?? (isService ? server.scopes.map(\.name) : ["openid", "profile", "email"])
        if user != nil {
            authorization.authenticated = setting.moment
            authorization.methods = ["pwd"]
        }
        return OktaTokenMaker(
            vendor: vendor, server: server, base: setting.base, switches: setting.switches, moment: setting.moment,
            authorization: authorization, user: user, client: client, groups: setting.state.groups,
            claims: setting.state.claims(of: server))
    }

    // MARK: - Tokens of clients and devices

    private mutating func clientAssertion() throws(ControlRefusal) -> UnsignedToken {
        let client = try client { !$0.keys.isEmpty }
        let method = try method(of: client)
        let server = try server()
        let endpoint = try order.string("endpoint") ?? "token"
        let claims: JSONObject = [
            "iss": .string(client.id), "sub": .string(client.id),
            "aud": .string("\(setting.base)\(server.path)/v1/\(endpoint)"), "iat": JSON(now),
            "exp": try expiry(after: 300), "jti": .string(setting.identifiers.opaque(ofLength: 22)),
        ]
        if method == .secretJWT {
            guard let key = client.secretKey else { throw ControlRefusal("client \(client.id) has no secret") }
            return UnsignedToken(TokenDraft(header: ["alg": "HS256"], claims: claims), key: key, algorithm: .hs256)
        }
        guard let key = try client.keys.first?.read() else { throw ControlRefusal("client \(client.id) has no key") }
        let algorithm = try Self.algorithm(of: key)
        let header: JSONObject = ["alg": .string(algorithm.rawValue), "kid": JSON(key.id)]
        return UnsignedToken(TokenDraft(header: header, claims: claims), key: key, algorithm: algorithm)
    }

    private mutating func method(of client: OktaClient) throws(ControlRefusal) -> OktaClient.Method {
        let possible: [OktaClient.Method] = [.privateKeyJWT, .secretJWT]
        guard let name = try order.string("method") else { return client.keys.isEmpty ? .secretJWT : .privateKeyJWT }
        return try ControlRefusal.require(
            possible.first(where: { $0.rawValue.hasSameBytes(as: name) }),
            "method is \(name); expected \(possible.map(\.rawValue).joined(separator: " or "))")
    }

    private mutating func deviceAnswer() throws(ControlRefusal) -> UnsignedToken {
        let factor = try factor()
        let key = try ControlRefusal.require(
            try factor.device?.read(),
            "the private key of factor \(factor.id) is not known here; only fixtures contain one")
        let owner = try setting.state.user(named: try order.string("user") ?? factor.userID)
        let algorithm = try Self.algorithm(of: key)
        // Source of the times: validator page.
        let claims: JSONObject = [
            "tx": .string(
                try order.string("transaction") ?? setting.state.pending(factor, at: setting.moment).last?.id ?? "tx-1"
            ),
            "iss": .string(factor.id), "sub": .string(owner.id),
            "aud": .string(try order.string("aud") ?? "localhost"), "iat": JSON(now), "nbf": JSON(now - 60),
            "exp": try expiry(after: 60), "jti": .string(setting.identifiers.opaque(ofLength: 22)),
        ]
        return UnsignedToken(
            TokenDraft(header: ["alg": .string(algorithm.rawValue)], claims: claims), key: key, algorithm: algorithm)
    }

    private mutating func factor() throws(ControlRefusal) -> OktaFactor {
        if let id = try order.string("factor") { return try setting.state.factor(named: id) }
        return try ControlRefusal.require(
            setting.state.factors.all.first(where: { $0.device != nil }), "no factor has a device key")
    }

    private mutating func proof() throws(ControlRefusal) -> UnsignedToken {
        let key = try proofKey()
        let algorithm = try Self.algorithm(of: key)
        let accessToken = try order.string("access_token")
        let server = vendor.accounts.defaultServer
        let endpoint = "\(setting.base)\(server.path)/v1/\(accessToken == nil ? "token" : "userinfo")"
        var claims: JSONObject = [
            "jti": .string(setting.identifiers.opaque(ofLength: 22)),
            "htm": .string(try order.string("method") ?? (accessToken == nil ? "POST" : "GET")),
            "htu": .string(try order.string("url") ?? endpoint), "iat": JSON(now),
        ]
        if let nonce = try order.string("nonce") {
            let newest = setting.state.goodNonces(at: setting.moment).last?.id
            let named = try ControlRefusal.require(
                nonce == "current" ? newest : nonce, "there is no nonce yet; a proof without one gets it in the answer")
            claims["nonce"] = .string(named)
        }
        if let accessToken { claims["ath"] = .string(Base64URL.encode(Digest.sha256(Array(accessToken.utf8)))) }
        // The key is in the header, without a name (RFC 9449 section 4.2).
        var jwk = key.publicJWK()?.object ?? [:]
        for name in ["kid", "use"] { jwk[name] = nil }
        let header: JSONObject = ["typ": "dpop+jwt", "alg": .string(algorithm.rawValue), "jwk": .object(jwk)]
        return UnsignedToken(TokenDraft(header: header, claims: claims), key: key, algorithm: algorithm)
    }

    private mutating func proofKey() throws(ControlRefusal) -> SigningKey {
        let keys = vendor.accounts.proofKeys
        let name = try order.string("key")
        let found = try ControlRefusal.require(
            name == nil ? keys.first : keys.first(where: { $0.name.hasSameBytes(as: name ?? "") }),
            "no proof key is called \(name ?? "")\(Nearest.hint(to: name ?? "", among: keys.map(\.name)))")
        return try found.key.read()
    }

    // MARK: - Members of requests

    private static func algorithm(of key: SigningKey) throws(ControlRefusal) -> Algorithm {
        let preferred: [Algorithm] = [.rs256, .es256, .es384, .es512]
        return try ControlRefusal.require(
            preferred.first(where: key.algorithms.contains),
            "the key \(key) signs with none of \(preferred.map(\.rawValue).joined(separator: ", "))")
    }

    private mutating func server() throws(ControlRefusal) -> OktaServer {
        try vendor.accounts.server(named: try order.string("server"))
    }

    private mutating func client(_ fits: (OktaClient) -> Bool = { _ in true }) throws(ControlRefusal) -> OktaClient {
        if let id = try order.string("client") { return try setting.state.client(named: id) }
        return try ControlRefusal.require(
            setting.state.clients.all.first(where: fits), "no client can have such a token")
    }

    private mutating func expiry(after seconds: Int) throws(ControlRefusal) -> JSON {
        let (expiry, isTooFar) = now.addingReportingOverflow(try order.int("expires_in") ?? seconds)
        if isTooFar { throw ControlRefusal("expires_in is too large") }
        return JSON(expiry)
    }
}
