import JSON

/// The data of one project in one sandbox.
struct BloomreachRecords: Sendable {
    var customers: BloomreachCustomerStore
    /// Clicks without a customer.
    private var keptClicks = BloomreachLatest()
    private var keptSelfChecks = BloomreachLatest()

    init(customers: BloomreachCustomerStore = BloomreachCustomerStore()) { self.customers = customers }

    /// Clicks without a customer, as events, oldest first.
    var clicks: [BloomreachEvent] {
        keptClicks.all.enumerated().map { index, click in
            BloomreachEvent(
                type: click["type"]?.string ?? "", timestamp: click["timestamp"]?.number?.double ?? 0,
                properties: click["properties"]?.object ?? [:], sequence: keptClicks.forgottenCount + index)
        }
    }

    /// Bodies of self-checks, oldest first.
    var selfChecks: [JSON] { keptSelfChecks.all }

    var isQuiet: Bool { keptClicks.isEmpty && keptSelfChecks.isEmpty }

    /// Everything forgotten to make room.
    var forgotten: BloomreachForgotten {
        var forgotten = customers.forgotten
        (forgotten.clicks, forgotten.selfChecks) = (keptClicks.forgottenCount, keptSelfChecks.forgottenCount)
        return forgotten
    }

    /// Everything forgotten that concerns events: events, customers and clicks.
    var forgottenEvents: BloomreachForgotten {
        var forgotten = forgotten
        forgotten.selfChecks = 0
        return forgotten
    }

    func forgotten(of customer: BloomreachCustomer?) -> BloomreachForgotten {
        var forgotten = BloomreachForgotten()
        forgotten.customers = customers.forgotten.customers
        forgotten.events = customer?.events.forgottenCount ?? 0
        return forgotten
    }

    /// Keeps a click without a customer.
    mutating func add(click type: String, _ event: TrackedEntry) {
        let click = BloomreachEvent(
            type: type, timestamp: event.timestamp, properties: event.properties, sequence: 0)
        keptClicks.append(click.json)
    }

    /// Keeps the body of a self-check.
    mutating func add(selfCheck: JSON) { keptSelfChecks.append(selfCheck) }

    /// Adds what was forgotten before an export to the counts.
    mutating func count(_ forgotten: BloomreachForgotten) {
        keptClicks.count(forgotten: forgotten.clicks)
        keptSelfChecks.count(forgotten: forgotten.selfChecks)
    }
}
