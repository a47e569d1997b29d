import Emulation
import JSON
import Tokens

/// The times of the app's JWT (section 2.3 of the spec).
struct ComapiTimeRules {
    let switches: ComapiSwitches
    let moment: Moment

    private static let pages = "JWT page, samples; newer page, claim table"

    /// Judges everything, in the order of the spec's table of failures.
    func judge(_ token: CompactToken, _ findings: inout Findings<ComapiFailure>) {
        let claims = token.claims
        let presence = "switch requires-time-claims; " + Self.pages
        findings.add(
            token.claim("exp", is: .any, required: switches.requiresTimeClaims, source: presence), orFail: .missingExp)
        findings.add(
            token.claim("iat", is: .any, required: switches.requiresTimeClaims, source: presence), orFail: .missingIat)
        for name in ["exp", "iat", "nbf"] where claims?[name] != nil {
            findings.add(form(of: name, token), orFail: .malformedTime)
        }
        judgeMilliseconds("exp", token, .millisecondsExp, &findings)
        judgeMilliseconds("iat", token, .millisecondsIat, &findings)
        // Nobody documents nbf, so that no switch decides of it.
        if let remark = token.milliseconds(in: "nbf") { findings.note(remark) }
        judgeBounds(token, &findings)
        if claims != nil { addNotes(token, &findings) }
    }

    /// Whether a time is a finite number. The general rule ends at 2⁵³; the spec of this vendor knows no such end, but a token
    /// has to end some time, so `exp` keeps to it upwards (ours).
    private func form(of name: String, _ token: CompactToken) -> Finding {
        let finding = token.claim(name, is: .number, source: "ours, after RFC 7519")
        guard finding.outcome == .failed, let seconds = Self.seconds(token.date(name)), name != "exp" || seconds < 0
        else {
            return finding
        }
        return Finding(
            finding.check, .passed, expected: finding.expected, found: finding.found, source: finding.source)
    }

    /// Whether a finite number counts milliseconds.
    private static func countsMilliseconds(_ date: NumericDate) -> Bool {
        switch date.size {
        case .milliseconds: true
        case .excessive: date.value.map { $0 > 0 && $0.isFinite } ?? false
        case .usual, .negative: false
        }
    }

    /// A time in seconds, divided where it counts milliseconds; `nil` for all but finite numbers.
    private static func seconds(_ date: NumericDate) -> Double? {
        guard date.isNumber, let value = date.value, value.isFinite else { return nil }
        return countsMilliseconds(date) ? value / 1000 : value
    }

    private func judgeMilliseconds(
        _ name: String, _ token: CompactToken, _ failure: ComapiFailure, _ findings: inout Findings<ComapiFailure>
    ) {
        let date = token.date(name)
        guard date.isNumber, Self.countsMilliseconds(date), let value = date.value else { return }
        let verdict =
            switches.acceptsMillisecondTimes
            ? "Accepted: accepts-millisecond-times is on. The vendor's current page announces 403 Invalid JWT."
            : "Refused: accepts-millisecond-times is off."
        let literal = token.claims?[name]?.number?.literal ?? ""
        findings.add(
            Finding(
                failure.rawValue, switches.acceptsMillisecondTimes ? .noted : .failed,
                expected: .text("seconds"), found: token.claims?[name].map(Fact.json),
                note: "\(name) is \(literal.prefix(40)). A JWT counts seconds, and as seconds this is "
                    + "\(Self.year(value)); as milliseconds it is \(Moment(unixSeconds: value / 1000).rfc3339). "
                    + "Divide by 1000. \(verdict)",
                source: "JWT page, Android sample; newer page; switch accepts-millisecond-times"),
            orFail: failure)
    }

    /// The year of a moment in Unix seconds; the calendar repeats every 400 years, of 146,097 days.
    private static func year(_ seconds: Double) -> String {
        guard seconds.magnitude < 1e20 else { return "no year that has a name" }
        let cycle = 146_097.0 * 86_400
        let cycles = (seconds / cycle).rounded(.down)
        let text = UnixTime.text(of: seconds - cycles * cycle)
        return "the year \((Int(text.prefix(4)) ?? 1970) + Int(cycles) * 400)"
    }

    private func judgeBounds(_ token: CompactToken, _ findings: inout Findings<ComapiFailure>) {
        let rules = TimeRules(
            leeway: Double(switches.clockLeewaySeconds), required: false, readsMilliseconds: true)
        let (leeway, now) = (rules.leeway, moment.unixSeconds)
        let expiry = token.expiry(at: now, rules, source: "follows from exp; switch clock-leeway")
        findings.add(bound(expiry, token.date("exp")) { now < $0 + leeway }, orFail: .expiredToken)
        let start = token.notBefore(at: now, rules, source: "ours, after RFC 7519; switch clock-leeway")
        findings.add(bound(start, token.date("nbf")) { now + leeway >= $0 }, orFail: .notYetValid)
    }

    /// The verdict on a bound; beyond 2⁵³, where the general rule gives up, a finite time is compared all the same.
    private func bound(_ finding: Finding, _ date: NumericDate, _ holds: (Double) -> Bool) -> Finding {
        guard date.size == .excessive, let seconds = Self.seconds(date) else { return finding }
        return Finding(
            finding.check, holds(seconds) ? .passed : .failed, expected: finding.expected, found: .time(seconds),
            source: finding.source)
    }

    private func addNotes(_ token: CompactToken, _ findings: inout Findings<ComapiFailure>) {
        let (issued, expires) = (Self.seconds(token.date("iat")), Self.seconds(token.date("exp")))
        if let issued, issued > moment.unixSeconds + Double(switches.clockLeewaySeconds) {
            findings.note(
                Finding(
                    "iat-ahead", .noted, expected: .timeUpTo(moment.unixSeconds), found: .time(issued),
                    note: "The clock of whoever signs is ahead.", source: "ours"))
        }
        let start = issued ?? moment.unixSeconds
        if let expires, expires - start > 86_400 {
            findings.note(
                Finding(
                    "long-lived-token", .noted, expected: .seconds(86_400), found: .seconds(expires - start),
                    note: "The vendor's samples use 1 and 30 days; its newer page advises minutes to hours.",
                    source: Self.pages))
        }
    }
}
