/// The header of a client's frame, checked as far as possible without context (RFC 6455 section 5.2).
struct WebSocketFrameHeader {
    /// Whether this is the last frame of its message.
    let isFinal: Bool
    let opcode: WebSocketOpcode
    /// The size of the payload in bytes.
    let length: Int
    let mask: WebSocketMask
    let byteCount: Int

    /// The largest payload of a control frame in bytes (RFC 6455 section 5.5).
    static let controlBytes = 125

    /// Parses the header at the start of these bytes; `nil` when it is incomplete but valid so far.
    init?(parsing bytes: ArraySlice<UInt8>) throws(WebSocketFailure) {
        guard bytes.count >= 2 else { return nil }
        let first = bytes[bytes.startIndex]
        let second = bytes[bytes.startIndex + 1]
        guard first & 0x70 == 0 else { throw .reservedBit }
        guard let opcode = WebSocketOpcode(rawValue: first & 0x0F) else { throw .unknownOpcode }
        guard second & 0x80 != 0 else { throw .unmasked }
        isFinal = first & 0x80 != 0
        self.opcode = opcode
        if opcode.isControl {
            guard isFinal else { throw .fragmentedControl }
            guard second & 0x7F <= Self.controlBytes else { throw .longControl }
        }
        guard let (length, keyOffset) = try Self.length(second & 0x7F, bytes) else { return nil }
        byteCount = keyOffset + WebSocketMask.keyBytes
        guard bytes.count >= byteCount else { return nil }
        self.length = length
        mask = WebSocketMask(key: bytes.dropFirst(keyOffset))
    }

    /// The length of the payload, and the offset after the length field.
    private static func length(
        _ short: UInt8, _ bytes: ArraySlice<UInt8>
    ) throws(WebSocketFailure) -> (length: Int, end: Int)? {
        let byteCount =
            switch short {
            case 126: 2
            case 127: 8
            default: 0
            }
        guard byteCount > 0 else { return (Int(short), 2) }
        guard bytes.count >= 2 + byteCount else { return nil }
        let number = bytes.dropFirst(2).prefix(byteCount).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let smallest: UInt64 = byteCount == 2 ? 126 : 65_536
        guard number >= smallest, let length = Int(exactly: number) else { throw .malformedLength }
        return (length, 2 + byteCount)
    }
}
