public import JSON

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

    /// The same by the usual rules.
    package func expiry(at moment: Double, leeway: Double = 0, _ finding: inout Finding?) -> Finding.Outcome {
        expiry(at: moment, TimeRules(leeway: leeway), &finding)
    }

    /// Whether the time plus leeway has reached `nbf`, or the claim that replaces it.
    public func notBefore(
        at moment: Double, claim: String = "nbf", _ rules: TimeRules, _ finding: inout Finding?
    ) -> Finding.Outcome {
        finding?.expected = .timeUpTo(moment + rules.leeway)
        return time(claim, rules, &finding) { moment + rules.leeway >= $0 }
    }

    /// The same by the usual rules.
    package func notBefore(
        at moment: Double, claim: String = "nbf", leeway: Double = 0, _ finding: inout Finding?
    ) -> Finding.Outcome {
        notBefore(at: moment, claim: claim, TimeRules(leeway: leeway), &finding)
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
                ? "\(name) is beyond 2^53, which is not a moment in Unix seconds."
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

/// A claim that should be Unix seconds: the form it was written in, and whether its size fits a time.
///
/// RFC 7519 section 2 allows only seconds, with a fraction or without; clients still send milliseconds and strings, and
/// servers differ in what they accept.
public struct NumericDate: Sendable, Hashable {
    public enum Form: String, Sendable, Hashable {
        case absent
        /// Only digits, perhaps with a sign.
        case integer
        /// With a decimal point, even if only zeros follow.
        case fraction
        case exponent
        /// A string that holds a number.
        case numericString = "numeric-string"
        case otherType = "other-type"
    }

    /// Whether the size fits a time in seconds.
    public enum Size: String, Sendable, Hashable {
        /// From 0 to 99,999,999,999, the year 5138.
        case usual
        /// 100,000,000,000 and above: most likely milliseconds.
        case milliseconds
        case negative
        /// Not finite, or beyond 2^53, where doubles skip whole seconds.
        case excessive
    }

    public let form: Form
    /// Whether the size fits a time; `usual` if there is no number.
    public let size: Size
    /// The number, even if written as a string; infinite for texts such as `1e400`.
    public let value: Double?

    /// Classifies a claim's value; `nil` for an absent claim.
    public init(_ claim: JSON?) {
        guard let claim else {
            self.init(form: .absent, value: nil)
            return
        }
        if let number = claim.number {
            // Most claims are short integers, read once; beyond 15 characters the nearest double is needed.
            if number.literal.utf8.count <= 15, let int = number.int {
                self.init(form: .integer, value: Double(int))
            } else {
                self.init(form: Self.form(of: number), value: Self.value(of: number))
            }
        } else if let string = claim.string, case .number(let number)? = try? JSON.parse(string.utf8) {
            // For other strings the reason does not matter.
            self.init(form: .numericString, value: Self.value(of: number))
        } else {
            self.init(form: .otherType, value: nil)
        }
    }

    private init(form: Form, value: Double?) {
        self.form = form
        self.value = value
        size = Self.size(of: value ?? 0)
    }

    /// Whether the claim is a JSON number of any form and size.
    public var isNumber: Bool { form == .integer || form == .fraction || form == .exponent }

    /// A remark on a number, or the text of one, where an RFC 3339 text is expected; otherwise `nil`.
    public var dateRemark: String? {
        guard let value, size != .excessive else { return nil }
        let (unit, seconds) =
            size == .milliseconds
            ? ("looks like Unix milliseconds", value / 1000) : ("is a number of Unix seconds", value)
        return "\(unit); expected an RFC 3339 text, which would be \(UnixTime.text(of: seconds))"
    }

    /// The claim in seconds if it is a JSON number of a possible size (finite, at most 2^53).
    ///
    /// - Parameter readsMilliseconds: Whether a value that looks like milliseconds is divided by 1000.
    public func seconds(readsMilliseconds: Bool = false) -> Double? {
        guard isNumber, size != .excessive, let value else { return nil }
        return readsMilliseconds && size == .milliseconds ? value / 1000 : value
    }

    /// The nearest double. A number that merely rounds to 2^53 moves past it, since 2^53 + 1 has no double of its own.
    private static func value(of number: JSONNumber) -> Double {
        let value = number.double
        guard value.magnitude == largest, !number.isEquivalent(to: JSONNumber(value)) else { return value }
        return value < 0 ? value.nextDown : value.nextUp
    }

    /// 2^53, up to which doubles hold every whole second.
    private static let largest = 9_007_199_254_740_992.0

    private static func form(of number: JSONNumber) -> Form {
        if number.isInteger { return .integer }
        return number.literal.utf8.contains { $0 | 0x20 == UInt8(ascii: "e") } ? .exponent : .fraction
    }

    private static func size(of value: Double) -> Size {
        if !value.isFinite || value.magnitude > largest { return .excessive }
        if value < 0 { return .negative }
        return value >= 100_000_000_000 ? .milliseconds : .usual
    }
}

/// Converts between Unix seconds and dates.
package enum UnixTime {
    /// The time in RFC 3339, UTC; a phrase if it needs a year of more than four digits.
    ///
    /// - Parameter alwaysShowsMilliseconds: Whether to show milliseconds even when zero. They are rounded down, so that
    ///   the text is never later than the time.
    package static func text(of seconds: Double, alwaysShowsMilliseconds: Bool = false) -> String {
        guard seconds.isFinite else { return "no moment" }
        guard (-62_135_596_800..<253_402_300_800).contains(seconds) else {
            return seconds < 0 ? "before the year 1" : "after the year 9999"
        }
        let milliseconds = Int((seconds * 1000).rounded(.down))
        let second = floorDivide(milliseconds, by: 1000)
        let day = floorDivide(second, by: 86_400)
        let (year, month, dayOfMonth) = date(ofDay: day)
        let clock = second - day * 86_400
        let fraction = milliseconds - second * 1000
        let time = [clock / 3600, clock / 60 % 60, clock % 60].map { $0.digits(atLeast: 2) }.joined(separator: ":")
        let date = "\(year.digits(atLeast: 4))-\(month.digits(atLeast: 2))-\(dayOfMonth.digits(atLeast: 2))"
        return "\(date)T\(time)"
            + (fraction == 0 && !alwaysShowsMilliseconds ? "Z" : ".\(fraction.digits(atLeast: 3))Z")
    }

    /// Unix seconds of a UTC time; the date must exist, the time fields may be negative.
    package static func seconds(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) -> Double {
        // Years start in March, so that the leap day comes last.
        let marchYear = month > 2 ? year : year - 1
        let marchMonth = (month + 9) % 12
        let leapDays = floorDivide(marchYear, by: 4) - floorDivide(marchYear, by: 100) + floorDivide(marchYear, by: 400)
        let days = marchYear * 365 + leapDays + (153 * marchMonth + 2) / 5 + day - 1 - daysBeforeEpoch
        return Double(((days * 24 + hour) * 60 + minute) * 60 + second)
    }

    /// Days from 1 March of year 0 to 1 January 1970.
    private static let daysBeforeEpoch = 719_468

    private static func date(ofDay day: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = day + daysBeforeEpoch
        let era = floorDivide(shifted, by: 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * marchMonth + 2) / 5 + 1)
    }

    private static func floorDivide(_ value: Int, by divisor: Int) -> Int {
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
