internal import Synchronization
internal import Wire

/// The one way from other threads to a loop.
final class LoopMailbox: Sendable {
    /// What other threads tell a loop.
    enum Message: Sendable {
        /// Begin to accept connections.
        case accept
        /// Take over a connection that was accepted.
        case adopt(Arrival)
        /// A deferred answer is there; the connection may be gone or may be another one under the same descriptor.
        case answered(descriptor: Int32, connection: UInt64, Response)
        /// Do something with a WebSocket, under the same reserve.
        case webSocket(descriptor: Int32, connection: UInt64, SocketChannel.Command)
        /// Close some connections that are idle, since others need their places.
        case shed
        /// Answer what is in flight, accept nothing more, and end at that moment at the latest.
        case stop(deadline: Moment)
        /// If it is ending anyway, end at that moment at the latest.
        case hurry(deadline: Moment)
    }

    /// Wakes the loop up.
    let wakeUp: WakeUp
    /// How many connections the loop has, those included that are on their way to it.
    let connectionCount = Atomic<Int>(0)
    private let messages = Mutex<[Message]>([])

    init() throws(ServerError) { wakeUp = try WakeUp() }

    /// Leaves a message; the loop is woken for the first of several.
    func post(_ message: Message) {
        let isFirst = messages.withLock { messages in
            messages.append(message)
            return messages.count == 1
        }
        if isFirst { wakeUp.signal() }
    }

    /// Takes all messages.
    func take() -> [Message] {
        wakeUp.clear()
        return messages.withLock { messages in
            defer { messages = [] }
            return messages
        }
    }
}
