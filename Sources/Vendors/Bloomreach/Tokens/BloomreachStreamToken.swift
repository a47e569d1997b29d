import Emulation
import JSON
import Tokens

/// The token that an app's own backend signs for a stream, with a signing key of it.
///
/// Source: documented, authorization page of the iOS SDK; the order of checks is ours.
extension BloomreachTokenRules {
    static let streamToken = BloomreachTokenRules(
        algorithm: .hs512, subject: "ids", source: "authorization page of the iOS SDK",
        malformed: .streamTokenMalformed, wrongAlgorithm: .streamTokenWrongAlgorithm,
        unknownKey: .streamTokenUnknownKey, badSignature: .streamTokenBadSignature,
        missingExpiry: .streamTokenMissingExpiry, expired: .streamTokenExpired, notYetValid: .streamTokenNotYetValid,
        badSubject: .streamTokenEmptyIDs)
}

extension Bloomreach {
    /// Judges a token of a stream by all that needs no request body.
    func judge(
        streamToken token: BloomreachToken, of stream: BloomreachStream, at moment: Moment,
        _ switches: BloomreachSwitches, _ findings: inout Findings<BloomreachFailure>
    ) {
        let own = token.keyID.flatMap(stream.signingKey)
        // A key of another stream proves the token right and its place wrong.
        let foreign = own == nil ? token.keyID.flatMap(foreignKey) : nil
        BloomreachTokenRules.streamToken.judge(
            token, by: own ?? foreign, named: accounts.shown(keyID: token.keyID),
            BloomreachStrangers(accounts: accounts, place: .stream(stream)), at: moment,
            leewaySeconds: switches.leewaySeconds,
            &findings)
        findings.add(
            Finding(
                "stream-scope", foreign == nil ? own == nil ? .notJudged : .passed : .failed,
                expected: .text("a signing key of stream \(stream.id)"),
                found: foreign.map { .text($0.phrase) } ?? accounts.shown(keyID: token.keyID),
                source: "authorization page of the iOS SDK: 403 for a wrong scope"),
            orFail: .streamTokenWrongStream)
    }

    /// The signing key of that id, of whichever stream.
    private func foreignKey(_ id: String) -> BloomreachSigningKey? {
        accounts.streams.lazy.compactMap { $0.signingKey(id) }.first
    }
}

extension TokenDraft {
    /// A token of a stream.
    static func streamToken(key: BloomreachSigningKey, ids: JSON, expiry: JSON) -> TokenDraft {
        TokenDraft(
            header: ["alg": "HS512", "typ": "JWT", "kid": .string(key.id)], claims: ["exp": expiry, "ids": ids])
    }
}
