#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

extension ArraySlice<UInt8> {
    /// Whether both hold the same bytes; the system's comparison takes many at a time.
    public func hasSameBytes(as other: ArraySlice<UInt8>) -> Bool {
        withUnsafeBufferPointer { own in other.withUnsafeBufferPointer { own.hasSameBytes(as: $0) } }
    }

    /// Where that byte stands first; likewise by the system's search.
    public func place(of byte: UInt8) -> Int? {
        withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress, let found = memchr(start, Int32(byte), bytes.count) else { return nil }
            return startIndex + (UnsafeRawPointer(found) - start)
        }
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Whether both hold the same bytes.
    func hasSameBytes(as other: UnsafeBufferPointer<UInt8>) -> Bool {
        guard count == other.count else { return false }
        guard let first = baseAddress, let second = other.baseAddress else { return true }
        return memcmp(first, second, count) == 0
    }
}
