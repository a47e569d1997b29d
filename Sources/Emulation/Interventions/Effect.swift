import JSON
import Wire

/// What a rule does to an exchange: replaces its answer, performs an action, disturbs the wire, or none of these.
struct Effect: Sendable {
    /// What replaces the vendor's answer.
    enum Replacement: Sendable {
        case failure(String, JSONObject)
        case response(ResponseTemplate)
    }

    let replacement: Replacement?
    let action: ActionRequest?
    let wireFault: WireFault?

    static let members = ["fail", "parameters", "respond", "do", "fault"]

    /// Reads `fail` (a failure's name, with optional `parameters`) or `respond`, and optional `do` and `fault`.
    init(_ mapping: FixtureMapping, _ scope: InterventionScope) throws(FixtureProblem) {
        if mapping["fail"] != nil, let respond = mapping["respond"] {
            throw respond.nameProblem("respond cannot be combined with fail; give one of them")
        }
        if let parameters = mapping["parameters"], mapping["fail"] == nil {
            throw parameters.nameProblem("parameters are for the body of a failure, and there is no fail")
        }
        if let node = mapping["fail"] {
            let parameters = try mapping["parameters"]?.json().object
            replacement = .failure(try scope.failure(node), parameters ?? [:])
        } else if let node = mapping["respond"] {
            replacement = .response(try ResponseTemplate(node, scope))
        } else {
            replacement = nil
        }
        action = try mapping["do"].map { node throws(FixtureProblem) in try ActionRequest(node, scope) }
        wireFault = try mapping["fault"].map(WireFault.init)
    }

    var refuses: Bool {
        switch replacement {
        case .failure?: true
        case .response(let response)?: response.status.code >= 400
        case nil: false
        }
    }

    /// Whether the exchange continues as if there were no rule.
    var isNone: Bool { replacement == nil && action == nil && wireFault == nil }

    /// The effect in words, for the journal.
    var summary: String {
        var words: [String] = []
        switch replacement {
        case .failure(let name, _)?: words.append("fail \(name)")
        case .response(let response)?: words.append("respond \(response.status.code)")
        case nil: break
        }
        if let action { words.append("do \(action.name)") }
        if let wireFault { words.append("fault \(wireFault.summary)") }
        return words.joined(separator: ", ")
    }
}

/// A rule's decision about one exchange.
@usableFromInline
struct Intervention: Sendable {
    let effect: Effect
    /// Which rule decided what, for the journal.
    let summary: String
    /// How the answer is sent.
    let transmission: Transmission

    init(_ effect: Effect, by author: String, then expectation: String? = nil, _ dice: inout SplitMix64) {
        self.effect = effect
        let decision = effect.isNone ? author : "\(author): \(effect.summary)"
        summary = expectation.map { "\(decision); \($0)" } ?? decision
        transmission = effect.wireFault?.transmission(&dice) ?? .plain
    }
}
