/// The server's end of an open WebSocket; every thread may use it, at any time, and no call waits.
public struct WebSocket: Sendable {
    /// What carries the frames: a connection of the engine, or a test's memory.
    public protocol Channel: AnyObject, Sendable {
        /// Sends a message behind those that were sent before.
        func send(_ message: WebSocketMessage)
        /// Sends a close frame behind what was sent before, and ends the connection after the client's close frame.
        func close(_ closure: WebSocketClosure)
    }

    private let channel: any Channel

    /// The WebSocket that this channel carries.
    public init(_ channel: any Channel) { self.channel = channel }

    /// Sends a message; messages arrive in the order of the calls.
    ///
    /// A client that takes its messages too slowly is closed with code 1013. After the end the call does nothing.
    public func send(_ message: WebSocketMessage) { channel.send(message) }

    /// Closes in good order; further calls do nothing.
    public func close(_ closure: WebSocketClosure) { channel.close(closure) }
}

extension WebSocket: Identifiable, Hashable {
    /// Which WebSocket this is among those that are open.
    public var id: ObjectIdentifier { ObjectIdentifier(channel) }

    /// Whether both are the same end of the same connection.
    public static func == (left: WebSocket, right: WebSocket) -> Bool { left.id == right.id }

    /// Hashes the identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

/// What a WebSocket's events lead to. The calls come one at a time and in order; what must wait belongs elsewhere.
public protocol WebSocketHandler: Sendable {
    /// The handshake is answered; always the first call.
    func opened(_ socket: WebSocket)
    /// The client has sent a message.
    func received(_ message: WebSocketMessage, on socket: WebSocket)
    /// The connection has ended, by whomever; always the last call.
    func closed(_ socket: WebSocket, _ closure: WebSocketClosure)
}
