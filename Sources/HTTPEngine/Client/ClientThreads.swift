internal import Synchronization

/// The few threads on which exchanges of the client run; each ends when nothing is left to do.
final class ClientThreads: Sendable {
    /// The threads of this process.
    static let shared = ClientThreads(maximum: 32)

    private struct State {
        var running = 0
        var waiting: [@Sendable () -> Void] = []
    }

    private let maximum: Int
    private let state = Mutex(State())

    init(maximum: Int) { self.maximum = maximum }

    /// Runs `work` as soon as a thread is free.
    func run(_ work: @escaping @Sendable () -> Void) {
        let mustStart = state.withLock { state in
            state.waiting.append(work)
            guard state.running < maximum else { return false }
            state.running += 1
            return true
        }
        guard mustStart, !OperatingSystem.startThread({ self.workOff() }) else { return }
        // Without a thread the work waits for one that runs, or times out.
        state.withLock { $0.running -= 1 }
    }

    private func workOff() {
        while let work = next() { work() }
    }

    private func next() -> (@Sendable () -> Void)? {
        state.withLock { state in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.running -= 1
            return nil
        }
    }
}
