public import Wire

/// The messages of an exchange, a frame, an action or a deadline to open sockets.
///
/// It is committed under the lock of the state, in order, and only when the work was not refused: so sockets receive
/// messages in the order of the state's changes.
public struct Outbox: Sendable {
    @usableFromInline
    enum Order: Sendable {
        case send(WebSocketMessage, [SocketTopic])
        case close(WebSocketClosure, SocketTopic)
        /// A message to the socket whose frame is being handled.
        case reply(WebSocketMessage)
        /// Closes the socket whose frame is being handled.
        case hangUp(WebSocketClosure)
    }

    @usableFromInline private(set) var orders: [Order]
    /// The exchange whose orders were committed; `nil` before that.
    @usableFromInline var cause: FrameCause?

    /// Creates an empty outbox.
    @inlinable
    public init() {
        orders = []
    }

    @inlinable var isEmpty: Bool { orders.isEmpty }

    /// Sends a message to every socket that has one of these topics, once to each.
    public mutating func send(_ message: WebSocketMessage, to topics: [SocketTopic]) {
        orders.append(.send(message, topics))
    }

    /// Closes every socket with this topic; messages sent before still arrive, later ones are not sent.
    public mutating func close(_ closure: WebSocketClosure, at topic: SocketTopic) {
        orders.append(.close(closure, topic))
    }

    mutating func reply(_ message: WebSocketMessage) { orders.append(.reply(message)) }

    mutating func hangUp(_ closure: WebSocketClosure) { orders.append(.hangUp(closure)) }
}
