/// A handshake that is accepted, with everything that the WebSocket behind it needs.
public struct WebSocketUpgrade: Sendable {
    /// The client's handshake.
    public let handshake: WebSocketHandshake
    /// Whom the WebSocket's events go to.
    public let handler: any WebSocketHandler
    /// The subprotocol that was chosen among those of the handshake.
    public var subprotocol: String?
    /// The largest message in bytes; a larger one closes with 1009.
    public var maximumMessageBytes: Int
    /// How long the client may send nothing at all before the server closes with 1001.
    public var silence: Duration

    /// An upgrade with these bounds.
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
