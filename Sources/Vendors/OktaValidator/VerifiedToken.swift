public import JSON

/// A token whose checks all held, signature included.
public struct VerifiedToken: Sendable {
    /// The token as received.
    public let text: String
    /// The header's members.
    public let header: JSONObject
    /// The claims.
    public let claims: JSONObject
    /// Where the key came from.
    public let keyOrigin: OktaKeyOrigin
}

/// Where a key came from.
public enum OktaKeyOrigin: String, Sendable {
    /// An RSA key that was given.
    case rsaKey = "rsa-key"
    /// A JWK that was given.
    case jwk
    /// One of several keys that were given.
    case given
    /// An earlier discovery.
    case cache
    /// The issuer, just now.
    case discovery
}
