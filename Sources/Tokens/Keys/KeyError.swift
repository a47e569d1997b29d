/// Why a key cannot be used.
public enum KeyError: Error, Sendable, Hashable {
    /// The bytes are not a key of the expected form; the phrase says why.
    case unreadable(String)
    /// The text has no PEM block with a key.
    case noKeyInPEM
    /// A private key, or a JWK with private members, where a public key is expected.
    case privateKey
    /// A shared secret (`oct`) where a public key is expected.
    case sharedSecret
    /// A password-protected private key.
    case encryptedPrivateKey
    /// A public key where a private one is needed.
    case notPrivate
    /// The private and public parts belong to different keys.
    case partsDisagree
    /// An empty HMAC secret.
    case emptySecret
    /// An RSA modulus under 2048 bits.
    case rsaTooSmall(bits: Int)
    /// An RSA modulus over 16,384 bits, which OpenSSL does not support.
    case rsaTooLarge(bits: Int)
    /// An RSA exponent that is even, 1, or longer than 64 bits.
    case rsaExponent
    /// An even RSA modulus.
    case rsaModulus
    /// An RSA modulus from a broken prime generator (CVE-2017-15361, “ROCA”).
    case rsaFingerprint
    /// A curve that is not in RFC 7518.
    case unsupportedCurve(String)
    case pointOffCurve
    /// An Ed25519 point of small order, for which some signature fits every message.
    case pointOfSmallOrder
    /// A key type other than RSA, EC, Ed25519 or a secret.
    case unsupportedType(String)
    /// A missing or invalid JWK member; the phrase says why.
    case member(String, String)
    /// The key is not meant for verifying signatures.
    case purpose(String)
    /// The algorithm is unknown, or unsupported by this kind of key.
    case algorithm(String)
}

extension KeyError: CustomStringConvertible {
    /// What was found and what was expected.
    public var description: String {
        switch self {
        case .unreadable(let what): "cannot be read: \(what)"
        case .noKeyInPEM: "no PEM block with a key; expected PUBLIC KEY, RSA PUBLIC KEY, CERTIFICATE or PRIVATE KEY"
        case .privateKey: "a private key; expected a public one"
        case .sharedSecret: "a shared secret (oct); expected a public key"
        case .encryptedPrivateKey: "the private key is protected by a password; expected one without"
        case .notPrivate: "a public key; expected a private one"
        case .partsDisagree: "its private and its public part belong to different keys"
        case .emptySecret: "an empty secret; anybody could sign with it"
        case .rsaTooSmall(let bits): "an RSA key of \(bits) bits; expected 2048 or more"
        case .rsaTooLarge(let bits): "an RSA key of \(bits) bits; expected 16384 or fewer"
        case .rsaExponent: "an RSA exponent that is even, 1 or longer than 64 bits; 65537 is usual"
        case .rsaModulus: "an even RSA modulus"
        case .rsaFingerprint:
            "an RSA modulus with the ROCA fingerprint (CVE-2017-15361); whoever has it can find its primes"
        case .unsupportedCurve(let name): "curve \(name); expected P-256, P-384, P-521 or Ed25519"
        case .pointOffCurve: "a point that does not lie on its curve"
        case .pointOfSmallOrder: "an Ed25519 point of small order; some signature fits every message"
        case .unsupportedType(let name): "a key of type \(name); expected RSA, EC, Ed25519 or a secret"
        case .member(let name, let why): "member “\(name)” \(why)"
        case .purpose(let what): "the key is not for verifying signatures: \(what)"
        case .algorithm(let name): "algorithm \(name) is unknown or not one this key can do"
        }
    }
}
