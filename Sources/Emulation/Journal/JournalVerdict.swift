package import JSON

/// The result of an expectation, and on failure the exchanges that explain it best.
package struct JournalVerdict: Sendable {
    /// An exchange that comes close, or exceeds the maximum.
    package struct NearMiss: Sendable {
        package let entry: JournalEntry
        /// The parts that it does not satisfy; empty for one that exceeds the maximum.
        package let missed: [ExchangeCondition.Miss]
        /// The exchange in a line.
        let summary: String
        /// Why it was refused; `nil` when it was not.
        let reason: String?
    }

    /// How many near misses to show.
    static let shown = 5

    /// The bounds in words, such as `exactly 1`.
    package let expected: String
    /// The numbers of the matching exchanges.
    package let entries: [Int]
    /// The closest exchanges, or those that exceed the maximum, latest first; `nil` when the expectation holds.
    package let nearest: [NearMiss]?

    /// How many exchanges were left undecided because judging them would cost too much.
    private let unjudged: Int

    init(
        _ expectation: JournalExpectation, _ admitted: [JournalEntry], _ nearest: [NearMiss]?, unjudged: Int = 0
    ) {
        self.unjudged = unjudged
        expected = expectation.bounds
        entries = admitted.map(\.id)
        self.nearest = nearest
    }

    /// Whether the expectation holds.
    package var isVerified: Bool { nearest == nil }

    /// What was expected and found in one line, with the nearest exchange.
    package var message: String {
        let exchanges = expected.hasSuffix(" 1") ? "exchange" : "exchanges"
        var text = "expected \(expected) \(exchanges), found \(entries.count)"
        if unjudged > 0 { text += "; \(unjudged) more were not judged, since that takes too much" }
        guard let near = nearest?.first else {
            return isVerified || unjudged > 0 ? text : "\(text); the journal has no other"
        }
        guard !near.missed.isEmpty else {
            return "\(text); one too many is entry \(near.entry.id), \(near.summary)"
        }
        let misses = near.missed.map { "\($0.condition) is \($0.shortFound ?? "nothing"), not \($0.expected)" }
        return
            "\(text); the nearest is entry \(near.entry.id), \(near.summary): \(misses.joined(separator: "; "))"
    }

    /// The verdict for programs.
    ///
    /// - Parameter routes: the table that finds the nearest routes for a request that matched none.
    package func json(routes: RouteTable) -> JSON {
        guard let nearest else {
            return ["verified": true, "count": JSON(entries.count), "entries": .array(entries.map { JSON($0) })]
        }
        return [
            "verified": false, "count": JSON(entries.count), "expected": .string(expected),
            "message": .string(message), "nearest": .array(nearest.map { $0.json(routes: routes) }),
        ]
    }
}

extension ExchangeCondition.Miss {
    /// What was found, truncated to a readable length.
    fileprivate var shortFound: String? { found.map { $0.count > 200 ? $0.prefix(200) + "…" : $0 } }
}

extension JournalVerdict.NearMiss {
    fileprivate func json(routes: RouteTable) -> JSON {
        let missed = missed.map { miss -> JSON in
            [
                "condition": .string(miss.condition), "expected": .string(miss.expected),
                "found": JSON(miss.shortFound),
            ]
        }
        var object: JSONObject = [
            "id": JSON(entry.id), "summary": .string(summary), "route": JSON(entry.record.route),
            "reason": JSON(reason), "missed": .array(missed),
        ]
        object["nearest_routes"] = entry.nearestRoutes(in: routes).map { .array($0.map(JSON.string)) }
        return .object(object)
    }
}
