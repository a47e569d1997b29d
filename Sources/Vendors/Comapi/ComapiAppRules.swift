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
                type, unusualType, appSignature, mistake, secretLength.when { $0.challenge == nil },
                TokenRule(.claim("nonce", is: .string, source: nonceSource), orFail: .missingNonce),
                nonce,
            ] + claimRules + timeRules)

    // MARK: The challenge

    private static let challengeKnown = Rule(
        "challenge-known", "the authenticationId of a challenge of this API space", "ours", .ours,
        orFail: .unknownAuthentication
    ) { facts, finding in
        guard let challenge = facts.challenge else { return nil }
        finding?.found = challenge.id.map(Fact.text)
        finding?.note = challenge.hint
        return challenge.id == nil ? .notJudged : challenge.known == nil ? .failed : .passed
    }

    private static let challengeUnanswered = Rule(
        "challenge-unanswered", "a challenge that was not answered before",
        "Android SDK; switch single-use-challenges", .observed, orFail: .nonceReused
    ) { facts, finding in
        guard let challenge = facts.challenge else { return nil }
        guard let known = challenge.known else { return .notJudged }
        guard let answer = known.answeredBy else { return .passed }
        finding?.found = .text("challenge \(known.id), answered by \(answer)")
        return facts.switches.hasSingleUseChallenges ? .failed : .noted
    }

    private static let challengeInTime = Rule(
        "challenge-in-time", "a challenge before its expiresOn", "follows from expiresOn", .inferred,
        orFail: .nonceExpired
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
        orFail: [.badSignature] + ComapiSecretMistake.failures, by: { Refused($0.mistake?.failure ?? .badSignature) }
    ) { facts, finding in
        guard let token = facts.token else { return nil }
        let outcome = token.compact.signature(by: facts.space.secret, &finding)
        finding?.expected = .key(facts.space.secret.signing.kind, id: nil, .hs256)
        if finding != nil, let note = facts.mistake?.description ?? sessionRemark(on: token.compact) {
            finding?.note = note
        }
        return outcome
    }

    private static let mistake = Rule("secret-mistake", expects: .text("the secret as it is"), source: nil, .ours) {
        facts, finding in finding.take(facts.mistake.map { Finding($0.failure.rawValue, .noted, note: $0.description) })
    }

    // Only of a token to explain: the vendor's own example has 31 bytes, and a note at each sign-in would say nothing new.
    private static let secretLength = Rule(
        "secret-length", expects: .text("32 bytes or more"), source: "RFC 7518 section 3.2"
    ) { facts, finding in
        facts.token == nil ? nil : finding.take(facts.space.secret.verification.strengthFinding(for: .hs256))
    }

    private static func sessionRemark(on token: CompactToken) -> String? {
        guard token.claims?["apiSpaceId"] != nil, token.claims?["boot"] != nil else { return nil }
        return "This looks like the token of a session; authenticationToken is the app's own JWT, made for the nonce."
    }

    // MARK: The nonce

    private static let nonceSource = "JWT page, Required JWT Claims: nonce"

    private static let nonce = Rule(
        "nonce", expects: .text("the nonce of the challenge"), source: nonceSource,
        orFail: [.nonceMismatch, .nonceReused], by: { Refused($0.isNonceReused ? .nonceReused : .nonceMismatch) }
    ) { facts, finding in
        guard let token = facts.compact else { return nil }
        finding?.expected = facts.expectedNonce.map(Fact.text)
        finding?.found = (token.claims?["nonce"]?.string).map(Fact.text)
        finding?.note =
            facts.isNonceReused
            ? "This is the nonce of a challenge that was answered before."
            : facts.otherChallenge.map { "This is the nonce of the challenge \($0.id)." }
        return facts.hasNonce.map { $0 ? .passed : .failed } ?? .notJudged
    }

    // MARK: Claims

    private static let claimRules = [
        Rule(.claim("iss", is: .string, source: issuerSource), orFail: .missingIssuer), issuer,
        Rule(.claim("aud", is: [.string, .array], source: audienceSource), orFail: .missingAudience), audience,
        audienceArray, userID, sharedUserID,
    ]

    private static let issuerSource = "JWT page, Required JWT Claims: iss"

    private static let issuer = Rule(
        "issuer", expects: .text("the issuer of the API space"), source: issuerSource, orFail: .wrongIssuer
    ) { facts, finding in
        guard let token = facts.compact else { return nil }
        finding?.expected = .text(facts.space.issuer)
        guard let found = token.claims?["iss"]?.string else { return .notJudged }
        finding?.found = .text(found)
        finding?.note = nearMiss(found, facts.space.issuer)
        return found.hasSameBytes(as: facts.space.issuer) ? .passed : .failed
    }

    private static let audienceSource =
        "JWT page, Required JWT Claims: aud; array: RFC 7519, switch accepts-audience-array"

    private static let audience = Rule(
        "audience", expects: .text("the audience of the API space"), source: audienceSource, orFail: .wrongAudience
    ) { facts, finding in
        guard let token = facts.compact else { return nil }
        let found = token.claims?["aud"]
        let outcome = facts.judgeAudience(&finding)
        finding?.expected = .text(facts.space.audience)
        finding?.note = (found?.string).flatMap { nearMiss($0, facts.space.audience) }
        return found?.string != nil || found?.array != nil ? outcome : .notJudged
    }

    private static let audienceArray = Rule("audience-array", expects: .text("a text"), source: audienceSource) {
        facts, finding in
        var nothing: Finding?
        guard facts.compact?.claims?["aud"]?.array != nil, facts.judgeAudience(&nothing) == .passed else { return nil }
        finding?.expected = nil
        finding?.note = "aud is an array; the vendor's samples send text."
        return .noted
    }

    private static let userID = Rule(
        "user-id", expects: .types(.nonEmptyString), source: "JWT page, The role of the sub claim; text only: ours",
        orFail: .missingUserId
    ) { facts, finding in
        // The space determines the claim; findings carry its name.
        guard let token = facts.compact else { return nil }
        return finding == nil
            ? token.claim(facts.space.idClaim, is: .nonEmptyString, &finding)
            : finding.take(
                token.claim(
                    facts.space.idClaim, is: .nonEmptyString,
                    source: "JWT page, The role of the sub claim; text only: ours"))
    }

    private static let sharedUserID = Rule(
        "shared-user-id", expects: .text("an id of the user's own"), source: "JWT page, sample code"
    ) { facts, finding in
        guard let userID = facts.token?.userID, userID.hasSameBytes(as: facts.space.idClaim) else { return nil }
        finding?.expected = nil
        finding?.found = .text(userID)
        finding?.note =
            "The user id is the name of the id claim, as a comment in the vendor's sample suggests; all "
            + "users who do this share one profile."
        return .noted
    }

    private static func nearMiss(_ found: String, _ expected: String) -> String? {
        Nearest.difference(found, expected).map { $0 + "." }
    }

    // MARK: Times

    private static let timeRules =
        [presence(of: "exp", orFail: .missingExp), presence(of: "iat", orFail: .missingIat)]
        + ["exp", "iat", "nbf"].map(form) + [
            milliseconds("exp", .millisecondsExp), milliseconds("iat", .millisecondsIat),
            // nbf is undocumented, so no switch controls it.
            Rule(.milliseconds(in: "nbf")),
            bound(
                "expiry", by: "exp", source: "follows from exp; switch clock-leeway", .inferred,
                orFail: .expiredToken),
            bound(
                "not-before", by: "nbf", source: "ours, after RFC 7519; switch clock-leeway", .ours,
                orFail: .notYetValid),
            issuedAhead, longLife,
        ]

    private static let pages = "JWT page, samples; newer page, claim table"

    private static func presence(of name: String, orFail failure: ComapiFailure) -> Rule {
        let check = TokenCheck.claim(name, is: .any, source: "switch requires-time-claims; " + pages)
        return Rule(check.name, expects: .types(.any), source: check.source, orFail: failure) { facts, finding in
            facts.compact?.claim(name, is: .any, required: facts.switches.requiresTimeClaims, &finding)
        }
    }

    /// Whether a time is a finite number. The general rule ends at 2⁵³; no such limit is known for this vendor. A token
    /// must expire eventually, so only `exp` keeps that upper limit (ours).
    private static func form(of name: String) -> Rule {
        let number = TokenCheck.claim(name, is: .number, source: "ours, after RFC 7519")
        let check = TokenCheck(number.name, expected: .types(.number), source: number.source) { token, finding in
            guard token.claims?[name] != nil else { return nil }
            let outcome = number.judge(token, &finding)
            guard outcome == .failed, let seconds = token.date(name).finiteSeconds, name != "exp" || seconds < 0 else {
                return outcome
            }
            finding?.note = nil
            return .passed
        }
        return Rule(check, id: "\(name)-number", .ours, orFail: .malformedTime)
    }

    private static func milliseconds(_ name: String, _ failure: ComapiFailure) -> Rule {
        Rule(
            failure.rawValue, expects: .text("seconds"),
            source: "JWT page, Android sample; newer page; switch accepts-millisecond-times", orFail: failure
        ) { facts, finding in
            guard let date = facts.compact?.date(name), date.isNumber, date.countsMilliseconds, let value = date.value
            else { return nil }
            let isAccepted = facts.switches.acceptsMillisecondTimes
            let claim = facts.compact?.claims?[name]
            finding?.found = claim.map(Fact.json)
            finding?.note =
                "\(name) is \((claim?.number?.literal ?? "").prefix(40)). A JWT counts seconds, and as seconds this is "
                + "\(year(value)); as milliseconds it is \(Moment(unixSeconds: value / 1000).rfc3339). Divide by 1000. "
                + (isAccepted
                    ? "Accepted: accepts-millisecond-times is on. The vendor's current page announces 403 Invalid JWT."
                    : "Refused: accepts-millisecond-times is off.")
            return isAccepted ? .noted : .failed
        }
    }

    /// The year of a moment in Unix seconds; the calendar repeats every 400 years, or 146,097 days.
    private static func year(_ seconds: Double) -> String {
        guard seconds.magnitude < 1e20 else { return "not a year that has a name" }
        let cycle = 146_097.0 * 86_400
        let cycles = (seconds / cycle).rounded(.down)
        let text = UnixTime.text(of: seconds - cycles * cycle)
        return "the year \((Int(text.prefix(4)) ?? 1970) + Int(cycles) * 400)"
    }

    /// The rule for a time bound; beyond 2⁵³, where the general rule gives up, a finite time is still compared.
    private static func bound(
        _ check: String, by name: String, source: String, _ evidence: Evidence, orFail failure: ComapiFailure
    ) -> Rule {
        let isEnd = name == "exp"
        return Rule(
            check, expects: .text("\(name) and now in their order, with the leeway"), source: source, evidence,
            orFail: failure
        ) { facts, finding in
            guard let token = facts.compact else { return nil }
            let (now, leeway) = (facts.moment.unixSeconds, Double(facts.switches.clockLeewaySeconds))
            let rules = TimeRules(leeway: leeway, required: false, readsMilliseconds: true)
            let outcome =
                isEnd ? token.expiry(at: now, rules, &finding) : token.notBefore(at: now, rules, &finding)
            let date = token.date(name)
            guard date.size == .excessive, let seconds = date.finiteSeconds else { return outcome }
            finding?.found = .time(seconds)
            finding?.note = nil
            return (isEnd ? now < seconds + leeway : now + leeway >= seconds) ? .passed : .failed
        }
    }

    private static let issuedAhead = Rule("iat-ahead", expects: .text("iat no later than now"), source: "ours", .ours) {
        facts, finding in
        guard let issued = facts.compact?.date("iat").finiteSeconds,
            issued > facts.moment.unixSeconds + Double(facts.switches.clockLeewaySeconds)
        else { return nil }
        finding?.expected = .timeUpTo(facts.moment.unixSeconds)
        finding?.found = .time(issued)
        finding?.note = "The signer's clock is ahead."
        return .noted
    }

    private static let longLife = Rule("long-lived-token", expects: .seconds(86_400), source: pages) { facts, finding in
        guard let token = facts.compact, let expires = token.date("exp").finiteSeconds else { return nil }
        let life = expires - (token.date("iat").finiteSeconds ?? facts.moment.unixSeconds)
        guard life > 86_400 else { return nil }
        finding?.found = .seconds(life)
        finding?.note = "The vendor's samples use 1 and 30 days; its newer page advises minutes to hours."
        return .noted
    }
}

extension ComapiAppFacts {
    fileprivate func judgeAudience(_ finding: inout Finding?) -> Finding.Outcome? {
        compact?.audience(isOneOf: [space.audience], acceptsArray: switches.acceptsAudienceArray, &finding)
    }
}

extension NumericDate {
    fileprivate var countsMilliseconds: Bool {
        switch size {
        case .milliseconds: true
        case .excessive: value.map { $0 > 0 && $0.isFinite } ?? false
        case .usual, .negative: false
        }
    }

    /// A time in seconds, converted if it counts milliseconds; `nil` unless it is a finite number.
    fileprivate var finiteSeconds: Double? {
        guard isNumber, let value, value.isFinite else { return nil }
        return countsMilliseconds ? value / 1000 : value
    }
}
