public import Emulation
public import HTTPEngine
public import Logging

/// Everything that one server answers with: the vendors with their fixtures, the sandboxes, the routes.
public final class Emulator: Sendable {
    /// The release.
    public static let version = "0.1.0"

    /// The vendors as the fixtures made them, which can be replaced while the server runs.
    public let inForce: VendorsInForce
    /// Who answers for which path.
    public let routes: RouteTable
    /// The sandboxes.
    public let sandboxes: SandboxDirectory
    let loaders: [VendorLoader]
    /// How reading the fixtures anew went.
    let reloads: Reloads
    /// What of a state file could not be read.
    let setAside: SetAsideParts
    /// Who may make control calls.
    let controlAccess: ControlAccess
    /// The longest state that the control API takes, in bytes.
    let stateLimit: Int
    /// The machine's clock, by which sandboxes grow old.
    let machine: @Sendable () -> Moment
    /// What is counted of all that is answered.
    let metrics: Metrics
    /// Where states are read and replaced: one at a time, since reading one takes several times its size.
    let imports = LongWork(width: 1)
    /// Where states are written and looked through.
    let readings = LongWork(width: 3)
    let logger: Logger?
    /// How many lines of the log are lost.
    let droppedLogLines: @Sendable () -> Int
    /// Whom it believes over https when it asks for keys; read only then, since few do.
    let keyTrust: @Sendable () -> TLSTrust
    /// How often others are asked for published keys.
    let keyFetchPace: KeyFetchPace

    /// Reads the fixtures and makes every vendor ready.
    ///
    /// - Parameters:
    ///   - fixtures: the fixture files.
    ///   - loaders: the vendors.
    ///   - settings: how sandboxes want the vendors to behave to begin with.
    ///   - controlToken: the bearer token that the control API asks for; `nil` for none.
    ///   - hostNames: names under which the control API answers, besides addresses, `localhost`, names below it, and names
    ///     without a dot.
    ///   - stateLimit: the longest state that the control API takes, in bytes; reading it takes several times as much.
    ///   - limits: how many sandboxes there may be, and how long each may lie unused.
    ///   - logger: where every exchange is logged.
    ///   - machine: the machine's clock, by which sandboxes grow old.
    ///   - droppedLogLines: how many lines the logger's handler had to drop; the metrics tell of it.
    ///   - keyTrust: whose certificates are believed when published keys are asked for over https.
    ///   - keyFetchPace: how often others are asked for them; by default all emulators of a process share one pace.
    /// - Throws: the first thing that is wrong with the fixtures.
    public init(
        fixtures: FixtureStore, loaders: [VendorLoader] = Catalog.vendors, settings: Settings = Settings(),
        controlToken: String? = nil, hostNames: Set<String> = [], stateLimit: Int = standardStateLimit,
        sandboxes limits: SandboxLimits = SandboxLimits(), logger: Logger? = nil,
        machine: @escaping @Sendable () -> Moment = { SandboxClock.machine },
        droppedLogLines: @escaping @Sendable () -> Int = { 0 },
        keyTrust: @escaping @Sendable () -> TLSTrust = { .system }, keyFetchPace: KeyFetchPace = .ofProcess
    ) throws(FixtureProblem) {
        let loaded = try LoadedVendors(of: loaders, fixtures: fixtures)
        do {
            routes = try RouteTable(
                loaded.vendors.map { vendor in
                    RouteTable.Member(
                        identity: vendor.identity, routes: vendor.routes.map { ($0.id, $0.endpoints) })
                })
        } catch {
            throw FixtureProblem(file: "route table", message: error.description)
        }
        self.loaders = loaders
        inForce = VendorsInForce(loaded, hiding: controlToken.map { [$0] } ?? [])
        reloads = Reloads(loaded)
        setAside = SetAsideParts(telling: reloads)
        sandboxes = SandboxDirectory(inForce: inForce, settings: settings, limits: limits, machine: machine)
        metrics = Metrics(vendors: loaded.vendors)
        controlAccess = ControlAccess(token: controlToken, hostNames: hostNames)
        self.stateLimit = stateLimit
        self.machine = machine
        self.logger = logger
        self.droppedLogLines = droppedLogLines
        self.keyTrust = keyTrust
        self.keyFetchPace = keyFetchPace
    }

    /// The vendors, in the catalog's order.
    public var vendors: [any LoadedVendor] { inForce.loaded.vendors }

    /// A short text that changes with any fixture file.
    public var fixtureFingerprint: String { inForce.loaded.fingerprint }

    /// The folders of fixtures that are in force, the topmost first.
    public var fixtureLayers: [FixtureLayer] { inForce.loaded.layers }

    /// The folders of the vendors' fixtures.
    var folders: [String] { loaders.map(\.identity.id) }

    /// The scenarios of all vendors.
    public var scenarios: [Scenario] { inForce.loaded.scenarios }

    /// The scenario of that name.
    public func scenario(_ name: String) -> Scenario? { inForce.loaded.scenario(name) }

    /// The index of the vendor of that id.
    func vendor(_ id: String) -> Int? { vendors.firstIndex { $0.identity.id == id } }
}
