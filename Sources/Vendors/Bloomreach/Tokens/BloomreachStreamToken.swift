import Emulation
import JSON
import Tokens

/// The token that an app's own backend signs for a stream, with one of the stream's signing keys.
///
/// Source: documented, authorization page of the iOS SDK; the order of checks is ours.
extension BloomreachTokenFamily {
    static let streamToken = BloomreachTokenFamily(
        algorithm: .hs512, subject: "ids", source: "authorization page of the iOS SDK",
        malformed: .streamTokenMalformed, wrongAlgorithm: .streamTokenWrongAlgorithm,
        unknownKey: .streamTokenUnknownKey, badSignature: .streamTokenBadSignature,
        missingExpiry: .streamTokenMissingExpiry, expired: .streamTokenExpired, notYetValid: .streamTokenNotYetValid,
        badSubject: .streamTokenEmptyIDs)
}

extension Bloomreach {
    /// The rules of a stream's token that need no request body.
    static let streamTokenRules = RuleList(
        BloomreachTokenFamily.streamToken.rules + [
            BloomreachRule(
                "stream-scope", expects: .text("a signing key of the stream"),
                source: "authorization page of the iOS SDK: 403 for a wrong scope", orFail: .streamTokenWrongStream
            ) { facts, finding in
                guard facts.token != nil, let stream = facts.stream else { return nil }
                finding?.expected = .text("a signing key of stream \(stream.id)")
                finding?.found = facts.isForeign ? facts.signingKey.map { .text($0.phrase) } : facts.keyID
                return facts.signingKey == nil ? .notJudged : facts.isForeign ? .failed : .passed
            }
        ])
}

extension TokenDraft {
    static func streamToken(key: BloomreachSigningKey, ids: JSON, expiry: JSON) -> TokenDraft {
        TokenDraft(
            header: ["alg": "HS512", "typ": "JWT", "kid": .string(key.id)], claims: ["exp": expiry, "ids": ids])
    }
}
