import JSON

/// The events of one customer, in order of arrival.
struct BloomreachEventLog: Sendable, Hashable {
    /// The maximum number of events per customer, and their maximum size in bytes (ours). Beyond either, the oldest go,
    /// until a tenth is free.
    static let maximumCount = 10_000
    static let maximumBytes = 2 << 20

    /// An event whose properties are text: a test may track a million, and as values they would take several times the
    /// memory.
    struct Entry: Sendable, Hashable {
        let type: String
        let timestamp: Double
        let sequence: Int
        /// Compact JSON.
        let properties: [UInt8]

        init(_ event: BloomreachEvent, sequence: Int) {
            (type, timestamp, self.sequence) = (event.type, event.timestamp, sequence)
            properties = JSON.object(event.properties).bytes
        }

        var event: BloomreachEvent {
            // The text was written from an object.
            let properties = JSON(kept: properties)?.object ?? [:]
            return BloomreachEvent(type: type, timestamp: timestamp, properties: properties, sequence: sequence)
        }

        fileprivate var byteCount: Int { 100 + type.utf8.count + properties.count }
    }

    private(set) var entries: [Entry] = []
    /// An estimate of the events' memory.
    private(set) var byteCount = 0

    mutating func append(_ entry: Entry) {
        entries.append(entry)
        byteCount += entry.byteCount
        guard entries.count > Self.maximumCount || byteCount > Self.maximumBytes else { return }
        let (count, bytes) = (Self.maximumCount * 9 / 10, Self.maximumBytes * 9 / 10)
        var dropped = 0
        while dropped < entries.count, entries.count - dropped > count || byteCount > bytes {
            byteCount -= entries[dropped].byteCount
            dropped += 1
        }
        entries.removeFirst(dropped)
    }

    /// Merges the events of another log, in order of arrival.
    mutating func merge(_ other: BloomreachEventLog) {
        let all = (entries + other.entries).sorted { $0.sequence < $1.sequence }
        self = BloomreachEventLog()
        for entry in all { append(entry) }
    }
}
