import Emulation
import JSON
import Tokens

/// The token that an app's own backend signs for one customer, with a private key of the project.
///
/// Source: documented, SDK page and reference page on customer tokens; stricter checks are ours.
extension BloomreachTokenFamily {
    static let customerToken = BloomreachTokenFamily(
        algorithm: .hs256, subject: "sub", source: "reference page on customer tokens",
        malformed: .customerTokenMalformed, wrongAlgorithm: .customerTokenWrongAlgorithm,
        unknownKey: .customerTokenUnknownKey, badSignature: .customerTokenBadSignature,
        missingExpiry: .customerTokenMissingExpiry, expired: .customerTokenExpired,
        notYetValid: .customerTokenNotYetValid, badSubject: .customerTokenBadSubject)
}

extension Bloomreach {
    /// The rules of a project's customer token that need no request body.
    static let customerTokenRules = RuleList(BloomreachTokenFamily.customerToken.rules)
}

extension TokenDraft {
    /// A customer token; members are ordered as in the vendor's samples, so that equal input gives equal tokens.
    static func customerToken(key: BloomreachSigningKey, subject: JSON, expiry: JSON) -> TokenDraft {
        TokenDraft(
            header: ["alg": "HS256", "typ": "JWT", "kid": .string(key.id)], claims: ["sub": subject, "exp": expiry])
    }
}
