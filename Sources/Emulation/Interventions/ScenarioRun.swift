import JSON

/// A scenario that is active in a sandbox: its current state and its counters.
struct ScenarioRun: Sendable {
    let scenario: Scenario
    private(set) var state: Int
    private var counters: [CallCounter] = []
    /// Whether it has refused a token: before that, none is newer.
    private var hasRefused = false
    private var dice: SplitMix64

    init(_ scenario: Scenario, state: Int = 0, seed: UInt64) {
        self.scenario = scenario
        self.state = state
        dice = SplitMix64(state: seed)
        enter(state)
    }

    var stateName: String { scenario.states[state].name }

    private mutating func enter(_ next: Int) {
        state = next
        counters = []
        for rule in scenario.states[next].rules { counters.append(CallCounter(rule.occurrence, seed: dice.next())) }
    }

    /// A rule that a call hits.
    struct Hit {
        let rule: ScenarioRule
        fileprivate let index: Int
    }

    /// Whether a rule of the current state waits for a newer token.
    var waitsForNewerToken: Bool { scenario.states[state].waitsForNewerToken }

    /// Counts a call in every rule that it matches; a rule that is hit but not followed hits the next call instead.
    ///
    /// - Returns: the first rule that is hit.
    mutating func count(_ matchContext: MatchContext, route: String, _ tokens: TokenMemory) -> Hit? {
        var hit: Hit?
        for (index, rule) in scenario.states[state].rules.enumerated() where rule.routes.contains(route) {
            guard fits(rule.token, matchContext, tokens), rule.condition.holds(for: matchContext) else { continue }
            if counters[index].count(), hit == nil { hit = Hit(rule: rule, index: index) }
        }
        return hit
    }

    private func fits(
        _ condition: ScenarioRule.TokenCondition?, _ matchContext: MatchContext, _ tokens: TokenMemory
    ) -> Bool {
        switch condition {
        case nil: true
        case .present?: matchContext.claims != nil
        case .absent?: matchContext.claims == nil
        case .newer?: hasRefused && matchContext.claims != nil && matchContext.token.map(tokens.isNewer) ?? false
        }
    }

    /// Follows a rule that decided: remembers a refused token, and moves to the rule's next state.
    mutating func follow(_ hit: Hit, _ matchContext: MatchContext, _ tokens: inout TokenMemory) -> Intervention {
        let rule = hit.rule
        counters[hit.index].strike()
        var author = "scenario \(scenario.name) in \(stateName)"
        if rule.occurrence != .always { author += " at \(rule.occurrence.summary)" }
        var remark = ""
        if rule.effect.refuses, let token = matchContext.token {
            if waitsForNewerToken, hasRefused, !tokens.isNewer(token) {
                let time = tokens.wasRefused(token) ? "was refused already" : "is from before the refusal"
                remark = "; this token \(time)"
            }
            tokens.refuse(token)
            hasRefused = true
        }
        if let next = rule.next {
            enter(next)
            author += ", to \(stateName)"
        }
        let exits = scenario.states[state].exits
        return Intervention(rule.effect, by: author, then: exits.map { "waits for \($0)\(remark)" }, &dice)
    }

    /// The run on another version of its scenario; `nil` when that no longer has the current state.
    ///
    /// Counters are kept when the state has as many rules as before.
    func transferred(to scenario: Scenario) -> ScenarioRun? {
        guard let index = scenario.states.firstIndex(where: { $0.name == stateName }) else { return nil }
        var run = ScenarioRun(scenario, state: index, seed: 0)
        run.dice = dice
        run.hasRefused = hasRefused
        // A rule that moved to another position counts other calls than the one it displaced.
        let (old, new) = (self.scenario.states[state].rules, scenario.states[index].rules)
        let isSame =
            old.count == new.count
            && zip(old, new).allSatisfy { $0.occurrence == $1.occurrence && !$0.routes.isDisjoint(with: $1.routes) }
        if isSame { run.counters = counters }
        return run
    }

    /// The run with all that decides its next calls.
    var kept: JSON {
        var kept: JSONObject = [
            "scenario": .string(scenario.name), "state": .string(stateName), "dice": dice.written,
            "counters": .array(counters.map { $0.json(.changes) }),
        ]
        if hasRefused { kept["has_refused"] = true }
        return .object(kept)
    }

    /// Reads what ``kept`` gives. Counters start anew when the state has other rules by now.
    init(_ node: FixtureNode, among loaded: LoadedVendors) throws(FixtureProblem) {
        let mapping = try node.mapping("scenario", "state", "dice", "counters", "has_refused")
        let (name, state) = (try mapping.required("scenario"), try mapping.required("state"))
        guard let scenario = loaded.scenario(try name.string()) else {
            throw name.problem("no scenario is called \(try name.string())")
        }
        let stateName = try state.string()
        guard let index = scenario.states.firstIndex(where: { $0.name == stateName }) else {
            throw state.problem("scenario \(scenario.name) has no state \(stateName)")
        }
        self.init(scenario, state: index, seed: 0)
        dice = try SplitMix64.read(try mapping.required("dice"))
        hasRefused = try mapping["has_refused"]?.bool() ?? false
        let kept = try mapping.required("counters").elements()
        guard kept.count == counters.count else { return }
        for (index, node) in kept.enumerated() { try counters[index].read(node, .export(.changes)) }
    }

    /// The run as the control API shows it.
    var json: JSON {
        [
            "scenario": .string(scenario.name), "vendor": .string(scenario.vendor), "state": .string(stateName),
            "calls": .array(counters.map { JSON($0.calls) }),
        ]
    }
}
