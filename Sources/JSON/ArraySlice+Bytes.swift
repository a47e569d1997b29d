#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

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
