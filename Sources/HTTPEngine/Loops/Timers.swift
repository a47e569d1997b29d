#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// Timers of connections, the earliest first.
///
/// When a deadline moves back, the old entry stays and is renewed when it fires, so that a request does not cost an
/// entry.
struct TimerHeap {
    /// A time and its connection.
    struct Entry {
        let moment: MonotonicTime
        let descriptor: Int32
        let connection: UInt64
    }

    private var entries: [Entry] = []

    var earliest: MonotonicTime? { entries.first?.moment }

    mutating func insert(_ entry: Entry) {
        entries.append(entry)
        var child = entries.count - 1
        while child > 0, entries[child].moment < entries[(child - 1) / 2].moment {
            entries.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    /// Takes the earliest entry if it is due.
    mutating func takeDue(at now: MonotonicTime) -> Entry? {
        guard let first = entries.first, first.moment <= now else { return nil }
        let last = entries.removeLast()
        if !entries.isEmpty {
            entries[0] = last
            sink()
        }
        return first
    }

    private mutating func sink() {
        var parent = 0
        while true {
            var child = 2 * parent + 1
            guard child < entries.count else { return }
            if child + 1 < entries.count, entries[child + 1].moment < entries[child].moment { child += 1 }
            guard entries[child].moment < entries[parent].moment else { return }
            entries.swapAt(child, parent)
            parent = child
        }
    }
}

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
