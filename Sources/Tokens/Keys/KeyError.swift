/// Why a key cannot be used.
public enum KeyError: Error, Sendable, Hashable {
    /// The bytes are no key of that form; the phrase says what about them.
    case unreadable(String)
    /// The text holds no PEM block that names a key.
    case noKeyInPEM
    /// A private key, or a JWK with private members, where a public one belongs.
    case privateKey
    /// A shared secret (`oct`) where a public key belongs.
    case sharedSecret
    /// A private key protected by a password.
    case encryptedPrivateKey
    /// A public key where a private one is needed.
    case notPrivate
    /// The private and the public part belong to different keys.
    case partsDisagree
    /// An HMAC secret without bytes.
    case emptySecret
    /// An RSA modulus under 2048 bits.
    case rsaTooSmall(bits: Int)
    /// An RSA modulus over 16,384 bits, which OpenSSL does not compute with.
    case rsaTooLarge(bits: Int)
    /// An RSA exponent that is even, 1, or longer than 64 bits.
    case rsaExponent
    /// An even RSA modulus.
    case rsaModulus
    /// An RSA modulus that a broken generator of primes has made (CVE-2017-15361, “ROCA”).
    case rsaFingerprint
    /// A curve that no algorithm of RFC 7518 uses.
    case unsupportedCurve(String)
    /// A point that does not lie on its curve.
    case pointOffCurve
    /// An Ed25519 point with which some signature fits every message.
    case pointOfSmallOrder
    /// A type of key that is not RSA, EC, Ed25519 or a secret.
    case unsupportedType(String)
    /// A member of a JWK that is absent or wrong; the phrase says why.
    case member(String, String)
    /// The key is meant for something other than verifying signatures.
    case purpose(String)
    /// The algorithm is none of ours, or none that such a key can do.
    case algorithm(String)
}

extension KeyError: CustomStringConvertible {
    /// What was found and what would be right.
    public var description: String {
        switch self {
        case .unreadable(let what): "cannot be read: \(what)"
        case .noKeyInPEM: "no PEM block with a key; expected PUBLIC KEY, RSA PUBLIC KEY, CERTIFICATE or PRIVATE KEY"
        case .privateKey: "a private key; expected a public one"
        case .sharedSecret: "a shared secret (oct); expected a public key"
        case .encryptedPrivateKey: "the private key is protected by a password; expected one without"
        case .notPrivate: "a public key; expected a private one"
        case .partsDisagree: "its private and its public part belong to different keys"
        case .emptySecret: "an empty secret; everybody could sign with it"
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
