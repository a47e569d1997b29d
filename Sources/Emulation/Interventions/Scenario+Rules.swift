package import JSON

extension Scenario {
    /// The rules of all states in order, in words: for people, and for drawing the states.
    package var rules: [JSON] {
        states.flatMap { state in
            state.rules.map { rule in
                [
                    "state": .string(state.name), "routes": .array(rule.routes.sorted().map(JSON.string)),
                    "calls": .string(rule.occurrence.words), "when": JSON(rule.conditions),
                    "effect": .string(rule.effect.summary), "go": JSON(rule.next.map { states[$0].name }),
                ]
            }
        }
    }
}

extension ScenarioRule {
    /// What the rule requires of a call besides its route; `nil` for nothing.
    fileprivate var conditions: String? {
        let parts = [token.map { "token \($0.rawValue)" }].compactMap(\.self) + condition.names
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }
}

extension Occurrence {
    /// The occurrence in words.
    fileprivate var words: String {
        switch self {
        case .always: "every call"
        case .call(let number): "call \(number)"
        case .every(let number): "one call in \(number)"
        case .probability(let probability, _): "each call with probability \(probability)"
        }
    }
}
