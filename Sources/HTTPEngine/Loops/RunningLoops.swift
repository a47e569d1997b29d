internal import Synchronization

/// Counts the running loops and signals when the last one has ended.
final class RunningLoops: Sendable {
    private struct State {
        var count = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    /// Runs a loop on a new thread; false when the system has none left.
    func start(_ loopConfiguration: LoopConfiguration) -> Bool {
        state.withLock { $0.count += 1 }
        let isRunning = OperatingSystem.startThread { [self] in
            EventLoop(loopConfiguration).run()
            loopEnded()
        }
        if !isRunning { loopEnded() }
        return isRunning
    }

    func waitUntilEnded() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if state.count > 0 { state.waiting.append(continuation) }
                return state.count == 0
            }
            if isOver { continuation.resume() }
        }
    }

    private func loopEnded() {
        let waiting = state.withLock { state in
            state.count -= 1
            guard state.count == 0 else { return [CheckedContinuation<Void, Never>]() }
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}
