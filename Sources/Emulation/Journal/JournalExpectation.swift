package import JSON

/// How many exchanges of some kind a journal must hold.
package struct JournalExpectation: Sendable {
    /// Selects exchanges by their outcome.
    package let filter: JournalFilter
    /// What they must look like.
    let condition: ExchangeCondition
    private let minimum: Int
    private let maximum: Int?
    /// The bounds in words, such as `exactly 1`.
    package let bounds: String

    private static let filters = [
        "vendor", "route", "status", "failure", "refused", "noted", "unread", "since", "after", "unmatched",
    ]

    /// Reads an expectation: `at_least` (default 1), `at_most`, or `exactly` or `unread` without any other; and `where`,
    /// which takes `vendor`, `route`, `status`, `failure`, `refused`, `noted`, `unread`, `since`, `after`, `unmatched`
    /// and the parts of an ``ExchangeCondition``. `unread` is `exactly`, of those accepted with a field nobody read.
    package init(_ node: FixtureNode) throws(FixtureProblem) {
        let mapping = try node.mapping("at_least", "at_most", "exactly", "unread", "where")
        let atLeast = try mapping["at_least"].map(Self.count)
        let (unread, exact) = (mapping["unread"], mapping["exactly"] ?? mapping["unread"])
        maximum = try (exact ?? mapping["at_most"]).map(Self.count)
        if let exactly = exact {
            guard atLeast == nil, mapping["at_most"] == nil, unread == nil || mapping["exactly"] == nil else {
                let name = unread == nil ? "exactly" : "unread"
                throw exactly.nameProblem(
                    "\(name) cannot be combined with \(unread == nil ? "" : "exactly, ")at_least or at_most")
            }
            minimum = try exactly.int()
        } else {
            minimum = atLeast ?? (maximum == nil ? 1 : 0)
        }
        if let maximum, let node = mapping["at_most"], maximum < minimum {
            throw node.problem("at_most is \(maximum), and at_least \(minimum); nothing can be both")
        }
        bounds = exact == nil ? Self.bounds(minimum, maximum) : "exactly \(minimum)"
        let criteria = try mapping["where"]?.mapping(Self.filters + ExchangeCondition.members)
        var filter = try criteria.map(Self.filter) ?? JournalFilter()
        if unread != nil { filter.isUnread = true }
        self.filter = filter
        condition = try criteria.map(ExchangeCondition.init) ?? ExchangeCondition()
    }

    private static func count(_ node: FixtureNode) throws(FixtureProblem) -> Int {
        let count = try node.int()
        guard count >= 0 else { throw node.problem("\(count) is not a whole number from 0") }
        return count
    }

    private static func bounds(_ minimum: Int, _ maximum: Int?) -> String {
        guard let maximum else { return "at least \(minimum)" }
        return minimum == 0 ? "at most \(maximum)" : "at least \(minimum) and at most \(maximum)"
    }

    private static func filter(_ mapping: FixtureMapping) throws(FixtureProblem) -> JournalFilter {
        var filter = JournalFilter()
        filter.vendor = try mapping["vendor"]?.string()
        filter.route = try mapping["route"]?.string()
        filter.failure = try mapping["failure"]?.string()
        filter.status = try mapping["status"].map { node throws(FixtureProblem) in
            guard let text = try node.json().string else { return .code(try count(node)) }
            guard let status = JournalFilter.Status(text) else {
                throw node.problem("\(text) is not a status; expected a whole number, or a class such as 4xx")
            }
            return status
        }
        filter.isRefused = try mapping["refused"]?.bool()
        filter.isNoted = try mapping["noted"]?.bool()
        filter.isUnread = try mapping["unread"]?.bool()
        filter.after = try mapping["after"].map(count)
        filter.isUnmatched = try mapping["unmatched"]?.bool()
        filter.since = try mapping["since"].map { node throws(FixtureProblem) in
            let value = try node.json()
            guard let moment = Moment(value) else {
                throw node.problem("since is \(value.text); expected Unix seconds or an RFC 3339 time")
            }
            return moment
        }
        return filter
    }

    /// Whether enough exchanges match that waiting cannot help: further ones could only be too many.
    package func isReached(by entries: [JournalEntry]) -> Bool {
        var left = Self.mostSteps
        return entries.count { judge($0, within: &left) == true } >= minimum
    }

    package func verdict(on entries: [JournalEntry], masking redactor: Redactor) -> JournalVerdict {
        var left = Self.mostSteps
        var (admitted, others, unjudged): ([JournalEntry], [JournalEntry], Int) = ([], [], 0)
        for entry in entries {
            switch judge(entry, within: &left) {
            case true?: admitted.append(entry)
            case false?: others.append(entry)
            case nil: unjudged += 1
            }
        }
        if let maximum, admitted.count <= maximum, admitted.count + unjudged > maximum {
            return JournalVerdict(self, admitted, [], unjudged: unjudged)
        }
        if let maximum, admitted.count > maximum {
            let surplus = admitted.dropFirst(maximum).reversed()
            return JournalVerdict(
                self, admitted, surplus.prefix(JournalVerdict.shown).map { nearMiss($0, [], redactor) })
        }
        guard admitted.count < minimum else { return JournalVerdict(self, admitted, nil) }
        let counted = others.map { entry in
            (entry: entry, remoteness: remoteness(of: entry), misses: missed(by: entry).count)
        }
        // Least remote first, then fewest misses, then latest; only what is shown is masked.
        let near = counted.sorted {
            ($0.remoteness, $0.misses, $1.entry.id) < ($1.remoteness, $1.misses, $0.entry.id)
        }.prefix(JournalVerdict.shown)
        return JournalVerdict(
            self, admitted, near.map { nearMiss($0.entry, misses(for: $0.entry, redactor), redactor) },
            unjudged: unjudged)
    }

    /// How remote an exchange is from the expected ones, whatever else it misses: a call of another route explains
    /// little, and one that matched no route, such as a browser's request for its icon, least of all.
    private func remoteness(of entry: JournalEntry) -> Int {
        let isMeant =
            if let route = filter.route {
                entry.isMeant(for: route)
            } else {
                !missed(by: entry).contains { $0.condition == "path" || $0.condition == "vendor" }
            }
        let isStray = entry.record.route == nil && entry.meantRoute == nil && filter.isUnmatched != true
        return (isMeant ? 0 : 1) + (isStray ? 2 : 0)
    }

    private func missed(by entry: JournalEntry) -> [ExchangeCondition.Miss] {
        filter.misses(for: entry) + condition.misses(for: entry.matchContext(nearMissBudget))
    }

    /// ours: a thousand entries that fill a journal take about two million steps; a query may visit each value often.
    private static let mostSteps = 20_000_000

    /// Whether the entry matches; `nil` when deciding would exceed the shared remainder.
    private func judge(_ entry: JournalEntry, within left: inout Int) -> Bool? {
        guard filter.admits(entry) else { return false }
        let budget = WorkBudget(steps: min(WorkBudget.standardSteps, left))
        let matchContext = entry.matchContext(budget)
        let holds = condition.holds(for: matchContext)
        left -= matchContext.spending { budget.left - $0.left }
        return matchContext.isBeyondBudget ? nil : holds
    }

    private func misses(for entry: JournalEntry, _ redactor: Redactor) -> [ExchangeCondition.Miss] {
        filter.misses(for: entry)
            + condition.misses(
                for: entry.matchContext(nearMissBudget), shownAs: MaskedExchange(entry, by: redactor).matchContext)
    }

    /// The budget for deciding how near an entry is.
    private var nearMissBudget: WorkBudget { WorkBudget(steps: 100_000) }

    private func nearMiss(
        _ entry: JournalEntry, _ missed: [ExchangeCondition.Miss], _ redactor: Redactor
    ) -> JournalVerdict.NearMiss {
        let exchange = MaskedExchange(entry, by: redactor)
        return JournalVerdict.NearMiss(
            entry: entry, missed: missed, summary: exchange.summary, reason: exchange.reason,
            note: filter.isUnread == true ? exchange.note : nil)
    }
}

/// The result of an expectation, and on failure the exchanges that explain it best.
package struct JournalVerdict: Sendable {
    /// An exchange that comes close, or exceeds the maximum.
    package struct NearMiss: Sendable {
        package let entry: JournalEntry
        /// The parts that it does not satisfy; empty for one that exceeds the maximum.
        package let missed: [ExchangeCondition.Miss]
        let summary: String
        /// Why it was refused; `nil` when it was not.
        let reason: String?
        /// The remark on it, where one is what is counted.
        let note: String?
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

    package var isVerified: Bool { nearest == nil }

    /// What was expected and found in one line, with the nearest exchange.
    package var message: String {
        let exchanges = expected.hasSuffix(" 1") ? "exchange" : "exchanges"
        var text = "expected \(expected) \(exchanges), found \(entries.count)"
        if unjudged > 0 { text += "; \(unjudged) more were not judged, since that would take too long" }
        guard let near = nearest?.first else {
            return isVerified || unjudged > 0 ? text : "\(text); the journal has no other"
        }
        guard !near.missed.isEmpty else {
            let note = near.note.map { ": \($0)" } ?? ""
            return "\(text); one too many is entry \(near.entry.id), \(near.summary)\(note)"
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
        object["note"] = note.map(JSON.string)
        object["nearest_routes"] = entry.nearestRoutes(in: routes).map { .array($0.map(JSON.string)) }
        return .object(object)
    }
}
