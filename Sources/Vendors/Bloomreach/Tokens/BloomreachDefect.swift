import Emulation
import JSON
import Tokens

/// A defect of a minted token, named after the failure it causes (ours).
struct BloomreachDefect {
    private let failure: BloomreachFailure
    private let rules: BloomreachTokenFamily

    /// The names of the defects for a kind of token.
    static func names(of rules: BloomreachTokenFamily) -> [String] { failures(of: rules).map(\.rawValue) }

    private static func failures(of rules: BloomreachTokenFamily) -> [BloomreachFailure] {
        [
            rules.malformed, rules.wrongAlgorithm, rules.unknownKey, rules.badSignature, rules.missingExpiry,
            rules.expired, rules.notYetValid, rules.badSubject,
        ] + (rules.subject == "ids" ? [.streamTokenWrongStream] : [])
    }

    /// The defect with this name; `nil` if it is not specific to this vendor.
    init?(_ name: String?, _ rules: BloomreachTokenFamily) {
        guard let name, let failure = Self.failures(of: rules).first(where: { $0.rawValue == name }) else { return nil }
        self.failure = failure
        self.rules = rules
    }

    /// The general defect that produces it; `nil` if the draft alone does.
    var general: String? {
        switch failure {
        case rules.malformed: "two-parts"
        case rules.wrongAlgorithm: "wrong-alg"
        case rules.badSignature: "bad-signature"
        case rules.missingExpiry: "missing-exp"
        case rules.expired: "expired"
        case rules.notYetValid: "not-yet-valid"
        default: nil
        }
    }

    /// The key that signs.
    func key(for signer: Bloomreach.Signer, in accounts: BloomreachAccounts) throws(MintRefusal) -> BloomreachSigningKey
    {
        guard failure == .streamTokenWrongStream else { return signer.key }
        let others = accounts.streams.filter { $0 !== signer.stream }
        guard let key = others.lazy.flatMap(\.signingKeys).first else {
            throw MintRefusal("no other stream has a signing key")
        }
        return key
    }

    /// Applies the defect to the draft, and sets the key id.
    func change(_ draft: inout TokenDraft, _ key: BloomreachSigningKey) {
        switch failure {
        case rules.unknownKey: draft.header["kid"] = "key-of-nobody"
        case rules.badSubject: draft.claims[rules.subject] = rules.subject == "ids" ? [:] : "ana"
        case .streamTokenWrongStream: draft.header["kid"] = .string(key.id)
        default: break
        }
    }
}
