import Emulation
import JSON
import Tokens

/// How much of a project's data a sandbox has forgotten to make room.
///
/// Later counts of events must know this, or they would take forgotten events for events that never came.
struct BloomreachForgotten: CodedRecord, RecordValue, Hashable {
    var customers = 0
    /// Events, including those of the forgotten customers.
    var events = 0
    /// Clicks without a customer.
    var clicks = 0
    var selfChecks = 0

    private static var members: [(name: String, count: WritableKeyPath<BloomreachForgotten, Int>)] {
        [("customers", \.customers), ("events", \.events), ("clicks", \.clicks), ("self_checks", \.selfChecks)]
    }

    /// The maximum count per customer or kind (ours), so that sums do not overflow.
    static let mostCounted = 1_000_000_000

    var isEmpty: Bool { self == BloomreachForgotten() }

    func since(_ earlier: BloomreachForgotten) -> BloomreachForgotten {
        var rest = self
        for (_, count) in Self.members { rest[keyPath: count] -= earlier[keyPath: count] }
        return rest
    }

    mutating func code(_ coder: inout RecordCoder) {
        for (name, count) in Self.members { coder.member(name, &self[keyPath: count], or: 0, in: 0...Ordinal.largest) }
    }

    /// In words, such as `3 events and 1 click`; empty if nothing was forgotten.
    var summary: String {
        let parts = Self.members.compactMap { name, count -> String? in
            let number = self[keyPath: count]
            if number == 0 { return nil }
            let words = name.replacing("_", with: "-")
            return "\(number) \(number == 1 ? String(words.dropLast()) : words)"
        }
        return parts.joined(separator: " and ")
    }
}

extension Call<Bloomreach> {
    /// Notes in the journal that older data was forgotten to make room.
    mutating func note(_ forgotten: BloomreachForgotten) {
        guard !forgotten.isEmpty else { return }
        findings.note(
            Finding(
                "room", .noted, found: .text(forgotten.summary),
                note: "A sandbox had no more room, and has forgotten this, the oldest first.", source: "ours"))
    }
}

extension FixtureNode {
    /// The number of one customer's events that were forgotten to make room.
    func forgottenCount() throws(FixtureProblem) -> Int {
        let count = try ordinal()
        guard count <= BloomreachForgotten.mostCounted else {
            throw problem("\(count) is more than \(BloomreachForgotten.mostCounted)")
        }
        return count
    }
}
