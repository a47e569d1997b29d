import Emulation
import JSON
import Tokens

/// The token that an app's own backend signs for one customer, with a private key of the project.
///
/// Source: documented, seed and reference page on customer tokens; what is strict beyond that is ours.
extension BloomreachTokenFamily {
    static let customerToken = BloomreachTokenFamily(
        algorithm: .hs256, subject: "sub", source: "reference page on customer tokens",
        malformed: .customerTokenMalformed, wrongAlgorithm: .customerTokenWrongAlgorithm,
        unknownKey: .customerTokenUnknownKey, badSignature: .customerTokenBadSignature,
        missingExpiry: .customerTokenMissingExpiry, expired: .customerTokenExpired,
        notYetValid: .customerTokenNotYetValid, badSubject: .customerTokenBadSubject)
}

extension Bloomreach {
    /// What a customer token of a project tells, as far as no request body is needed.
    static let customerTokenRules = RuleList(BloomreachTokenFamily.customerToken.rules)
}

extension TokenDraft {
    /// A customer token; the order of members is that of the vendor's samples, so that equal input gives an equal token.
    static func customerToken(key: BloomreachSigningKey, subject: JSON, expiry: JSON) -> TokenDraft {
        TokenDraft(
            header: ["alg": "HS256", "typ": "JWT", "kid": .string(key.id)], claims: ["sub": subject, "exp": expiry])
    }
}
