import Emulation
import JSON

/// Something that is kept of customers; who has nothing of it is as if nothing had ever been kept.
struct ContentParts<Part: Equatable & Sendable>: Sendable {
    /// What a customer has of whom nothing is kept.
    private let none: Part
    private(set) var parts: [BloomreachCustomerKey: Part] = [:]

    init(none: Part) { self.none = none }

    /// What a customer has.
    subscript(customer: BloomreachCustomerKey) -> Part {
        get { parts[customer] ?? none }
        set { parts[customer] = newValue }
    }

    /// Whether anything is kept of a customer.
    func isKept(of customer: BloomreachCustomerKey) -> Bool { parts[customer] != nil }

    /// Forgets what a customer has.
    mutating func forget(_ customer: BloomreachCustomerKey) { parts[customer] = nil }

    /// The parts that are not as in another state, by customer and in their order.
    func changed(since start: ContentParts?) -> [(BloomreachCustomerKey, Part)] {
        Set(parts.keys).union((start?.parts ?? [:]).keys)
            .filter { self[$0] != start?[$0] ?? none }
            .sorted { ($0.project, $0.number) < ($1.project, $1.number) }.map { ($0, self[$0]) }
    }

    /// The parts with other numbers of customers; of those for whom there is none nothing is left.
    func renumbered(_ number: (BloomreachCustomerKey) -> BloomreachCustomerKey?) -> ContentParts {
        var renumbered = ContentParts(none: none)
        for (customer, part) in parts { if let customer = number(customer) { renumbered[customer] = part } }
        return renumbered
    }
}
