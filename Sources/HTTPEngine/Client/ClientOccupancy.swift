internal import Synchronization

/// How much the client has in progress, within its limits.
final class ClientOccupancy: Sendable {
    /// The maximum number of concurrent exchanges (ours).
    let maximumExchanges: Int
    /// The maximum total bytes of their requests and answers (ours).
    let maximumBytes: Int
    private let state = Mutex((exchanges: 0, bytes: 0))

    init(maximumExchanges: Int, maximumBytes: Int) {
        self.maximumExchanges = maximumExchanges
        self.maximumBytes = maximumBytes
    }

    /// The exchanges in progress.
    var exchanges: Int { state.withLock { $0.exchanges } }
    /// The bytes buffered for them.
    var bytes: Int { state.withLock { $0.bytes } }

    /// Takes a place for an exchange with a request of that many bytes; false when there is none.
    func enter(byteCount: Int) -> Bool {
        state.withLock { state in
            guard state.exchanges < maximumExchanges, state.bytes + byteCount <= maximumBytes else { return false }
            state.exchanges += 1
            state.bytes += byteCount
            return true
        }
    }

    /// Adds to the buffered bytes, or subtracts; false when they exceed the limit.
    func keep(_ byteCount: Int) -> Bool {
        state.withLock { state in
            state.bytes += byteCount
            return state.bytes <= maximumBytes
        }
    }

    /// Frees the place of an exchange and the bytes counted for it.
    func leave(byteCount: Int) {
        state.withLock { state in
            state.exchanges -= 1
            state.bytes -= byteCount
        }
    }
}
