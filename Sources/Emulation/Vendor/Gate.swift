import Synchronization

/// A one-time event that tasks can await without blocking a thread.
final class Gate: Sendable {
    private enum Stage {
        case closed([CheckedContinuation<Void, Never>])
        case open
    }

    private let stage = Mutex(Stage.closed([]))

    /// Creates a closed gate.
    init() {}

    /// Returns once the gate is open.
    func passage() async {
        await withCheckedContinuation { continuation in
            let isOpen = stage.withLock { stage in
                guard case .closed(let waiting) = stage else { return true }
                stage = .closed(waiting + [continuation])
                return false
            }
            if isOpen { continuation.resume() }
        }
    }

    /// Opens the gate permanently.
    func open() {
        let waiting = stage.withLock { stage -> [CheckedContinuation<Void, Never>] in
            defer { stage = .open }
            if case .closed(let waiting) = stage { return waiting }
            return []
        }
        for continuation in waiting { continuation.resume() }
    }
}
