import Emulation
import JSON

/// The data of one project in one sandbox.
struct BloomreachRecords: Sendable {
    var customers = BloomreachCustomerStore()
    private var newestClicks = BloomreachNewest()
    private var newestSelfChecks = BloomreachNewest()

    init(customers: BloomreachCustomerStore = BloomreachCustomerStore()) { self.customers = customers }

    /// Clicks without a customer, as events, oldest first.
    var clicks: [BloomreachEvent] {
        newestClicks.all.enumerated().map { index, click in
            BloomreachEvent(
                type: click["type"]?.string ?? "", timestamp: click["timestamp"]?.number?.double ?? 0,
                properties: click["properties"]?.object ?? [:], sequence: index)
        }
    }

    /// Bodies of self-checks, oldest first.
    var selfChecks: [JSON] { newestSelfChecks.all }

    var isQuiet: Bool { newestClicks.texts.isEmpty && newestSelfChecks.texts.isEmpty }

    /// What calls added; the newest clicks and self-checks count by their bytes only.
    var size: StateSize {
        customers.size + StateSize(bytes: newestClicks.byteCount + newestSelfChecks.byteCount)
    }

    /// Keeps a click without a customer.
    mutating func add(click type: String, _ event: TrackedEntry) {
        newestClicks.append(
            BloomreachEvent(type: type, timestamp: event.timestamp, properties: event.properties, sequence: 0).json)
    }

    mutating func add(selfCheck: JSON) { newestSelfChecks.append(selfCheck) }
}

/// The newest records from requests, kept as text: as values they would take several times the memory.
struct BloomreachNewest: Sendable {
    /// The number of records to keep (ours).
    static let capacity = 1000

    private(set) var texts: [[UInt8]] = []
    private(set) var byteCount = 0

    /// The records, oldest first.
    var all: [JSON] { texts.compactMap(JSON.init(kept:)) }

    mutating func append(_ value: JSON) {
        texts.append(value.bytes)
        byteCount += texts[texts.count - 1].count + 48
        if texts.count > Self.capacity { byteCount -= texts.removeFirst().count + 48 }
    }
}

extension JSON {
    init?(kept text: some Collection<UInt8>) {
        guard let value = try? JSON.parse(text, maximumDepth: Self.keptDepth) else { return nil }
        self = value
    }
}
