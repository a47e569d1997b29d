import Tokens

/// A kind of token that can be minted, and recognized.
enum OktaTokenKind: String, CaseIterable {
    case access, id, ssws
    case clientAssertion = "client-assertion"
    case dpopProof = "dpop-proof"

    var about: String {
        switch self {
        case .access: "an access token of an authorization server"
        case .id: "an ID token of an authorization server"
        case .ssws: "the answer of a device to a push challenge"
        case .clientAssertion: "authenticates a client by private_key_jwt or client_secret_jwt"
        case .dpopProof: "proves possession of a key to a client's server (DPoP)"
        }
    }

    /// What a mint request may have.
    var members: [(name: String, about: String)] {
        switch self {
        case .access:
            Self.grant + [("jkt", "thumbprint of the key that it is bound to; bound to none"), Self.lifetime("3600")]
        case .id:
            Self.grant + [
                ("nonce", "as in the authorize request; none"),
                ("access_token", "the access token that at_hash is made from; none"), Self.lifetime("3600"),
            ]
        case .ssws:
            [
                ("factor", "id of the push factor; the first one with a device key"),
                ("user", "id or login of the user; the factor's owner"),
                ("transaction", "id of the challenge; the newest one of the factor that waits"),
                ("aud", "the host; localhost"),
                ("expires_in", "seconds from now to exp; 60"),
            ]
        case .clientAssertion:
            [
                ("client", "id of the client; the first one with a key"),
                ("method", "private_key_jwt or client_secret_jwt; the client's"),
                ("server", "id of the server; the first custom one"),
                ("endpoint", "the path behind /v1/ that it is for; token"), Self.lifetime("300"),
            ]
        case .dpopProof:
            [
                ("key", "name of the proof key; the first one"), ("method", "htm; POST, with access_token GET"),
                ("url", "htu; the token endpoint of the first custom server, with access_token its userinfo"),
                ("nonce", "the server's nonce, or current for the newest one; none"),
                ("access_token", "the access token that ath is made from; none"),
            ]
        }
    }

    private static let grant = [
        ("server", "id of the authorization server; the first custom one"),
        ("client", "id of the client; the first one"),
        ("user", "id or login of the user; the default user, and none for a service"),
        ("scopes", "the granted scopes; openid profile email, and for a service those of the server"),
    ]

    private static func lifetime(_ seconds: String) -> (String, String) {
        ("expires_in", "seconds from now to exp; \(seconds)")
    }

    /// Defects besides the general ones.
    var defects: [OktaDefect] {
        let token: [OktaDefect] = [
            .issuedInFuture, .iatMilliseconds, .unknownKeyID, .retiredKey, .nextKey, .wrongIssuer, .wrongAudience,
            .audienceArray, .typOther,
        ]
        return switch self {
        case .access: token
        case .id: token + [.wrongNonce]
        case .ssws: [.issuedInFuture, .iatMilliseconds, .wrongIssuer, .wrongAudience]
        case .clientAssertion: [.issuedInFuture, .iatMilliseconds, .unknownKeyID, .wrongIssuer, .wrongAudience]
        case .dpopProof: [.typOther, .privateJWK, .wrongMethod, .wrongURL, .wrongTokenHash, .tooOld]
        }
    }
}

extension OktaTokenKind {
    /// The kind that a token has by its own content; `nil` when nothing tells it apart.
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
