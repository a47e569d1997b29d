#if canImport(Darwin)
    internal import Darwin
#else
    internal import CEpoll
    internal import Glibc
#endif

/// System calls other than those on sockets.
package enum OperatingSystem {
    /// The cores that are online.
    static var coreCount: Int { Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))) }

    /// The error of the last failed call on this thread.
    static var lastError: Int32 { errno }

    static func errorText(_ reason: Int32) -> String {
        strerror(reason).map { String(cString: $0) } ?? "error \(reason)"
    }

    /// The machine's name; Foundation would ask the resolver, which may take long.
    package static var machineName: String? {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return nil }
        return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// The time in seconds since 1970.
    static var unixTime: Int { time(nil) }

    /// Runs `body` on a new thread; false when the system has none left.
    @discardableResult
    package static func startThread(_ body: @escaping @Sendable () -> Void) -> Bool {
        #if canImport(Darwin)
            var thread: pthread_t?
        #else
            var thread = pthread_t()
        #endif
        let box = Unmanaged.passRetained(ThreadBody(run: body))
        let code = pthread_create(&thread, nil, { runThread($0) }, box.toOpaque())
        guard code == 0 else {
            box.release()
            return false
        }
        #if canImport(Darwin)
            if let thread { pthread_detach(thread) }
        #else
            pthread_detach(thread)
        #endif
        return true
    }
}

/// A thread's closure as an object that a C pointer can carry.
private final class ThreadBody: Sendable {
    let run: @Sendable () -> Void

    init(run: @escaping @Sendable () -> Void) { self.run = run }
}

/// The pointer is optional on Linux but not on macOS; an optional parameter fits both.
private func runThread(_ pointer: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let pointer else { return nil }
    Unmanaged<ThreadBody>.fromOpaque(pointer).takeRetainedValue().run()
    return nil
}

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

/// Settings of the process's memory allocator.
package enum ProcessMemory {
    /// Returns large buffers to the system as soon as they are freed; call it at the start of a program.
    ///
    /// When glibc first frees a large buffer, it raises its threshold, and from then on keeps buffers of up to 32 MB in
    /// the heap, which hardly ever shrinks. Other allocators need no such hint.
    package static func returnLargeBuffers() {
        #if canImport(Glibc)
            // glibc's initial threshold; set explicitly, it stays fixed.
            _ = mallopt(M_MMAP_THRESHOLD, 128 * 1024)
            // Each heap grows in larger steps, which are calls of the system.
            _ = mallopt(M_TOP_PAD, 1 << 20)
        #endif
    }

    /// Reserves less address space, which some systems restrict; call it at the start of a program, before there are
    /// threads.
    ///
    /// For nearly every thread, glibc reserves 64 MB for allocations and 8 MB for the stack. One heap per loop is no
    /// slower, and 2 MB of stack suffice, since recursion on external input is bounded.
    package static func reserveLess() {
        #if canImport(Glibc)
            _ = mallopt(M_ARENA_MAX, Int32(clamping: max(2, ServerConfiguration.coreCount)))
            var attributes = pthread_attr_t()
            guard pthread_attr_init(&attributes) == 0 else { return }
            defer { pthread_attr_destroy(&attributes) }
            guard pthread_attr_setstacksize(&attributes, 2 << 20) == 0 else { return }
            // On failure the default size remains.
            _ = pthread_setattr_default_np(&attributes)
        #endif
    }

    /// Releases the pages of the program and its libraries: most are needed only at the start, and the next use finds
    /// them in the system's cache.
    package static func releaseCode() {
        #if os(Linux)
            guard let file = fopen("/proc/self/maps", "r") else { return }
            defer { fclose(file) }
            var (line, capacity): (UnsafeMutablePointer<CChar>?, Int) = (nil, 0)
            defer { free(line) }
            while getline(&line, &capacity, file) > 0, let text = line.map({ String(cString: $0) }) {
                let parts = text.split(separator: " ")
                let bounds = parts[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
                // Code pages are never written, so the file still holds all of them.
                guard parts.count > 5, parts[1] == "r-xp", parts[5].hasPrefix("/"), bounds.count == 2 else { continue }
                _ = madvise(UnsafeMutableRawPointer(bitPattern: bounds[0]), Int(bounds[1] - bounds[0]), MADV_DONTNEED)
            }
        #endif
    }
}
