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

    /// The moment later by the duration.
    public static func + (moment: Moment, duration: Duration) -> Moment {
        Moment(unixSeconds: moment.unixSeconds + duration.inSeconds)
    }

    /// The moment earlier by the duration.
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
