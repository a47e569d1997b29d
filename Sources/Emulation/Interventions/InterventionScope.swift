/// The names of a vendor that scenarios and faults may use.
public struct InterventionScope: Sendable {
    let vendor: String
    let routes: [String]
    let failures: [String]
    let actions: [ActionListing]
    /// The source of files that a response names; `nil` when it may name none.
    let fixtures: VendorFixtures?

    @usableFromInline
    init(
        vendor: String, routes: [String], failures: [String], actions: [ActionListing], fixtures: VendorFixtures? = nil
    ) {
        self.vendor = vendor
        self.routes = routes
        self.failures = failures
        self.actions = actions
        self.fixtures = fixtures
    }

    /// Creates the scope of a mounted vendor, for rules set by control call.
    package init(_ vendor: any LoadedVendor) {
        self.init(
            vendor: vendor.identity.id, routes: vendor.routes.map(\.id), failures: vendor.failureNames,
            actions: vendor.actions)
    }

    /// Whether a name, or a pattern with `*`, matches a route of the vendor.
    package func hasRoute(_ name: String) -> Bool {
        let wildcard = Wildcard(name)
        return routes.contains { $0 == name || wildcard.matches($0) }
    }

    /// The name of a failure, unchanged.
    func failure(_ node: FixtureNode) throws(FixtureProblem) -> String {
        try name(node, "failure", among: failures)
    }

    /// The names of routes: one, a list, or all that match a pattern with `*`.
    func routes(_ node: FixtureNode) throws(FixtureProblem) -> Set<String> {
        guard case .array = try node.json() else { return try matching(node) }
        var routes: Set<String> = []
        for element in try node.elements() { routes.formUnion(try matching(element)) }
        guard !routes.isEmpty else { throw node.problem("the list names no route") }
        return routes
    }

    private func matching(_ node: FixtureNode) throws(FixtureProblem) -> Set<String> {
        let pattern = try node.string()
        guard pattern.utf8.contains(UInt8(ascii: "*")) else { return [try name(node, "route", among: routes)] }
        let wildcard = Wildcard(pattern)
        let found = routes.filter(wildcard.matches)
        guard !found.isEmpty else {
            throw node.problem("no route of \(vendor) fits “\(pattern)”\(Nearest.hint(to: pattern, among: routes))")
        }
        return Set(found)
    }

    func name(_ node: FixtureNode, _ kind: String, among known: [String]) throws(FixtureProblem) -> String {
        let name = try node.string()
        guard known.contains(name) else {
            throw node.problem("\(vendor) has no \(kind) \(name)\(Nearest.hint(to: name, among: known))")
        }
        return name
    }
}
