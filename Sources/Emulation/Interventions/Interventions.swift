import HTTPTypes
import JSON
import Wire

/// The faults and scenarios of a sandbox.
struct Interventions: Sendable {
    private(set) var faults: [ArmedFault] = []
    private(set) var runs: [ScenarioRun] = []
    /// Which tokens are not newer.
    private var tokens = TokenMemory()
    /// The random source for faults and scenarios without a seed of their own.
    private var dice: SplitMix64

    init(seed: UInt64?) {
        dice = Self.dice(seed)
    }

    private static func dice(_ seed: UInt64?) -> SplitMix64 {
        SplitMix64(state: seed ?? UInt64.random(in: 0 ... .max))
    }

    /// Whether no exchange can be affected.
    var isEmpty: Bool { faults.isEmpty && runs.isEmpty }

    /// Changes the seed for everything armed from now on.
    mutating func reseed(_ seed: UInt64?) { dice = Self.dice(seed) }

    /// Replaces the faults; each counts calls from now on.
    mutating func arm(_ faults: [Fault]) {
        self.faults = faults.map { ArmedFault($0, seed: dice.next()) }
    }

    /// Replaces the active scenarios, each with the index of its starting state; the first one takes precedence.
    mutating func activate(_ scenarios: [(scenario: Scenario, state: Int)]) {
        runs = scenarios.map { ScenarioRun($0.scenario, state: $0.state, seed: dice.next()) }
    }

    /// Switches to other versions of the scenarios.
    ///
    /// - Returns: the names of active ones that ended because they, or their current states, no longer exist.
    mutating func replace(_ find: (String) -> Scenario?) -> [String] {
        var ended: [String] = []
        runs = runs.compactMap { run in
            let kept = find(run.scenario.name).flatMap { $0 === run.scenario ? run : run.transferred(to: $0) }
            if kept == nil { ended.append(run.scenario.name) }
            return kept
        }
        return ended
    }

    /// Counts an exchange in every fault and scenario of its vendor, and decides its outcome.
    ///
    /// Faults go first, then the scenarios in the order of their activation. A scenario rule that only moves to another
    /// state leaves the answer to the rules after it.
    mutating func decide(_ matchContext: MatchContext, vendor: String, route: String) -> Intervention? {
        // Preflights come from the browser; only the app's own calls count.
        if matchContext.request.isPreflight { return nil }
        if let token = matchContext.token, runs.contains(where: \.scenario.asksForNewerToken) { note(token.bytes) }
        var decision = strike(matchContext, vendor, route)
        for index in runs.indices where runs[index].scenario.vendor == vendor {
            guard let hit = runs[index].count(matchContext, route: route, tokens) else { continue }
            if hit.rule.effect.isNone {
                let passed = runs[index].follow(hit, matchContext, &tokens)
                if decision == nil, hit.rule.next != nil { decision = passed }
            } else if decision?.effect.isNone ?? true {
                decision = runs[index].follow(hit, matchContext, &tokens)
            }
        }
        return decision
    }

    /// Notes a token that was sent or minted; while a scenario waits for a newer one, that is the newer one.
    mutating func note(_ token: [UInt8]) {
        if !runs.contains(where: \.waitsForNewerToken) { tokens.note(token) }
    }

    /// The tokens that scenarios refused, which nobody should be handed again.
    var refusedTokens: TokenDigests { tokens.refused }

    private mutating func strike(_ matchContext: MatchContext, _ vendor: String, _ route: String) -> Intervention? {
        var due: Int?
        for index in faults.indices where faults[index].fault.vendor == vendor {
            if faults[index].count(matchContext, route: route), due == nil { due = index }
        }
        guard let due else { return nil }
        let canStrikeAgain = faults[due].strike()
        let intervention = Intervention(faults[due].fault.effect, by: faults[due].author, &dice)
        if !canStrikeAgain { faults.remove(at: due) }
        return intervention
    }
}

// MARK: - Keeping

extension Interventions {
    /// The armed faults and active scenarios with all that decides their next calls.
    var kept: JSON {
        var kept: JSONObject = [
            "dice": dice.written, "faults": .array(faults.map(\.kept)), "scenarios": .array(runs.map(\.kept)),
        ]
        if runs.contains(where: \.scenario.asksForNewerToken) { kept["tokens"] = tokens.kept }
        return .object(kept)
    }

    /// Reads what ``kept`` gives, among the vendors of that load.
    init(_ node: FixtureNode, among loaded: LoadedVendors) throws(FixtureProblem) {
        let mapping = try node.mapping("dice", "faults", "scenarios", "tokens")
        dice = try SplitMix64.read(try mapping.required("dice"))
        try mapping.required("faults").forEachRecord { (node) throws(FixtureProblem) in
            faults.append(try ArmedFault(node, among: loaded))
        }
        try mapping.required("scenarios").forEachRecord { (node) throws(FixtureProblem) in
            runs.append(try ScenarioRun(node, among: loaded))
        }
        if let node = mapping["tokens"] { tokens = try TokenMemory(node) }
    }
}

extension Request {
    /// Whether this is a browser's CORS preflight.
    fileprivate var isPreflight: Bool {
        method == .options && fields.count(of: .accessControlRequestMethod) > 0
    }
}
