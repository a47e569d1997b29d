/// The type of a frame (RFC 6455 section 5.2); the other ten values are reserved.
enum WebSocketOpcode: UInt8 {
    /// A further fragment of a message.
    case continuation = 0x0
    /// A text, or its first fragment.
    case text = 0x1
    /// Bytes, or their first fragment.
    case binary = 0x2
    /// The last frame of its sender.
    case close = 0x8
    /// A request for a sign of life.
    case ping = 0x9
    /// The answer to a ping.
    case pong = 0xA

    /// Whether such frames concern the connection and may come between the fragments of a message.
    var isControl: Bool { rawValue & 0x8 != 0 }
}
