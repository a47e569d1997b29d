internal import JSON

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
        /// RSASSA-PSS.
        case rsaPSS
        case ecdsa
        /// EdDSA.
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
    public var names: [String] {
        self == .edDSA ? [rawValue, "Ed25519"] : [rawValue]
    }

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
