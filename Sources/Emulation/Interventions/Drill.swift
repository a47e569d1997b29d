import JSON

/// A behaviour of a vendor for which an app is drilled: what happens to the app, and what a correct client does then;
/// read from `drills/NAME.yaml`.
package struct Drill: Sendable {
    /// How bad it is when a client does something else.
    package enum Severity: String, Sendable, CaseIterable {
        /// Users lose data, sessions or secrets.
        case high
        /// A feature fails until the app is restarted.
        case medium
        /// Waste, or awkward.
        case low
    }

    /// What the journal must hold, and what is wrong with a client for which it does not.
    private struct Demand: Sendable {
        let expectation: JournalExpectation
        let otherwise: String
    }

    package let name: String
    package let about: String
    package let vendor: String
    package let client: String
    package let source: String
    package let evidence: Evidence?
    package let severity: Severity
    private let switches: [(name: String, value: String)]
    /// How far the server's clock is from the machine's at the start.
    private let clock: Duration?
    private let scenario: Scenario?
    /// What an exchange is like that shows that the app met the behaviour; `nil` for one that a rule changed.
    private let reached: JournalCriteria?
    private let demands: [Demand]

    /// The drills of a vendor; nothing else reads their files.
    ///
    /// - Parameter vendors: all vendors, whose names expectations may use.
    package static func all(
        of vendor: any AnyLoadedVendor, among vendors: [any AnyLoadedVendor], in store: FixtureStore
    ) throws(FixtureProblem) -> [Drill] {
        let fixtures = VendorFixtures(store: store, folder: vendor.identity.id)
        let scope = InterventionScope(vendor, fixtures: fixtures)
        var drills: [Drill] = []
        try fixtures.forEachFile(in: "drills") { file throws(FixtureProblem) in
            drills.append(try Drill(file, vendor, scope, vendors))
        }
        return drills
    }

    private init(
        _ file: FixtureStore.File, _ owner: any AnyLoadedVendor, _ scope: InterventionScope,
        _ vendors: [any AnyLoadedVendor]
    ) throws(FixtureProblem) {
        let mapping = try FixtureNode(file: file).mapping(
            "drill", "about", "vendor", "client", "source", "evidence", "severity", "switches", "clock", "states",
            "reached", "expect")
        let nameNode = try mapping.required("drill")
        name = try nameNode.string()
        vendor = scope.vendor
        let stem = file.path.split(separator: "/").last?.prefix { $0 != "." } ?? ""
        guard name == "\(vendor)-\(stem)" else {
            throw nameNode.problem("the drill is called “\(name)”; expected \(vendor)-\(stem), after its file")
        }
        about = try mapping.required("about").string()
        client = try mapping.required("client").string()
        source = try mapping.required("source").string()
        evidence = try mapping["evidence"]?.choice(of: Evidence.self)
        severity = try mapping.required("severity").choice(of: Severity.self)
        clock = try mapping["clock"]?.duration()
        var (switches, settings): ([(String, String)], Settings) = ([], Settings())
        for (name, node) in try mapping["switches"]?.members() ?? [] {
            let value = try node.json()
            switches.append(("\(scope.vendor).\(name)", value.string ?? value.text))
            try node.locate { () throws(SettingsProblem) in
                try settings.set("\(scope.vendor).\(name)", to: value.string ?? value.text, among: [owner])
            }
        }
        self.switches = switches
        scenario = mapping["states"] == nil ? nil : try Scenario(of: mapping, file, scope)
        reached = try mapping["reached"].map { node throws(FixtureProblem) in try JournalCriteria(node, vendors) }
        if scenario == nil, reached == nil {
            throw mapping.node.problem("nothing shows that the behaviour was met; expected states, reached, or both")
        }
        var demands: [Demand] = []
        let expect = try mapping.required("expect")
        for node in try expect.elements() {
            let otherwise = try node.members().first { $0.name == "otherwise" }?.value.string()
            guard let otherwise else { throw node.problem("otherwise is missing; expected what such a client does") }
            let expectation = try JournalExpectation(node, besides: ["otherwise"], names: vendors)
            demands.append(Demand(expectation: expectation, otherwise: otherwise))
        }
        guard !demands.isEmpty else { throw expect.problem("the list is empty; expected what the journal must hold") }
        self.demands = demands
    }

    /// Prepares a fresh sandbox: from now on, the app meets the behaviour there.
    package func arm(_ sandbox: Sandbox) {
        // The names and values were checked on reading.
        _ = try? sandbox.adjustSettings { settings in
            for (name, value) in switches { try settings.set(name, to: value, among: sandbox.inForce.loaded.vendors) }
        }
        if let clock { _ = sandbox.adjustClock { _ = $0.advance(by: clock) } }
        if let scenario { sandbox.activate([(scenario, 0)]) }
    }

    package enum Outcome: String, Sendable {
        case held, broken
        case notReached = "not reached"
    }

    package struct Verdict: Sendable {
        package let outcome: Outcome
        /// What the app does instead of what a correct client does, with what was expected and found.
        package let faults: [(otherwise: String, message: String)]
        package let entries: [Int]
    }

    package func verdict(on entries: [JournalEntry], masking redactor: Redactor) -> Verdict {
        var left = JournalCriteria.mostSteps
        let met = entries.filter { entry in
            reached.map { $0.judge(entry, within: &left) == true } ?? entry.record.isStruck
        }
        guard !met.isEmpty else { return Verdict(outcome: .notReached, faults: [], entries: []) }
        var (faults, shown): ([(String, String)], [Int]) = ([], [])
        for demand in demands {
            let verdict = demand.expectation.verdict(on: entries, masking: redactor)
            if verdict.isVerified { continue }
            faults.append((demand.otherwise, verdict.message))
            shown += verdict.entries.suffix(2) + (verdict.nearest ?? []).prefix(1).map(\.entry.id)
        }
        // ours: three or four lines are read, more are searched.
        shown = Set(met.prefix(faults.isEmpty ? 3 : 1).map(\.id) + shown.prefix(3)).sorted()
        return Verdict(outcome: faults.isEmpty ? .held : .broken, faults: faults, entries: shown)
    }
}
