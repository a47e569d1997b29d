import Emulation
import JSON

/// The latest records from requests, kept as text: as values they would take several times the memory.
struct BloomreachLatest: Sendable {
    /// The maximum number of records (ours); beyond it, the oldest tenth is forgotten.
    static let maximumCount = 1000
    /// The maximum size in bytes (ours); beyond it, the oldest are forgotten.
    static let maximumBytes = 4 << 20

    private var texts: [[UInt8]] = []
    /// The memory of the records.
    private(set) var byteCount = 0
    /// The number of records forgotten to make room.
    private(set) var forgottenCount = 0

    /// The number of records.
    var count: Int { texts.count }

    var isEmpty: Bool { texts.isEmpty }

    /// The records, oldest first.
    var all: [JSON] { texts.compactMap(JSON.init(kept:)) }

    mutating func append(_ value: JSON) {
        let text = value.bytes
        texts.append(text)
        byteCount += Self.size(of: text)
        shrink()
    }

    private static func size(of text: [UInt8]) -> Int { text.count + 48 }

    private mutating func shrink() {
        guard texts.count > Self.maximumCount || byteCount > Self.maximumBytes else { return }
        // Drops many at once: removing single elements from the front would move all others each time.
        let (count, bytes) = (Self.maximumCount * 9 / 10, Self.maximumBytes * 9 / 10)
        var dropped = 0
        while dropped < texts.count - 1, texts.count - dropped > count || byteCount > bytes {
            byteCount -= Self.size(of: texts[dropped])
            dropped += 1
        }
        texts.removeFirst(dropped)
        forgottenCount = Ordinal.sum(forgottenCount, dropped)
    }

    /// Adds earlier forgotten records to the count.
    mutating func count(forgotten: Int) {
        forgottenCount = Ordinal.sum(forgottenCount, forgotten)
    }
}

extension JSON {
    /// Parses a record kept as text.
    init?(kept text: some Collection<UInt8>) {
        guard let value = try? JSON.parse(text, maximumDepth: Self.keptDepth) else { return nil }
        self = value
    }
}
