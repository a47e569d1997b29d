public import JSON

/// What became of an expectation, and where it failed the exchanges that explain it best.
public struct JournalVerdict: Sendable {
    /// An exchange that comes close, or is one too many.
    public struct NearMiss: Sendable {
        /// The exchange.
        public let entry: JournalEntry
        /// The parts that it does not meet; none of one that is too many.
        public let missed: [ExchangeCondition.Miss]
    }

    /// How many near misses are worth reading.
    private static let shown = 5

    /// The bounds in words, such as `exactly 1`.
    public let expected: String
    /// The numbers of the exchanges that are meant.
    public let entries: [Int]
    /// The exchanges that come closest, or those that are too many, the latest first; `nil` where the expectation holds.
    public let nearest: [NearMiss]?

    init(_ expectation: JournalExpectation, _ admitted: [JournalEntry], _ nearest: [NearMiss]?) {
        expected = expectation.bounds
        entries = admitted.map(\.id)
        self.nearest = nearest.map { Array($0.prefix(Self.shown)) }
    }

    /// Whether the expectation holds.
    public var isVerified: Bool { nearest == nil }

    /// What was expected and found in one line, with the nearest exchange.
    public var message: String {
        let exchanges = expected.hasSuffix(" 1") ? "exchange" : "exchanges"
        let text = "expected \(expected) \(exchanges), found \(entries.count)"
        guard let near = nearest?.first else { return isVerified ? text : "\(text); the journal has no other" }
        guard !near.missed.isEmpty else {
            return "\(text); one too many is entry \(near.entry.id), \(near.entry.summary)"
        }
        let misses = near.missed.map { "\($0.condition) is \($0.shortFound ?? "nothing"), not \($0.expected)" }
        return
            "\(text); the nearest is entry \(near.entry.id), \(near.entry.summary): \(misses.joined(separator: "; "))"
    }

    /// The verdict for programs.
    ///
    /// - Parameter routes: the table that names the nearest routes of a request that found none.
    public func json(routes: RouteTable) -> JSON {
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
    /// What was found, cut where it becomes too long to be read.
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
            "id": JSON(entry.id), "summary": .string(entry.summary), "route": JSON(entry.record.route),
            "reason": JSON(entry.explanation), "missed": .array(missed),
        ]
        object["nearest_routes"] = entry.nearestRoutes(in: routes).map { .array($0.map(JSON.string)) }
        return .object(object)
    }
}
