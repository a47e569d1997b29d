#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

extension StringProtocol {
    /// Whether both texts have the same UTF-8 bytes.
    ///
    /// `==` also equates texts that differ in Unicode normalization; a server that compares an issuer or a member name
    /// byte for byte does not.
    public func hasSameBytes(as other: some StringProtocol) -> Bool {
        // Equal bytes imply equality, and unequal texts are the usual case with a fast answer.
        self == other && utf8.elementsEqual(other.utf8)
    }
}

extension String {
    /// Whether both texts have the same UTF-8 bytes; the usual pair of types, without a detour through normalization.
    public func hasSameBytes(as other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        let isSame = utf8.withContiguousStorageIfAvailable { own in
            other.utf8.withContiguousStorageIfAvailable { Self.areEqual(own, $0) }
        }
        // Texts that Foundation bridges on Apple's systems may have no contiguous storage.
        return (isSame ?? nil) ?? utf8.elementsEqual(other.utf8)
    }

    /// Whether two buffers of one length hold the same bytes.
    private static func areEqual(_ own: UnsafeBufferPointer<UInt8>, _ other: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let first = own.baseAddress, let second = other.baseAddress else { return own.count == other.count }
        return memcmp(first, second, own.count) == 0
    }
}
