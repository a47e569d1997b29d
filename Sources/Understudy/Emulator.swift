public import Emulation
public import Logging

/// Everything that one server answers with: the vendors with their fixtures, the sandboxes, the routes.
public struct Emulator: Sendable {
    /// The release.
    public static let version = "0.1.0"

    /// The vendors, in the catalog's order.
    public let vendors: [any MountedVendor]
    /// Who answers for which path.
    public let routes: RouteTable
    /// The sandboxes.
    public let sandboxes: SandboxDirectory
    /// A short text that changes with any fixture file.
    public let fixtureFingerprint: String

    let controlToken: String?
    /// The machine's clock, by which sandboxes grow old.
    let machine: @Sendable () -> Moment
    /// What is counted of all that is answered.
    let metrics: Metrics
    let logger: Logger?

    /// Reads the fixtures and makes every vendor ready.
    ///
    /// - Parameters:
    ///   - fixtures: the fixture files.
    ///   - settings: how sandboxes want the vendors to behave to begin with.
    ///   - controlToken: the bearer token that the control API asks for; `nil` for none.
    ///   - limits: how many sandboxes there may be, and how long each may lie unused.
    ///   - logger: where every exchange is logged.
    ///   - machine: the machine's clock, by which sandboxes grow old.
    /// - Throws: the first thing that is wrong with the fixtures.
    public init(
        fixtures: FixtureStore, settings: Settings = Settings(), controlToken: String? = nil,
        sandboxes limits: SandboxLimits = SandboxLimits(), logger: Logger? = nil,
        machine: @escaping @Sendable () -> Moment = { SandboxClock.machine }
    ) throws(FixtureProblem) {
        var vendors: [any MountedVendor] = []
        for module in Catalog.vendors { vendors.append(try module.mount(fixtures)) }
        try Self.checkScenarioNames(vendors)
        do {
            routes = try RouteTable(
                vendors.map { vendor in
                    RouteTable.Member(
                        identity: vendor.identity, routes: vendor.routes.map { ($0.id, $0.endpoints) })
                })
        } catch {
            throw FixtureProblem(file: "route table", message: error.description)
        }
        self.vendors = vendors
        sandboxes = SandboxDirectory(vendors: vendors, settings: settings, limits: limits, machine: machine)
        metrics = Metrics(vendors: vendors)
        fixtureFingerprint = fixtures.fingerprint(of: vendors.map(\.identity.id))
        self.controlToken = controlToken
        self.machine = machine
        self.logger = logger
    }

    /// A scenario is activated by its name alone.
    private static func checkScenarioNames(_ vendors: [any MountedVendor]) throws(FixtureProblem) {
        var owners: [String: String] = [:]
        for scenario in vendors.flatMap(\.scenarios) {
            if let other = owners.updateValue(scenario.vendor, forKey: scenario.name) {
                throw FixtureProblem(
                    file: "\(scenario.vendor)/scenarios",
                    message: "\(other) has a scenario of the name \(scenario.name) too")
            }
        }
    }

    /// The scenarios of all vendors.
    public var scenarios: [Scenario] { vendors.flatMap(\.scenarios) }

    /// The scenario of that name.
    public func scenario(_ name: String) -> Scenario? { scenarios.first { $0.name == name } }

    /// The index of the vendor of that id.
    func vendor(_ id: String) -> Int? { vendors.firstIndex { $0.identity.id == id } }
}
