import Emulation
import JSON
import Tokens

/// A token as Bloomreach reads it; its members are not yet verified.
final class BloomreachToken: Sendable {
    let compact: CompactToken
    /// The `kid` of the header, which names the signing key.
    let keyID: String?
    private let verification = SignatureMemory<BloomreachSigningKey>()

    init(bytes: [UInt8]) {
        compact = CompactToken(bytes: bytes)
        keyID = compact.header?["kid"]?.string
    }

    convenience init(_ text: String) { self.init(bytes: Array(text.utf8)) }

    /// The result of the signature check, cached since it depends only on token and key.
    func signature(by key: BloomreachSigningKey, _ algorithm: Algorithm, _ finding: inout Finding?) -> Finding.Outcome {
        verification.outcome(by: key, &finding) {
            compact.signature(by: key.verification, algorithm: algorithm, &$0)
        }
    }

    /// The mistake with this or another secret that explains the signature; `nil` if it is valid.
    func mistake(
        by key: BloomreachSigningKey, _ algorithm: Algorithm, among others: () -> [SignatureDiagnosis.OtherSecret]
    ) -> SignatureDiagnosis? {
        var nothing: Finding?
        guard signature(by: key, algorithm, &nothing) == .failed else { return nil }
        return verification.mistake(by: key) {
            SignatureDiagnosis.explain(compact, algorithm: algorithm, secret: key.text, others: others())
        }
    }

    /// The customer ids in a claim; `nil` unless it is a non-empty map of names to texts.
    func ids(_ claim: String) -> BloomreachIDs? { compact.claims?[claim].flatMap(BloomreachIDs.init(claim:)) }
}

extension BloomreachIDs {
    /// The ids in a claim, used for both reading and minting; `nil` unless it maps names to non-empty texts and names a
    /// customer.
    init?(claim: JSON) {
        guard let object = claim.object, object.allSatisfy({ $0.value.string?.isEmpty == false }),
            let ids = try? BloomreachIDs(claim), !ids.isEmpty
        else { return nil }
        self = ids
    }
}
