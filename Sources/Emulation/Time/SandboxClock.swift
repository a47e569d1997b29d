#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The moment the emulator believes it is.
///
/// Token lifetimes, minting and journal times all read this; the machine's clock is read here and nowhere else.
/// Moving it by an hour expires every token issued before.
public struct SandboxClock: Sendable, Hashable {
    private enum Mode: Hashable {
        case running(offset: Double)
        case frozen(at: Moment)
    }

    private var mode = Mode.running(offset: 0)

    /// A clock that shows the machine's time.
    public init() {}

    /// Where the clock of a sandbox with a seed stands at first: 2027-01-15T08:00:00Z.
    ///
    /// ours: with the ids, times must repeat as well, and this is the moment of the vendors' examples.
    public static let seededStart = Moment(unixSeconds: 1_800_000_000)

    /// A clock that stands at ``seededStart`` when there is a seed, and shows the machine's time otherwise.
    init(seed: UInt64?) {
        if seed != nil { mode = .frozen(at: Self.seededStart) }
    }

    /// What the machine's clock shows.
    public static var machine: Moment {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Moment(unixSeconds: Double(time.tv_sec) + Double(time.tv_nsec) / 1e9)
    }

    /// What this clock shows: a running one stops at the end of the last year that has a text form.
    public var now: Moment {
        switch mode {
        case .running(let offset): offset == 0 ? Self.machine : min(reckoned(offset), Moment.representable.upperBound)
        case .frozen(let moment): moment
        }
    }

    private func reckoned(_ offset: Double) -> Moment { Moment(unixSeconds: Self.machine.unixSeconds + offset) }

    /// Whether the clock ran to the end of what it can show, and stands there.
    public var hasRunOut: Bool {
        if case .running(let offset) = mode { reckoned(offset) >= Moment.representable.upperBound } else { false }
    }

    /// What there is to say of a clock that stopped by itself.
    public static let runOutNote =
        "The clock stands at 9999-12-31T23:59:59Z, the last second that it can show; set it to an earlier moment."

    /// Whether the clock stands still.
    public var isFrozen: Bool {
        if case .frozen = mode { true } else { false }
    }

    /// Whether the clock shows the machine's time.
    public var isMachineTime: Bool { mode == .running(offset: 0) }

    /// Sets the clock; a frozen one stays frozen.
    public mutating func set(to moment: Moment) {
        mode =
            isFrozen
            ? .frozen(at: moment) : .running(offset: moment.unixSeconds - Self.machine.unixSeconds)
    }

    /// Moves the clock by a duration, which may be negative.
    ///
    /// - Returns: whether it can show that moment; else nothing has changed.
    @discardableResult
    public mutating func advance(by duration: Duration) -> Bool {
        guard Moment.representable.contains(now + duration) else { return false }
        switch mode {
        // One that has run out goes on from what it shows.
        case .running where hasRunOut: set(to: now + duration)
        case .running(let offset): mode = .running(offset: offset + duration.inSeconds)
        case .frozen(let moment): mode = .frozen(at: moment + duration)
        }
        return true
    }

    /// Stops the clock at what it shows.
    public mutating func freeze() { mode = .frozen(at: now) }

    /// Lets a frozen clock run on from what it shows.
    public mutating func resume() {
        guard case .frozen(let moment) = mode else { return }
        mode = .running(offset: moment.unixSeconds - Self.machine.unixSeconds)
    }
}
