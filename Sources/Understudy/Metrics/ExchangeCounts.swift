import Synchronization

/// Groups exchanges for counting, by indices, so that a request creates no strings.
struct ExchangeLabel: Hashable, Sendable, Comparable {
    /// The index for no vendor, route or failure.
    static let none = -1

    var vendor: Int
    var route: Int
    var status: Int
    var failure: Int

    /// In one step instead of four, since every request is counted.
    func hash(into hasher: inout Hasher) {
        hasher.combine(vendor << 48 ^ route << 32 ^ status << 16 ^ failure)
    }

    static func < (left: ExchangeLabel, right: ExchangeLabel) -> Bool {
        (left.vendor, left.route, left.status, left.failure) < (right.vendor, right.route, right.status, right.failure)
    }
}

/// Groups control calls for counting.
struct ControlCallLabel: Hashable, Sendable, Comparable {
    /// The operation's index, or ``ExchangeLabel/none``.
    var operation: Int
    var status: Int

    static func < (left: ControlCallLabel, right: ControlCallLabel) -> Bool {
        (left.operation, left.status) < (right.operation, right.status)
    }
}

/// The counts so far.
struct ExchangeCounts: Sendable {
    private(set) var exchanges: [ExchangeLabel: Int] = [:]
    private(set) var controlCalls: [ControlCallLabel: Int] = [:]
    /// By vendor, the last one for paths that no vendor owns.
    private(set) var durations: [DurationHistogram]

    init(vendorCount: Int) {
        durations = Array(repeating: DurationHistogram(), count: vendorCount + 1)
    }

    /// Counts an exchange and its duration.
    mutating func record(_ label: ExchangeLabel, nanoseconds: Int) {
        exchanges[label, default: 0] += 1
        durations[label.vendor == ExchangeLabel.none ? durations.count - 1 : label.vendor].record(nanoseconds)
    }

    mutating func record(_ label: ControlCallLabel) {
        controlCalls[label, default: 0] += 1
    }

    mutating func add(_ other: ExchangeCounts) {
        exchanges.merge(other.exchanges, uniquingKeysWith: +)
        controlCalls.merge(other.controlCalls, uniquingKeysWith: +)
        for index in durations.indices { durations[index].add(other.durations[index]) }
    }
}

/// The counts of some threads, protected by a lock that is hardly ever contended.
final class CountingPlace: Sendable {
    let counts: Mutex<ExchangeCounts>

    init(vendorCount: Int) {
        counts = Mutex(ExchangeCounts(vendorCount: vendorCount))
    }
}
