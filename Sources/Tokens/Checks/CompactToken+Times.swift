internal import JSON

/// How the times of a token are compared.
public struct TimeRules: Sendable, Hashable {
    /// Seconds of grace for clocks that differ.
    public var leeway: Double
    /// Whether a claim that is absent is a failure; otherwise it is not judged.
    public var required: Bool
    /// Whether a value of the size of milliseconds is divided by 1000.
    public var readsMilliseconds: Bool
    /// Whether the moment of `exp` still counts; RFC 7519 section 4.1.4 says it does not.
    public var acceptsLastSecond: Bool

    /// No leeway, claims required, seconds only, and `exp` itself is too late, unless told otherwise.
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
    /// A claim that should hold Unix seconds, classified.
    public func date(_ name: String) -> NumericDate { name == "exp" ? expiryDate : NumericDate(claims?[name]) }

    /// `expiry`: the moment lies before `exp` plus leeway.
    ///
    /// A value that is no number, or one above 2^53, fails here too: such a token must not live for ever. So does one that is
    /// not above 0 at any leeway, since no token ended before there were any (ours).
    public func expiry(
        at moment: Double, _ rules: TimeRules = TimeRules(), source: String? = "RFC 7519 section 4.1.4"
    ) -> Finding {
        Finding(.named("expiry"), source: source) { expiry(at: moment, rules, &$0) }
    }

    /// The judgement of ``expiry(at:_:source:)``.
    public func expiry(at moment: Double, _ rules: TimeRules, _ finding: inout Finding?) -> Finding.Outcome {
        finding?.expected = .timeAfter(max(0, moment - rules.leeway))
        return time("exp", rules, &finding) { end in
            guard end > 0 else { return false }
            return rules.acceptsLastSecond ? moment <= end + rules.leeway : moment < end + rules.leeway
        }
    }

    /// `expiry` with a leeway in seconds and ``TimeRules`` otherwise as they are.
    public func expiry(
        at moment: Double, leeway: Double, source: String? = "RFC 7519 section 4.1.4"
    ) -> Finding {
        expiry(at: moment, TimeRules(leeway: leeway), source: source)
    }

    /// `not-before`: the moment plus leeway has reached `nbf`, or the claim that stands in for it.
    public func notBefore(
        at moment: Double, claim: String = "nbf", _ rules: TimeRules = TimeRules(),
        source: String? = "RFC 7519 section 4.1.5"
    ) -> Finding {
        Finding(.named("not-before"), source: source) { notBefore(at: moment, claim: claim, rules, &$0) }
    }

    /// The judgement of ``notBefore(at:claim:_:source:)``.
    public func notBefore(
        at moment: Double, claim: String = "nbf", _ rules: TimeRules, _ finding: inout Finding?
    ) -> Finding.Outcome {
        finding?.expected = .timeUpTo(moment + rules.leeway)
        return time(claim, rules, &finding) { moment + rules.leeway >= $0 }
    }

    /// `issued-at`: `iat` does not lie beyond the moment plus leeway.
    ///
    /// RFC 7519 section 4.1.6 asks for nothing of the sort; ``Finding/noted`` turns a failure into a remark.
    public func issuedAt(
        at moment: Double, _ rules: TimeRules = TimeRules(), source: String? = "RFC 7519 section 4.1.6"
    ) -> Finding {
        Finding(.named("issued-at"), source: source) { notBefore(at: moment, claim: "iat", rules, &$0) }
    }

    /// Where a lifetime begins.
    public enum LifetimeStart: Sendable, Hashable {
        /// A moment, usually now, so that the rest of the lifetime is judged.
        case moment(Double)
        /// The first of these claims that is there.
        case claims([String])
    }

    /// `lifetime`: from its start to `exp` a token lives no longer than so many seconds; not judged when one of the two
    /// is missing.
    public func lifetime(
        atMost seconds: Double, from start: LifetimeStart, readsMilliseconds: Bool = false, source: String? = nil
    ) -> Finding {
        Finding(.named("lifetime"), source: source) {
            lifetime(atMost: seconds, from: start, readsMilliseconds: readsMilliseconds, &$0)
        }
    }

    /// The judgement of ``lifetime(atMost:from:readsMilliseconds:source:)``.
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
                ? "\(name) is above 2^53, which is no moment in Unix seconds."
                : "\(name) is no JSON number, so it is no moment in Unix seconds."
            return .failed
        }
        finding?.found = .time(seconds)
        finding?.note = date.millisecondsRemark(on: name) ?? date.fractionRemark(on: name)
        return holds(seconds) ? .passed : .failed
    }

    /// The finding of ``TokenCheck/milliseconds(in:source:)``; `nil` where there is nothing to remark.
    public func milliseconds(in name: String, source: String? = "RFC 7519 section 2") -> Finding? {
        finding(.milliseconds(in: name, source: source))
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
    /// What to say of a time that has a fraction; `nil` for any other.
    fileprivate func fractionRemark(on name: String) -> String? {
        form == .fraction ? "\(name) has a fraction, which RFC 7519 section 2 allows and some servers refuse." : nil
    }

    /// What to say of a time that looks like milliseconds, as both; `nil` for any other.
    ///
    /// - Parameter name: what the time is called where it stands.
    public func millisecondsRemark(on name: String) -> String? {
        guard size == .milliseconds, let value else { return nil }
        return "\(name) looks like milliseconds: as seconds it is \(UnixTime.text(of: value)), as milliseconds "
            + "\(UnixTime.text(of: value / 1000)). Divide by 1000."
    }
}
