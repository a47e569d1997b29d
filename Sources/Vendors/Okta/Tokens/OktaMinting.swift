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

extension OktaAccounts {
    /// The default server: the first custom one.
    var defaultServer: OktaServer { servers.first { !$0.isOrg } ?? servers[0] }
}

extension OktaClient {
    /// The secret as a key; `nil` without a secret.
    var secretKey: SigningKey? {
        guard let secret else { return nil }
        // Only an empty secret is no key.
        return try? SigningKey.secret(secret, id: id)
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
    case issuedInFuture = "issued-in-future"
    case iatMilliseconds = "iat-milliseconds"
    case unknownKeyID = "unknown-kid"
    case retiredKey = "retired-key"
    case nextKey = "next-key"
    case wrongIssuer = "wrong-issuer"
    case wrongAudience = "wrong-audience"
    case audienceArray = "aud-array"
    case typOther = "typ-other"
    case wrongNonce = "wrong-nonce"
    case privateJWK = "private-jwk"
    case wrongMethod = "wrong-htm"
    case wrongURL = "wrong-htu"
    case wrongTokenHash = "wrong-ath"
    case tooOld = "too-old"

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
