import JSON

/// A scenario that is active in a sandbox: where it stands and what it has counted.
struct ScenarioRun: Sendable {
    let scenario: Scenario
    private(set) var state: Int
    private var counters: [CallCounter] = []
    private var latestRefusedExpiry: Double?
    private var dice: SplitMix64

    /// A run from that state on.
    init(_ scenario: Scenario, state: Int = 0, seed: UInt64) {
        self.scenario = scenario
        self.state = state
        dice = SplitMix64(state: seed)
        enter(state)
    }

    /// Where it stands.
    var stateName: String { scenario.states[state].name }

    private mutating func enter(_ next: Int) {
        state = next
        counters = []
        for rule in scenario.states[next].rules { counters.append(CallCounter(rule.occurrence, seed: dice.next())) }
    }

    /// Counts a call in every rule that it fits.
    ///
    /// - Returns: the first rule that it hits.
    mutating func count(_ encounter: Encounter, route: String) -> ScenarioRule? {
        var hit: ScenarioRule?
        for (index, rule) in scenario.states[state].rules.enumerated() {
            guard rule.routes.contains(route), fits(rule.token, encounter), rule.condition.holds(for: encounter) else {
                continue
            }
            if counters[index].count(), hit == nil { hit = rule }
        }
        return hit
    }

    private func fits(_ condition: ScenarioRule.TokenCondition?, _ encounter: Encounter) -> Bool {
        switch condition {
        case nil: true
        case .present?: encounter.claims != nil
        case .absent?: encounter.claims == nil
        case .newer?:
            if let last = latestRefusedExpiry, let expiry = encounter.time("exp") { expiry > last } else { false }
        }
    }

    /// Follows a rule that decided: remembers a refused token, and goes where the rule says.
    mutating func follow(_ rule: ScenarioRule, _ encounter: Encounter) -> Intervention {
        let origin = "scenario \(scenario.name) in \(stateName)"
        if case .failure = rule.effect.replacement, let expiry = encounter.time("exp") {
            // Of several refused tokens the newest counts: an older one beside it must not make it look new.
            latestRefusedExpiry = max(expiry, latestRefusedExpiry ?? expiry)
        }
        if let next = rule.next { enter(next) }
        let author = rule.next == nil ? origin : "\(origin), to \(stateName)"
        return Intervention(rule.effect, by: author, &dice)
    }

    /// The run over another version of its scenario; `nil` when that has no such state any more.
    ///
    /// Where the state's rules are as many as before, what was counted stays.
    func transferred(to scenario: Scenario) -> ScenarioRun? {
        guard let index = scenario.states.firstIndex(where: { $0.name == stateName }) else { return nil }
        var run = ScenarioRun(scenario, state: index, seed: 0)
        run.dice = dice
        run.latestRefusedExpiry = latestRefusedExpiry
        let occurrences = scenario.states[index].rules.map(\.occurrence)
        if occurrences == counters.map(\.occurrence) { run.counters = counters }
        return run
    }

    /// The run as the control API shows it.
    var json: JSON {
        [
            "scenario": .string(scenario.name), "vendor": .string(scenario.vendor), "state": .string(stateName),
            "calls": .array(counters.map { JSON($0.calls) }),
        ]
    }
}
