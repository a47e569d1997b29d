import JSON

/// A failure to inject into calls of a vendor, set by control call.
package struct Fault: Sendable {
    package let vendor: String
    let routes: Set<String>
    let occurrence: Occurrence
    /// How often it strikes; `nil` for no limit.
    let times: Int?
    let condition: ExchangeCondition
    let effect: Effect
    let description: JSONObject

    package static let members = ["vendor", "route", "when", "times"] + Occurrence.members + Effect.members

    /// Reads a fault. Without `route` it applies to every route of the vendor; `call: 3` means the third call from now
    /// on.
    ///
    /// `times` says how often it strikes, a number or `always`. The default is once, but `always` with `every` or
    /// `probability`.
    package init(_ node: FixtureNode, _ scope: InterventionScope) throws(FixtureProblem) {
        let mapping = try node.mapping(Self.members)
        vendor = scope.vendor
        routes = try mapping["route"].map(scope.routes) ?? Set(scope.routes)
        occurrence = try Occurrence(mapping)
        times = try Self.times(mapping["times"], occurrence)
        condition =
            try mapping["when"].map { node throws(FixtureProblem) in
                try ExchangeCondition(node.mapping(ExchangeCondition.members))
            } ?? ExchangeCondition()
        effect = try Effect(mapping, scope)
        guard !effect.isNone else {
            throw node.problem(
                "this fault has no effect: give fail, fault, respond or do")
        }
        let told = (try node.json().object ?? [:]).filter { $0.name != "vendor" }.map { ($0.name, $0.value) }
        description = JSONObject([("vendor", .string(scope.vendor))] + told)
    }

    private static func times(_ node: FixtureNode?, _ occurrence: Occurrence) throws(FixtureProblem) -> Int? {
        guard let node else {
            return switch occurrence {
            case .always, .call: 1
            case .every, .probability: nil
            }
        }
        let value = try node.json()
        if value == "always" { return nil }
        guard let times = value.int, times > 0 else {
            throw node.problem("times is \(value.text); expected a whole number from 1, or “always”")
        }
        return times
    }
}

/// A fault in a sandbox, with its counters.
struct ArmedFault: Sendable {
    let fault: Fault
    private(set) var strikes = 0
    private var counter: CallCounter

    init(_ fault: Fault, seed: UInt64) {
        self.fault = fault
        counter = CallCounter(fault.occurrence, seed: seed)
    }

    /// Counts a call that the fault applies to.
    ///
    /// - Returns: whether it is due. A fault that gave way to another strikes at the next call.
    mutating func count(_ matchContext: MatchContext, route: String) -> Bool {
        guard fault.routes.contains(route), fault.condition.holds(for: matchContext) else { return false }
        let isHit = counter.count()
        // With `times`, it strikes from that call on.
        if case .call(let number) = fault.occurrence { return counter.calls >= number }
        return isHit
    }

    /// Strikes once; a fault for one call that may strike more often also strikes the next calls.
    ///
    /// - Returns: whether it can strike again.
    mutating func strike() -> Bool {
        counter.strike()
        strikes += 1
        return fault.times.map { strikes < $0 } ?? true
    }

    /// The fault in words, for the journal.
    var author: String {
        switch fault.occurrence {
        case .call(let number) where fault.times == 1: "armed fault at call \(number)"
        case .always, .call, .every, .probability: "armed fault, call \(counter.calls)"
        }
    }

    /// The fault with all that decides its next calls.
    var kept: JSON {
        ["fault": .object(fault.description), "counter": counter.json(.changes), "strikes": JSON(strikes)]
    }

    /// Reads what ``kept`` gives.
    init(_ node: FixtureNode, among loaded: LoadedVendors) throws(FixtureProblem) {
        let mapping = try node.mapping("fault", "counter", "strikes")
        let description = try mapping.required("fault")
        let id = try description.mapping(Fault.members).required("vendor")
        let name = try id.string()
        guard let vendor = loaded.vendors.first(where: { $0.identity.id == name }) else {
            throw id.problem("no vendor is called \(name)")
        }
        self.init(try Fault(description, InterventionScope(vendor)), seed: 0)
        try counter.read(try mapping.required("counter"), .export(.changes))
        strikes = try mapping.required("strikes").int()
    }

    /// The fault as it was described, with its counters.
    var json: JSON {
        var json = fault.description
        json["calls"] = JSON(counter.calls)
        json["strikes"] = JSON(strikes)
        return .object(json)
    }
}
