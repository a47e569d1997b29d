package import JSON
import Synchronization

/// The source of a sandbox's ids, codes and other random values; repeatable when it has a seed.
public final class IdentifierSource: Sendable {
    /// The generator of a seed; without a seed, the system's is used.
    private let seeded: Mutex<SplitMix64?>
    private let changes: ChangeMark?

    /// - Parameter changes: set whenever the position changes, since calls that change no record draw ids too.
    package init(seed: UInt64? = nil, noting changes: ChangeMark? = nil) {
        seeded = Mutex(seed.map(SplitMix64.init(state:)))
        self.changes = changes
    }

    package func reseed(_ seed: UInt64?) {
        seeded.withLock { $0 = seed.map(SplitMix64.init(state:)) }
    }

    /// The position of a source with a seed, for ``resume(at:)``; `nil` without a seed.
    package var position: UInt64? { seeded.withLock { $0?.state } }

    /// Continues at the position of another source with the same seed.
    package func resume(at position: UInt64) {
        seeded.withLock { $0 = SplitMix64(state: position) }
    }

    /// The position among the ids of a seed; `nil` at the start, and without a seed.
    package func kept(seed: UInt64?) -> JSON? {
        guard let seed, let position, position != seed else { return nil }
        return ["seed": .string(String(seed)), "position": .string(String(position))]
    }

    /// Reads what ``kept(seed:)`` returns; `nil` when it belongs to another seed, which yields other ids.
    package static func position(_ node: FixtureNode, seed: UInt64?) throws(FixtureProblem) -> UInt64? {
        let entry = try node.mapping("seed", "position")
        let (own, position) = (try entry.required("seed"), try entry.required("position"))
        return try UInt64.read(own) == seed ? try UInt64.read(position) : nil
    }

    /// The next 64 random bits.
    public func next() -> UInt64 {
        let drawn = seeded.withLock { seeded in
            defer { if seeded != nil { changes?.set() } }
            return seeded?.next()
        }
        if let drawn { return drawn }
        var system = SystemRandomNumberGenerator()
        return system.next()
    }

    /// A version 4 UUID (RFC 9562 section 5.4) in lower case.
    public func uuid() -> String {
        let high = next() & ~0xF000 | 0x4000
        let low = next() & ~(0b11 << 62) | 0b10 << 62
        var text: [UInt8] = []
        text.reserveCapacity(36)
        for digit in 0..<32 {
            if [8, 12, 16, 20].contains(digit) { text.append(UInt8(ascii: "-")) }
            let word = digit < 16 ? high : low
            let nibble = UInt8(truncatingIfNeeded: word >> UInt64(60 - 4 * (digit & 15)) & 0xF)
            text.append(nibble + (nibble < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10))
        }
        return String(decoding: text, as: UTF8.self)
    }
}

/// Steele, Lea and Flood's generator: small, fast, and the same on every platform.
struct SplitMix64: RandomNumberGenerator, RecordValue {
    var state: UInt64

    var written: JSON { state.written }

    static func read(_ node: FixtureNode) throws(FixtureProblem) -> SplitMix64 {
        SplitMix64(state: try UInt64.read(node))
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
