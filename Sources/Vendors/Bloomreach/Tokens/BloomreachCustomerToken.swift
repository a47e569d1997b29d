import Emulation
import JSON
import Tokens

/// The token that an app's own backend signs for one customer, with a private key of the project.
///
/// Source: documented, seed and reference page on customer tokens; what is strict beyond that is ours.
extension BloomreachTokenRules {
    static let customerToken = BloomreachTokenRules(
        algorithm: .hs256, subject: "sub", source: "reference page on customer tokens",
        malformed: .customerTokenMalformed, wrongAlgorithm: .customerTokenWrongAlgorithm,
        unknownKey: .customerTokenUnknownKey, badSignature: .customerTokenBadSignature,
        missingExpiry: .customerTokenMissingExpiry, expired: .customerTokenExpired,
        notYetValid: .customerTokenNotYetValid, badSubject: .customerTokenBadSubject)
}

extension Bloomreach {
    /// Judges a customer token of a project by all that needs no request body.
    func judge(
        customerToken token: BloomreachToken, of project: BloomreachProject, at moment: Moment,
        _ switches: BloomreachSwitches, _ findings: inout Findings<BloomreachFailure>
    ) {
        BloomreachTokenRules.customerToken.judge(
            token, by: token.keyID.flatMap(project.privateKey), named: accounts.shown(keyID: token.keyID),
            BloomreachStrangers(accounts: accounts, place: .project(project)), at: moment,
            leewaySeconds: switches.leewaySeconds,
            &findings)
    }
}

extension TokenDraft {
    /// A customer token; the order of members is that of the vendor's samples, so that equal input gives an equal token.
    static func customerToken(key: BloomreachSigningKey, subject: JSON, expiry: JSON) -> TokenDraft {
        TokenDraft(
            header: ["alg": "HS256", "typ": "JWT", "kid": .string(key.id)], claims: ["sub": subject, "exp": expiry])
    }
}
