/// Base32 (RFC 4648 section 6), the usual form of shared secrets that people type.
package enum Base32 {
    /// The alphabet, in order.
    package static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)

    /// The bytes of a text; case, blanks and padding do not count. `nil` for a text with other characters.
    package static func decode(_ text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        var (bits, count): (UInt32, UInt32) = (0, 0)
        for character in text.uppercased().utf8 where character != UInt8(ascii: " ") && character != UInt8(ascii: "=") {
            guard let value = alphabet.firstIndex(of: character) else { return nil }
            bits = bits << 5 | UInt32(value)
            count += 5
            guard count >= 8 else { continue }
            count -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> count))
            bits &= 1 << count - 1
        }
        return bytes
    }

    /// The text of bytes, without padding.
    package static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        var (bits, count): (UInt32, UInt32) = (0, 0)
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            count += 8
            while count >= 5 {
                count -= 5
                text.append(alphabet[Int(bits >> count & 31)])
            }
            bits &= 1 << count - 1
        }
        if count > 0 { text.append(alphabet[Int(bits << (5 - count) & 31)]) }
        return String(decoding: text, as: UTF8.self)
    }
}
