/// What conditions in `failures.yaml` may refer to.
public struct FailureScope: Sendable {
    let switches: [SwitchDeclaration]
    let routes: [String]

    /// Creates a scope with the switches and routes of a vendor.
    public init(switches: [SwitchDeclaration], routes: [String]) {
        self.switches = switches
        self.routes = routes
    }
}

/// When a variant or envelope applies: required switch values and routes; all must hold.
struct FailureCondition: Sendable {
    /// What a condition is evaluated against.
    struct Situation {
        let route: String?
        let switches: SwitchValues
    }

    private var required: [(name: String, value: String)] = []
    private var routes: [String]?

    init(_ node: FixtureNode, _ scope: FailureScope) throws(FixtureProblem) {
        for (name, value) in try node.members() {
            if name == "route" {
                routes = try Self.routes(value, scope.routes)
                continue
            }
            guard let declaration = scope.switches.first(where: { $0.name == name }) else {
                let known = scope.switches.map(\.name) + ["route"]
                throw value.nameProblem("unknown switch “\(name)”\(Nearest.hint(to: name, among: known))")
            }
            let wanted = try value.string()
            guard declaration.allows(wanted) else {
                throw value.problem("switch \(name) is never “\(wanted)”; it can be \(declaration.allowedValues)")
            }
            required.append((name, wanted))
        }
    }

    private static func routes(_ node: FixtureNode, _ known: [String]) throws(FixtureProblem) -> [String] {
        var routes: [String] = []
        for element in try node.elements() {
            let route = try element.string()
            guard known.contains(route) else {
                throw element.problem("unknown route “\(route)”\(Nearest.hint(to: route, among: known))")
            }
            routes.append(route)
        }
        return routes
    }

    func holds(in situation: Situation) -> Bool {
        required.allSatisfy { situation.switches[$0.name] == $0.value }
            && routes?.contains { $0 == situation.route } != false
    }
}
