import JSON

/// An action of a rule: its name, and members whose strings may refer to parts of the exchange.
struct ActionRequest: Sendable {
    let name: String
    private let members: BodyTemplate

    /// Reads `NAME`, or `{ NAME: { members } }`.
    init(_ node: FixtureNode, _ scope: InterventionScope) throws(FixtureProblem) {
        let known = scope.actions.map(\.name)
        if try node.json().string != nil {
            name = try scope.name(node, "action", among: known)
            members = try BodyTemplate(FixtureNode(.object([:]), from: ""), roots: TemplateValues.roots)
            try Self.check([], of: name, at: node, scope)
            return
        }
        let entries = try node.members()
        guard let (name, value) = entries.first, entries.count == 1 else {
            throw node.problem("expected the name of an action, or a mapping of one name to its members")
        }
        guard known.contains(name) else {
            throw value.nameProblem("\(scope.vendor) has no action \(name)\(Nearest.hint(to: name, among: known))")
        }
        self.name = name
        try Self.check(try value.members().map(\.name), of: name, at: value, scope)
        members = try BodyTemplate(value, roots: TemplateValues.roots)
    }

    private static func check(
        _ names: [String], of action: String, at node: FixtureNode, _ scope: InterventionScope
    ) throws(FixtureProblem) {
        guard let listing = scope.actions.first(where: { $0.name == action }) else { return }
        if let problem = listing.problem(with: names) { throw node.problem(problem) }
    }

    /// The members for an exchange.
    ///
    /// - Throws: which template limit they would exceed.
    func members(_ values: TemplateValues) throws(TemplateExcess) -> JSONObject {
        let budget = TemplateBudget()
        let body = members.body(values.values, within: budget)
        if let excess = budget.excess { throw TemplateExcess(description: excess) }
        return body.object ?? [:]
    }
}

extension ActionListing {
    /// What is wrong with a request that has these members; `nil` when nothing is.
    func problem(with names: [String]) -> String? {
        let known = members.map(\.name)
        if let unknown = names.first(where: { !known.contains($0) }) {
            return "action \(name) has no member \(unknown)\(Nearest.hint(to: unknown, among: known))"
        }
        if let missing = members.first(where: { $0.isRequired && !names.contains($0.name) }) {
            return "action \(name) needs the member \(missing.name): \(missing.about)"
        }
        return nil
    }
}
