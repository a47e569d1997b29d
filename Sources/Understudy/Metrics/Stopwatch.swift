#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Measures time by a clock that cannot be set; faster to read than the library's, and read twice per request.
struct Stopwatch: Sendable {
    private let began = Self.nanoseconds

    /// The time since it was started.
    var elapsedNanoseconds: Int { Self.nanoseconds - began }

    private static var nanoseconds: Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }
}
