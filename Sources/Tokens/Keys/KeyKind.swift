/// What a key is, as far as it may be told to anybody.
public enum KeyKind: Sendable, Hashable {
    /// An HMAC secret of so many bytes.
    case secret(byteCount: Int)
    /// An RSA key with a modulus of so many bits.
    case rsa(bits: Int)
    /// A key on an elliptic curve.
    case ec(Curve)
    /// An Ed25519 key.
    case ed25519

    /// The curves of RFC 7518 section 6.2.1.1, by the names they have in a JWK.
    public enum Curve: String, Sendable, Hashable, CaseIterable {
        /// secp256r1, for ES256.
        case p256 = "P-256"
        /// secp384r1, for ES384.
        case p384 = "P-384"
        /// secp521r1, for ES512.
        case p521 = "P-521"

        /// The bytes of one coordinate, and of each half of a signature.
        var byteCount: Int {
            switch self {
            case .p256: 32
            case .p384: 48
            case .p521: 66
            }
        }

        var openSSLName: String {
            switch self {
            case .p256: "prime256v1"
            case .p384: "secp384r1"
            case .p521: "secp521r1"
            }
        }
    }

    /// The algorithms that such a key can do, nothing else known of it.
    public var algorithms: [Algorithm] {
        switch self {
        case .secret: [.hs256, .hs384, .hs512]
        case .rsa: [.rs256, .rs384, .rs512, .ps256, .ps384, .ps512]
        case .ec(.p256): [.es256]
        case .ec(.p384): [.es384]
        case .ec(.p521): [.es512]
        case .ed25519: [.edDSA]
        }
    }
}

extension KeyKind: CustomStringConvertible {
    /// The kind for people.
    public var description: String {
        switch self {
        case .secret(let byteCount): "secret of \(byteCount) bytes"
        case .rsa(let bits): "RSA key of \(bits) bits"
        case .ec(let curve): "EC key on \(curve.rawValue)"
        case .ed25519: "Ed25519 key"
        }
    }
}
