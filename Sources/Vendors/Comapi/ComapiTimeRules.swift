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
            findings.add(token.claim(name, is: .number, source: "ours, after RFC 7519"), orFail: .malformedTime)
        }
        judgeMilliseconds("exp", token, .millisecondsExp, &findings)
        judgeMilliseconds("iat", token, .millisecondsIat, &findings)
        judgeBounds(token, &findings)
        if claims != nil { addNotes(token, &findings) }
    }

    private func judgeMilliseconds(
        _ name: String, _ token: CompactToken, _ failure: ComapiFailure, _ findings: inout Findings<ComapiFailure>
    ) {
        let date = token.date(name)
        guard date.size == .milliseconds, let value = date.seconds() else { return }
        let verdict =
            switches.acceptsMillisecondTimes
            ? "Accepted: accepts-millisecond-times is on. The vendor's current page announces 403 Invalid JWT."
            : "Refused: accepts-millisecond-times is off."
        let literal = token.claims?[name]?.number?.literal ?? ""
        findings.add(
            Finding(
                failure.rawValue, switches.acceptsMillisecondTimes ? .noted : .failed,
                expected: .text("seconds"), found: token.claims?[name].map(Fact.json),
                note: "\(name) is \(literal). A JWT counts seconds, and as seconds this is the year "
                    + "\(Self.year(value)); as milliseconds it is \(Moment(unixSeconds: value / 1000).rfc3339). "
                    + "Divide by 1000. \(verdict)",
                source: "JWT page, Android sample; newer page; switch accepts-millisecond-times"),
            orFail: failure)
    }

    /// The year of a moment in Unix seconds; the calendar repeats every 400 years, of 146,097 days.
    static func year(_ seconds: Double) -> Int {
        let cycle = 146_097.0 * 86_400
        let cycles = (seconds / cycle).rounded(.down)
        let text = UnixTime.text(of: seconds - cycles * cycle)
        return (Int(text.prefix(4)) ?? 1970) + Int(cycles) * 400
    }

    private func judgeBounds(_ token: CompactToken, _ findings: inout Findings<ComapiFailure>) {
        let rules = TimeRules(
            leeway: Double(switches.clockLeewaySeconds), required: false, readsMilliseconds: true)
        findings.add(
            token.expiry(at: moment.unixSeconds, rules, source: "follows from exp; switch clock-leeway"),
            orFail: .expiredToken)
        findings.add(
            token.notBefore(at: moment.unixSeconds, rules, source: "ours, after RFC 7519; switch clock-leeway"),
            orFail: .notYetValid)
    }

    private func addNotes(_ token: CompactToken, _ findings: inout Findings<ComapiFailure>) {
        let (issued, expires) = (
            token.date("iat").seconds(readsMilliseconds: true), token.date("exp").seconds(readsMilliseconds: true)
        )
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
