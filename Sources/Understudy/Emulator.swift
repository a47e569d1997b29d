import Dispatch
package import Emulation
import Fixtures
package import HTTPEngine
import HTTPTypes
package import JSON
package import Logging
import Synchronization
import Wire

/// Everything that one server needs to answer: the vendors with their fixtures, the sandboxes, the routes.
package final class Emulator: Sendable {
    package static let version = "0.2.0"

    /// The vendors from the fixtures, which can be replaced while the server runs.
    package let inForce: VendorsInForce
    package let routes: RouteTable
    package let sandboxes: SandboxDirectory
    package let loaders: [VendorLoader]
    let reloads: Reloads
    /// The parts of a state file that could not be read.
    let setAside: SetAsideParts
    let controlAccess: ControlAccess
    let stateLimit: Int
    /// The machine's clock, which determines sandbox expiry.
    let machine: @Sendable () -> Moment
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
    /// Receives every exchange as the journal shows it.
    let recorder: (@Sendable (JSON) -> Void)?
    let droppedLogLines: @Sendable () -> Int
    /// Which certificates to trust when fetching keys over https; loaded only then, since it is rarely needed.
    let keyTrust: @Sendable () -> TLSTrust
    /// Limits how often published keys are requested from others.
    let keyFetchPace: KeyFetchPace

    /// Loads the fixtures and prepares every vendor.
    ///
    /// - Parameters:
    ///   - hostNames: names under which the control API answers, besides addresses, `localhost`, names below it, and
    ///     names without a dot.
    ///   - stateLimit: in bytes; reading a state takes several times as much.
    ///   - recorder: a client waits while it is called.
    package init(
        fixtures: FixtureStore, loaders: [VendorLoader] = Catalog.mounted, settings: Settings = Settings(),
        controlToken: String? = nil, hostNames: Set<String> = [], stateLimit: Int = standardStateLimit,
        sandboxes limits: SandboxLimits = SandboxLimits(), logger: Logger? = nil,
        recorder: (@Sendable (JSON) -> Void)? = nil,
        machine: @escaping @Sendable () -> Moment = { SandboxClock.machine }, publicBase: PublicBase = PublicBase(),
        droppedLogLines: @escaping @Sendable () -> Int = { 0 }, keeper: StateKeeper? = nil,
        keyTrust: @escaping @Sendable () -> TLSTrust = { .system },
        keyFetchPace: KeyFetchPace = .ofProcess
    ) throws(FixtureProblem) {
        let loaded = try LoadedVendors(of: loaders, fixtures: fixtures)
        routes = RouteTable(of: loaded.vendors)
        routes.add(from: loaded.vendors)
        self.loaders = loaders
        inForce = VendorsInForce(loaded, hiding: controlToken.map { [$0] } ?? [])
        reloads = Reloads(loaded)
        setAside = SetAsideParts(reporting: reloads)
        sandboxes = SandboxDirectory(
            inForce: inForce, settings: settings, limits: limits, publicBase: publicBase, keeper: keeper,
            machine: machine)
        self.keeper = keeper
        metrics = Metrics(vendors: loaded.vendors, routes)
        controlAccess = ControlAccess(token: controlToken, hostNames: hostNames)
        (self.stateLimit, self.machine, self.logger, self.recorder) = (stateLimit, machine, logger, recorder)
        (self.droppedLogLines, self.keyTrust, self.keyFetchPace) = (droppedLogLines, keyTrust, keyFetchPace)
        keeper?.serve(
            StateKeeper.Audience(
                setAside: setAside, reloads: reloads, secrets: { [inForce] in inForce.loaded.memberSecrets },
                logger: logger, directory: sandboxes))
    }

    /// Notes where clients reach the server, unless an address was configured.
    package func listens(at addresses: [BoundAddress]) {
        guard let address = addresses.first else { return }
        sandboxes.publicBase.listen(at: "\(address.scheme)://localhost:\(address.port)")
    }

    /// The vendors that have a route, in the catalog's order.
    package var vendors: [any AnyLoadedVendor] { inForce.loaded.listed }

    /// The places of the vendors that judge tokens.
    package var tokenVendors: [Int] { vendors.indices.filter { !vendors[$0].tokenKinds.isEmpty } }

    package var scenarios: [Scenario] { inForce.loaded.scenarios }

    package func scenario(_ name: String) -> Scenario? { inForce.loaded.scenario(name) }

    func vendor(_ id: String) -> Int? { vendors.firstIndex { $0.identity.id == id } }
}

extension Emulator {
    /// Puts reloaded fixtures in force at once: exchanges in progress finish with the old ones, and no answer mixes both.
    ///
    /// State is kept as ``Vendor/adopt(_:startedFrom:)`` describes; a scenario continues in the state of the same name,
    /// and ends if that is gone.
    package func install(_ loaded: LoadedVendors) {
        // A sandbox that was unused since the last reload still retains the fixtures before that. It is not moved to
        // the new ones here, so that exchanges in progress can finish: there are never more than two versions.
        for sandbox in sandboxes.all { sandbox.adoptLoadedVendors() }
        inForce.replace(with: loaded)
        routes.add(from: loaded.vendors)
        var ended: Set<String> = []
        for sandbox in sandboxes.all { ended.formUnion(sandbox.replaceScenarios(loaded.scenario)) }
        reloads.change { content in
            content.loaded = loaded
            content.count += 1
            content.latest = machine()
            content.problem = nil
        }
        logger?.notice("The fixtures were reloaded: \(loaded.fingerprint).")
        for warning in loaded.layers.flatMap(\.warnings) { logger?.warning("\(warning)") }
        for name in ended.sorted() {
            logger?.warning("Scenario \(name) ended where it was active: it, or the state it was in, is gone.")
        }
    }

    /// Notes that the files cannot be used; the old ones stay in force.
    package func refuse(_ problem: FixtureProblem) {
        reloads.change { $0.problem = problem.description }
        logger?.error("The fixtures were not reloaded; the old ones stay active. \(problem)")
    }
}

/// Answers that wait until their sandbox is here.
extension Emulator {
    private static let patience = Duration.seconds(5)

    /// Fetches a sandbox on a thread that may wait, and answers then.
    ///
    /// - Returns: the answer, or 503 if nobody may use the sandbox here now.
    func fetching(_ name: String, _ answer: @escaping @Sendable (Sandbox) -> Answer) async -> Response {
        let end = ContinuousClock.now + Self.patience
        while true {
            let fetched = await fetching.run { [sandboxes] in
                Result { () throws(SandboxUnavailable) in try sandboxes.fetch(name) }
            }
            switch fetched {
            case .success(let sandbox): return await Self.response(of: answer(sandbox))
            case .failure(let reason):
                guard let news = reason.news, ContinuousClock.now < end else { return Self.unavailable(reason) }
                await news()
            }
        }
    }

    /// Answers a call once it is certain that its sandbox was this server's when it was carried out; a sandbox that
    /// others have taken meanwhile started from its state before the call.
    func confirmed(in sandbox: Sandbox, _ answer: () -> Response, or again: () async -> Response) async -> Response {
        let end = ContinuousClock.now + Self.patience
        while !sandboxes.mayAnswer(in: sandbox) {
            if sandbox.isLost { return await again() }
            // If cancelled, nobody waits for the answer any more.
            guard ContinuousClock.now < end, (try? await Task.sleep(for: .milliseconds(20))) != nil else {
                return Self.uncertain
            }
        }
        return answer()
    }

    static func response(of answer: Answer) async -> Response {
        switch answer {
        case .ready(let response): response
        case .deferred(let work): await work()
        }
    }

    /// The refusal of a call whose effect is not known. ours: no vendor is involved.
    static var uncertain: Response {
        unavailable(SandboxUnavailable("Whether the call was carried out will show when the store can be reached."))
    }

    /// The refusal of a call whose sandbox has moved twice meanwhile.
    static func moving(_ name: String) -> Response {
        unavailable(SandboxUnavailable("The sandbox \(name) is moving right now; repeat the call."))
    }

    /// The refusal of a call whose sandbox cannot be used here now. ours: nothing was done, so the call may be repeated.
    static func unavailable(_ reason: SandboxUnavailable) -> Response {
        var response = ControlProblem(.serviceUnavailable, "sandbox-unavailable", "\(reason)").response
        response.fields[.retryAfter] = "1"
        response.closeToPages()
        return response
    }
}

/// Shutting down unnoticed: first new requests go elsewhere, then the sandboxes.
extension Emulator {
    /// This server's name among those that share a store; `nil` for a server alone.
    package var replica: String? { keeper?.store.replica }

    /// Why a proxy should send requests elsewhere; `nil` when it should not.
    var reasonToStayAway: String? {
        if isDraining.load(ordering: .relaxed) { return "the server is stopping" }
        return keeper?.lapse.map { "\($0)" }
    }

    /// Fails readiness from now on, while everything is still answered.
    package func beginDraining() { isDraining.store(true, ordering: .relaxed) }
}

extension FixtureStore {
    /// The digests of the installed files, which tests have judged.
    package static var judgedFiles: [UInt64] { FixtureResources.judged }

    /// The folder of the installed fixtures; `nil` when it was not found beside the program.
    package static var installedFolder: String? {
        folder(among: FixtureResources.candidates, holding: Catalog.vendors.map { "\($0.identity.id)/failures.yaml" })
    }
}

/// Long-running work off the event loops, on a limited number of dedicated threads; further work is queued.
///
/// ours: on the threads where deferred answers usually end, one per core, two imports would delay everyone's key
/// fetches, delays and long polls; and each import takes several times its size while it is read.
final class LongWork: Sendable {
    private struct State {
        var free: [DispatchQueue]
        /// The queued work, after gaps where work has begun.
        var waiting: [(@Sendable () -> Void)?] = []
        var first = 0
    }

    private let width: Int
    private let state: Mutex<State>

    init(width: Int) {
        self.width = width
        // Dedicated serial queues get threads even when all cores are busy; the shared ones have one per core.
        state = Mutex(State(free: (0..<width).map { DispatchQueue(label: "understudy.long-work.\($0)") }))
    }

    /// Runs work on one of the threads, and returns once it is done.
    ///
    /// - Parameter isNext: whether it goes ahead of all that is queued.
    func run<Value: Sendable>(isNext: Bool = false, _ work: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            begin(isNext) { continuation.resume(returning: work()) }
        }
    }

    var count: Int { state.withLock { width - $0.free.count + $0.waiting.count - $0.first } }

    private func begin(_ isNext: Bool, _ work: @escaping @Sendable () -> Void) {
        let lane = state.withLock { state -> DispatchQueue? in
            if let lane = state.free.popLast() { return lane }
            state.waiting.insert(work, at: isNext ? state.first : state.waiting.count)
            return nil
        }
        // No thread is held while there is nothing to do.
        lane?.async {
            var next: (@Sendable () -> Void)? = work
            while let work = next {
                work()
                next = self.state.withLock { Self.next(&$0, in: lane) }
            }
        }
    }

    /// The next queued work; `nil`, after returning the lane, when there is none.
    private static func next(_ state: inout State, in lane: DispatchQueue?) -> (@Sendable () -> Void)? {
        guard state.first < state.waiting.count else {
            state.waiting = []
            state.first = 0
            if let lane { state.free.append(lane) }
            return nil
        }
        defer {
            state.waiting[state.first] = nil
            state.first += 1
        }
        return state.waiting[state.first]
    }
}
