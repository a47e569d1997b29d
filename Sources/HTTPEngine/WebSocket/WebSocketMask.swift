/// The masking key of one payload (RFC 6455 section 5.3).
struct WebSocketMask {
    static let keyBytes = 4

    /// The key, rotated so that its lowest byte applies to the next byte of the payload.
    private var key: UInt32

    /// The mask whose key starts these bytes, of which there are at least four.
    init(key bytes: ArraySlice<UInt8>) {
        key = bytes.prefix(Self.keyBytes).reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// Unmasks the next bytes of the payload.
    mutating func remove(from bytes: UnsafeMutableRawBufferPointer) {
        // Eight bytes a step, which is two keys, so the key is only rotated for the rest.
        let pattern = (UInt64(key) | UInt64(key) << 32).littleEndian
        let wholeSteps = bytes.count & ~7
        for offset in stride(from: 0, to: wholeSteps, by: 8) {
            let word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            bytes.storeBytes(of: word ^ pattern, toByteOffset: offset, as: UInt64.self)
        }
        for offset in wholeSteps..<bytes.count {
            bytes[offset] ^= UInt8(truncatingIfNeeded: key)
            key = key >> 8 | key << 24
        }
    }
}
