import Synchronization

/// A fetch of published keys that is on its way, and those who wait for its end.
final class KeyFetch: Sendable {
    private let gate = Gate()
    private let ending = Mutex<(report: KeyFetchReport, isTaken: Bool)?>(nil)

    /// What came of it, once it has ended, and whether the keys for which it was sent took it over: not when they were
    /// replaced meanwhile.
    func outcome() async -> (report: KeyFetchReport, isTaken: Bool)? {
        await gate.passage()
        return ending.withLock { $0 }
    }

    /// Lets all go on who wait.
    func complete(with report: KeyFetchReport, isTaken: Bool) {
        ending.withLock { $0 = (report, isTaken) }
        gate.open()
    }
}
