import Emulation
import JSON

/// The time range in which a message or block is shown; the SDKs evaluate it. Source: observed, both SDKs.
struct DateFilter: Sendable {
    private let isEnabled: Bool
    private let from: ContentTime?
    private let to: ContentTime?

    /// Reads a filter; an absent bound is open.
    init(_ node: FixtureNode) throws(FixtureProblem) {
        let entry = try node.mapping("enabled", "from_date", "to_date")
        isEnabled = try entry.required("enabled").bool()
        from = try Self.time(entry["from_date"])
        to = try Self.time(entry["to_date"])
    }

    private static func time(_ node: FixtureNode?) throws(FixtureProblem) -> ContentTime? {
        guard let node, try !node.json().isNull else { return nil }
        return try ContentTime(node)
    }

    /// The filter as sent in a sandbox that began at `start`; an open bound is null.
    func json(since start: Moment) -> JSON {
        [
            "enabled": .bool(isEnabled), "from_date": from.map { .number($0.whole(since: start)) } ?? .null,
            "to_date": to.map { .number($0.whole(since: start)) } ?? .null,
        ]
    }
}
