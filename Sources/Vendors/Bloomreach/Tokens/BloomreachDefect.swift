import Emulation
import JSON
import Tokens

/// A defect of a minted token, named after the failure it causes (ours).
struct BloomreachDefect {
    private let failure: BloomreachFailure
    private let rules: BloomreachTokenFamily

    static func names(of rules: BloomreachTokenFamily) -> [String] { failures(of: rules).map(\.rawValue) }

    private static func failures(of rules: BloomreachTokenFamily) -> [BloomreachFailure] {
        [
            rules.malformed, rules.wrongAlgorithm, rules.unknownKey, rules.badSignature, rules.missingExpiry,
            rules.expired, rules.notYetValid, rules.badSubject,
        ] + (rules.subject == "ids" ? [.streamTokenWrongStream] : [])
    }

    /// The defect with this name; `nil` if it is not specific to this vendor.
    init?(_ name: String, _ rules: BloomreachTokenFamily) {
        guard let failure = Self.failures(of: rules).first(where: { $0.rawValue == name }) else { return nil }
        self.failure = failure
        self.rules = rules
    }

    /// Applies the defect to a token, in some cases by a general one.
    func apply(
        to token: inout UnsignedToken, of stream: BloomreachStream?, in accounts: BloomreachAccounts
    ) throws(MintRefusal) {
        switch failure {
        case rules.malformed: token.defect = "two-parts"
        case rules.wrongAlgorithm: token.defect = "wrong-alg"
        case rules.badSignature: token.defect = "bad-signature"
        case rules.missingExpiry: token.defect = "missing-exp"
        case rules.expired: token.defect = "expired"
        case rules.notYetValid: token.defect = "not-yet-valid"
        case rules.unknownKey: token.content.header["kid"] = "key-of-nobody"
        case rules.badSubject: token.content.claims[rules.subject] = rules.subject == "ids" ? [:] : "ana"
        default:
            // A token of another stream.
            guard let key = accounts.streams.lazy.filter({ $0 !== stream }).flatMap(\.signingKeys).first else {
                throw MintRefusal("no other stream has a signing key")
            }
            token.key = key.signing
            token.content.header["kid"] = .string(key.id)
        }
    }
}
