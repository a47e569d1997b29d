import Synchronization

/// Which exchanges are counted together, as indices, so that a request makes no text.
struct ExchangeLabel: Hashable, Sendable, Comparable {
    /// The index of nobody and of nothing.
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

/// Which control calls are counted together.
struct ControlCallLabel: Hashable, Sendable, Comparable {
    /// The operation's index, or ``ExchangeLabel/none``.
    var operation: Int
    var status: Int

    static func < (left: ControlCallLabel, right: ControlCallLabel) -> Bool {
        (left.operation, left.status) < (right.operation, right.status)
    }
}

/// What has been counted.
struct ExchangeCounts: Sendable {
    private(set) var exchanges: [ExchangeLabel: Int] = [:]
    private(set) var controlCalls: [ControlCallLabel: Int] = [:]
    /// By vendor, the last one for what nobody owns.
    private(set) var durations: [DurationHistogram]

    init(vendorCount: Int) {
        durations = Array(repeating: DurationHistogram(), count: vendorCount + 1)
    }

    /// Counts an exchange and how long it took.
    mutating func record(_ label: ExchangeLabel, nanoseconds: Int) {
        exchanges[label, default: 0] += 1
        durations[label.vendor == ExchangeLabel.none ? durations.count - 1 : label.vendor].record(nanoseconds)
    }

    /// Counts a control call.
    mutating func record(_ label: ControlCallLabel) {
        controlCalls[label, default: 0] += 1
    }

    /// Adds what others have counted.
    mutating func add(_ other: ExchangeCounts) {
        exchanges.merge(other.exchanges, uniquingKeysWith: +)
        controlCalls.merge(other.controlCalls, uniquingKeysWith: +)
        for index in durations.indices { durations[index].add(other.durations[index]) }
    }
}

/// What some threads have counted, behind a lock that hardly ever two of them want.
final class CountingPlace: Sendable {
    let counts: Mutex<ExchangeCounts>

    init(vendorCount: Int) {
        counts = Mutex(ExchangeCounts(vendorCount: vendorCount))
    }
}
