/// An accepted handshake, with everything that its WebSocket needs.
public struct WebSocketUpgrade: Sendable {
    package let handshake: WebSocketHandshake
    /// The receiver of the WebSocket's events.
    package let handler: any WebSocketHandler
    /// The subprotocol chosen from the offered ones.
    package var subprotocol: String?
    /// The largest accepted message in bytes; a larger one closes the WebSocket with 1009.
    package var maximumMessageBytes: Int
    /// How long the client may stay silent before the server closes with 1001.
    package var silence: Duration

    /// An upgrade with these limits.
    package init(
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
