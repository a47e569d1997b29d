import Emulation
import JSON
import Tokens

/// A token as Bloomreach reads it; its members are what it says, whether or not it deserves trust.
final class BloomreachToken: Sendable {
    let compact: CompactToken
    /// The `kid` of the header, which names who signed.
    let keyID: String?
    private let verification = SignatureMemory<BloomreachSigningKey>()

    init(bytes: [UInt8]) {
        compact = CompactToken(bytes: bytes)
        keyID = compact.header?["kid"]?.string
    }

    convenience init(_ text: String) { self.init(bytes: Array(text.utf8)) }

    /// The judgement of the signature, which depends on nothing but the token and the key, and so is made once.
    func signature(by key: BloomreachSigningKey, _ algorithm: Algorithm, _ finding: inout Finding?) -> Finding.Outcome {
        verification.outcome(by: key, &finding) {
            compact.signature(by: key.verification, algorithm: algorithm, &$0)
        }
    }

    /// The mistake with this or another secret that explains the signature; `nil` for one that fits.
    func mistake(
        by key: BloomreachSigningKey, _ algorithm: Algorithm, among others: () -> [SignatureDiagnosis.OtherSecret]
    ) -> SignatureDiagnosis? {
        var nothing: Finding?
        guard signature(by: key, algorithm, &nothing) == .failed else { return nil }
        return verification.mistake(by: key) {
            SignatureDiagnosis.explain(compact, algorithm: algorithm, secret: key.text, others: others())
        }
    }

    /// The customer ids that a claim holds; `nil` when it is no map of names to texts with something in it.
    func ids(_ claim: String) -> BloomreachIDs? { compact.claims?[claim].flatMap(BloomreachIDs.init(claim:)) }
}

extension BloomreachIDs {
    /// The ids that a claim holds, by which tokens are read and minted alike; `nil` when it is no map of names to texts that
    /// are not empty, or names nobody.
    init?(claim: JSON) {
        guard let object = claim.object, object.allSatisfy({ $0.value.string?.isEmpty == false }),
            let ids = try? BloomreachIDs(claim), !ids.isEmpty
        else { return nil }
        self = ids
    }
}
