import Dispatch

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Leaving memory, while calls may be under way.
///
/// A vendor's call finds a sealed state under the state's own lock, does nothing, and is repeated where the sandbox is
/// then. A control call changes a sandbox in many places, so whoever seals waits for it.
extension Sandbox {
    /// Whether the sandbox answers nobody any more.
    package var isSealed: Bool { isSealedNow.load(ordering: .relaxed) }

    /// Whether another server has begun from what was stored, so that nothing that was done here since then counts.
    package var isLost: Bool { isLostNow.load(ordering: .acquiring) }

    /// Answers nobody from now on, nor those whose calls are carried out already.
    package func lose() {
        isLostNow.store(true, ordering: .releasing)
        seal()
    }

    /// Begins a control call; false if it must be made where the sandbox is by now.
    package func beginControlCall() -> Bool {
        control.withLock { control in
            guard !isSealed else { return false }
            control.controlCalls += 1
            return true
        }
    }

    package func endControlCall() { control.withLock { $0.controlCalls -= 1 } }

    /// Answers nobody from now on: all calls are told that the sandbox has moved, and sockets are closed.
    func seal() {
        refuseControlCalls()
        for vendor in vendors { vendor.seal() }
        journal.close()
    }

    /// Begins no more control calls, and ends those that only wait.
    func refuseControlCalls() {
        control.withLock { _ in isSealedNow.store(true, ordering: .sequentiallyConsistent) }
        journal.end()
    }

    /// Waits until no control call is under way.
    ///
    /// - Returns: whether that came about in time.
    func awaitControlCalls(until deadline: DispatchTime) -> Bool {
        while control.withLock({ $0.controlCalls > 0 }) {
            guard DispatchTime.now() < deadline else { return false }
            usleep(1000)
        }
        return true
    }

    /// Answers again after ``seal()``.
    func unseal() {
        for vendor in vendors { vendor.unseal() }
        journal.resume()
        isSealedNow.store(false, ordering: .sequentiallyConsistent)
    }
}
