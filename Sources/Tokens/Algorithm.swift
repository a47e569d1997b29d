import JSON

/// A signature algorithm of a compact JWS: those of RFC 7518 section 3 except `none`, and Ed25519.
///
/// The number is the SHA-2 hash; PS uses it in MGF1 too, with a salt as long.
public enum Algorithm: String, Sendable, Hashable, CaseIterable {
    case hs256 = "HS256"
    case hs384 = "HS384"
    case hs512 = "HS512"
    case rs256 = "RS256"
    case rs384 = "RS384"
    case rs512 = "RS512"
    case ps256 = "PS256"
    case ps384 = "PS384"
    case ps512 = "PS512"
    case es256 = "ES256"
    case es384 = "ES384"
    case es512 = "ES512"
    /// Ed25519, named as in RFC 8037 section 3.1.
    case edDSA = "EdDSA"

    public enum Family: Sendable, Hashable {
        /// HMAC: every key that can verify can also sign.
        case hmac
        /// RSASSA-PKCS1-v1_5.
        case rsaPKCS1
        case rsaPSS
        case ecdsa
        case edwards
    }

    public var family: Family {
        switch self {
        case .hs256, .hs384, .hs512: .hmac
        case .rs256, .rs384, .rs512: .rsaPKCS1
        case .ps256, .ps384, .ps512: .rsaPSS
        case .es256, .es384, .es512: .ecdsa
        case .edDSA: .edwards
        }
    }

    /// The values of `alg` that name this algorithm.
    ///
    /// RFC 9864 section 2.2 adds `Ed25519`, which is more specific than `EdDSA`.
    public var names: [String] { self == .edDSA ? [rawValue, "Ed25519"] : [rawValue] }

    /// The algorithm with that name, compared byte for byte.
    public init?(named name: String) {
        guard let match = Self.allCases.first(where: { $0.isNamed(name) }) else { return nil }
        self = match
    }

    func isNamed(_ name: String) -> Bool {
        name.hasSameBytes(as: rawValue) || self == .edDSA && name.hasSameBytes(as: "Ed25519")
    }

    /// OpenSSL's name of the hash; `nil` if the algorithm fixes its own.
    var digestName: String? {
        switch self {
        case .hs256, .rs256, .ps256, .es256: "SHA256"
        case .hs384, .rs384, .ps384, .es384: "SHA384"
        case .hs512, .rs512, .ps512, .es512: "SHA512"
        case .edDSA: nil
        }
    }

    /// The size of the hash in bytes; `nil` if the algorithm fixes its own.
    var hashByteCount: Int? {
        switch self {
        case .hs256, .rs256, .ps256, .es256: 32
        case .hs384, .rs384, .ps384, .es384: 48
        case .hs512, .rs512, .ps512, .es512: 64
        case .edDSA: nil
        }
    }
}

/// What a key is, without anything secret.
public enum KeyKind: Sendable, Hashable {
    /// An HMAC secret and its length.
    case secret(byteCount: Int)
    /// An RSA key and the size of its modulus.
    case rsa(bits: Int)
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

/// ECDSA signatures: r and s concatenated in a JWS (RFC 7518 section 3.4), a DER sequence in OpenSSL.
extension KeyKind {
    /// The signature in OpenSSL's form; `nil` if its length is wrong, or r or s is zero.
    func openSSLForm(of signature: [UInt8]) -> [UInt8]? {
        guard case .ec(let curve) = self else { return signature }
        guard signature.count == 2 * curve.byteCount else { return nil }
        let halves = [signature.prefix(curve.byteCount), signature.suffix(curve.byteCount)]
        // Libraries that accepted r = s = 0 accepted every token (CVE-2022-21449); neither OpenSSL nor Understudy does.
        guard halves.allSatisfy({ half in half.contains { $0 != 0 } }) else { return nil }
        let content = halves.flatMap { Self.derInteger($0) }
        return [0x30] + Self.derLength(content.count) + content
    }

    /// The signature in JWS form; `nil` if OpenSSL's is not the expected sequence.
    func joseForm(of signature: [UInt8]) -> [UInt8]? {
        guard case .ec(let curve) = self else { return signature }
        guard var content = DERReader(sequence: signature[...]), let r = content.positiveNumber(),
            let s = content.positiveNumber(), content.isAtEnd
        else { return nil }
        guard [r, s].allSatisfy({ $0.count <= curve.byteCount }) else { return nil }
        return [r, s].flatMap { [UInt8](repeating: 0, count: curve.byteCount - $0.count) + $0 }
    }

    private static func derInteger(_ magnitude: ArraySlice<UInt8>) -> [UInt8] {
        var digits = Array(magnitude.drop { $0 == 0 })
        if let first = digits.first, first >= 0x80 { digits.insert(0, at: 0) }
        return [0x02] + derLength(digits.count) + digits
    }

    /// Lengths up to 255, enough for P-521 signatures.
    private static func derLength(_ count: Int) -> [UInt8] { count < 0x80 ? [UInt8(count)] : [0x81, UInt8(count)] }
}

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

extension KeyError {
    /// What is wrong with a text that should hold a private key: of a key that is none, what it is instead.
    package var inPEM: String {
        switch self {
        case .notPrivate, .rsaTooSmall, .rsaTooLarge, .rsaExponent, .rsaModulus, .rsaFingerprint, .unsupportedCurve,
            .pointOffCurve, .pointOfSmallOrder, .unsupportedType:
            "found \(self)"
        case .unreadable, .noKeyInPEM, .privateKey, .sharedSecret, .encryptedPrivateKey, .partsDisagree, .emptySecret,
            .member, .purpose, .algorithm:
            "is not a private key in PEM: \(self)"
        }
    }
}

extension KeyError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unreadable(let what): "cannot be read: \(what)"
        case .noKeyInPEM: "no PEM block with a public key; expected PUBLIC KEY, RSA PUBLIC KEY or CERTIFICATE"
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
        case .algorithm(let name): "algorithm \(name) is unknown, or this key does not support it"
        }
    }
}
