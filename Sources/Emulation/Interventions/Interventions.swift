import HTTPTypes
package import JSON
package import Tokens
import Wire

struct Interventions: Sendable {
    private(set) var faults: [ArmedFault] = []
    private(set) var runs: [ScenarioRun] = []
    /// The tokens that do not count as newer.
    private var tokens = TokenMemory()
    /// The random source for faults and scenarios without a seed of their own.
    private var dice: SplitMix64

    init(seed: UInt64?) { dice = Self.dice(seed) }

    private static func dice(_ seed: UInt64?) -> SplitMix64 { SplitMix64(state: seed ?? .random(in: 0 ... .max)) }

    var isEmpty: Bool { faults.isEmpty && runs.isEmpty }

    /// Changes the seed for everything armed from now on.
    mutating func reseed(_ seed: UInt64?) { dice = Self.dice(seed) }

    /// Replaces the faults; each counts calls from now on.
    mutating func arm(_ faults: [Fault]) { self.faults = faults.map { ArmedFault($0, seed: dice.next()) } }

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
        let request = matchContext.request
        if request.method == .options, request.fields.count(of: .accessControlRequestMethod) > 0 { return nil }
        if let token = matchContext.token, runs.contains(where: \.asksForNewerToken) { note(token.bytes) }
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

    /// Notes a token that was sent or minted. While a scenario waits for a newer one, it may be that one.
    mutating func note(_ token: [UInt8]) {
        if !runs.contains(where: \.waitsForNewerToken) { tokens.note(token) }
    }

    /// The tokens that scenarios refused, which must not be handed out again.
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

    // MARK: Keeping

    /// The armed faults and active scenarios with all that decides their next calls.
    var kept: JSON {
        var kept: JSONObject = [
            "dice": dice.written, "faults": .array(faults.map(\.kept)), "scenarios": .array(runs.map(\.kept)),
        ]
        if runs.contains(where: \.asksForNewerToken) { kept["tokens"] = tokens.json(.changes) }
        return .object(kept)
    }

    init(_ node: FixtureNode, among loaded: LoadedVendors) throws(FixtureProblem) {
        let mapping = try node.mapping("dice", "faults", "scenarios", "tokens")
        dice = try SplitMix64.read(try mapping.required("dice"))
        try mapping.required("faults").forEachRecord { (node) throws(FixtureProblem) in
            faults.append(try ArmedFault(node, among: loaded))
        }
        try mapping.required("scenarios").forEachRecord { (node) throws(FixtureProblem) in
            runs.append(try ScenarioRun(node, among: loaded))
        }
        try mapping["tokens"].map { (node) throws(FixtureProblem) in try tokens.read(node, .export(.changes)) }
    }
}

/// The tokens of a sandbox that no scenario takes for newer: those that scenarios refused, and those sent or minted
/// before.
struct TokenMemory: CodedRecord {
    private(set) var refused = TokenDigests()
    private var earlier = TokenDigests()

    /// Whether the token was neither refused, nor sent or minted before.
    func isNewer(_ token: CompactToken) -> Bool { !refused.contains(token.bytes) && !earlier.contains(token.bytes) }
    func wasRefused(_ token: CompactToken) -> Bool { refused.contains(token.bytes) }
    mutating func refuse(_ token: CompactToken) { refused.insert(token.bytes) }
    mutating func note(_ token: [UInt8]) { earlier.insert(token) }

    package mutating func code(_ coder: inout RecordCoder) {
        coder.member("refused", &refused)
        coder.member("earlier", &earlier)
    }
}

public struct TokenDigests: Sendable {
    /// ours: a test renews a few times; a load test with a new token for each call must not fill the memory.
    private static let most = 1000

    private var digests: [UInt64]

    public init() { self.init(digests: []) }

    private init(digests: [UInt64]) { self.digests = digests }

    private static func digest(of token: [UInt8]) -> UInt64 {
        Digest.sha256(token).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    func contains(_ token: [UInt8]) -> Bool { !digests.isEmpty && digests.contains(Self.digest(of: token)) }

    mutating func insert(_ token: [UInt8]) {
        let digest = Self.digest(of: token)
        if digests.contains(digest) { return }
        if digests.count == Self.most { digests.removeFirst() }
        digests.append(digest)
    }

    /// Signs a token that is none of these: if necessary with an earlier `exp`, since a later one might exceed the
    /// lifetime that the vendor allows.
    package func sign(_ draft: inout TokenDraft, _ sign: (TokenDraft) -> String) -> String {
        var token = sign(draft)
        while contains(Array(token.utf8)), let earlier = Self.earlier(draft.claims["exp"]) {
            draft.claims["exp"] = earlier
            token = sign(draft)
        }
        return token
    }

    /// An `exp` one second earlier; `nil` for one that does not count whole seconds, or is the first.
    static func earlier(_ expiry: JSON?) -> JSON? {
        guard let expiry = expiry?.int, expiry > .min else { return .none }
        return JSON(expiry - 1)
    }
}

extension TokenDigests: RecordValue {
    package static func read(_ node: FixtureNode) throws(FixtureProblem) -> TokenDigests {
        TokenDigests(digests: try [UInt64].read(node))
    }

    package var written: JSON { digests.written }
}

/// Faults and scenarios in an exchange. Not inlinable: few exchanges get here.
extension SandboxedVendor {
    /// Carries out a decision: performs an action on the state, replaces the answer, disturbs the wire.
    @usableFromInline
    func carryOut(
        _ intervention: Intervention, _ matchContext: MatchContext, _ exchange: Exchange, _ call: inout Call<V>,
        by loaded: LoadedVendor<V>
    ) -> ExchangeStep {
        let name = intervention.effect.action?.name
        guard V.actions.contains(where: { $0.listing.name == name && $0.mayTakeLong }) else {
            return answer(intervention, matchContext, exchange, &call, by: loaded)
        }
        // An action that reads through a state may visit a million records, too long for an event loop.
        return .waiting { [call] in
            var call = call
            return self.answer(intervention, matchContext, exchange, &call, by: loaded)
        }
    }

    private func answer(
        _ intervention: Intervention, _ matchContext: MatchContext, _ exchange: Exchange, _ call: inout Call<V>,
        by loaded: LoadedVendor<V>
    ) -> ExchangeStep {
        var summary = intervention.summary
        if let order = intervention.effect.action {
            do {
                _ = try perform(
                    order.name, try order.members(TemplateValues(matchContext)), as: loaded, at: exchange.moment,
                    exchange.sandbox.identifiers, by: exchange.selector)
            } catch {
                summary += "; \(order.name) was not done: \(error)"
            }
        }
        let step: ExchangeStep
        do {
            step =
                try replace(intervention, matchContext, exchange, call, by: loaded)
                ?? handle(exchange, &call, by: loaded)
        } catch {
            // ours: the vendor's own answer rather than half of the intended one; the journal says why.
            summary += "; respond was not done: \(error)"
            step = handle(exchange, &call, by: loaded)
        }
        return step.amended { [summary] response, record in
            let effect = intervention.effect
            var notes =
                effect.defects.isEmpty
                ? [] : self.spoil(effect.defects, in: &response, of: exchange, by: self.latest(loaded))
            record.isStruck = !effect.isNone && (effect.defects.isEmpty || notes.count < effect.defects.count)
            if let duration = effect.advance {
                var isShown = true
                _ = exchange.sandbox.adjustClock { isShown = $0.advance(by: duration) }
                if !isShown { notes.append("the clock was not moved: it cannot show that time") }
            }
            record.intervention = ([summary] + notes).joined(separator: "; ")
            if intervention.transmission != .plain { response.transmission = intervention.transmission }
        }
    }

    private func replace(
        _ intervention: Intervention, _ matchContext: MatchContext, _ exchange: Exchange, _ call: Call<V>,
        by loaded: LoadedVendor<V>
    ) throws(TemplateExcess) -> ExchangeStep? {
        switch intervention.effect.replacement {
        case .failure(let name, let parameters)?:
            // The name was checked when the rule was read.
            guard let failure = V.Failure(rawValue: name) else { return nil }
            return finish(
                exchange, Refusal(failure, parameters, because: intervention.summary), record(of: call, by: loaded),
                by: loaded
            ) { if failure == V.Failure.methodNotAllowed { completeAllow(&$0, exchange, by: loaded) } }
        case .response(let template)?:
            return finish(
                exchange, try template.response(TemplateValues(matchContext)), record(of: call, by: loaded), by: loaded)
        case nil: return nil
        }
    }

    /// Like any other, a 405 from a rule lists the methods of its path (RFC 9110 section 15.5.6), including the refused
    /// one: rules do not change what a path supports. They are looked up only then.
    private func completeAllow(_ response: inout Response, _ exchange: Exchange, by loaded: LoadedVendor<V>) {
        guard response.status == .methodNotAllowed, response.fields[.allow] == nil else { return }
        // The same routes already formed a table when the vendor was mounted.
        let methods = LoadedVendor.table(of: loaded.table)?.methods(at: exchange.request.path)
        if let methods { response.fields[.allow] = methods.map(\.rawValue).joined(separator: ", ") }
    }
}
