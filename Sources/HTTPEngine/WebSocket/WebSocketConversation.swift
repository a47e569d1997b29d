import COpenSSL
import HTTPTypes
import Wire

/// The server's side of one open WebSocket: a pure value that reads no socket and no clock.
///
/// Feed it what arrives, and call ``next(into:)`` until it returns `nil`; it appends what must be sent to the output.
/// Each call answers at most one frame, so not calling it while the output is full bounds a client that asks but does
/// not read.
struct WebSocketConversation {
    /// The result of ``next(into:)``.
    enum Event {
        case message(WebSocketMessage)
        /// A frame that does not concern the handler was answered or dropped.
        case handled
        /// The conversation is over; nothing follows in the output.
        ///
        /// The closure is that of the side that closed first: the client's as received, or the server's own.
        case ended(WebSocketClosure)
    }

    private var frames: WebSocketFrames
    private var ownClosure: WebSocketClosure?

    /// Whether both close frames were exchanged or a failure was answered, so that the connection must finish.
    private(set) var hasEnded = false

    init(_ upgrade: WebSocketUpgrade) { frames = WebSocketFrames(maximumMessageBytes: upgrade.maximumMessageBytes) }

    /// Whether the server has sent its close frame and waits for the client's.
    var isClosing: Bool { ownClosure != nil && !hasEnded }

    /// The number of received bytes that wait for ``next(into:)``.
    var bufferedCount: Int { frames.bufferedCount }

    /// Whether ``next(into:)`` will answer the client's close frame, after which nothing can be sent.
    var isCloseNext: Bool { frames.isCloseNext }

    /// Adds received bytes; after the end they are dropped.
    mutating func receive(_ bytes: UnsafeRawBufferPointer) { frames.feed(bytes) }

    /// Handles the next frame that needs it; `nil` when more bytes are needed, and after the end.
    mutating func next(into output: inout [UInt8]) -> Event? {
        switch frames.next() {
        case .more:
            return nil
        case .message(let message):
            // ours: RFC 6455 does not say what to do with messages that cross the close frame; they cannot be answered.
            return isClosing ? .handled : .message(message)
        case .ping(let payload):
            // RFC 6455 section 1.4: after its close frame a peer sends nothing, and the other discards the rest.
            if !isClosing { WebSocketEncoder.encodePong(payload, into: &output) }
            return .handled
        case .pong:
            // RFC 6455 section 5.5.3: an unsolicited pong needs no answer.
            return .handled
        case .close(let closure):
            // RFC 6455 section 5.5.1: the answer typically repeats the code.
            return end(closure, answer: WebSocketClosure(closure.code), &output)
        case .failure(let closure):
            return end(closure, answer: closure, &output)
        }
    }

    /// Appends a message to the output, unless the close frame has been sent.
    func send(_ message: WebSocketMessage, into output: inout [UInt8]) {
        guard ownClosure == nil, !hasEnded else { return }
        WebSocketEncoder.encode(message, into: &output)
    }

    /// Like ``send(_:into:)``, but a long message is not copied: many sockets may wait for it.
    func send(_ message: WebSocketMessage, into output: inout OutputBuffer, frame: (WebSocketMessage) -> SharedFrame) {
        guard message.byteCount >= SharedFrame.leastBytes else { return send(message, into: &output.bytes) }
        if ownClosure == nil, !hasEnded { output.append(frame(message)) }
    }

    /// Appends a close frame to the output; further calls do nothing.
    mutating func close(_ closure: WebSocketClosure, into output: inout [UInt8]) {
        guard ownClosure == nil, !hasEnded else { return }
        ownClosure = closure
        WebSocketEncoder.encode(closure, into: &output)
    }

    /// RFC 6455 section 5.5.1: each side sends one close frame, so the server's is not sent twice.
    private mutating func end(_ closure: WebSocketClosure, answer: WebSocketClosure, _ output: inout [UInt8]) -> Event {
        if ownClosure == nil { WebSocketEncoder.encode(answer, into: &output) }
        hasEnded = true
        return .ended(ownClosure ?? closure)
    }
}

/// Why the engine fails a WebSocket (RFC 6455 section 7.1.7).
///
/// The raw value is the reason that the client receives.
enum WebSocketFailure: String, Error, CaseIterable {
    /// RFC 6455 section 5.1.
    case unmasked = "frame is not masked"
    /// RFC 6455 section 5.2: only a negotiated extension may set it.
    case reservedBit = "reserved bit is set"
    /// RFC 6455 section 5.2.
    case unknownOpcode = "unknown opcode"
    /// RFC 6455 section 5.2: the length is not in the shortest form, or its highest bit is set.
    case malformedLength = "malformed length"
    /// RFC 6455 section 5.5.
    case fragmentedControl = "control frame is fragmented"
    /// RFC 6455 section 5.5.
    case longControl = "control frame exceeds 125 bytes"
    /// RFC 6455 section 5.4.
    case strayContinuation = "fragment continues no message"
    /// RFC 6455 section 5.4.
    case interruptedMessage = "message begins inside another"
    /// RFC 6455 section 5.5.1.
    case malformedClose = "close frame has half a code"
    /// RFC 6455 section 7.4.
    case invalidCloseCode = "invalid close code"
    /// RFC 6455 section 8.1: it may also be a reason.
    case invalidText = "text is not UTF-8"
    /// RFC 6455 section 7.4.1.
    case messageTooBig = "message exceeds the limit"

    /// The closure that the client receives.
    var closure: WebSocketClosure { WebSocketClosure(code, reason: rawValue) }

    private var code: WebSocketClosure.Code {
        switch self {
        case .unmasked, .reservedBit, .unknownOpcode, .malformedLength, .fragmentedControl, .longControl,
            .strayContinuation, .interruptedMessage, .malformedClose, .invalidCloseCode:
            .protocolError
        case .invalidText: .invalidPayload
        case .messageTooBig: .messageTooBig
        }
    }
}

/// Encodes a server's frames: one per message, unmasked, with the shortest length form (RFC 6455 section 5).
enum WebSocketEncoder {
    static func encode(_ message: WebSocketMessage, into output: inout [UInt8]) {
        switch message {
        case .text(let text): append(.text, text.utf8, &output)
        case .binary(let bytes): append(.binary, bytes, &output)
        }
    }

    /// Appends a pong; the payload is cut to 125 bytes.
    static func encodePong(_ payload: [UInt8], into output: inout [UInt8]) {
        append(.pong, payload.prefix(WebSocketFrameHeader.controlBytes), &output)
    }

    /// Appends a close frame; a code that is not allowed in one is omitted, a reason over 123 bytes is cut.
    static func encode(_ closure: WebSocketClosure, into output: inout [UInt8]) {
        append(.close, closure.payload, &output)
    }

    private static func append(_ opcode: WebSocketOpcode, _ payload: some Collection<UInt8>, _ output: inout [UInt8]) {
        output.append(0x80 | opcode.rawValue)
        appendLength(payload.count, &output)
        output.append(contentsOf: payload)
    }

    private static func appendLength(_ length: Int, _ output: inout [UInt8]) {
        switch length {
        case ...125:
            output.append(UInt8(length))
        case ...0xFFFF:
            output.append(126)
            withUnsafeBytes(of: UInt16(length).bigEndian) { output.append(contentsOf: $0) }
        default:
            output.append(127)
            withUnsafeBytes(of: UInt64(length).bigEndian) { output.append(contentsOf: $0) }
        }
    }
}

extension WebSocketClosure {
    /// The longest reason in bytes: the payload of a control frame minus the code.
    private static let reasonBytes = WebSocketFrameHeader.controlBytes - 2

    /// Parses the payload of a close frame (RFC 6455 section 5.5.1).
    init(payload: [UInt8]) throws(WebSocketFailure) {
        // RFC 6455 section 7.1.5: a frame without a code counts as 1005.
        guard !payload.isEmpty else {
            self.init(.noStatus)
            return
        }
        guard payload.count >= 2 else { throw .malformedClose }
        let code = Code(rawValue: UInt16(payload[0]) << 8 | UInt16(payload[1]))
        guard code.isAllowedInFrame else { throw .invalidCloseCode }
        guard let reason = String(validating: payload[2...], as: UTF8.self) else { throw .invalidText }
        self.init(code, reason: reason)
    }

    /// The payload of a close frame; empty when its code is not allowed in one.
    var payload: [UInt8] {
        guard code.isAllowedInFrame else { return [] }
        let bytes = Array(reason.utf8)
        var end = min(bytes.count, Self.reasonBytes)
        // A reason is never cut inside a code point.
        while end < bytes.count, bytes[end] & 0xC0 == 0x80 { end -= 1 }
        return [UInt8(code.rawValue >> 8), UInt8(code.rawValue & 0xFF)] + bytes[..<end]
    }
}

extension WebSocketClosure.Code {
    /// Whether the code is allowed in a close frame (RFC 6455 section 7.4).
    ///
    /// 1012 to 1014 are not in the RFC but registered with IANA; 3000 to 4999 are for libraries and applications.
    var isAllowedInFrame: Bool {
        switch rawValue {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }
}

extension WebSocketHandshake {
    /// `Sec-WebSocket-Accept`, which proves that the handshake was understood (RFC 6455 section 4.2.2).
    var acceptValue: String {
        // OpenSSL may leave errors that a TLS connection on this thread would take for its own.
        defer { ERR_clear_error() }
        let text = Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)
        var digest = [UInt8](repeating: 0, count: 20)
        _ = EVP_Digest(text, text.count, &digest, nil, EVP_sha1(), nil)
        // 28 characters and a NUL.
        var encoded = [UInt8](repeating: 0, count: 29)
        let count = EVP_EncodeBlock(&encoded, digest, Int32(digest.count))
        return String(decoding: encoded.prefix(Int(count)), as: UTF8.self)
    }
}

extension WebSocketUpgrade {
    /// The fields of the answer that accepts the handshake, except `Connection`, which the encoder adds.
    ///
    /// A handler's own handshake fields are overridden. A subprotocol that the client did not offer is omitted, since
    /// the client would have to fail the connection (RFC 6455 section 4.1).
    func answerFields(with handlerFields: HTTPFields = [:]) -> HTTPFields {
        var fields = handlerFields
        // No extension is supported, so none can be negotiated; a version is named only in rejections.
        fields[.secWebSocketExtensions] = nil
        fields[.secWebSocketVersion] = nil
        fields[.upgrade] = "websocket"
        fields[.secWebSocketAccept] = handshake.acceptValue
        fields[.secWebSocketProtocol] = offeredSubprotocol
        return fields
    }

    /// Compared byte for byte, as the client does.
    private var offeredSubprotocol: String? {
        guard let subprotocol else { return nil }
        return handshake.subprotocols.first { $0.utf8.elementsEqual(subprotocol.utf8) }
    }
}
