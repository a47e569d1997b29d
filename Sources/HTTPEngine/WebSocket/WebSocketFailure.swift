internal import Wire

/// Why the engine fails a WebSocket by itself. RFC 6455 section 7.1.7.
enum WebSocketFailure: Error, Hashable, CaseIterable {
    /// RFC 6455 section 5.1: a frame of a client is not masked.
    case unmasked
    /// RFC 6455 section 5.2: a reserved bit is set, though no extension was agreed upon.
    case reservedBit
    /// RFC 6455 section 5.2: nobody has said what the opcode means.
    case unknownOpcode
    /// RFC 6455 section 5.2: the length does not use the fewest bytes, or its highest bit is set.
    case malformedLength
    /// RFC 6455 section 5.5: a control frame is a fragment.
    case fragmentedControl
    /// RFC 6455 section 5.5: a control frame has more than 125 bytes.
    case longControl
    /// RFC 6455 section 5.4: a fragment continues nothing.
    case strayContinuation
    /// RFC 6455 section 5.4: a message begins before the one that came in fragments has ended.
    case interruptedMessage
    /// RFC 6455 section 5.5.1: the payload of a close frame is one byte.
    case malformedClose
    /// RFC 6455 section 7.4: no close frame may have that code.
    case invalidCloseCode
    /// RFC 6455 section 8.1: a text or a reason is not UTF-8.
    case invalidText
    /// RFC 6455 section 7.4.1: the message is larger than the limit.
    case messageTooBig

    /// What the client is told.
    var closure: WebSocketClosure {
        switch self {
        case .unmasked: WebSocketClosure(.protocolError, reason: "frame is not masked")
        case .reservedBit: WebSocketClosure(.protocolError, reason: "reserved bit is set")
        case .unknownOpcode: WebSocketClosure(.protocolError, reason: "unknown opcode")
        case .malformedLength: WebSocketClosure(.protocolError, reason: "malformed length")
        case .fragmentedControl: WebSocketClosure(.protocolError, reason: "control frame is fragmented")
        case .longControl: WebSocketClosure(.protocolError, reason: "control frame exceeds 125 bytes")
        case .strayContinuation: WebSocketClosure(.protocolError, reason: "fragment continues no message")
        case .interruptedMessage: WebSocketClosure(.protocolError, reason: "message begins inside another")
        case .malformedClose: WebSocketClosure(.protocolError, reason: "close frame has half a code")
        case .invalidCloseCode: WebSocketClosure(.protocolError, reason: "invalid close code")
        case .invalidText: WebSocketClosure(.invalidPayload, reason: "text is not UTF-8")
        case .messageTooBig: WebSocketClosure(.messageTooBig, reason: "message exceeds the limit")
        }
    }
}
