internal import Wire

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
