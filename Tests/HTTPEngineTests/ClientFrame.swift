/// The bytes of frames as a client writes them, valid and invalid.
enum ClientFrame {
    /// The key of the samples in RFC 6455 section 5.7.
    static let key: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]

    /// A frame whose first byte is `first`: the final bit, three reserved bits and the opcode.
    ///
    /// The length uses the fewest bytes; `length` replaces those bytes, without the mask bit.
    static func bytes(
        _ first: UInt8, _ payload: some Sequence<UInt8> = [], length: [UInt8]? = nil, key: [UInt8] = key
    ) -> [UInt8] {
        let payload = Array(payload)
        var bytes = [first] + (length ?? shortest(payload.count))
        bytes[1] |= 0x80
        return bytes + key + payload.enumerated().map { $1 ^ key[$0 % 4] }
    }

    /// A text in a single frame.
    static func text(_ text: String) -> [UInt8] { bytes(0x81, text.utf8) }

    /// A close frame with that code and reason.
    static func close(_ code: UInt16, _ reason: some Sequence<UInt8> = []) -> [UInt8] {
        bytes(0x88, [UInt8(code >> 8), UInt8(code & 0xFF)] + reason)
    }

    private static func shortest(_ count: Int) -> [UInt8] {
        switch count {
        case ...125: [UInt8(count)]
        case ...0xFFFF: [126] + bigEndian(count, 2)
        default: [127] + bigEndian(count, 8)
        }
    }

    /// The lowest bytes of a number, most significant first.
    static func bigEndian(_ number: Int, _ byteCount: Int) -> [UInt8] {
        (0..<byteCount).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }
}
