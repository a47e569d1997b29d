/// Published keys needed to judge a request.
public struct KeyRequirement: Sendable, Hashable {
    /// The issuer's name, as in ``RemoteKeys/issuer``.
    public let issuer: String
    /// The key that the token names.
    public let keyID: String?

    public init(of issuer: String, naming keyID: String?) {
        self.issuer = issuer
        self.keyID = keyID
    }
}
