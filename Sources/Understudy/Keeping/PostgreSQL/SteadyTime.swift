#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Time that nobody sets, and that goes on while the machine sleeps.
enum SteadyTime {
    #if canImport(Darwin)
        private static let clock = CLOCK_MONOTONIC
    #else
        // Linux stops CLOCK_MONOTONIC while the machine is suspended, and a lease would outlast that.
        private static let clock = CLOCK_BOOTTIME
    #endif

    /// The nanoseconds since some moment in the past.
    static var nanoseconds: Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}

extension Duration {
    /// The duration in whole nanoseconds.
    var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
