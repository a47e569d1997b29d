import Emulation
import JSON
import Tokens

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

    /// Spoils a token.
    ///
    /// - Parameter issuer: the keys of the server that issues it; `nil` for tokens of clients and devices.
    /// - Throws: why that is impossible, as for a key that there is not.
    func apply(to draft: inout UnsignedToken, of issuer: IssuerKeys?) throws(MintRefusal) {
        switch self {
        case .retiredKey: try sign(&draft, with: issuer?.unpublished, "no key of the server is retired or spare")
        case .nextKey: try sign(&draft, with: issuer?.next, "the server announces no next key")
        case .unknownKeyID: draft.content.header["kid"] = .string(OktaPreparedValue.keyID)
        case .typOther: draft.content.header["typ"] = draft.content.header["typ"] == "dpop+jwt" ? "JWT" : "other+jwt"
        case .privateJWK:
            guard var jwk = draft.content.header["jwk"]?.object else {
                throw MintRefusal("the token has no jwk that could reveal a key")
            }
            // ours: the member is the defect; its value reveals nothing.
            jwk["d"] = Self.digest(of: "no private key")
            draft.content.header["jwk"] = .object(jwk)
        case .issuedInFuture, .iatMilliseconds, .wrongIssuer, .wrongAudience, .audienceArray, .wrongNonce, .wrongMethod,
            .wrongURL, .wrongTokenHash, .tooOld:
            change(&draft.content.claims)
        }
    }

    private static func digest(of text: String) -> JSON {
        .string(Base64URL.encode(Digest.sha256(Array(text.utf8))))
    }

    private func sign(
        _ draft: inout UnsignedToken, with key: SigningKey?, _ complaint: String
    ) throws(MintRefusal) {
        guard let key else { throw MintRefusal("the defect \(rawValue) is not possible here: \(complaint)") }
        draft.key = key
        draft.content.header["kid"] = JSON(key.id)
    }

    private func change(_ claims: inout JSONObject) {
        switch self {
        case .issuedInFuture: for name in ["iat", "nbf", "exp"] { claims.shift(name, by: 3600) }
        case .iatMilliseconds:
            let (milliseconds, isTooFar) = (claims["iat"]?.int ?? 0).multipliedReportingOverflow(by: 1000)
            if !isTooFar { claims["iat"] = JSON(milliseconds) }
        case .wrongIssuer: claims["iss"] = .string(OktaPreparedValue.issuer)
        case .wrongAudience: claims["aud"] = .string(OktaPreparedValue.audience)
        case .audienceArray: claims["aud"] = [claims["aud"] ?? .null, .string(OktaPreparedValue.audience)]
        case .wrongNonce: claims["nonce"] = .string(OktaPreparedValue.nonce)
        case .wrongMethod: claims["htm"] = claims["htm"] == "GET" ? "POST" : "GET"
        case .wrongURL: claims["htu"] = .string(OktaPreparedValue.issuer + "/")
        case .wrongTokenHash: claims["ath"] = Self.digest(of: "another token")
        // A second more than Okta allows.
        case .tooOld: claims.shift("iat", by: -301)
        case .unknownKeyID, .retiredKey, .nextKey, .typOther, .privateJWK: break
        }
    }
}

/// The values that stand in tokens which are wrong on purpose: they say so to whoever reads them (ours).
enum OktaPreparedValue {
    static let nonce = "understudy-wrong-nonce"
    static let audience = "understudy-wrong-audience"
    static let issuer = "https://understudy-wrong-issuer.example.test"
    static let keyID = "understudy-unknown-kid"
}

extension JSONObject {
    /// Moves a time claim that is a whole number; another value stays, and so does one at the end of the range.
    mutating func shift(_ name: String, by seconds: Int) {
        guard let value = self[name]?.int else { return }
        let (moved, isTooFar) = value.addingReportingOverflow(seconds)
        if !isTooFar { self[name] = JSON(moved) }
    }
}
