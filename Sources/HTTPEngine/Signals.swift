#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// The signals that ask a process to end, received synchronously instead of in a handler.
package enum Signals {
    /// A signal that asks the process to end.
    package enum Termination: Sendable {
        /// SIGTERM, from a supervisor or container runtime.
        case terminate
        /// SIGINT, from Control-C.
        case interrupt
        /// SIGHUP, from a terminal that closes.
        case hangUp
    }

    /// Blocks SIGTERM, SIGINT and SIGHUP for ``waitForTermination()``, and ignores SIGPIPE.
    ///
    /// Call it first, on the main thread: threads inherit their creator's mask.
    package static func blockTermination() {
        var signals = termination
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        signal(SIGPIPE, SIG_IGN)
    }

    /// Blocks until one of them arrives; requires ``blockTermination()``.
    package static func waitForTermination() -> Termination {
        var signals = termination
        var received: Int32 = 0
        while sigwait(&signals, &received) != 0 {}
        return switch received {
        case SIGINT: .interrupt
        case SIGHUP: .hangUp
        default: .terminate
        }
    }

    /// Whether the process was started to outlive its terminal, as by nohup. `sigwait` would also receive an ignored
    /// signal.
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
