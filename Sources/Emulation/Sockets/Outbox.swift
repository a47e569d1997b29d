public import Wire

/// What an exchange, a frame, an action or a deadline has to tell to open sockets.
///
/// It is committed under the lock of the state, in its order, and only when the work was not refused: so what sockets are
/// told has the order of the state's changes.
public struct Outbox: Sendable {
    /// Something to be told.
    @usableFromInline
    enum Order: Sendable {
        case send(WebSocketMessage, [SocketTopic])
        case close(WebSocketClosure, SocketTopic)
        /// To the socket whose frame is being dealt with.
        case reply(WebSocketMessage)
        /// At the socket whose frame is being dealt with.
        case hangUp(WebSocketClosure)
    }

    @usableFromInline private(set) var orders: [Order]
    /// Whose orders were committed; `nil` while none were.
    @usableFromInline var cause: FrameCause?

    /// Nothing to tell.
    @inlinable
    public init() {
        orders = []
    }

    /// Whether nobody is told anything.
    @inlinable var isEmpty: Bool { orders.isEmpty }

    /// Sends a message to every socket that has one of these topics, once to each.
    public mutating func send(_ message: WebSocketMessage, to topics: [SocketTopic]) {
        orders.append(.send(message, topics))
    }

    /// Closes every socket that has this topic; what was sent before still arrives, and nothing is sent behind it.
    public mutating func close(_ closure: WebSocketClosure, at topic: SocketTopic) {
        orders.append(.close(closure, topic))
    }

    mutating func reply(_ message: WebSocketMessage) { orders.append(.reply(message)) }

    mutating func hangUp(_ closure: WebSocketClosure) { orders.append(.hangUp(closure)) }
}
