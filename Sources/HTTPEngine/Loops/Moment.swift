#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// A moment by a clock that only goes forward, in nanoseconds: what timers compare many times a second.
struct Moment: Comparable, Sendable {
    private let nanoseconds: Int64

    /// This moment.
    static var now: Moment {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Moment(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    static func < (left: Moment, right: Moment) -> Bool { left.nanoseconds < right.nanoseconds }

    /// The moment that lies `duration` later.
    static func + (moment: Moment, duration: Duration) -> Moment {
        let (seconds, attoseconds) = duration.components
        // A time-out beyond thirty years is no time-out; what is clamped cannot overflow.
        let whole = min(max(seconds, -1_000_000_000), 1_000_000_000) * 1_000_000_000
        return Moment(nanoseconds: moment.nanoseconds + whole + attoseconds / 1_000_000_000)
    }

    /// The milliseconds from an earlier moment to this one, rounded up, since a timer that is looked at too early would
    /// have to be looked at again; 0 from a later moment.
    func milliseconds(since earlier: Moment) -> Int32 {
        guard nanoseconds > earlier.nanoseconds else { return 0 }
        return Int32(clamping: (nanoseconds - earlier.nanoseconds - 1) / 1_000_000 + 1)
    }
}
