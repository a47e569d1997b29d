#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// The process's file descriptors; each connection uses one.
package enum Descriptors {
    /// Raises the soft limit to the hard limit; the usual soft limit is far below what a server may need.
    package static func raiseLimit() {
        var limit = rlimit()
        guard getrlimit(kind, &limit) == 0 else { return }
        #if canImport(Darwin)
            // Darwin rejects more than this, even if the hard limit is higher.
            limit.rlim_cur = min(limit.rlim_max, rlim_t(OPEN_MAX))
        #else
            limit.rlim_cur = limit.rlim_max
        #endif
        // If that fails, the current limit has to do.
        _ = setrlimit(kind, &limit)
    }

    /// Opens missing standard streams, so that no socket or file takes a descriptor to which output for people is
    /// written.
    package static func fillStandard() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
            // `open` returns the lowest free descriptor, which is this one.
            _ = open("/dev/null", O_RDWR)
        }
    }

    #if canImport(Darwin)
        private static let kind = RLIMIT_NOFILE
    #else
        private static let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #endif
}
