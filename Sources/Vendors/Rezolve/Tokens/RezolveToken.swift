import Emulation
import JSON
import Tokens

/// A token as Rezolve reads it; its members are unverified.
final class RezolveToken: Sendable {
    /// What a token is for. Only `rezolve_entity_id` decides, since a sample app omits the header `auth` (ours).
    enum Kind: String, Sendable {
        case registration
        case login
    }

    /// The entity id of a customer who is not registered yet. Source: JWT page, JWT Payload.
    static let noEntity = ":NONE:"

    let compact: CompactToken
    let kind: Kind
    let entityID: String
    let partnerEntityID: String
    let deviceID: String
    /// Whether there is an `nbf`; few tokens have one.
    let hasBeginning: Bool
    private let verification = SignatureMemory<RezolveAuthKey>()

    convenience init(_ text: String) {
        self.init(bytes: Array(text.utf8))
    }

    init(bytes: [UInt8]) {
        compact = CompactToken(bytes: bytes)
        let claims = compact.claims
        entityID = claims?["rezolve_entity_id"]?.string ?? ""
        partnerEntityID = claims?["partner_entity_id"].flatMap(Self.partnerEntityID) ?? ""
        deviceID = claims?["device_id"]?.string ?? ""
        kind = entityID.hasSameBytes(as: Self.noEntity) ? .registration : .login
        hasBeginning = claims?["nbf"] != nil
    }

    /// The outcome of the signature check; computed once, since it depends only on the token and the key.
    func signature(by key: RezolveAuthKey, _ finding: inout Finding?) -> Finding.Outcome {
        verification.outcome(by: key, &finding) { compact.signature(by: key.verification, algorithm: .hs512, &$0) }
    }

    /// The mistake with this or another secret that explains the signature; `nil` if the signature fits.
    func mistake(by key: RezolveAuthKey, among others: () -> [SignatureDiagnosis.OtherSecret]) -> SignatureDiagnosis? {
        var nothing: Finding?
        guard signature(by: key, &nothing) == .failed else { return nil }
        return verification.mistake(by: key) {
            SignatureDiagnosis.explain(compact, algorithm: .hs512, secret: key.text, others: others())
        }
    }

    /// The length of the partner's id for the user, in characters.
    var userLength: Int {
        // Characters are counted only if needed: there are never more of them than bytes.
        let bytes = partnerEntityID.utf8.count
        return bytes <= 255 ? bytes : partnerEntityID.count
    }

    /// A JSON integer becomes its decimal string (ours): the vendor calls the id "numerical, or a string". The digits
    /// are kept exactly, so ids beyond 2^53 work too.
    private static func partnerEntityID(_ claim: JSON) -> String? {
        claim.string ?? claim.number.flatMap { $0.isInteger ? $0.literal : nil }
    }
}
