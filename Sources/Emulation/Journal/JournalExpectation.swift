package import JSON

/// Which exchanges a journal must hold: how many of some kind, or some in an order.
package struct JournalExpectation: Sendable {
    private let criteria: JournalCriteria
    private let minimum: Int
    private let maximum: Int?
    /// The bounds in words, such as `exactly 1`.
    private let bounds: String
    private let sequence: JournalSequence?

    /// Reads an expectation: `at_least` (default 1), `at_most`, or `exactly` or `unread` without any other; and `where`,
    /// which takes `vendor`, `route`, `status`, `failure`, `refused`, `noted`, `unread`, `since`, `after`, `unmatched`
    /// and the parts of an ``ExchangeCondition``. `unread` is `exactly`, of those accepted with a field nobody read.
    ///
    /// Or `sequence`, a list of steps that are what `where` is, with optional `none_after`; see ``JournalSequence``.
    ///
    /// - Parameters:
    ///   - others: members that the mapping may have besides.
    ///   - vendors: those whose names may occur; without any, names are not checked.
    package init(
        _ node: FixtureNode, besides others: [String] = [], names vendors: [any AnyLoadedVendor] = []
    ) throws(FixtureProblem) {
        let counts = ["at_least", "at_most", "exactly", "unread", "where"]
        let mapping = try node.mapping(counts + ["sequence", "none_after"] + others)
        if let steps = mapping["sequence"] {
            for name in counts {
                guard let node = mapping[name] else { continue }
                throw node.nameProblem("\(name) cannot be combined with sequence")
            }
            sequence = try JournalSequence(steps, noneAfter: mapping["none_after"], vendors)
            (criteria, minimum, maximum, bounds) = (JournalCriteria(), 0, nil, "")
            return
        }
        if let node = mapping["none_after"] {
            throw node.nameProblem("none_after follows the last step of a sequence, and there is no sequence")
        }
        sequence = nil
        let atLeast = try mapping["at_least"]?.wholeNumber()
        let (unread, exact) = (mapping["unread"], mapping["exactly"] ?? mapping["unread"])
        maximum = try (exact ?? mapping["at_most"])?.wholeNumber()
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
        var criteria =
            try mapping["where"].map { node throws(FixtureProblem) in try JournalCriteria(node, vendors) }
            ?? JournalCriteria()
        if unread != nil { criteria.filter.isUnread = true }
        self.criteria = criteria
    }

    package static func bounds(_ minimum: Int, _ maximum: Int?) -> String {
        guard let maximum else { return "at least \(minimum)" }
        return minimum == 0 ? "at most \(maximum)" : "at least \(minimum) and at most \(maximum)"
    }

    /// Whether enough exchanges match that waiting cannot help: further ones could only be too many.
    package func isReached(by entries: [JournalEntry]) -> Bool {
        if let sequence { return sequence.isReached(by: entries) }
        var left = JournalCriteria.mostSteps
        return entries.count { criteria.judge($0, within: &left) == true } >= minimum
    }

    package func verdict(on entries: [JournalEntry], masking redactor: Redactor) -> JournalVerdict {
        if let sequence { return sequence.verdict(on: entries, masking: redactor) }
        var left = JournalCriteria.mostSteps
        var (admitted, others, unjudged): ([JournalEntry], [JournalEntry], Int) = ([], [], 0)
        for entry in entries {
            switch criteria.judge(entry, within: &left) {
            case true?: admitted.append(entry)
            case false?: others.append(entry)
            case nil: unjudged += 1
            }
        }
        if let maximum, admitted.count <= maximum, admitted.count + unjudged > maximum {
            return JournalVerdict(expected: bounds, admitted, [], unjudged: unjudged)
        }
        if let maximum, admitted.count > maximum {
            let surplus = admitted.dropFirst(maximum).reversed()
            return JournalVerdict(expected: bounds, admitted, criteria.inExcess(surplus, redactor))
        }
        guard admitted.count < minimum else { return JournalVerdict(expected: bounds, admitted, nil) }
        return JournalVerdict(expected: bounds, admitted, criteria.nearest(among: others, redactor), unjudged: unjudged)
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
        let reason: String?
        /// The remark on it, where one is what is counted.
        let note: String?
    }

    static let shown = 5

    /// The bounds in words, such as `exactly 1`, or `a sequence of 3`.
    package let expected: String
    /// The numbers of the matching exchanges; of a sequence, those of the steps found.
    package let entries: [Int]
    /// The closest exchanges, or those that exceed the maximum, latest first; `nil` when the expectation holds.
    package let nearest: [NearMiss]?

    /// How many exchanges were left undecided because judging them would cost too much.
    private let unjudged: Int
    /// What was found of a sequence; `nil` for a count.
    private let statement: String?

    init(
        expected: String, _ admitted: [JournalEntry], _ nearest: [NearMiss]?, unjudged: Int = 0,
        statement: String? = nil
    ) {
        (self.expected, self.unjudged, self.statement) = (expected, unjudged, statement)
        entries = admitted.map(\.id)
        self.nearest = nearest
    }

    package var isVerified: Bool { nearest == nil }

    /// What was expected and found in one line, with the nearest exchange.
    package var message: String {
        let exchanges = expected.hasSuffix(" 1") ? "exchange" : "exchanges"
        var text = statement ?? "expected \(expected) \(exchanges), found \(entries.count)"
        if unjudged > 0 { text += "; \(unjudged) more were not judged, since that would take too long" }
        guard let near = nearest?.first else {
            return isVerified || unjudged > 0 ? text : "\(text); the journal has no other"
        }
        guard !near.missed.isEmpty else {
            let note = near.note.map { ": \($0)" } ?? ""
            return "\(text); one too many is entry \(near.entry.id), \(near.summary)\(note)"
        }
        let misses = near.missed.map { "\($0.condition) is \($0.shortFound ?? "nothing"), not \($0.expected)" }
        return "\(text); the nearest is entry \(near.entry.id), \(near.summary): \(misses.joined(separator: "; "))"
    }

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
    fileprivate var shortFound: String? { found.map { $0.count > 200 ? $0.prefix(200) + "…" : $0 } }
}

extension JournalVerdict.NearMiss {
    fileprivate func json(routes: RouteTable) -> JSON {
        let missed = missed.map { miss -> JSON in
            ["condition": .string(miss.condition), "expected": .string(miss.expected), "found": JSON(miss.shortFound)]
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

/// Exchanges that a journal must hold one after the other.
///
/// The first step is the first exchange that fits, each further one the first after the step before it that fits.
/// There is no backtracking, so that a failure can be explained: it is the first step that is missing, or too far away.
struct JournalSequence: Sendable {
    private struct Step: Sendable {
        let criteria: JournalCriteria
        /// How long after the step before it may come, by the sandbox's clock.
        let limit: Duration?
        /// What may occur only so often between the step before and this one.
        let between: (most: Int, criteria: JournalCriteria)?

        init(_ node: FixtureNode, isFirst: Bool, _ vendors: [any AnyLoadedVendor]) throws(FixtureProblem) {
            let mapping = try node.mapping(JournalCriteria.members + ["within", "between", "token"])
            for name in ["within", "between", "token"] where isFirst {
                guard let node = mapping[name] else { continue }
                throw node.nameProblem("the first step of a sequence has no \(name), since no step is before it")
            }
            criteria = try JournalCriteria(mapping, vendors)
            limit = try mapping["within"]?.duration()
            between = try mapping["between"].map { node throws(FixtureProblem) in
                let mapping = try node.mapping("at_most", "where")
                return (
                    try mapping.required("at_most").wholeNumber(),
                    try JournalCriteria(mapping.required("where"), refersBack: true, vendors)
                )
            }
        }
    }

    private enum Failure {
        case missing
        case late(JournalEntry)
        case crowded(JournalEntry, [JournalEntry])
        case continued([JournalEntry])
    }

    private let steps: [Step]
    private let noneAfter: JournalCriteria?

    /// Reads the steps, and what must not follow the last one; both may say whether the token is that of the step before.
    init(_ node: FixtureNode, noneAfter: FixtureNode?, _ vendors: [any AnyLoadedVendor]) throws(FixtureProblem) {
        var steps: [Step] = []
        // ours: as many as a condition may have parts.
        for element in try node.elements(atMost: 100) {
            steps.append(try Step(element, isFirst: steps.isEmpty, vendors))
        }
        guard !steps.isEmpty else { throw node.problem("the sequence is empty; expected a list of steps") }
        self.steps = steps
        self.noneAfter = try noneAfter.map { node throws(FixtureProblem) in
            try JournalCriteria(node, refersBack: true, vendors)
        }
    }

    /// Whether waiting cannot help: all steps were found, or two of them too far apart.
    func isReached(by entries: [JournalEntry]) -> Bool {
        var left = JournalCriteria.mostSteps
        if case .missing? = follow(entries, within: &left).failure { return false }
        return true
    }

    func verdict(on entries: [JournalEntry], masking redactor: Redactor) -> JournalVerdict {
        var left = JournalCriteria.mostSteps
        let (found, failure) = follow(entries, within: &left)
        let (text, nearest) = explain(failure, found, entries, redactor)
        return JournalVerdict(
            expected: "a sequence of \(steps.count)", found, nearest, statement: text + (left > 0 ? "" : Self.haste))
    }

    private static let haste = "; not all entries were judged, since that would take too long"

    private func follow(
        _ entries: [JournalEntry], within left: inout Int
    ) -> (found: [JournalEntry], failure: Failure?) {
        var (found, rest): ([JournalEntry], ArraySlice<JournalEntry>) = ([], entries[...])
        for step in steps {
            let previous = found.last
            guard
                let place = rest.firstIndex(where: { step.criteria.judge($0, after: previous, within: &left) == true })
            else { return (found, .missing) }
            if let previous, let limit = step.limit, previous.moment + limit < rest[place].moment {
                return (found, .late(rest[place]))
            }
            if let (most, criteria) = step.between {
                let passed = rest[..<place].filter { criteria.judge($0, after: previous, within: &left) == true }
                if passed.count > most { return (found, .crowded(rest[place], passed)) }
            }
            found.append(rest[place])
            rest = rest[(place + 1)...]
        }
        let later = noneAfter.map { criteria in
            rest.filter { criteria.judge($0, after: found.last, within: &left) == true }
        }
        return (found, later.flatMap { $0.isEmpty ? nil : .continued($0) })
    }

    private func explain(
        _ failure: Failure?, _ found: [JournalEntry], _ entries: [JournalEntry], _ redactor: Redactor
    ) -> (String, [JournalVerdict.NearMiss]?) {
        let place = "step \(found.count + 1) of \(steps.count)"
        let previous = found.last
        let since = previous.map { "entry \($0.id)" } ?? ""
        switch failure {
        case nil: return ("found a sequence of \(steps.count)", nil)
        case .missing?:
            let step = steps[found.count].criteria
            let rest = entries.drop { entry in previous.map { entry.id <= $0.id } ?? false }
            return (
                "no exchange\(previous == nil ? "" : " after \(since)") is \(place) (\(step.words))",
                step.nearest(among: rest, after: previous, redactor)
            )
        case .late(let entry)?:
            let limit = steps[found.count].limit ?? .zero
            let time = entry.moment.unixSeconds - (previous?.moment ?? entry.moment).unixSeconds
            let miss = ExchangeCondition.Miss(
                condition: "the time since \(since)", expected: "at most \(limit.text)",
                found: Duration.milliseconds(Int64(time * 1000)).text)
            return ("\(place) comes too late", [steps[found.count].criteria.nearMiss(entry, [miss], redactor)])
        case .crowded(let entry, let passed)?:
            let (most, criteria) = steps[found.count].between ?? (0, JournalCriteria())
            return (
                "expected at most \(most) of (\(criteria.words)) between \(since) and \(place), entry \(entry.id), "
                    + "found \(passed.count)",
                criteria.inExcess(passed.dropFirst(most), redactor)
            )
        case .continued(let later)?:
            let criteria = noneAfter ?? JournalCriteria()
            return (
                "expected none of (\(criteria.words)) after the last step, \(since), found \(later.count)",
                criteria.inExcess(later, redactor)
            )
        }
    }
}
