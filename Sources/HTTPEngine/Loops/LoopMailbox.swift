internal import Synchronization
internal import Wire

/// The only way for other threads to reach a loop.
final class LoopMailbox: Sendable {
    enum Message: Sendable {
        /// Start accepting connections.
        case accept
        /// Take over an accepted connection.
        case adopt(AcceptedSocket)
        /// A deferred answer is ready. The connection may be gone, and its descriptor reused.
        case answered(descriptor: Int32, connection: UInt64, Response)
        /// Perform a command on a WebSocket; the same applies.
        case webSocket(descriptor: Int32, connection: UInt64, SocketChannel.Command)
        /// Close some connections, since new ones need their place.
        case shed
        /// Finish what is in flight, accept nothing more, and end by the deadline.
        case stop(deadline: MonotonicTime)
        /// If stopping, end by this deadline.
        case hurry(deadline: MonotonicTime)
    }

    /// The loop's connections, including those on their way to it.
    let connectionCount = Atomic<Int>(0)
    /// What the loop watches besides its connections.
    let wakeUp: WakeUp
    private let messages = Mutex<[Message]>([])

    init() throws(ServerError) { wakeUp = try WakeUp() }

    /// Posts a message; only the first of several wakes the thread.
    func post(_ message: Message) {
        let isFirst = messages.withLock { messages in
            messages.append(message)
            return messages.count == 1
        }
        if isFirst { wakeUp.signal() }
    }

    func take() -> [Message] {
        wakeUp.clear()
        return messages.withLock { messages in
            defer { messages = [] }
            return messages
        }
    }
}
