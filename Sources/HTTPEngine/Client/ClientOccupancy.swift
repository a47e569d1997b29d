internal import Synchronization

/// How much the client has under way, held to its bounds.
final class ClientOccupancy: Sendable {
    /// The most exchanges at once (ours).
    let maximumExchanges: Int
    /// The most bytes of requests and answers that are kept for them in all (ours).
    let maximumBytes: Int
    private let state = Mutex((exchanges: 0, bytes: 0))

    init(maximumExchanges: Int, maximumBytes: Int) {
        self.maximumExchanges = maximumExchanges
        self.maximumBytes = maximumBytes
    }

    /// The exchanges under way.
    var exchanges: Int { state.withLock { $0.exchanges } }
    /// The bytes that are kept for them.
    var bytes: Int { state.withLock { $0.bytes } }

    /// Takes a place for an exchange with a request of so many bytes; false when there is none.
    func enter(byteCount: Int) -> Bool {
        state.withLock { state in
            guard state.exchanges < maximumExchanges, state.bytes + byteCount <= maximumBytes else { return false }
            state.exchanges += 1
            state.bytes += byteCount
            return true
        }
    }

    /// Counts so many bytes more, or fewer, which are kept; false when they are too many.
    func keep(_ byteCount: Int) -> Bool {
        state.withLock { state in
            state.bytes += byteCount
            return state.bytes <= maximumBytes
        }
    }

    /// Gives the place of an exchange back, with all bytes that were counted for it.
    func leave(byteCount: Int) {
        state.withLock { state in
            state.exchanges -= 1
            state.bytes -= byteCount
        }
    }
}
