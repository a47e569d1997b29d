/// Why a key cannot be used.
public enum KeyError: Error, Sendable, Hashable {
    /// The bytes are not a key of the expected form; the phrase says why.
    case unreadable(String)
    case noKeyInPEM
    /// A private key, or a JWK with private members, where a public key is expected.
    case privateKey
    /// A shared secret (`oct`) where a public key is expected.
    case sharedSecret
    case encryptedPrivateKey
    case notPrivate
    case partsDisagree
    case emptySecret
    case rsaTooSmall(bits: Int)
    case rsaTooLarge(bits: Int)
    case rsaExponent
    case rsaModulus
    case rsaFingerprint
    case unsupportedCurve(String)
    case pointOffCurve
    case pointOfSmallOrder
    case unsupportedType(String)
    /// A missing or invalid JWK member; the phrase says why.
    case member(String, String)
    case purpose(String)
    case algorithm(String)
}

extension KeyError: CustomStringConvertible {
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
