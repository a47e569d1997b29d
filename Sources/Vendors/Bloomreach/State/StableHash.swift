/// A hash that is the same for the same bytes on every machine and in every run; not cryptographic.
struct StableHash {
    /// FNV-1a.
    private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    init(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { value = (value ^ UInt64(byte)) &* 0x100_0000_01B3 }
    }

    /// The sixteen hexadecimal digits.
    var hex: String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
