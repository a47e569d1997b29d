internal import Wire

extension WebSocketClosure {
    /// The longest reason in bytes: what the payload of a control frame has left behind the code.
    private static let reasonBytes = WebSocketFrameHeader.controlBytes - 2

    /// Reads the payload of a close frame. RFC 6455 section 5.5.1.
    init(payload: [UInt8]) throws(WebSocketFailure) {
        // RFC 6455 section 7.1.5: 1005 is what a frame without a code is taken for.
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

    /// The payload of the close frame that says so; empty when no frame may have the code.
    var payload: [UInt8] {
        guard code.isAllowedInFrame else { return [] }
        let bytes = Array(reason.utf8)
        var end = min(bytes.count, Self.reasonBytes)
        // A reason is cut before a code point and never inside.
        while end < bytes.count, bytes[end] & 0xC0 == 0x80 { end -= 1 }
        return [UInt8(code.rawValue >> 8), UInt8(code.rawValue & 0xFF)] + bytes[..<end]
    }
}

extension WebSocketClosure.Code {
    /// Whether a close frame may have the code. RFC 6455 section 7.4.
    ///
    /// 1012 to 1014 are not in the RFC but registered with IANA; 3000 to 4999 belong to libraries and applications.
    var isAllowedInFrame: Bool {
        switch rawValue {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }
}
