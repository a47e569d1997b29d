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

    /// How many connections the loop has, those included that are on their way to it.
    let connectionCount = Atomic<Int>(0)
    private let mail: Mailbox<Message>

    init() throws(ServerError) { mail = try Mailbox() }

    /// Wakes the loop up.
    var wakeUp: WakeUp { mail.wakeUp }

    /// Leaves a message.
    func post(_ message: Message) { mail.post(message) }

    /// Takes all messages.
    func take() -> [Message] { mail.take() }
}
