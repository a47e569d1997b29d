internal import Synchronization

/// Looks up names on a few threads, each of which ends when it has nothing left to do.
///
/// The system's look-up blocks and cannot be interrupted. If it outlives its exchange, its result is dropped, but its
/// thread stays busy until the system gives up; while all threads are busy, further names wait, and time out.
final class NameLookUps: Sendable {
    private struct Order: Sendable {
        let exchange: ClientExchange
        let tell: @Sendable ([SocketAddress]) -> Void
    }

    private struct State {
        var threads = 0
        var waiting: [Order] = []
    }

    private let maximumThreads: Int
    private let resolve: @Sendable (ClientTarget) -> [SocketAddress]
    private let state = Mutex(State())

    init(
        maximumThreads: Int,
        resolve: @escaping @Sendable (ClientTarget) -> [SocketAddress] = {
            SocketAddress.resolve(host: $0.host, port: $0.port)
        }
    ) {
        self.maximumThreads = maximumThreads
        self.resolve = resolve
    }

    /// Finds the addresses of a host as soon as a thread is free.
    func find(
        _ target: ClientTarget, for exchange: ClientExchange, _ tell: @escaping @Sendable ([SocketAddress]) -> Void
    ) {
        let mustStart = state.withLock { state in
            state.waiting.append(Order(exchange: exchange, tell: tell))
            guard state.threads < maximumThreads else { return false }
            state.threads += 1
            return true
        }
        guard mustStart, !OperatingSystem.startThread({ self.workOff() }) else { return }
        // Without a new thread the name waits for a running one, or times out.
        state.withLock { $0.threads -= 1 }
    }

    /// Drops look-ups of an exchange that has ended, so that no more can wait than exchanges are in progress.
    func forget(_ exchange: ClientExchange) {
        state.withLock { $0.waiting.removeAll { $0.exchange === exchange } }
    }

    private func workOff() {
        while let order = next() { order.tell(resolve(order.exchange.target)) }
    }

    private func next() -> Order? {
        state.withLock { state in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.threads -= 1
            return nil
        }
    }
}
