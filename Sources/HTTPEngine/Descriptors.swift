#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// The descriptors of this process, of which each connection takes one.
public enum Descriptors {
    /// Has the process use as many as the system lets it; the usual limit is far below what a server may need.
    public static func raiseLimit() {
        var limit = rlimit()
        guard getrlimit(kind, &limit) == 0 else { return }
        #if canImport(Darwin)
            // Beyond this the call fails there, whatever it says to be the most.
            limit.rlim_cur = min(limit.rlim_max, rlim_t(OPEN_MAX))
        #else
            limit.rlim_cur = limit.rlim_max
        #endif
        // Who may have no more goes on with what there is.
        _ = setrlimit(kind, &limit)
    }

    /// Opens standard input, output and error where the process was started without, since a socket or a file that took
    /// such a place would get what is meant for people.
    public static func fillStandard() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
            // The lowest one that is free, which is this one.
            _ = open("/dev/null", O_RDWR)
        }
    }

    #if canImport(Darwin)
        private static let kind = RLIMIT_NOFILE
    #else
        private static let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #endif
}
