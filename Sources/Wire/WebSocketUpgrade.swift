/// An accepted handshake, with everything that its WebSocket needs.
public struct WebSocketUpgrade: Sendable {
    /// The client's handshake.
    public let handshake: WebSocketHandshake
    /// The receiver of the WebSocket's events.
    public let handler: any WebSocketHandler
    /// The subprotocol chosen from the offered ones.
    public var subprotocol: String?
    /// The largest accepted message in bytes; a larger one closes the WebSocket with 1009.
    public var maximumMessageBytes: Int
    /// How long the client may stay silent before the server closes with 1001.
    public var silence: Duration

    /// An upgrade with these limits.
    public init(
        _ handshake: WebSocketHandshake, handler: any WebSocketHandler, subprotocol: String? = nil,
        maximumMessageBytes: Int = 64 * 1024, silence: Duration = .seconds(600)
    ) {
        self.handshake = handshake
        self.handler = handler
        self.subprotocol = subprotocol
        self.maximumMessageBytes = maximumMessageBytes
        self.silence = silence
    }
}
