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
        guard utf8.count == other.utf8.count else { return false }
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
