public import JSON

/// A token whose checks all held, signature included.
public struct VerifiedToken: Sendable {
    public let text: String
    public let header: JSONObject
    public let claims: JSONObject
    public let keyOrigin: OktaKeyOrigin
}

public enum OktaKeyOrigin: String, Sendable {
    case rsaKey = "rsa-key"
    case jwk
    /// One of several keys that were given.
    case given
    /// An earlier discovery.
    case cache
    /// The issuer, just now.
    case discovery
}
