package import Tokens

/// A secret that a vendor shares with signers, described without revealing it.
public struct SharedSecret: Sendable {
    package let owner: String
    package let algorithm: Algorithm
    /// Its length in bytes.
    package let byteCount: Int

    /// Describes a secret of that owner; only the length of the key is kept.
    package init(owner: String, algorithm: Algorithm, key: SigningKey) {
        self.owner = owner
        self.algorithm = algorithm
        byteCount =
            switch key.kind {
            case .secret(let byteCount): byteCount
            case .rsa, .ec, .ed25519: 0
            }
    }
}
