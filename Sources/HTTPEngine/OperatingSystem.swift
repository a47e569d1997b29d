#if canImport(Darwin)
    internal import Darwin
#else
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
