#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// The signals that ask a process to end, taken one at a time instead of in a handler.
public enum Signals {
    /// A signal that asks the process to end.
    public enum Termination: Sendable {
        /// SIGTERM, as a supervisor or a container sends it.
        case terminate
        /// SIGINT, as Control-C sends it.
        case interrupt
        /// SIGHUP, as a terminal sends it that closes.
        case hangUp
    }

    /// Keeps SIGTERM, SIGINT and SIGHUP pending for ``waitForTermination()``, and has SIGPIPE ignored.
    ///
    /// Call it first of all, on the main thread: threads inherit the mask of the thread that starts them.
    public static func blockTermination() {
        var signals = termination
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        signal(SIGPIPE, SIG_IGN)
    }

    /// Holds the calling thread until one of them arrives; ``blockTermination()`` must have been called.
    public static func waitForTermination() -> Termination {
        var signals = termination
        var received: Int32 = 0
        while sigwait(&signals, &received) != 0 {}
        return switch received {
        case SIGINT: .interrupt
        case SIGHUP: .hangUp
        default: .terminate
        }
    }

    /// Whether the process was started to outlive its terminal, as by nohup. A signal that is ignored would wake `sigwait`
    /// all the same.
    private static let isHangUpIgnored: Bool = {
        var action = sigaction()
        sigaction(SIGHUP, nil, &action)
        #if canImport(Darwin)
            let handler = action.__sigaction_u.__sa_handler
        #else
            let handler = action.__sigaction_handler.sa_handler
        #endif
        return unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }()

    private static var termination: sigset_t {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGTERM)
        sigaddset(&signals, SIGINT)
        if !isHangUpIgnored { sigaddset(&signals, SIGHUP) }
        return signals
    }
}
