internal import JSON

public struct TimeRules: Sendable, Hashable {
    /// Tolerance for clock skew, in seconds.
    public var leeway: Double
    /// Whether an absent claim is a failure; otherwise it is not judged.
    public var required: Bool
    /// Whether a value that looks like milliseconds is divided by 1000.
    public var readsMilliseconds: Bool
    /// Whether a token is still valid at `exp` itself; RFC 7519 section 4.1.4 says no.
    public var acceptsLastSecond: Bool

    /// By default: no leeway, claims required, seconds only, invalid at `exp` itself.
    public init(
        leeway: Double = 0, required: Bool = true, readsMilliseconds: Bool = false, acceptsLastSecond: Bool = false
    ) {
        self.leeway = leeway
        self.required = required
        self.readsMilliseconds = readsMilliseconds
        self.acceptsLastSecond = acceptsLastSecond
    }
}

extension CompactToken {
    /// A claim that should be Unix seconds, classified.
    public func date(_ name: String) -> NumericDate {
        switch name {
        case "exp": expiryDate
        case "nbf": notBeforeDate
        case "iat": issuedAtDate
        default: NumericDate(claims?[name])
        }
    }

    /// Whether the time is before `exp` plus leeway.
    ///
    /// A value that is not a number or is above 2^53 fails too, so that such a token does not live forever. So does
    /// `exp` ≤ 0 at any leeway, since no token expired before there were any (ours).
    public func expiry(at moment: Double, _ rules: TimeRules, _ finding: inout Finding?) -> Finding.Outcome {
        finding?.expected = .timeAfter(max(0, moment - rules.leeway))
        return time("exp", rules, &finding) { end in
            guard end > 0 else { return false }
            return rules.acceptsLastSecond ? moment <= end + rules.leeway : moment < end + rules.leeway
        }
    }

    /// Whether the time plus leeway has reached `nbf`, or the claim that replaces it.
    public func notBefore(
        at moment: Double, claim: String = "nbf", _ rules: TimeRules, _ finding: inout Finding?
    ) -> Finding.Outcome {
        finding?.expected = .timeUpTo(moment + rules.leeway)
        return time(claim, rules, &finding) { moment + rules.leeway >= $0 }
    }

    public enum LifetimeStart: Sendable, Hashable {
        /// A time, usually now, to limit the remaining lifetime.
        case moment(Double)
        /// The first of these claims that is present.
        case claims([String])
    }

    /// Whether from its start to `exp` a token lives at most that many seconds; not judged if either is missing.
    public func lifetime(
        atMost seconds: Double, from start: LifetimeStart, readsMilliseconds: Bool = false,
        _ finding: inout Finding?
    ) -> Finding.Outcome {
        finding?.expected = .seconds(seconds)
        let begin: Double? =
            switch start {
            case .moment(let moment): moment
            case .claims(let names):
                names.first { claims?[$0] != nil }.flatMap { date($0).seconds(readsMilliseconds: readsMilliseconds) }
            }
        guard let begin, let end = date("exp").seconds(readsMilliseconds: readsMilliseconds) else { return .notJudged }
        finding?.found = .seconds(end - begin)
        return end - begin <= seconds ? .passed : .failed
    }

    private func time(
        _ name: String, _ rules: TimeRules, _ finding: inout Finding?, _ holds: (Double) -> Bool
    ) -> Finding.Outcome {
        guard claims != nil else { return .notJudged }
        let date = date(name)
        guard date.form != .absent else {
            finding?.found = .absent
            return rules.required ? .failed : .notJudged
        }
        guard let seconds = date.seconds(readsMilliseconds: rules.readsMilliseconds) else {
            finding?.found = claims?[name].map(Fact.json)
            finding?.note =
                date.isNumber
                ? "\(name) is above 2^53, which is not a moment in Unix seconds."
                : "\(name) is not a JSON number, so it is not a moment in Unix seconds."
            return .failed
        }
        finding?.found = .time(seconds)
        finding?.note = date.millisecondsRemark(on: name) ?? date.fractionRemark(on: name)
        return holds(seconds) ? .passed : .failed
    }
}

extension TokenCheck {
    /// `milliseconds-NAME`: a remark on a time that looks like milliseconds, and so lies farther ahead than anybody meant.
    public static func milliseconds(in name: String, source: String? = "RFC 7519 section 2") -> TokenCheck {
        TokenCheck("milliseconds-\(name)", expected: .text("seconds"), source: source) { token, finding in
            let date = token.date(name)
            guard date.size == .milliseconds else { return nil }
            finding?.found = token.claims?[name].map(Fact.json)
            finding?.note = date.millisecondsRemark(on: name)
            return .noted
        }
    }
}

extension NumericDate {
    /// A remark on a fractional time; otherwise `nil`.
    fileprivate func fractionRemark(on name: String) -> String? {
        form == .fraction ? "\(name) has a fraction, which RFC 7519 section 2 allows and some servers refuse." : nil
    }

    /// A remark on a time that looks like milliseconds, with both readings; otherwise `nil`.
    ///
    /// - Parameter name: The name of the time.
    public func millisecondsRemark(on name: String) -> String? {
        guard size == .milliseconds, let value else { return nil }
        return "\(name) looks like milliseconds: as seconds it is \(UnixTime.text(of: value)), as milliseconds "
            + "\(UnixTime.text(of: value / 1000)). Divide by 1000."
    }
}
