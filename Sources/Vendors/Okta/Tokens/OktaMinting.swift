import Emulation
import JSON
import Tokens

/// Tokens as Okta, its clients and its users' devices would sign them.
extension Okta {
    static let tokenKinds: [TokenKind] = [
        kind(
            .access, "an access token of an authorization server",
            ofGrant + [
                ("jkt", "thumbprint of the key that it is bound to; by default not bound"), lifetime("3600"),
            ], issued),
        kind(
            .id, "an ID token of an authorization server",
            ofGrant + [
                ("nonce", "as in the authorize request; by default none"),
                ("access_token", "the access token that at_hash is made from; by default none"), lifetime("3600"),
            ], issued + [.wrongNonce]),
        kind(
            .ssws, "the answer of a device to a push challenge",
            [
                ("factor", "id of the push factor; by default the first one with a device key"),
                ("user", "id or login of the user; by default the factor's owner"),
                ("transaction", "id of the challenge; by default the factor's newest one that waits"),
                ("aud", "the host; by default localhost"), lifetime("60"),
            ], [.issuedInFuture, .iatMilliseconds, .wrongIssuer, .wrongAudience]),
        kind(
            .clientAssertion, "authenticates a client by private_key_jwt or client_secret_jwt",
            [
                ("client", "id of the client; by default the first one with a key"),
                ("method", "private_key_jwt or client_secret_jwt; by default the client's"),
                ("server", "id of the server; by default the first custom one"),
                ("endpoint", "the path behind /v1/ that it is for; by default token"), lifetime("300"),
            ], [.issuedInFuture, .iatMilliseconds, .unknownKeyID, .wrongIssuer, .wrongAudience]),
        kind(
            .dpopProof, "proves possession of a key to a client's server (DPoP)",
            [
                ("key", "name of the proof key; by default the first one"),
                ("method", "htm; by default POST, with access_token GET"),
                (
                    "url",
                    "htu; by default the token endpoint of the first custom server, with access_token its userinfo"
                ),
                ("nonce", "the server's nonce, or current for the newest one; by default none"),
                ("access_token", "the access token that ath is made from; by default none"),
            ], [.typOther, .privateJWK, .wrongMethod, .wrongURL, .wrongTokenHash, .tooOld]),
    ]

    private static let ofGrant: [(name: String, about: String)] = [
        ("server", "id of the authorization server; by default the first custom one"),
        ("client", "id of the client; by default the first one"),
        ("user", "id or login of the user; by default the fixtures' default user, and none for a service"),
        ("scopes", "the granted scopes; by default openid profile email, and for a service those of the server"),
    ]

    private static let issued: [OktaDefect] = [
        .issuedInFuture, .iatMilliseconds, .unknownKeyID, .retiredKey, .nextKey, .wrongIssuer, .wrongAudience,
        .audienceArray, .typOther,
    ]

    private static func lifetime(_ seconds: String) -> (name: String, about: String) {
        ("expires_in", "seconds from now to exp; by default \(seconds)")
    }

    private static func kind(
        _ kind: OktaTokenKind, _ about: String, _ members: [(name: String, about: String)], _ defects: [OktaDefect]
    ) -> TokenKind {
        TokenKind(name: kind.rawValue, about: about, members: members, defects: defects.map(\.rawValue))
    }

    func mint(_ order: inout MintRequest, in setting: TokenSetting<Okta>) throws(ControlRefusal) -> String {
        let kind = try ControlRefusal.require(
            OktaTokenKind(rawValue: order.kind), "Okta has no token of kind \(order.kind)")
        var minter = OktaMinter(vendor: self, setting: setting, order: order)
        let draft = try minter.draft(kind)
        let issuer = minter.issuer
        return try minter.order.mint(draft, at: setting.moment, own: OktaDefect.init(rawValue:)) {
            (defect, token) throws(ControlRefusal) in try defect.apply(to: &token, of: issuer)
        }
    }

    /// Clients authenticate with secrets, or sign with them.
    var secretKeys: [SecretKey] {
        accounts.clients.all.compactMap { client in
            guard client.methods.contains(.secretJWT), let secret = client.secret else { return nil }
            // Only an empty secret is no key.
            return try? SecretKey(secret, of: "client \(client.id)", for: .hs256)
        }
    }

    var samples: [(label: String, value: String)] {
        accounts.servers.map { (label: "authorization server, its path", value: $0.path) }
            + accounts.clients.all.map { (label: "client “\($0.name)”, id", value: $0.id) }
            + accounts.users.map { (label: "user (\($0.status.rawValue)), login", value: $0.login) }
    }

    func sampleRequest(in setting: TokenSetting<Okta>) throws(ControlRefusal) -> SampleRequest {
        let token = try mint(OktaTokenKind.access.rawValue, in: setting)
        let path = accounts.defaultServer.path
        return SampleRequest(endpoint: .get("\(path)/v1/userinfo"), bearer: token)
    }
}

/// A kind of token that can be minted, and recognized.
enum OktaTokenKind: String, CaseIterable {
    case access, id, ssws
    case clientAssertion = "client-assertion"
    case dpopProof = "dpop-proof"

    /// The kind that a token has by its own content; `nil` when nothing distinguishes it.
    init?(of token: CompactToken) {
        guard let header = token.header, let claims = token.claims else { return nil }
        if header["typ"]?.string == "dpop+jwt" || header["jwk"] != nil {
            self = .dpopProof
        } else if claims["tx"] != nil {
            self = .ssws
        } else if let id = claims["jti"]?.string, id.hasPrefix("AT.") || id.hasPrefix("ID.") {
            self = id.hasPrefix("AT.") ? .access : .id
        } else if claims["cid"] != nil || claims["scp"] != nil {
            self = .access
        } else if claims["idp"] != nil || claims["amr"] != nil || claims["nonce"] != nil {
            self = .id
        } else if let issuer = claims["iss"]?.string, claims["sub"]?.string?.hasSameBytes(as: issuer) == true {
            self = .clientAssertion
        } else if claims["htm"] != nil || claims["htu"] != nil {
            self = .dpopProof
        } else {
            return nil
        }
    }
}

/// A way in which a token of Okta can be wrong, besides the general ones.
///
/// What the spec calls `no-kid` and `hs256-public-key` are the general defects `missing-kid` and `public-key-as-secret`.
enum OktaDefect: String, CaseIterable {
    case issuedInFuture = "issued-in-future", iatMilliseconds = "iat-milliseconds", unknownKeyID = "unknown-kid"
    case retiredKey = "retired-key", nextKey = "next-key", wrongIssuer = "wrong-issuer"
    case wrongAudience = "wrong-audience", audienceArray = "aud-array", typOther = "typ-other"
    case wrongNonce = "wrong-nonce", privateJWK = "private-jwk", wrongMethod = "wrong-htm", wrongURL = "wrong-htu"
    case wrongTokenHash = "wrong-ath", tooOld = "too-old"

    // The values in deliberately wrong tokens say so to any reader (ours).
    private static let audience: JSON = "understudy-wrong-audience"
    private static let issuer = "https://understudy-wrong-issuer.example.test"

    /// - Parameter issuer: the keys of the server that issues it; `nil` for tokens of clients and devices.
    /// - Throws: why that is impossible, as for a key that does not exist.
    func apply(to draft: inout UnsignedToken, of issuer: IssuerKeys?) throws(ControlRefusal) {
        switch self {
        case .retiredKey: try sign(&draft, with: issuer?.unpublished, "no key of the server is retired or spare")
        case .nextKey: try sign(&draft, with: issuer?.next, "the server announces no next key")
        case .unknownKeyID: draft.content.header["kid"] = "understudy-unknown-kid"
        case .typOther: draft.content.header["typ"] = draft.content.header["typ"] == "dpop+jwt" ? "JWT" : "other+jwt"
        case .privateJWK:
            var jwk = try ControlRefusal.require(
                draft.content.header["jwk"]?.object, "the token has no jwk that could reveal a key")
            // ours: the member is the defect; its value reveals nothing.
            jwk["d"] = Self.digest(of: "no private key")
            draft.content.header["jwk"] = .object(jwk)
        case .issuedInFuture: for name in ["iat", "nbf", "exp"] { draft.content.claims.shift(name, by: 3600) }
        case .iatMilliseconds:
            let (milliseconds, isTooFar) = (draft.content.claims["iat"]?.int ?? 0).multipliedReportingOverflow(by: 1000)
            if !isTooFar { draft.content.claims["iat"] = JSON(milliseconds) }
        case .wrongIssuer: draft.content.claims["iss"] = .string(Self.issuer)
        case .wrongAudience: draft.content.claims["aud"] = Self.audience
        case .audienceArray:
            draft.content.claims["aud"] = [draft.content.claims["aud"] ?? .null, Self.audience]
        case .wrongNonce: draft.content.claims["nonce"] = "understudy-wrong-nonce"
        case .wrongMethod: draft.content.claims["htm"] = draft.content.claims["htm"] == "GET" ? "POST" : "GET"
        case .wrongURL: draft.content.claims["htu"] = .string(Self.issuer + "/")
        case .wrongTokenHash: draft.content.claims["ath"] = Self.digest(of: "another token")
        // A second more than Okta allows.
        case .tooOld: draft.content.claims.shift("iat", by: -301)
        }
    }

    private static func digest(of text: String) -> JSON { .string(Base64URL.encode(Digest.sha256(Array(text.utf8)))) }

    private func sign(_ draft: inout UnsignedToken, with key: SigningKey?, _ complaint: String) throws(ControlRefusal) {
        guard let key else { throw ControlRefusal("the defect \(rawValue) is not possible here: \(complaint)") }
        draft.key = key
        draft.content.header["kid"] = JSON(key.id)
    }
}

extension JSONObject {
    /// Moves a time claim that is a whole number; another value stays, and so does one at the end of the range.
    mutating func shift(_ name: String, by seconds: Int) {
        guard let value = self[name]?.int else { return }
        let (moved, isTooFar) = value.addingReportingOverflow(seconds)
        if !isTooFar { self[name] = JSON(moved) }
    }
}

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
            "no proof key is called", name ?? "", among: keys.map(\.name))
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
