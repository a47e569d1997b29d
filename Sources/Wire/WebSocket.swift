/// The server's end of an open WebSocket. Thread-safe; no call blocks.
public struct WebSocket: Sendable {
    /// The transport of the frames: a connection of the engine, or a test's memory.
    public protocol Channel: AnyObject, Sendable {
        /// Queues a message after those sent before.
        func send(_ message: WebSocketMessage)
        /// Queues a close frame, and ends the connection after the client's close frame.
        func close(_ closure: WebSocketClosure)
    }

    private let channel: any Channel

    /// A WebSocket over this channel.
    public init(_ channel: any Channel) { self.channel = channel }

    /// Sends a message; messages arrive in the order of the calls.
    ///
    /// A client that reads too slowly is closed with code 1013. After the end the call does nothing.
    public func send(_ message: WebSocketMessage) { channel.send(message) }

    /// Starts the closing handshake; further calls do nothing.
    public func close(_ closure: WebSocketClosure) { channel.close(closure) }
}

extension WebSocket: Identifiable, Hashable {
    /// The identity of this WebSocket among the open ones.
    public var id: ObjectIdentifier { ObjectIdentifier(channel) }

    /// Whether both are the same end of the same connection.
    public static func == (left: WebSocket, right: WebSocket) -> Bool { left.id == right.id }

    public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

/// Handles a WebSocket's events. Calls are serialized and must not block.
public protocol WebSocketHandler: Sendable {
    /// The handshake was answered; always the first call.
    func opened(_ socket: WebSocket)
    /// The client sent a message.
    func received(_ message: WebSocketMessage, on socket: WebSocket)
    /// The connection ended, from either side; always the last call.
    func closed(_ socket: WebSocket, _ closure: WebSocketClosure)
}
