import Emulation
import HTTPTypes
import JSON
import Tokens
import Wire

extension HTTPField.Name {
    /// RFC 9449 section 4.1.
    static let dpop = Self("DPoP") ?? .authorization
    /// RFC 9449 section 8; written as in the documented answer (guide:dpop).
    static let dpopNonce = Self("dpop-nonce") ?? .eTag
}

/// A proof that the sender of a request has a private key (RFC 9449 section 4.2).
final class OktaProof: Sendable {
    /// Source: ref.
    static let algorithms: [Algorithm] = [.rs256, .rs384, .rs512, .es256, .es384, .es512]

    let compact: CompactToken
    let key: OktaProofKey

    init(bytes: [UInt8]) {
        compact = CompactToken(bytes: bytes)
        key = OktaProofKey.of(compact)
    }

    /// The proof of a request; `nil` without one, and for several, of which none counts.
    convenience init?(_ fields: FieldLines) {
        guard !fields.isRepeated(.dpop), let bytes = fields.bytes(of: .dpop) else { return nil }
        self.init(bytes: Array(bytes))
    }

    /// The algorithm of the header, if it is an accepted one.
    var algorithm: Algorithm? { compact.namedAlgorithm(among: Self.algorithms) }

    /// The id with which each proof of a key is used once.
    var id: String? { compact.claims?["jti"]?.string }
}

/// The public key in the header of a proof.
enum OktaProofKey: Sendable {
    case absent
    /// What is there cannot verify anything, or is not public.
    case unusable(KeyError)
    /// - Parameter thumbprint: as in `cnf.jkt` of bound tokens (RFC 9449 section 6.1).
    case usable(VerificationKey, thumbprint: String)

    /// A client sends the same header with each proof, and reading a key takes longer than finding it here.
    private static let recent = RecentReadings<OktaProofKey>()

    static func of(_ token: CompactToken) -> OktaProofKey {
        guard let header = token.header else { return .absent }
        return recent.reading(of: token.bytes.prefix { $0 != UInt8(ascii: ".") }) { _ in OktaProofKey(header["jwk"]) }
    }

    private init(_ jwk: JSON?) {
        guard let jwk else {
            self = .absent
            return
        }
        do throws(KeyError) {
            let key = try VerificationKey.jwk(jwk)
            // Only secrets have no thumbprint, and they are refused.
            guard let thumbprint = key.thumbprint else { throw KeyError.sharedSecret }
            self = .usable(key, thumbprint: thumbprint)
        } catch {
            self = .unusable(error)
        }
    }

    var thumbprint: String? { if case .usable(_, let thumbprint) = self { thumbprint } else { nil } }
}
