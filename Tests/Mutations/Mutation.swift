#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

public enum Mutation {
    /// The number of inputs of a test, set by `UNDERSTUDY_FUZZ_INPUTS`.
    public static let inputs = getenv("UNDERSTUDY_FUZZ_INPUTS").flatMap { Int(String(cString: $0)) } ?? 10_000

    private static let telling: [UInt8] =
        Array("{}[]\",:.=+/-_ \n\r\t0123456789eEaAzZ\\u".utf8) + [0, 0x7F, 0x80, 0xC0, 0xED, 0xFF]

    public static func apply(to bytes: inout [UInt8], using random: inout SeededGenerator) {
        guard !bytes.isEmpty else { return bytes.append(UInt8.random(in: 0...255, using: &random)) }
        let place = Int.random(in: 0..<bytes.count, using: &random)
        let other = Int.random(in: 0..<bytes.count, using: &random)
        let byte = telling.randomElement(using: &random) ?? 0
        switch Int.random(in: 0..<9, using: &random) {
        case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 1: bytes[place] = byte
        case 2: bytes.insert(byte, at: place)
        case 3: bytes.remove(at: place)
        case 4: bytes.swapAt(place, other)
        case 5: bytes.removeLast(bytes.count - place)
        case 6: bytes.insert(contentsOf: bytes[min(place, other)..<max(place, other)].prefix(64), at: place)
        case 7: bytes.removeSubrange(min(place, other)..<max(place, other))
        default: bytes.append(byte)
        }
    }
}

/// A small generator with good distribution (SplitMix64), for repeatable runs.
public struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    public init(seed: UInt64) { state = seed }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
