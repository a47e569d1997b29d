import JSON

/// Base64url as RFC 7515 section 2 requires: the alphabet of RFC 4648 section 5, no padding, nothing else.
public enum Base64URL {
    /// Why a text is not base64url.
    public enum Fault: Error, Sendable, Hashable {
        case padding
        /// `+` or `/`, from the alphabet of RFC 4648 section 4.
        case standardAlphabet(UInt8)
        /// A space, tab or line break.
        case whiteSpace(UInt8)
        /// Any other byte outside the alphabet.
        case foreignByte(UInt8)
        /// The number of characters is 1 more than a multiple of 4, which no number of bytes yields.
        case length(Int)
        /// The unused bits of the last character are not zero, so the text is one of several for the same bytes.
        case unusedBits
    }

    public static func decode(_ text: some Sequence<UInt8>) throws(Fault) -> [UInt8] { try decode(Array(text)[...]) }

    public static func decode(_ text: ArraySlice<UInt8>) throws(Fault) -> [UInt8] {
        let count = text.count
        guard count % 4 != 1 else { throw fault(in: text) ?? .length(count) }
        // Into stack memory first: an array is created faster from existing bytes than zeroed and filled.
        let bytes = withUnsafeTemporaryAllocation(of: UInt8.self, capacity: count * 3 / 4) { output in
            let isClean = text.withUnsafeBufferPointer { text in
                values.withUnsafeBufferPointer { decode(text, by: $0, into: output) }
            }
            return isClean ? Array(output) : nil
        }
        guard let bytes else { throw fault(in: text) ?? .unusedBits }
        return bytes
    }

    /// Decodes; false if a character is outside the alphabet or unused bits are set. The caller has checked the length.
    private static func decode(
        _ text: UnsafeBufferPointer<UInt8>, by values: UnsafeBufferPointer<UInt8>,
        into output: UnsafeMutableBufferPointer<UInt8>
    ) -> Bool {
        // Values outside the alphabet have the top bit set; one test after the loop is cheaper than one per byte.
        var seen: UInt32 = 0
        func value(_ index: Int) -> UInt32 {
            let value = UInt32(values[Int(text[index])])
            seen |= value
            return value
        }
        let whole = text.count / 4
        for group in 0..<whole {
            let first = value(4 * group) << 18 | value(4 * group + 1) << 12
            let bits = first | value(4 * group + 2) << 6 | value(4 * group + 3)
            output[3 * group] = UInt8(truncatingIfNeeded: bits >> 16)
            output[3 * group + 1] = UInt8(truncatingIfNeeded: bits >> 8)
            output[3 * group + 2] = UInt8(truncatingIfNeeded: bits)
        }
        // Two or three characters may remain, for one or two bytes; their unused bits must be zero.
        var bits: UInt32 = 0
        for index in (4 * whole)..<text.count { bits = bits << 6 | value(index) }
        var unused = UInt32(text.count % 4 * 6)
        for index in (3 * whole)..<output.count {
            unused -= 8
            output[index] = UInt8(truncatingIfNeeded: bits >> unused)
        }
        return seen & 0x80 == 0 && bits & (1 << unused - 1) == 0
    }

    /// The value of each byte; 0xFF outside the alphabet.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 0xFF, count: 256)
        for (value, byte) in alphabet.enumerated() { values[Int(byte)] = UInt8(value) }
        return values
    }()

    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// The first byte that is not allowed.
    private static func fault(in text: ArraySlice<UInt8>) -> Fault? {
        guard let byte = text.first(where: { values[Int($0)] == 0xFF }) else { return nil }
        switch byte {
        case UInt8(ascii: "="): return .padding
        case UInt8(ascii: "+"), UInt8(ascii: "/"): return .standardAlphabet(byte)
        case 0x20, 0x09, 0x0A, 0x0D: return .whiteSpace(byte)
        default: return .foreignByte(byte)
        }
    }

    /// Encodes bytes, without padding.
    public static func encode(_ bytes: some Collection<UInt8>) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count * 4 + 2) / 3)
        var bits: UInt32 = 0
        var pending = 0
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            pending += 8
            while pending >= 6 {
                pending -= 6
                text.append(alphabet[Int(bits >> UInt32(pending) & 0x3F)])
            }
        }
        if pending > 0 { text.append(alphabet[Int(bits << UInt32(6 - pending) & 0x3F)]) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Decodes either alphabet of RFC 4648, with or without padding, ignoring unused bits; `nil` for any other byte.
    ///
    /// For secrets that may have been decoded by mistake, for explaining broken tokens, and for vendors known to be
    /// lenient; never to decide whether a token is valid.
    public static func decodeLeniently(_ text: some Sequence<UInt8>) -> [UInt8]? {
        var characters = Array(text)
        while characters.last == UInt8(ascii: "=") { characters.removeLast() }
        for (index, byte) in characters.enumerated() {
            if byte == UInt8(ascii: "+") { characters[index] = UInt8(ascii: "-") }
            if byte == UInt8(ascii: "/") { characters[index] = UInt8(ascii: "_") }
        }
        if let last = characters.last, values[Int(last)] != 0xFF {
            let unused: UInt8 = characters.count % 4 == 2 ? 0x0F : characters.count % 4 == 3 ? 0x03 : 0
            characters[characters.count - 1] = alphabet[Int(values[Int(last)] & ~unused)]
        }
        // A caller who asks for leniency does not need the reason for a failure.
        return try? decode(characters[...])
    }
}

extension Base64URL.Fault: CustomStringConvertible {
    public var description: String {
        switch self {
        case .padding: "padding with “=”"
        case .standardAlphabet(let byte): "“\(Character(UnicodeScalar(byte)))” of the standard base64 alphabet"
        case .whiteSpace: "white space"
        case .foreignByte(let byte) where (0x21...0x7E).contains(byte): "“\(Character(UnicodeScalar(byte)))”"
        case .foreignByte(let byte): "byte 0x" + String(byte, radix: 16, uppercase: true)
        case .length(let count): "\(count) characters, which is not a whole number of bytes"
        case .unusedBits: "unused bits that are not zero"
        }
    }
}

/// Padded base64 (RFC 4648 section 4), for PEM, for hashes in policies and for diagnosing secrets.
package enum Base64 {
    /// Encodes bytes, with padding.
    package static func encode(_ bytes: [UInt8]) -> String {
        var text = Base64URL.encode(bytes).utf8.map { byte in
            switch byte {
            case UInt8(ascii: "-"): UInt8(ascii: "+")
            case UInt8(ascii: "_"): UInt8(ascii: "/")
            default: byte
            }
        }
        while !text.count.isMultiple(of: 4) { text.append(UInt8(ascii: "=")) }
        return String(decoding: text, as: UTF8.self)
    }
}

/// Base32 (RFC 4648 section 6), the usual form of shared secrets that people type.
package enum Base32 {
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
}

package enum Hexadecimal {
    package static func encode(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// The bytes; `nil` unless the text is an even number of hexadecimal digits.
    static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        guard text.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        var high: UInt8?
        for character in text {
            guard let digit = character.hexadecimalDigit else { return nil }
            if let first = high {
                bytes.append(first << 4 | digit)
                high = nil
            } else {
                high = digit
            }
        }
        return bytes
    }
}
