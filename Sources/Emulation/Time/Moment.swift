public import JSON
import Tokens

/// A point in time as a sandbox sees it.
public struct Moment: Sendable, Hashable, Comparable {
    /// Seconds since 1970-01-01T00:00:00Z, without leap seconds.
    public let unixSeconds: Double

    /// The moment that many seconds after 1970-01-01T00:00:00Z.
    public init(unixSeconds: Double) {
        self.unixSeconds = unixSeconds
    }

    /// The whole seconds since 1970, rounded down and clamped to the range of an integer.
    public var wholeSeconds: Int { Int(exactly: unixSeconds.rounded(.down)) ?? (unixSeconds < 0 ? .min : .max) }

    /// Whether the left moment comes before the right one.
    public static func < (left: Moment, right: Moment) -> Bool { left.unixSeconds < right.unixSeconds }

    public static func + (moment: Moment, duration: Duration) -> Moment {
        Moment(unixSeconds: moment.unixSeconds + duration.inSeconds)
    }

    public static func - (moment: Moment, duration: Duration) -> Moment {
        Moment(unixSeconds: moment.unixSeconds - duration.inSeconds)
    }
}

extension Moment {
    /// The range that a clock may show; text forms of times are undefined beyond it.
    public static let representable = Moment(unixSeconds: 0)...Moment(unixSeconds: 253_402_300_799)

    /// Reads Unix seconds, with an optional fraction, or an RFC 3339 date and time; `nil` otherwise and for years after
    /// 9999.
    public init?(text: String) {
        guard let seconds = Self.unixSeconds(text) ?? RFC3339Time(text)?.unixSeconds,
            Self.representable.contains(Moment(unixSeconds: seconds))
        else { return nil }
        unixSeconds = seconds
    }

    /// Reads a moment from JSON: Unix seconds as a number, or what ``init(text:)`` reads as a string.
    public init?(_ value: JSON) {
        guard let number = value.number else {
            self.init(text: value.string ?? "")
            return
        }
        self.init(unixSeconds: number.double)
        guard Self.representable.contains(self) else { return nil }
    }

    /// Decimal digits only: the library would also accept `nan`, which is not a moment, and hexadecimal.
    private static func unixSeconds(_ text: String) -> Double? {
        text.wholeMatch(of: /[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?/).flatMap { Double($0.0) }
    }

    /// The moment as RFC 3339 in UTC with milliseconds, such as `2027-01-15T08:00:00.000Z`.
    public var rfc3339: String { UnixTime.text(of: unixSeconds, alwaysShowsMilliseconds: true) }
}

extension Duration {
    /// The duration in seconds.
    package var inSeconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) / 1e18
    }
}

/// A date and time as written, strictly by RFC 3339 section 5.6; leap seconds are rejected.
///
/// Parsed by hand: the library's parser turns 30 February into March and stops at the first unknown byte. A regular
/// expression takes a hundred times as long, and some requests contain thousands of times.
public struct RFC3339Time: Sendable, Hashable {
    public let text: String
    /// Seconds since 1970-01-01T00:00:00Z.
    public let unixSeconds: Double

    public static let epoch = RFC3339Time(text: "1970-01-01T00:00:00Z", unixSeconds: 0)

    private init(text: String, unixSeconds: Double) {
        (self.text, self.unixSeconds) = (text, unixSeconds)
    }

    /// Parses a string; `nil` when it is not an existing date and time.
    public init?(_ text: String) {
        var rest = Digits(Array(text.utf8)[...])
        guard let year = rest.number(4), rest.take("-"), let month = rest.number(2), rest.take("-"),
            let day = rest.number(2), rest.take("T") || rest.take("t"), let hour = rest.number(2), rest.take(":"),
            let minute = rest.number(2), rest.take(":"), let second = rest.number(2), let fraction = rest.fraction(),
            let offset = rest.offset(), rest.isEmpty, (1...12).contains(month), day >= 1,
            day <= Self.days(in: month, of: year), hour < 24, minute < 60, second < 60
        else { return nil }
        let whole = UnixTime.seconds(
            year: year, month: month, day: day, hour: hour, minute: minute, second: second - offset)
        self.init(text: text, unixSeconds: whole + fraction)
    }

    /// What is wrong with a value that is not one, and what would be right.
    package static func refusal(of value: JSON) -> String {
        if let remark = NumericDate(value).dateRemark { return remark }
        let shown = value.string.map { "“\($0.prefix(60))”" } ?? "a JSON \(value.typeName)"
        return "is \(shown); expected an RFC 3339 text such as 2027-01-15T08:00:00Z"
    }

    private static func days(in month: Int, of year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

/// Takes numbers and signs from the front of a text.
private struct Digits {
    private var rest: ArraySlice<UInt8>

    init(_ text: ArraySlice<UInt8>) { rest = text }

    var isEmpty: Bool { rest.isEmpty }

    mutating func take(_ sign: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: sign) else { return false }
        rest.removeFirst()
        return true
    }

    /// A number of exactly that many digits.
    mutating func number(_ count: Int) -> Int? {
        let digits = rest.prefix(count)
        guard digits.count == count, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        rest = rest.dropFirst(count)
        return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    /// A fraction of a second including its dot, or 0 without one.
    mutating func fraction() -> Double? {
        guard take(".") else { return 0 }
        let digits = rest.prefix { (0x30...0x39).contains($0) }
        rest = rest.dropFirst(digits.count)
        return digits.isEmpty ? nil : Double("0." + String(decoding: digits, as: UTF8.self))
    }

    /// The offset from UTC in seconds.
    mutating func offset() -> Int? {
        if take("Z") || take("z") { return 0 }
        let sign = take("-") ? -1 : take("+") ? 1 : 0
        guard sign != 0, let hours = number(2), take(":"), let minutes = number(2), hours < 24, minutes < 60 else {
            return nil
        }
        return sign * (hours * 60 + minutes) * 60
    }
}

extension Duration {
    private static let unitsInSeconds: [(suffix: String, seconds: Double)] = [
        ("ms", 0.001), ("s", 1), ("m", 60), ("h", 3600), ("d", 86400),
    ]

    /// Reads a duration such as `250ms`, `90s`, `31m`, `2h` or `1d`; a leading `-` and a fraction are allowed.
    ///
    /// `nil` when the unit is missing or unknown, or the duration is longer than a thousand years.
    package init?(text: String) {
        guard let unit = Self.unitsInSeconds.first(where: { text.hasSuffix($0.suffix) }) else { return nil }
        let number = text.dropLast(unit.suffix.count)
        guard Self.isDecimal(number.utf8), let amount = Double(number),
            (amount * unit.seconds).magnitude < 1000 * 366 * 86400
        else { return nil }
        self = .seconds(amount * unit.seconds)
    }

    /// Digits with an optional sign and fraction: the library would also accept `inf`, `1e3` and hexadecimal.
    ///
    /// A regular expression would be compiled for every duration, and startup reads a few hundred.
    private static func isDecimal(_ text: Substring.UTF8View) -> Bool {
        let parts = (text.first == UInt8(ascii: "-") ? text.dropFirst() : text)
            .split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return parts.count <= 2
            && parts.allSatisfy { part in
                !part.isEmpty && part.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            }
    }
}
