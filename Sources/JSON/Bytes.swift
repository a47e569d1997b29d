#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

extension [UInt8] {
    /// FNV-1a of 64 bits, the same on every machine and in every run: it tells versions apart and protects nothing.
    package var stableHash: UInt64 { reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 } }
}

/// ASCII characters.
extension UInt8 {
    @inlinable package var isDigit: Bool { (0x30...0x39).contains(self) }
    @inlinable package var isLetter: Bool { (0x61...0x7A).contains(self | 0x20) }
    @inlinable package var isLowercase: Bool { (0x61...0x7A).contains(self) }
    @inlinable package var lowercased: UInt8 { self &- 0x41 < 26 ? self | 0x20 : self }

    /// The value of a hexadecimal digit; `nil` for any other byte.
    @inlinable package var hexadecimalDigit: UInt8? {
        switch self {
        case 0x30...0x39: self - 0x30
        case 0x41...0x46: self - 0x41 + 10
        case 0x61...0x66: self - 0x61 + 10
        default: nil
        }
    }
}

extension BinaryInteger {
    /// The digits of a number that is not negative, behind zeros if there are fewer.
    @inlinable package func digits(atLeast count: Int, radix: Int = 10) -> String {
        let digits = String(self, radix: radix)
        return String(repeating: "0", count: max(0, count - digits.utf8.count)) + digits
    }
}

extension UInt64 {
    /// The sixteen hexadecimal digits.
    package var hexadecimal: String { digits(atLeast: 16, radix: 16) }
}

extension ArraySlice<UInt8> {
    /// Whether both hold the same bytes.
    public func hasSameBytes(as other: ArraySlice<UInt8>) -> Bool {
        withUnsafeBufferPointer { own in other.withUnsafeBufferPointer { own.hasSameBytes(as: $0) } }
    }

    /// The index of the first such byte.
    public func place(of byte: UInt8) -> Int? {
        withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress, let found = memchr(start, Int32(byte), bytes.count) else { return nil }
            return startIndex + (UnsafeRawPointer(found) - start)
        }
    }

    /// The index at which the pattern first occurs.
    ///
    /// Horspool's algorithm: the last byte of the window says how far to shift it.
    public func place(of pattern: [UInt8]) -> Int? {
        guard !pattern.isEmpty else { return startIndex }
        let last = pattern.count - 1
        var steps = [Int](repeating: pattern.count, count: 256)
        for (index, byte) in pattern.dropLast().enumerated() { steps[Int(byte)] = last - index }
        return withUnsafeBufferPointer { bytes in
            pattern.withUnsafeBufferPointer { pattern in
                steps.withUnsafeBufferPointer { steps in
                    var start = 0
                    while start + last < bytes.count {
                        let window = UnsafeBufferPointer(rebasing: bytes[start...(start + last)])
                        if window.hasSameBytes(as: pattern) { return startIndex + start }
                        start += steps[Int(bytes[start + last])]
                    }
                    return nil
                }
            }
        }
    }
}

extension UnsafeBufferPointer<UInt8> {
    func hasSameBytes(as other: UnsafeBufferPointer<UInt8>) -> Bool {
        guard count == other.count else { return false }
        guard let first = baseAddress, let second = other.baseAddress else { return true }
        // Names of members and fields are short, and then two words, which may overlap, cost less than a call.
        return switch count {
        case 8...16: Self.sameWords(UInt64.self, first, second, count)
        case 4..<8: Self.sameWords(UInt32.self, first, second, count)
        case 2..<4: Self.sameWords(UInt16.self, first, second, count)
        default: memcmp(first, second, count) == 0
        }
    }

    private static func sameWords<Word: FixedWidthInteger & BitwiseCopyable>(
        _ word: Word.Type, _ first: UnsafePointer<UInt8>, _ second: UnsafePointer<UInt8>, _ count: Int
    ) -> Bool {
        let (first, second) = (UnsafeRawPointer(first), UnsafeRawPointer(second))
        let last = count - MemoryLayout<Word>.size
        return first.loadUnaligned(as: word) == second.loadUnaligned(as: word)
            && first.loadUnaligned(fromByteOffset: last, as: word)
                == second.loadUnaligned(fromByteOffset: last, as: word)
    }
}

extension StringProtocol {
    /// Whether both texts have the same UTF-8 bytes.
    ///
    /// `==` also equates texts that differ in Unicode normalization; a server that compares an issuer or a member name
    /// byte for byte does not.
    public func hasSameBytes(as other: some StringProtocol) -> Bool {
        // Equal bytes imply `==`, which rejects most unequal texts quickly.
        self == other && utf8.elementsEqual(other.utf8)
    }
}

extension String {
    /// Whether both texts have the same UTF-8 bytes; the common case, which skips normalization.
    public func hasSameBytes(as other: String) -> Bool {
        // As above; for short texts, `==` compares two words.
        guard utf8.count == other.utf8.count, self == other else { return false }
        let isSame = utf8.withContiguousStorageIfAvailable { own in
            other.utf8.withContiguousStorageIfAvailable { own.hasSameBytes(as: $0) }
        }
        // On Apple platforms, strings bridged from Foundation may lack contiguous storage.
        return (isSame ?? nil) ?? utf8.elementsEqual(other.utf8)
    }

    /// Whether the text's UTF-8 bytes are these.
    public func hasSameBytes(as bytes: ArraySlice<UInt8>) -> Bool {
        let isSame = utf8.withContiguousStorageIfAvailable { own in
            bytes.withUnsafeBufferPointer { own.hasSameBytes(as: $0) }
        }
        return isSame ?? utf8.elementsEqual(bytes)
    }
}

/// A text compared byte for byte, as names and ids on the wire are; ordered by its bytes.
///
/// `String` also equates texts that differ only in Unicode normalization, so a dictionary would merge two issuers. Used
/// as a property wrapper, it makes a type's synthesized `==` and `hash` compare that property byte for byte.
@propertyWrapper
public struct ExactText: Sendable, Hashable, Comparable, CustomStringConvertible {
    public var wrappedValue: String

    public init(wrappedValue: String) { self.wrappedValue = wrappedValue }

    public init(_ text: some StringProtocol) { wrappedValue = String(text) }

    public var text: String { wrappedValue }

    public var description: String { wrappedValue }

    public var json: JSON { .string(text) }

    public static func == (left: ExactText, right: ExactText) -> Bool { left.text.hasSameBytes(as: right.text) }

    /// Orders texts by their bytes.
    public static func < (left: ExactText, right: ExactText) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }

    public func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
