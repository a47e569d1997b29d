#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// A time of the monotonic clock in nanoseconds, cheap to compare for timers.
struct MonotonicTime: Comparable, Sendable {
    private let nanoseconds: Int64

    static var now: MonotonicTime {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return MonotonicTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    static func < (left: MonotonicTime, right: MonotonicTime) -> Bool { left.nanoseconds < right.nanoseconds }

    static func + (moment: MonotonicTime, duration: Duration) -> MonotonicTime {
        let (seconds, attoseconds) = duration.components
        // A timeout over thirty years is none; clamping prevents overflow.
        let whole = min(max(seconds, -1_000_000_000), 1_000_000_000) * 1_000_000_000
        return MonotonicTime(nanoseconds: moment.nanoseconds + whole + attoseconds / 1_000_000_000)
    }

    /// The milliseconds since an earlier moment, rounded up, since a timer that fires early would have to fire again; 0
    /// if `earlier` is later.
    func milliseconds(since earlier: MonotonicTime) -> Int32 {
        guard nanoseconds > earlier.nanoseconds else { return 0 }
        return Int32(clamping: (nanoseconds - earlier.nanoseconds - 1) / 1_000_000 + 1)
    }
}
