internal import Synchronization
internal import Wire

/// The way from any thread to the WebSocket of one connection: through the mailbox of its loop.
final class SocketChannel: WebSocket.Channel {
    /// What the loop is asked to do with the connection.
    enum Command: Sendable {
        /// Send a message.
        case send(WebSocketMessage)
        /// Close in good order.
        case close(WebSocketClosure)
        /// Give the client up: more waits for it than it may.
        case drop
    }

    private let mailbox: LoopMailbox
    private let descriptor: Int32
    private let connection: UInt64
    /// The bytes that may wait in the mailbox for this connection.
    private let limit: Int
    private let waiting = Atomic<Int>(0)
    private let isOpen = Atomic<Bool>(true)

    init(_ mailbox: LoopMailbox, descriptor: Int32, connection: UInt64, limit: Int) {
        self.mailbox = mailbox
        self.descriptor = descriptor
        self.connection = connection
        self.limit = limit
    }

    func send(_ message: WebSocketMessage) {
        guard isOpen.load(ordering: .relaxed) else { return }
        let total = waiting.add(message.cost, ordering: .relaxed).newValue
        guard total > limit else { return post(.send(message)) }
        end()
        post(.drop)
    }

    func close(_ closure: WebSocketClosure) {
        if isOpen.load(ordering: .relaxed) { post(.close(closure)) }
    }

    /// Whether messages are on their way to the loop.
    var hasWaiting: Bool { waiting.load(ordering: .relaxed) > 0 }

    /// Notes that the loop has taken a message over.
    func taken(_ message: WebSocketMessage) { waiting.subtract(message.cost, ordering: .relaxed) }

    /// Has further calls do nothing.
    func end() { isOpen.store(false, ordering: .relaxed) }

    private func post(_ command: Command) {
        mailbox.post(.webSocket(descriptor: descriptor, connection: connection, command))
    }
}

extension WebSocketMessage {
    /// The bytes that a waiting message takes; an empty one takes room too.
    fileprivate var cost: Int {
        switch self {
        case .text(let text): text.utf8.count + 64
        case .binary(let bytes): bytes.count + 64
        }
    }
}
