internal import Wire

/// Why the engine fails a WebSocket (RFC 6455 section 7.1.7).
enum WebSocketFailure: Error, Hashable, CaseIterable {
    /// RFC 6455 section 5.1: a client's frame is not masked.
    case unmasked
    /// RFC 6455 section 5.2: a reserved bit is set without a negotiated extension.
    case reservedBit
    /// RFC 6455 section 5.2: the opcode is undefined.
    case unknownOpcode
    /// RFC 6455 section 5.2: the length is not in the shortest form, or its highest bit is set.
    case malformedLength
    /// RFC 6455 section 5.5: a control frame is fragmented.
    case fragmentedControl
    /// RFC 6455 section 5.5: a control frame exceeds 125 bytes.
    case longControl
    /// RFC 6455 section 5.4: a continuation without a message.
    case strayContinuation
    /// RFC 6455 section 5.4: a message begins before the fragmented one has ended.
    case interruptedMessage
    /// RFC 6455 section 5.5.1: the payload of a close frame is one byte.
    case malformedClose
    /// RFC 6455 section 7.4: the code is not allowed in a close frame.
    case invalidCloseCode
    /// RFC 6455 section 8.1: a text or a reason is not UTF-8.
    case invalidText
    /// RFC 6455 section 7.4.1: the message exceeds the limit.
    case messageTooBig

    /// The closure that the client receives.
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
