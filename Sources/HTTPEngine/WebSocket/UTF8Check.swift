/// Validates UTF-8 piece by piece, and rejects at the first wrong byte (RFC 3629 section 4).
struct UTF8Check {
    /// The bytes missing from the last code point.
    private var missing = 0
    /// The allowed values of the next byte of that code point.
    private var next = Self.continuation

    private static let continuation: ClosedRange<UInt8> = 0x80...0xBF

    /// Whether the text may end here.
    var isComplete: Bool { missing == 0 }

    /// Whether the text stays valid with these bytes; after `false` the value is unusable.
    mutating func accepts(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var position = 0
        while position < bytes.count {
            if missing == 0 {
                position = Self.endOfASCII(in: bytes, from: position)
                guard position < bytes.count else { break }
                guard begin(bytes[position]) else { return false }
            } else {
                guard next.contains(bytes[position]) else { return false }
                missing -= 1
                next = Self.continuation
            }
            position += 1
        }
        return true
    }

    /// Eight bytes a step, since most texts are mostly ASCII.
    private static func endOfASCII(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        var position = start
        while bytes.count - position >= 8,
            bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self) & 0x8080_8080_8080_8080 == 0
        {
            position += 8
        }
        while position < bytes.count, bytes[position] < 0x80 { position += 1 }
        return position
    }

    /// Starts a multibyte code point.
    ///
    /// The second byte is restricted to exclude overlong forms, surrogates, and code points beyond U+10FFFF.
    private mutating func begin(_ byte: UInt8) -> Bool {
        switch byte {
        case 0xC2...0xDF: missing = 1
        case 0xE0...0xEF: missing = 2
        case 0xF0...0xF4: missing = 3
        default: return false
        }
        switch byte {
        case 0xE0: next = 0xA0...0xBF
        case 0xED: next = 0x80...0x9F
        case 0xF0: next = 0x90...0xBF
        case 0xF4: next = 0x80...0x8F
        default: break
        }
        return true
    }
}
