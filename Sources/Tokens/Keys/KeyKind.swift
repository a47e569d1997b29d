/// What a key is, without anything secret.
public enum KeyKind: Sendable, Hashable {
    /// An HMAC secret and its length.
    case secret(byteCount: Int)
    /// An RSA key and the size of its modulus.
    case rsa(bits: Int)
    /// A key on an elliptic curve.
    case ec(Curve)
    case ed25519

    /// The curves of RFC 7518 section 6.2.1.1, by their JWK names.
    public enum Curve: String, Sendable, Hashable, CaseIterable {
        /// secp256r1, for ES256.
        case p256 = "P-256"
        /// secp384r1, for ES384.
        case p384 = "P-384"
        /// secp521r1, for ES512.
        case p521 = "P-521"

        /// The size of a coordinate and of each half of a signature, in bytes.
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
    public var description: String {
        switch self {
        case .secret(let byteCount): "secret of \(byteCount) bytes"
        case .rsa(let bits): "RSA key of \(bits) bits"
        case .ec(let curve): "EC key on \(curve.rawValue)"
        case .ed25519: "Ed25519 key"
        }
    }
}
