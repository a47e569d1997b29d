/// Distinguishes versions of files; it protects nothing.
///
/// Based on FNV-1a, eight bytes at a time.
public struct FixtureDigest: Sendable, Hashable {
    private var hash: UInt64 = 0xCBF2_9CE4_8422_2325

    init() {}

    init(of bytes: [UInt8]) {
        mix(bytes)
    }

    public init(_ hash: UInt64) {
        self.hash = hash
    }

    private mutating func mix(_ word: UInt64) {
        hash = (hash ^ word) &* 0x100_0000_01B3
        hash ^= hash >> 32
    }

    mutating func mix(_ digest: FixtureDigest) { mix(digest.hash) }

    mutating func mix(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { bytes in
            let end = bytes.count & ~7
            for offset in stride(from: 0, to: end, by: 8) {
                mix(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
            }
            mix(bytes[end...].reduce(UInt64(bytes.count)) { $0 << 8 | UInt64($1) })
        }
    }

    /// Sixteen hexadecimal digits.
    package var text: String {
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
