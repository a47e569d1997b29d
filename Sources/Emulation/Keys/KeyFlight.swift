import Synchronization

/// A request for keys that is on its way, and those who wait for its end.
final class KeyFlight: Sendable {
    let gate = Gate()
    private let outcome = Mutex<(report: KeyFetchReport, hasLanded: Bool)?>(nil)

    /// What came of it; `nil` while it is on its way.
    var report: KeyFetchReport? { outcome.withLock { $0?.report } }

    /// Whether the keys for which it was sent took it over; not when they were replaced meanwhile.
    var hasLanded: Bool { outcome.withLock { $0?.hasLanded ?? false } }

    /// Lets all go on who wait.
    func end(with report: KeyFetchReport, hasLanded: Bool) {
        outcome.withLock { $0 = (report, hasLanded) }
        gate.open()
    }
}
