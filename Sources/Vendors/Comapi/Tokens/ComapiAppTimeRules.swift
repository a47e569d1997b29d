import Emulation
import JSON
import Tokens

/// What Comapi asks of the times of an app's token.
enum ComapiAppTimeRules {
    typealias Rule = TokenRule<ComapiAppFacts>

    static let all =
        [presence(of: "exp", orFail: .missingExp), presence(of: "iat", orFail: .missingIat)]
        + ["exp", "iat", "nbf"].map(form) + [
            milliseconds("exp", .millisecondsExp), milliseconds("iat", .millisecondsIat),
            // nbf is undocumented, so no switch controls it.
            Rule(.milliseconds(in: "nbf")),
            bound(
                "expiry", by: "exp", source: "follows from exp; switch clock-leeway", .inferred, orFail: .expiredToken
            ) { token, moment, rules, finding in
                token.expiry(at: moment, rules, &finding)
            } holds: { now, seconds, leeway in
                now < seconds + leeway
            },
            bound(
                "not-before", by: "nbf", source: "ours, after RFC 7519; switch clock-leeway", .ours,
                orFail: .notYetValid
            ) { token, moment, rules, finding in
                token.notBefore(at: moment, rules, &finding)
            } holds: { now, seconds, leeway in
                now + leeway >= seconds
            },
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
        _ check: String, by name: String, source: String, _ evidence: Evidence, orFail failure: ComapiFailure,
        _ judge: @escaping @Sendable (CompactToken, Double, TimeRules, inout Finding?) -> Finding.Outcome,
        holds: @escaping @Sendable (_ now: Double, _ seconds: Double, _ leeway: Double) -> Bool
    ) -> Rule {
        Rule(
            check, expects: .text("\(name) and now in their order, with the leeway"), source: source, evidence,
            orFail: failure
        ) { facts, finding in
            guard let token = facts.compact else { return nil }
            let rules = TimeRules(
                leeway: Double(facts.switches.clockLeewaySeconds), required: false, readsMilliseconds: true)
            let outcome = judge(token, facts.moment.unixSeconds, rules, &finding)
            let date = token.date(name)
            guard date.size == .excessive, let seconds = date.finiteSeconds else { return outcome }
            finding?.found = .time(seconds)
            finding?.note = nil
            return holds(facts.moment.unixSeconds, seconds, rules.leeway) ? .passed : .failed
        }
    }

    private static let issuedAhead = Rule("iat-ahead", expects: .text("iat no later than now"), source: "ours", .ours) {
        facts, finding in
        guard let issued = facts.compact?.date("iat").finiteSeconds,
            issued > facts.moment.unixSeconds + Double(facts.switches.clockLeewaySeconds)
        else { return nil }
        finding?.expected = .timeUpTo(facts.moment.unixSeconds)
        finding?.found = .time(issued)
        finding?.note = "The clock of whoever signs is ahead."
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

extension NumericDate {
    /// Whether a finite number counts milliseconds.
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
