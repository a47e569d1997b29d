import JSON

/// What one project holds in one sandbox.
struct BloomreachRecords: Sendable {
    var customers: BloomreachCustomerStore
    /// Clicks that named no customer.
    private var keptClicks = BloomreachLatest()
    /// Bodies of self-checks.
    private var keptSelfChecks = BloomreachLatest()

    init(customers: BloomreachCustomerStore = BloomreachCustomerStore()) { self.customers = customers }

    /// Clicks that named no customer, as events, the oldest first.
    var clicks: [BloomreachEvent] {
        keptClicks.all.enumerated().map { index, click in
            BloomreachEvent(
                type: click["type"]?.string ?? "", timestamp: click["timestamp"]?.number?.double ?? 0,
                properties: click["properties"]?.object ?? [:], sequence: keptClicks.forgottenCount + index)
        }
    }

    /// Bodies of self-checks, the oldest first.
    var selfChecks: [JSON] { keptSelfChecks.all }

    /// Whether there is neither a click nor a self-check.
    var isQuiet: Bool { keptClicks.isEmpty && keptSelfChecks.isEmpty }

    /// All that had to make room.
    var forgotten: BloomreachForgotten {
        var forgotten = customers.forgotten
        (forgotten.clicks, forgotten.selfChecks) = (keptClicks.forgottenCount, keptSelfChecks.forgottenCount)
        return forgotten
    }

    /// All events, and those whose events they were, that had to make room.
    var forgottenEvents: BloomreachForgotten {
        var forgotten = forgotten
        forgotten.selfChecks = 0
        return forgotten
    }

    /// Events of a customer that had to make room, and customers who may have been that one.
    func forgotten(of customer: BloomreachCustomer?) -> BloomreachForgotten {
        var forgotten = BloomreachForgotten()
        forgotten.customers = customers.forgotten.customers
        forgotten.events = customer?.events.forgottenCount ?? 0
        return forgotten
    }

    /// Keeps a click that named nobody.
    mutating func add(click type: String, _ event: TrackedEntry) {
        let click = BloomreachEvent(
            type: type, timestamp: event.timestamp, properties: event.properties, sequence: 0)
        keptClicks.append(click.json)
    }

    /// Keeps the body of a self-check.
    mutating func add(selfCheck: JSON) { keptSelfChecks.append(selfCheck) }

    /// Counts what had made room before an export.
    mutating func count(_ forgotten: BloomreachForgotten) {
        keptClicks.count(forgotten: forgotten.clicks)
        keptSelfChecks.count(forgotten: forgotten.selfChecks)
    }
}
