import Emulation
import JSON

/// The latest of something that requests brought, kept as text: as values it would take several times the memory.
struct BloomreachLatest: Sendable {
    /// The most that are kept (ours); beyond, the oldest tenth is forgotten.
    static let maximumCount = 1000
    /// The most bytes that they may take (ours); beyond, the oldest are forgotten.
    static let maximumBytes = 4 << 20

    private var texts: [[UInt8]] = []
    /// The memory that they take.
    private(set) var byteCount = 0
    /// How many had to make room.
    private(set) var forgottenCount = 0

    /// How many there are.
    var count: Int { texts.count }

    var isEmpty: Bool { texts.isEmpty }

    /// Those that are kept, the oldest first.
    var all: [JSON] { texts.compactMap(JSON.init(kept:)) }

    /// Adds one behind the others.
    mutating func append(_ value: JSON) {
        let text = value.bytes
        texts.append(text)
        byteCount += Self.size(of: text)
        shrink()
    }

    private static func size(of text: [UInt8]) -> Int { text.count + 48 }

    private mutating func shrink() {
        guard texts.count > Self.maximumCount || byteCount > Self.maximumBytes else { return }
        // Many at once: taking single elements off the front would move all the others each time.
        let (count, bytes) = (Self.maximumCount * 9 / 10, Self.maximumBytes * 9 / 10)
        var dropped = 0
        while dropped < texts.count - 1, texts.count - dropped > count || byteCount > bytes {
            byteCount -= Self.size(of: texts[dropped])
            dropped += 1
        }
        texts.removeFirst(dropped)
        forgottenCount = Ordinal.sum(forgottenCount, dropped)
    }

    /// Counts those that had made room before.
    mutating func count(forgotten: Int) {
        forgottenCount = Ordinal.sum(forgottenCount, forgotten)
    }
}

extension JSON {
    /// What was kept as text.
    init?(kept text: some Collection<UInt8>) {
        guard let value = try? JSON.parse(text, maximumDepth: Self.keptDepth) else { return nil }
        self = value
    }
}
