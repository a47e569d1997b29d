public import Tokens

/// A secret that a vendor shares with whoever signs, as it may be shown: never itself.
public struct SharedSecret: Sendable {
    /// Whose it is, in words.
    public let owner: String
    /// What it signs with.
    public let algorithm: Algorithm
    /// How many bytes it has.
    public let byteCount: Int

    /// A secret of that owner; of the key nothing but its length is kept.
    public init(owner: String, algorithm: Algorithm, key: SigningKey) {
        self.owner = owner
        self.algorithm = algorithm
        byteCount =
            switch key.kind {
            case .secret(let byteCount): byteCount
            case .rsa, .ec, .ed25519: 0
            }
    }
}
