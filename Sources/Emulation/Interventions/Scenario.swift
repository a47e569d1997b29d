package import JSON

/// A state machine over the exchanges of one vendor, read from `scenarios/NAME.yaml`.
public final class Scenario: Sendable {
    struct State: Sendable {
        let name: String
        let rules: [ScenarioRule]
        let waitsForNewerToken: Bool
        /// What leads to another state, in words; `nil` when nothing does.
        let exits: String?

        init(name: String, rules: [ScenarioRule]) {
            (self.name, self.rules) = (name, rules)
            waitsForNewerToken = rules.contains { $0.token == .newer }
            let exits = rules.filter { $0.next != nil }.map(\.summary)
            self.exits = exits.isEmpty ? nil : exits.joined(separator: ", or for ")
        }
    }

    private struct Script: Sendable {
        let name: String
        let about: String
        let states: [State]

        init(_ mapping: FixtureMapping, named name: String, _ scope: InterventionScope) throws(FixtureProblem) {
            self.name = try mapping.required(name).string()
            about = try mapping.required("about").string()
            let vendorNode = try mapping.required("vendor")
            let vendor = try vendorNode.string()
            guard vendor == scope.vendor else {
                throw vendorNode.problem("the vendor is “\(vendor)”, but the file is in the folder of \(scope.vendor)")
            }
            let statesNode = try mapping.required("states")
            let members = try statesNode.members()
            let names = members.map(\.name)
            var states: [State] = []
            for (name, rules) in members {
                var read: [ScenarioRule] = []
                try rules.forEachRecord { (rule) throws(FixtureProblem) in
                    read.append(try ScenarioRule(rule, states: names, scope))
                }
                states.append(State(name: name, rules: read))
            }
            guard !states.isEmpty else { throw statesNode.problem("a scenario needs a state") }
            self.states = states
        }
    }

    package let name: String
    package let vendor: String
    private let script: Deferred<Script>

    /// Reads a scenario: `scenario`, `about`, `vendor` and `states`, the first of which is the starting state.
    ///
    /// - Throws: the first problem, such as an unknown route, failure, action or state.
    init(_ file: FixtureStore.File, _ scope: InterventionScope) throws(FixtureProblem) {
        vendor = scope.vendor
        script = try Deferred(file) { () throws(FixtureProblem) in
            let mapping = try FixtureNode(file: file).mapping("scenario", "about", "vendor", "states")
            return try Script(mapping, named: "scenario", scope)
        }
        // Tests hold the installed names to this.
        let stem = file.path.split(separator: "/").last?.prefix { $0 != "." } ?? ""
        name = file.isJudged ? "\(vendor)-\(stem)" : try script.get().name
    }

    /// The scenario of a drill, read at once.
    init(of drill: FixtureMapping, _ file: FixtureStore.File, _ scope: InterventionScope) throws(FixtureProblem) {
        let read = try Script(drill, named: "drill", scope)
        (vendor, name) = (scope.vendor, read.name)
        script = try Deferred(file) { () throws(FixtureProblem) in read }
    }

    package var about: String { (try? script.get())?.about ?? "" }
    // Read before, at the start or by a test.
    var states: [State] { (try? script.get())?.states ?? [] }

    @usableFromInline
    static func all(in fixtures: VendorFixtures, _ scope: InterventionScope) throws(FixtureProblem) -> [Scenario] {
        var scenarios: [Scenario] = []
        try fixtures.forEachFile(in: "scenarios") { file throws(FixtureProblem) in
            let scenario = try Scenario(file, scope)
            if scenarios.contains(where: { $0.name == scenario.name }) {
                throw try FixtureNode(file: file).problem(
                    "another file has a scenario of the name \(scenario.name) already")
            }
            scenarios.append(scenario)
        }
        return scenarios
    }

    /// The names of the states; it starts in the first.
    package var stateNames: [String] { states.map(\.name) }

    package static var tokenConditions: [String] { ScenarioRule.TokenCondition.allCases.map(\.rawValue) }
}

/// A rule of a state: which calls it applies to, what it does, and the next state.
struct ScenarioRule: Sendable {
    enum TokenCondition: String, Sendable, CaseIterable {
        case present
        case absent
        /// It came after the refusal: neither refused, nor sent or minted before.
        case newer
    }

    let routes: Set<String>
    /// The calls that it applies to, in words.
    let summary: String
    let occurrence: Occurrence
    let token: TokenCondition?
    let condition: ExchangeCondition
    let effect: Effect
    /// The index of the next state; `nil` to stay.
    let next: Int?

    fileprivate init(_ node: FixtureNode, states: [String], _ scope: InterventionScope) throws(FixtureProblem) {
        let mapping = try node.mapping(["on", "when", "go"] + Occurrence.members + Effect.members)
        let on = try mapping.required("on")
        routes = try scope.routes(on)
        occurrence = try Occurrence(mapping)
        let conditions = try mapping["when"]?.mapping(["token"] + ExchangeCondition.members)
        token = try conditions?["token"]?.choice(of: TokenCondition.self)
        condition = try conditions.map(ExchangeCondition.init) ?? ExchangeCondition()
        effect = try Effect(mapping, scope)
        next = try mapping["go"].map { node throws(FixtureProblem) in
            let name = try node.string()
            if let index = states.firstIndex(of: name) { return index }
            throw node.problem("there is no state “\(name)”\(Nearest.hint(to: name, among: states))")
        }
        summary = Self.summary(on: try on.json(), occurrence, token, condition)
        if effect.isNone, next == nil, occurrence != .always {
            throw node.problem(
                "a rule without an effect has nothing to count; give it go, fail, respond, do, fault, defects or advance"
            )
        }
    }

    private static func summary(
        on routes: JSON, _ occurrence: Occurrence, _ token: TokenCondition?, _ condition: ExchangeCondition
    ) -> String {
        var words = occurrence == .always ? "a call" : occurrence.summary
        words += " of " + (routes.array ?? [routes]).map { $0.string ?? $0.text }.joined(separator: ", ")
        switch token {
        case .newer?: words += " with a newer token"
        case .present?: words += " with a token"
        case .absent?: words += " without a token"
        case nil: break
        }
        if !condition.names.isEmpty { words += " whose \(condition.names.joined(separator: ", ")) fits" }
        return words
    }
}

extension Scenario {
    /// The rules of all states in order, described for people and for drawings of the states.
    package var rules: [JSON] {
        states.flatMap { state in
            state.rules.map { rule in
                [
                    "state": .string(state.name), "routes": .array(rule.routes.sorted().map(JSON.string)),
                    "calls": .string(rule.calls), "when": JSON(rule.conditions),
                    "effect": .string(rule.effect.summary), "go": JSON(rule.next.map { states[$0].name }),
                ]
            }
        }
    }
}

extension ScenarioRule {
    fileprivate var conditions: String? {
        let parts = [token.map { "token \($0.rawValue)" }].compactMap(\.self) + condition.names
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }

    fileprivate var calls: String {
        guard case .probability(let probability, _) = occurrence else { return occurrence.summary }
        return "each call with probability \(probability)"
    }
}

struct ScenarioRun: Sendable {
    let scenario: Scenario
    private let states: [Scenario.State]
    let asksForNewerToken: Bool
    private(set) var state: Int
    private var counters: [CallCounter] = []
    /// Whether it has refused a token: before that, none is newer.
    private var hasRefused = false
    private var dice: SplitMix64

    init(_ scenario: Scenario, state: Int = 0, seed: UInt64) {
        self.scenario = scenario
        states = scenario.states
        asksForNewerToken = states.contains(where: \.waitsForNewerToken)
        self.state = state
        dice = SplitMix64(state: seed)
        enter(state)
    }

    var stateName: String { states[state].name }

    private mutating func enter(_ next: Int) {
        state = next
        counters = []
        for rule in states[next].rules { counters.append(CallCounter(rule.occurrence, seed: dice.next())) }
    }

    struct Hit {
        let rule: ScenarioRule
        fileprivate let index: Int
    }

    var waitsForNewerToken: Bool { states[state].waitsForNewerToken }

    /// Counts a call in every rule that it matches; a rule that is hit but not followed hits the next call instead.
    ///
    /// - Returns: the first rule that is hit.
    mutating func count(_ matchContext: MatchContext, route: String, _ tokens: TokenMemory) -> Hit? {
        var hit: Hit?
        for (index, rule) in states[state].rules.enumerated() where rule.routes.contains(route) {
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
                let time = tokens.wasRefused(token) ? "has already been refused" : "is from before the refusal"
                remark = "; this token \(time)"
            }
            tokens.refuse(token)
            hasRefused = true
        }
        if let next = rule.next {
            enter(next)
            author += ", to \(stateName)"
        }
        let exits = states[state].exits
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
        let (old, new) = (states[state].rules, scenario.states[index].rules)
        let isSame =
            old.count == new.count
            && zip(old, new).allSatisfy { $0.occurrence == $1.occurrence && !$0.routes.isDisjoint(with: $1.routes) }
        if isSame { run.counters = counters }
        return run
    }

    var kept: JSON {
        var kept: JSONObject = [
            "scenario": .string(scenario.name), "state": .string(stateName), "dice": dice.written,
            "counters": .array(counters.map { $0.json(.changes) }),
        ]
        if hasRefused { kept["has_refused"] = true }
        return .object(kept)
    }

    /// Reads what ``kept`` returns. Counters start over if the state has other rules by now.
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

    var json: JSON {
        [
            "scenario": .string(scenario.name), "vendor": .string(scenario.vendor), "state": .string(stateName),
            "calls": .array(counters.map { JSON($0.calls) }),
        ]
    }
}
