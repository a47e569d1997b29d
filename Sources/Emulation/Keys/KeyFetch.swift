import Synchronization

/// A running fetch of published keys, and the callers that wait for it.
final class KeyFetch: Sendable {
    private let gate = Gate()
    private let ending = Mutex<(report: KeyFetchReport, isTaken: Bool)?>(nil)

    /// The result, once the fetch has ended, and whether the keys it was made for took it over: they do not if they
    /// were replaced in the meantime.
    func outcome() async -> (report: KeyFetchReport, isTaken: Bool)? {
        await gate.passage()
        return ending.withLock { $0 }
    }

    /// Releases all waiters.
    func complete(with report: KeyFetchReport, isTaken: Bool) {
        ending.withLock { $0 = (report, isTaken) }
        gate.open()
    }
}
