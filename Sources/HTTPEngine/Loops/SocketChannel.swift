internal import Synchronization
internal import Wire

/// Connects any thread with the WebSocket of one connection, through the mailbox of its loop.
final class SocketChannel: WebSocket.Channel {
    enum Command: Sendable {
        case send(WebSocketMessage)
        /// Start the closing handshake.
        case close(WebSocketClosure)
        /// Give up on the client: its queue exceeds the limit.
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

    var hasWaiting: Bool { waiting.load(ordering: .relaxed) > 0 }

    /// Notes that the loop has taken a message.
    func taken(_ message: WebSocketMessage) { waiting.subtract(message.cost, ordering: .relaxed) }

    /// Makes further calls do nothing.
    func end() { isOpen.store(false, ordering: .relaxed) }

    private func post(_ command: Command) {
        mailbox.post(.webSocket(descriptor: descriptor, connection: connection, command))
    }
}

extension WebSocketMessage {
    /// The bytes that a queued message counts, even an empty one.
    fileprivate var cost: Int {
        switch self {
        case .text(let text): text.utf8.count + 64
        case .binary(let bytes): bytes.count + 64
        }
    }
}
