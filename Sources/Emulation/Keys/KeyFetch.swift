import Synchronization

/// A fetch of published keys that is on its way, and those who wait for its end.
final class KeyFetch: Sendable {
    private let gate = Gate()
    private let ending = Mutex<(report: KeyFetchReport, isTaken: Bool)?>(nil)

    /// What came of it, and whether the keys for which it was sent took it over: not when they were replaced meanwhile. `nil`
    /// while it is on its way.
    var outcome: (report: KeyFetchReport, isTaken: Bool)? { ending.withLock { $0 } }

    /// Returns once it has ended.
    func completion() async { await gate.passage() }

    /// Lets all go on who wait.
    func complete(with report: KeyFetchReport, isTaken: Bool) {
        ending.withLock { $0 = (report, isTaken) }
        gate.open()
    }
}
