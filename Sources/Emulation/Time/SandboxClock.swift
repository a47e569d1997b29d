package import JSON

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

    /// Creates a clock that shows the machine's time.
    package init() {}

    /// The initial time of a sandbox with a seed: 2027-01-15T08:00:00Z.
    ///
    /// ours: like ids, times must be repeatable, and the vendors' examples use this moment.
    package static let seededStart = Moment(unixSeconds: 1_800_000_000)

    /// Creates a clock that stands at ``seededStart`` with a seed, and otherwise shows the machine's time.
    init(seed: UInt64?) {
        if seed != nil { mode = .frozen(at: Self.seededStart) }
    }

    /// The machine's time.
    public static var machine: Moment {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Moment(unixSeconds: Double(time.tv_sec) + Double(time.tv_nsec) / 1e9)
    }

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

    /// The note about a clock that stopped by itself.
    package static let runOutNote =
        "The clock stands at 9999-12-31T23:59:59Z, the last second that it can show; set it to an earlier moment."

    package var isFrozen: Bool {
        if case .frozen = mode { true } else { false }
    }

    package var isMachineTime: Bool { mode == .running(offset: 0) }

    /// Sets the clock; a frozen one stays frozen.
    package mutating func set(to moment: Moment) {
        mode =
            isFrozen
            ? .frozen(at: moment) : .running(offset: moment.unixSeconds - Self.machine.unixSeconds)
    }

    /// Shows the machine's time again.
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

    /// The clock, as ``read(_:)`` reads it.
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

    /// Stops the clock at its current time.
    package mutating func freeze() { mode = .frozen(at: now) }

    /// Lets a frozen clock continue from its current time.
    package mutating func resume() {
        guard case .frozen(let moment) = mode else { return }
        mode = .running(offset: moment.unixSeconds - Self.machine.unixSeconds)
    }
}
