import JSON

/// A state machine over the exchanges of one vendor, read from `scenarios/NAME.yaml`.
public final class Scenario: Sendable {
    /// A state and its rules, in order.
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

    package let name: String
    /// What it demonstrates, in a sentence or two.
    package let about: String
    package let vendor: String
    let states: [State]

    /// Reads a scenario: `scenario`, `about`, `vendor` and `states`, the first of which is the starting state.
    ///
    /// - Throws: the first problem, such as an unknown route, failure, action or state.
    init(_ node: FixtureNode, _ scope: InterventionScope) throws(FixtureProblem) {
        let mapping = try node.mapping("scenario", "about", "vendor", "states")
        name = try mapping.required("scenario").string()
        about = try mapping.required("about").string()
        let vendorNode = try mapping.required("vendor")
        vendor = try vendorNode.string()
        guard vendor == scope.vendor else {
            throw vendorNode.problem("the vendor is “\(vendor)”, but the file is in the folder of \(scope.vendor)")
        }
        let statesNode = try mapping.required("states")
        let members = try statesNode.members()
        let names = members.map(\.name)
        var states: [State] = []
        for (name, rules) in members {
            var read: [ScenarioRule] = []
            for rule in try rules.elements() { read.append(try ScenarioRule(rule, states: names, scope)) }
            states.append(State(name: name, rules: read))
        }
        guard !states.isEmpty else { throw statesNode.problem("a scenario needs a state") }
        self.states = states
    }

    /// A vendor's scenarios, read from its files `scenarios/*.yaml`.
    @usableFromInline
    static func all(in fixtures: VendorFixtures, _ scope: InterventionScope) throws(FixtureProblem) -> [Scenario] {
        var scenarios: [Scenario] = []
        for file in fixtures.names(in: "scenarios") where file.hasSuffix(".yaml") {
            let node = try fixtures.document("scenarios/\(file)")
            let scenario = try Scenario(node, scope)
            if scenarios.contains(where: { $0.name == scenario.name }) {
                throw node.problem("another file has a scenario of the name \(scenario.name) already")
            }
            scenarios.append(scenario)
        }
        return scenarios
    }

    var asksForNewerToken: Bool { states.contains(where: \.waitsForNewerToken) }

    /// The names of the states; it starts in the first.
    package var stateNames: [String] { states.map(\.name) }

    /// What a rule may require of the token besides its claims.
    package static var tokenConditions: [String] { ScenarioRule.TokenCondition.allCases.map(\.rawValue) }
}

/// A rule of a state: which calls it applies to, what it does, and the next state.
struct ScenarioRule: Sendable {
    /// What a rule may require of the token besides its claims.
    enum TokenCondition: String, Sendable, CaseIterable {
        /// There is a readable token.
        case present
        /// There is no readable token.
        case absent
        /// It came after the refusal: it was neither refused, nor sent or minted before.
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

    fileprivate init(
        _ node: FixtureNode, states: [String], _ scope: InterventionScope
    ) throws(FixtureProblem) {
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
            guard let index = states.firstIndex(of: name) else {
                throw node.problem("there is no state “\(name)”\(Nearest.hint(to: name, among: states))")
            }
            return index
        }
        summary = Self.summary(on: try on.json(), occurrence, token, condition)
        if effect.isNone, next == nil, occurrence != .always {
            throw node.problem(
                "a rule that only passes calls on has nothing to count; give it go, fail, respond, do or fault")
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
