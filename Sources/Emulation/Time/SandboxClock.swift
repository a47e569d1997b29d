public import JSON
import Tokens

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The current time as the emulator sees it.
///
/// Token lifetimes, minting and journal times all read this; the machine's clock is read only here. Moving it by an
/// hour expires every token issued before.
public struct SandboxClock: Sendable, Hashable, RecordValue {
    private enum Mode: Hashable {
        case running(offset: Double)
        case frozen(at: Moment)
    }

    private var mode = Mode.running(offset: 0)

    package init() {}

    /// The initial time of a sandbox with a seed: 2027-01-15T08:00:00Z.
    ///
    /// ours: like ids, times must be repeatable, and the vendors' examples use this moment.
    package static let seededStart = Moment(unixSeconds: 1_800_000_000)

    /// Creates a clock that stands at ``seededStart`` with a seed, and otherwise shows the machine's time.
    init(seed: UInt64?) { if seed != nil { mode = .frozen(at: Self.seededStart) } }

    public static var machine: Moment {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Moment(unixSeconds: Double(time.tv_sec) + Double(time.tv_nsec) / 1e9)
    }

    /// Blocks the thread for so long by the machine's clock.
    static func block(microseconds: UInt32) { usleep(microseconds) }

    /// The time this clock shows: a running one stops at the end of the last year that has a text form.
    package var now: Moment {
        switch mode {
        case .running(let offset): offset == 0 ? Self.machine : min(reckoned(offset), Moment.representable.upperBound)
        case .frozen(let moment): moment
        }
    }

    private func reckoned(_ offset: Double) -> Moment { Moment(unixSeconds: Self.machine.unixSeconds + offset) }

    /// Whether the clock ran to the end of its range and has stopped there.
    package var hasRunOut: Bool {
        if case .running(let offset) = mode { reckoned(offset) >= Moment.representable.upperBound } else { false }
    }

    package static let runOutNote =
        "The clock stands at 9999-12-31T23:59:59Z, the last second that it can show; set it to an earlier moment."

    package var isFrozen: Bool { if case .frozen = mode { true } else { false } }

    package var isMachineTime: Bool { mode == .running(offset: 0) }

    /// Sets the clock; a frozen one stays frozen.
    package mutating func set(to moment: Moment) {
        mode = isFrozen ? .frozen(at: moment) : .running(offset: moment.unixSeconds - Self.machine.unixSeconds)
    }

    package mutating func release() { mode = .running(offset: 0) }

    /// Moves the clock by a duration, which may be negative.
    ///
    /// - Returns: whether it can show that moment; otherwise nothing changes.
    @discardableResult
    package mutating func advance(by duration: Duration) -> Bool {
        guard Moment.representable.contains(now + duration) else { return false }
        switch mode {
        // A clock that has run out continues from the time it shows.
        case .running where hasRunOut: set(to: now + duration)
        case .running(let offset): mode = .running(offset: offset + duration.inSeconds)
        case .frozen(let moment): mode = .frozen(at: moment + duration)
        }
        return true
    }

    package var written: JSON {
        switch mode {
        case .running(let offset): ["offset_seconds": offset.written]
        case .frozen(let moment): ["frozen_at": moment.written]
        }
    }

    package static func read(_ node: FixtureNode) throws(FixtureProblem) -> SandboxClock {
        let mapping = try node.mapping("offset_seconds", "frozen_at")
        var clock = SandboxClock()
        if let frozen = try mapping["frozen_at"]?.moment() {
            clock.mode = .frozen(at: frozen)
        } else {
            let offset = try mapping.required("offset_seconds")
            clock.mode = .running(offset: try offset.number())
            guard clock.now >= Moment.representable.lowerBound else {
                throw offset.problem("the clock cannot show years before 1970")
            }
        }
        return clock
    }

    package mutating func freeze() { mode = .frozen(at: now) }

    package mutating func resume() {
        guard case .frozen(let moment) = mode else { return }
        mode = .running(offset: moment.unixSeconds - Self.machine.unixSeconds)
    }
}

/// A point in time as a sandbox sees it.
public struct Moment: Sendable, Hashable, Comparable {
    /// Seconds since 1970-01-01T00:00:00Z, without leap seconds.
    public let unixSeconds: Double

    public init(unixSeconds: Double) { self.unixSeconds = unixSeconds }

    /// The whole seconds since 1970, rounded down and clamped to the range of an integer.
    public var wholeSeconds: Int { Int(exactly: unixSeconds.rounded(.down)) ?? (unixSeconds < 0 ? .min : .max) }

    public static func < (left: Moment, right: Moment) -> Bool { left.unixSeconds < right.unixSeconds }

    public static func + (moment: Moment, duration: Duration) -> Moment {
        Moment(unixSeconds: moment.unixSeconds + duration.inSeconds)
    }

    public static func - (moment: Moment, duration: Duration) -> Moment {
        Moment(unixSeconds: moment.unixSeconds - duration.inSeconds)
    }

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

/// A date and time as written, strictly by RFC 3339 section 5.6; leap seconds are rejected.
///
/// Parsed by hand: the library's parser turns 30 February into March and stops at the first unknown byte. A regular
/// expression takes a hundred times as long, and some requests contain thousands of times.
public struct RFC3339Time: Sendable, Hashable {
    public let text: String
    public let unixSeconds: Double

    public static let epoch = RFC3339Time(text: "1970-01-01T00:00:00Z", unixSeconds: 0)

    private init(text: String, unixSeconds: Double) { (self.text, self.unixSeconds) = (text, unixSeconds) }

    /// Parses a string; `nil` when it is not an existing date and time.
    public init?(_ text: String) {
        var rest = Array(text.utf8)[...]
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

extension ArraySlice<UInt8> {
    fileprivate mutating func take(_ sign: Unicode.Scalar) -> Bool {
        guard first == UInt8(ascii: sign) else { return false }
        removeFirst()
        return true
    }

    /// A number of exactly that many digits.
    fileprivate mutating func number(_ count: Int) -> Int? {
        let digits = prefix(count)
        guard digits.count == count, digits.allSatisfy({ $0.isDigit }) else { return nil }
        self = dropFirst(count)
        return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    /// A fraction of a second including its dot, or 0 without one.
    fileprivate mutating func fraction() -> Double? {
        guard take(".") else { return 0 }
        let digits = prefix { $0.isDigit }
        self = dropFirst(digits.count)
        return digits.isEmpty ? nil : Double("0." + String(decoding: digits, as: UTF8.self))
    }

    /// The offset from UTC in seconds.
    fileprivate mutating func offset() -> Int? {
        if take("Z") || take("z") { return 0 }
        let sign = take("-") ? -1 : take("+") ? 1 : 0
        guard sign != 0, let hours = number(2), take(":"), let minutes = number(2), hours < 24, minutes < 60 else {
            return nil
        }
        return sign * (hours * 60 + minutes) * 60
    }
}

extension Duration {
    package var inSeconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) / 1e18
    }

    /// In seconds, such as `0.25s`.
    var text: String {
        let seconds = inSeconds
        return Int(exactly: seconds).map { "\($0)s" } ?? "\(seconds)s"
    }

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
