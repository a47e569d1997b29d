import Emulation
import JSON
import Tokens

/// How much of a project a sandbox has forgotten, since there was no room for it.
///
/// Whoever counts events later must know, or would take what is gone for what never came.
struct BloomreachForgotten: Sendable, Hashable {
    /// Customers whom calls made.
    var customers = 0
    /// Events, those of the forgotten customers among them.
    var events = 0
    /// Clicks that named nobody.
    var clicks = 0
    /// Bodies of self-checks.
    var selfChecks = 0

    private static var members: [(name: String, count: WritableKeyPath<BloomreachForgotten, Int>)] {
        [("customers", \.customers), ("events", \.events), ("clicks", \.clicks), ("self_checks", \.selfChecks)]
    }

    /// No count of one customer or kind goes beyond this (ours): sums of them stay numbers.
    static let mostCounted = 1_000_000_000

    /// Whether nothing is gone.
    var isEmpty: Bool { self == BloomreachForgotten() }

    /// What came to it since it was another one.
    func since(_ earlier: BloomreachForgotten) -> BloomreachForgotten {
        var rest = self
        for (_, count) in Self.members { rest[keyPath: count] -= earlier[keyPath: count] }
        return rest
    }

    /// The numbers by their names in exports.
    var json: JSON { .object(JSONObject(Self.members.map { ($0.name, JSON(self[keyPath: $0.count])) })) }

    /// In words, such as `3 events and 1 click`; empty when nothing is gone.
    var summary: String {
        let parts = Self.members.compactMap { name, count -> String? in
            let number = self[keyPath: count]
            if number == 0 { return nil }
            let words = name.replacing("_", with: "-")
            return "\(number) \(number == 1 ? String(words.dropLast()) : words)"
        }
        return parts.joined(separator: " and ")
    }

    /// Reads what ``json`` wrote; what is left out is 0.
    init(_ node: FixtureNode?) throws(FixtureProblem) {
        guard let entry = try node?.mapping(Self.members.map(\.name)) else { return }
        for (name, count) in Self.members { self[keyPath: count] = try entry[name]?.ordinal() ?? 0 }
    }

    init() {}
}

extension Call<Bloomreach> {
    /// Has the journal tell that storing something took the room of something else.
    mutating func note(_ forgotten: BloomreachForgotten) {
        guard !forgotten.isEmpty else { return }
        findings.note(
            Finding(
                "room", .noted, found: .text(forgotten.summary),
                note: "A sandbox had no more room, and has forgotten this, the oldest first.", source: "ours"))
    }
}

extension FixtureNode {
    /// How many of one customer's events had to make room.
    func forgottenCount() throws(FixtureProblem) -> Int {
        let count = try ordinal()
        guard count <= BloomreachForgotten.mostCounted else {
            throw problem("\(count) is more than \(BloomreachForgotten.mostCounted)")
        }
        return count
    }
}
