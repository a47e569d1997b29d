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
            limit = try mapping["within"].map { node throws(FixtureProblem) in try node.duration() }
            between = try mapping["between"].map { node throws(FixtureProblem) in
                let mapping = try node.mapping("at_most", "where")
                return (
                    try mapping.required("at_most").naturalNumber(),
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
    init(
        _ node: FixtureNode, noneAfter: FixtureNode?, _ vendors: [any AnyLoadedVendor]
    ) throws(FixtureProblem) {
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

    /// What is wrong in words, with the exchanges that show it; `nil` for nothing.
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
                passed.dropFirst(most).prefix(JournalVerdict.shown).map { criteria.nearMiss($0, [], redactor) }
            )
        case .continued(let later)?:
            let criteria = noneAfter ?? JournalCriteria()
            return (
                "expected none of (\(criteria.words)) after the last step, \(since), found \(later.count)",
                later.prefix(JournalVerdict.shown).map { criteria.nearMiss($0, [], redactor) }
            )
        }
    }
}
