package import Emulation
package import HTTPEngine
package import Logging
import Synchronization

/// Everything that one server needs to answer: the vendors with their fixtures, the sandboxes, the routes.
package final class Emulator: Sendable {
    /// The release.
    package static let version = "0.2.0"

    /// The vendors from the fixtures, which can be replaced while the server runs.
    package let inForce: VendorsInForce
    /// Maps paths to vendors.
    package let routes: RouteTable
    package let sandboxes: SandboxDirectory
    let loaders: [VendorLoader]
    /// The results of reloading the fixtures.
    let reloads: Reloads
    /// The parts of a state file that could not be read.
    let setAside: SetAsideParts
    let controlAccess: ControlAccess
    /// The longest state that the control API accepts, in bytes.
    let stateLimit: Int
    /// The machine's clock, which determines sandbox expiry.
    let machine: @Sendable () -> Moment
    /// Counts everything that is answered.
    let metrics: Metrics
    /// The threads for reading and replacing states: one at a time, since reading one takes several times its size.
    let imports = LongWork(width: 1)
    /// The threads for fetching sandboxes, which may wait for a disk.
    let fetching = LongWork(width: 4)
    /// Keeps the sandboxes in a store; `nil` if nothing does.
    package let keeper: StateKeeper?
    /// The threads for writing and reading through states.
    let readings = LongWork(width: 3)
    /// Whether the server is on its way to stop.
    let isDraining = Atomic(false)
    let logger: Logger?
    /// How many log lines were lost.
    let droppedLogLines: @Sendable () -> Int
    /// Which certificates to trust when fetching keys over https; loaded only then, since it is rarely needed.
    let keyTrust: @Sendable () -> TLSTrust
    /// Limits how often others are asked for published keys.
    let keyFetchPace: KeyFetchPace

    /// Loads the fixtures and prepares every vendor.
    ///
    /// - Parameters:
    ///   - fixtures: the fixture files.
    ///   - loaders: the vendors.
    ///   - settings: the initial settings of sandboxes.
    ///   - controlToken: the bearer token that the control API requires; `nil` for none.
    ///   - hostNames: names under which the control API answers, besides addresses, `localhost`, names below it, and
    ///     names without a dot.
    ///   - stateLimit: the longest state that the control API accepts, in bytes; reading it takes several times as
    ///     much.
    ///   - limits: how many sandboxes may exist, and how long each may stay unused.
    ///   - logger: receives a line for every exchange.
    ///   - machine: the machine's clock, which determines sandbox expiry.
    ///   - publicBase: the address under which clients reach the server.
    ///   - droppedLogLines: how many lines the logger's handler had to drop, for the metrics.
    ///   - keeper: keeps the sandboxes in a store; `nil` if nothing does.
    ///   - keyTrust: which certificates to trust when published keys are fetched over https.
    ///   - keyFetchPace: how often others are asked for keys; by default all emulators of a process share one pace.
    /// - Throws: the first problem with the fixtures.
    package init(
        fixtures: FixtureStore, loaders: [VendorLoader] = Catalog.vendors, settings: Settings = Settings(),
        controlToken: String? = nil, hostNames: Set<String> = [], stateLimit: Int = standardStateLimit,
        sandboxes limits: SandboxLimits = SandboxLimits(), logger: Logger? = nil,
        machine: @escaping @Sendable () -> Moment = { SandboxClock.machine }, publicBase: PublicBase = PublicBase(),
        droppedLogLines: @escaping @Sendable () -> Int = { 0 }, keeper: StateKeeper? = nil,
        keyTrust: @escaping @Sendable () -> TLSTrust = { .system },
        keyFetchPace: KeyFetchPace = .ofProcess
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
        sandboxes = SandboxDirectory(
            inForce: inForce, settings: settings, limits: limits, publicBase: publicBase, keeper: keeper,
            machine: machine)
        self.keeper = keeper
        metrics = Metrics(vendors: loaded.vendors)
        controlAccess = ControlAccess(token: controlToken, hostNames: hostNames)
        self.stateLimit = stateLimit
        self.machine = machine
        self.logger = logger
        self.droppedLogLines = droppedLogLines
        self.keyTrust = keyTrust
        self.keyFetchPace = keyFetchPace
        keeper?.serve(
            sandboxes, setAside, reloads, secrets: { [inForce] in inForce.loaded.memberSecrets }, logger)
    }

    /// Notes where clients reach the server, unless an address was configured.
    package func listens(at addresses: [BoundAddress]) {
        guard let address = addresses.first else { return }
        sandboxes.publicBase.listen(scheme: address.scheme, port: address.port)
    }

    /// The vendors, in the catalog's order.
    package var vendors: [any LoadedVendor] { inForce.loaded.vendors }

    /// A short string that changes with any fixture file that was read.
    package var fixtureFingerprint: String { inForce.loaded.fingerprint }

    /// The fixture folders in force, topmost first.
    package var fixtureLayers: [FixtureLayer] { inForce.loaded.layers }

    package var scenarios: [Scenario] { inForce.loaded.scenarios }

    package func scenario(_ name: String) -> Scenario? { inForce.loaded.scenario(name) }

    func vendor(_ id: String) -> Int? { vendors.firstIndex { $0.identity.id == id } }
}
