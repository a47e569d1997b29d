internal import Wire

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

    private static func append(
        _ opcode: WebSocketOpcode, _ payload: some Collection<UInt8>, _ output: inout [UInt8]
    ) {
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
