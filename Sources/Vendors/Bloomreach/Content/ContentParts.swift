import Emulation
import JSON

/// Content of one kind by customer; a missing entry is the same as an empty one.
struct ContentParts<Part: Equatable & Sendable>: Sendable {
    /// The value for a customer without an entry.
    private let none: Part
    private(set) var parts: [BloomreachCustomerKey: Part] = [:]

    init(none: Part) { self.none = none }

    subscript(customer: BloomreachCustomerKey) -> Part {
        get { parts[customer] ?? none }
        set { parts[customer] = newValue }
    }

    func isKept(of customer: BloomreachCustomerKey) -> Bool { parts[customer] != nil }

    /// Removes the customer's entry.
    mutating func forget(_ customer: BloomreachCustomerKey) { parts[customer] = nil }

    /// The values that differ from another state, ordered by customer.
    func changed(since start: ContentParts?) -> [(BloomreachCustomerKey, Part)] {
        Set(parts.keys).union((start?.parts ?? [:]).keys)
            .filter { self[$0] != start?[$0] ?? none }
            .sorted { ($0.project, $0.number) < ($1.project, $1.number) }.map { ($0, self[$0]) }
    }

    /// The values with customers renumbered; customers without a new number are dropped.
    func renumbered(_ number: (BloomreachCustomerKey) -> BloomreachCustomerKey?) -> ContentParts {
        var renumbered = ContentParts(none: none)
        for (customer, part) in parts { if let customer = number(customer) { renumbered[customer] = part } }
        return renumbered
    }
}
