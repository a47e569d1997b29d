import Emulation
import JSON
import Tokens

/// The rules for the answer to a challenge, in the order of checking.
///
/// Source: algorithm, key and claims are documented, JWT page; single use and the meaning of the nonce: Android SDK and
/// JWT page; order and lifetime are ours.
extension Comapi {
    private typealias Rule = TokenRule<ComapiAppFacts>

    static let appRules = RuleList(
        [challengeKnown, challengeUnanswered, challengeInTime, tokenThere]
            + TokenRule.structure(orFail: .malformedToken) + [
                TokenRule(.critical(source: "ours, after RFC 7515"), .ours, orFail: .unsupportedCriticalHeader),
                TokenRule(.algorithm(is: .hs256, source: samples), orFail: .wrongAlgorithm),
                type, unusualType, appSignature, mistake,
                TokenRule(.claim("nonce", is: .string, source: nonceSource), orFail: .missingNonce)
                    .when { $0.challenge != nil },
                // A token to explain has no request.
                TokenRule(
                    .claim("nonce", is: .string, source: "JWT page"), id: "nonce-explained", orFail: .missingNonce
                ).when { $0.challenge == nil },
                nonce,
            ] + ComapiAppClaimRules.all + ComapiAppTimeRules.all)

    // MARK: The challenge

    private static let challengeKnown = Rule(
        "challenge-known", expects: .text("the authenticationId of a challenge of this API space"), source: "ours",
        .ours,
        orFail: .unknownAuthentication
    ) { facts, finding in
        guard let challenge = facts.challenge else { return nil }
        finding?.found = challenge.id.map(Fact.text)
        finding?.note = challenge.strangeness
        return challenge.id == nil ? .notJudged : challenge.known == nil ? .failed : .passed
    }

    private static let challengeUnanswered = Rule(
        "challenge-unanswered", expects: .text("a challenge that was not answered before"),
        source: "Android SDK; switch single-use-challenges", .observed, orFail: .nonceReused
    ) { facts, finding in
        guard let challenge = facts.challenge else { return nil }
        guard let known = challenge.known else { return .notJudged }
        guard let answer = known.answeredBy else { return .passed }
        finding?.found = .text("challenge \(known.id), answered by \(answer)")
        return facts.switches.hasSingleUseChallenges ? .failed : .noted
    }

    private static let challengeInTime = Rule(
        "challenge-in-time", expects: .text("a challenge before its expiresOn"), source: "follows from expiresOn",
        .inferred, orFail: .nonceExpired
    ) { facts, finding in
        guard let challenge = facts.challenge else { return nil }
        finding?.expected = challenge.known.map { .timeUpTo($0.expires.unixSeconds) }
        finding?.found = .time(facts.moment.unixSeconds)
        return challenge.known.map { facts.moment > $0.expires ? .failed : .passed } ?? .notJudged
    }

    private static let tokenThere = Rule("token", expects: .text("a compact JWT"), source: nil, .ours) { facts, _ in
        facts.token == nil ? .notJudged : nil
    }

    // MARK: Header and signature

    private static let samples = "JWT page, all samples"

    private static let type = Rule("type", expects: .text("JWT"), source: samples) { facts, finding in
        let outcome = facts.compact?.type(is: "JWT", required: false, &finding)
        return outcome == .failed ? nil : outcome
    }

    private static let unusualType = Rule("unusual-typ", expects: .text("JWT"), source: samples) { facts, finding in
        facts.compact?.type(is: "JWT", required: false, &finding) == .failed ? .noted : nil
    }

    private static let appSignature = Rule(
        "signature", expects: .text("HS256 by the shared secret of the API space"), source: "JWT page, Signing the JWT",
        orFail: [.badSignature] + ComapiSecretMistake.failures,
        by: { Refusal($0.mistake?.failure ?? .badSignature) }
    ) { facts, finding in
        guard let token = facts.token else { return nil }
        let outcome = token.signature(by: facts.space, &finding)
        if finding != nil, let note = facts.mistake?.description ?? sessionRemark(on: token.compact) {
            finding?.note = note
        }
        return outcome
    }

    private static let mistake = Rule("secret-mistake", expects: .text("the secret as it is"), source: nil, .ours) {
        facts, finding in
        finding.take(facts.mistake.map { Finding($0.failure.rawValue, .noted, note: $0.description) })
    }

    /// Detects a session's token in place of the app's own.
    private static func sessionRemark(on token: CompactToken) -> String? {
        guard token.claims?["apiSpaceId"] != nil, token.claims?["boot"] != nil else { return nil }
        return "This looks like the token of a session; authenticationToken is the app's own JWT, made for the nonce."
    }

    // MARK: The nonce

    private static let nonceSource = "JWT page, Required JWT Claims: nonce"

    private static let nonce = Rule(
        "nonce", expects: .text("the nonce of the challenge"), source: nonceSource,
        orFail: [.nonceMismatch, .nonceReused],
        by: { Refusal($0.isNonceReused ? .nonceReused : .nonceMismatch) }
    ) { facts, finding in
        guard let token = facts.compact else { return nil }
        finding?.expected = facts.expectedNonce.map(Fact.text)
        finding?.found = (token.claims?["nonce"]?.string).map(Fact.text)
        if facts.challenge == nil { finding?.source = "JWT page" }
        finding?.note =
            facts.isNonceReused
            ? "This is the nonce of a challenge that was answered before."
            : facts.otherChallenge.map { "This is the nonce of the challenge \($0.id)." }
        return facts.hasNonce.map { $0 ? .passed : .failed } ?? .notJudged
    }
}
