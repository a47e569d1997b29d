package import JSON
package import Tokens

/// A setting that a checker may take, by its name on the command line.
package enum CheckerOption: String, Sendable, CaseIterable {
    case issuer
    case audience
    case nonce
    case clientID = "cid"
    case scopes = "scp"
    case leeway
    case expiry = "exp"
    case issuedAt = "iat"
    case type = "typ"
    case claims = "claim"
    case jwk
    case rsaKey = "rsa-key"
    case profile
    case nearExpiry = "near-expiry"
}

/// What a checker is told besides the token and the moment; what is `nil` is left to the client.
public struct CheckerSettings: Sendable {
    /// The `iss` claim; keys may be looked up there.
    package var issuer: String?
    /// The `aud` claim, or a member of it.
    package var audience: String?
    package var nonce: String?
    /// The `cid` claim, which names the client.
    package var clientID: String?
    /// The scopes that must be granted, separated by blanks.
    package var scopes: String?
    /// The header's `typ`.
    package var type: String?
    /// The grace for times, in seconds.
    package var leeway: Int?
    /// Whether `exp` is judged.
    package var checksExpiry: Bool?
    /// Whether `iat` is judged.
    package var checksIssuedAt: Bool?
    /// Further claims and the texts that they must be.
    package var claims: [(name: String, value: String)] = []
    /// The key, or those of which the token names one.
    package var key: CheckerKey?
    /// Whether the client behaves as documented or as observed.
    package var profile: BehaviourProfile
    /// How long before `exp` a token counts as expiring.
    package var margin: Duration?

    /// Creates settings that leave everything else to the client.
    package init(key: CheckerKey? = nil, profile: BehaviourProfile = .documented, margin: Duration? = nil) {
        self.key = key
        self.profile = profile
        self.margin = margin
    }
}

package enum CheckerKey: Sendable {
    /// A JWK, which may turn out unusable.
    case jwk(JSON)
    /// An RSA key; the token need not name it.
    case rsa(VerificationKey)
    /// Keys of which the token names one, such as those that a sandbox publishes.
    case set([VerificationKey])
}
