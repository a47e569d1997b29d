import Dispatch
import Synchronization
public import Tokens
import Wire

package struct LoadedVendors: Sendable {
    package let vendors: [any AnyLoadedVendor]
    /// The vendors that people see: all that have a route.
    package let listed: [any AnyLoadedVendor]
    /// A short string that changes with any fixture file that was read.
    package let fingerprint: String
    /// The folders they were read from, topmost first.
    package let layers: [FixtureLayer]
    let secrets: FixtureSecrets

    /// Loads the fixtures of every vendor.
    ///
    /// - Throws: the first problem with the fixtures.
    package init(of loaders: [VendorLoader], fixtures: FixtureStore) throws(FixtureProblem) {
        var vendors: [any AnyLoadedVendor] = []
        // The vendor knows the line that names an unreadable file, so its problem comes first.
        for (loader, reading) in zip(loaders, Self.read(loaders, fixtures)) {
            try fixtures.collecting(of: loader.identity.id) { () throws(FixtureProblem) in
                vendors.append(try reading.get())
            }
        }
        try Self.checkAddedRoutes(vendors, fixtures.sight.warnings)
        if let first = fixtures.problems.first { throw first }
        try fixtures.checkEntries()
        try Self.checkScenarioNames(vendors)
        self.init(
            vendors: vendors, fingerprint: fixtures.fingerprint,
            layers: try fixtures.layers(of: loaders.map(\.identity.id)))
    }

    /// Reads the independent vendors in parallel: this is most of startup time.
    private static func read(
        _ loaders: [VendorLoader], _ fixtures: FixtureStore
    ) -> [Result<any AnyLoadedVendor, FixtureProblem>] {
        let found = Mutex<[Int: Result<any AnyLoadedVendor, FixtureProblem>]>([:])
        DispatchQueue.concurrentPerform(iterations: loaders.count) { index in
            // The last vendor has the most to read, and would otherwise be read alone at the end.
            let index = loaders.count - 1 - index
            let reading = Result { () throws(FixtureProblem) in try loaders[index].load(fixtures) }
            found.withLock { $0[index] = reading }
        }
        return found.withLock { found in loaders.indices.compactMap { found[$0] } }
    }

    /// Nobody else may answer to a route that fixtures describe, or have its name.
    private static func checkAddedRoutes(
        _ vendors: [any AnyLoadedVendor], _ problems: FixtureWarnings
    ) throws(FixtureProblem) {
        func report(_ route: RouteListing, _ message: String) throws(FixtureProblem) {
            try problems.take(FixtureProblem(file: route.source, message: message), leavingOut: false)
        }
        let added = vendors.filter { $0.addedRoutes != nil }.flatMap(\.routes)
        if added.isEmpty { return }
        let table = RouteTable(of: vendors)
        let owners = vendors.filter { $0.addedRoutes == nil }
        for route in added {
            if let owner = owners.first(where: { $0.routes.contains { $0.id == route.id } }) {
                try report(
                    route, "found the name \(route.id), which a route of \(owner.identity.id) has; expected another")
            }
            for endpoint in route.endpoints {
                guard case .route(let vendor, let other, _) = table.ownMatch(endpoint.method, endpoint.pattern[...])
                else { continue }
                try report(
                    route,
                    "found \(endpoint), to which \(vendors[vendor].routes[other].id) of \(vendors[vendor].identity.id) answers; expected another path, or a fault with respond at that route"
                )
            }
        }
    }

    init(vendors: [any AnyLoadedVendor], fingerprint: String, layers: [FixtureLayer] = []) {
        (self.vendors, self.fingerprint, self.layers) = (vendors, fingerprint, layers)
        listed = vendors.filter { !$0.routes.isEmpty }
        secrets = FixtureSecrets(of: vendors)
    }

    /// Members that contain a secret in some vendor's state.
    package var memberSecrets: Set<String> { vendors.reduce(into: []) { $0.formUnion($1.secrets) } }
    package var scenarios: [Scenario] { vendors.flatMap(\.scenarios) }

    package func scenario(_ name: String) -> Scenario? { scenarios.first { $0.name == name } }

    /// Scenario names must be unique: a scenario is activated by its name alone.
    private static func checkScenarioNames(_ vendors: [any AnyLoadedVendor]) throws(FixtureProblem) {
        var owners: [String: String] = [:]
        for scenario in vendors.flatMap(\.scenarios) {
            if let other = owners.updateValue(scenario.vendor, forKey: scenario.name) {
                throw FixtureProblem(
                    file: "\(scenario.vendor)/scenarios",
                    message: "\(other) has a scenario of the name \(scenario.name) too")
            }
        }
    }
}

/// A vendor that can be mounted: the public interface of a vendor's target.
public struct VendorLoader: SwitchDeclaring, Sendable {
    public let identity: VendorIdentity
    @usableFromInline let listSwitches: @Sendable () -> [SwitchDeclaration]
    @usableFromInline let listRules: @Sendable () -> [RuleListing]
    @usableFromInline let listCheckers: @Sendable () -> [TokenChecker]
    /// Loads the vendor's fixtures and prepares it to answer; throws the first problem with them.
    public let load: @Sendable (FixtureStore) throws(FixtureProblem) -> any AnyLoadedVendor

    public var switchDeclarations: [SwitchDeclaration] { listSwitches() }
    /// The rules for judging tokens and their senders, in the order of its checks.
    public var rules: [RuleListing] { listRules() }
    /// Rules of its clients for judging a token without a server.
    public var checkers: [TokenChecker] { listCheckers() }

    @inlinable
    public init<V: Vendor>(_ type: V.Type) {
        identity = V.identity
        listSwitches = { V.Switches.declared() }
        listRules = { V.rules }
        listCheckers = { V.checkers }
        load = { (store) throws(FixtureProblem) in try LoadedVendor(type, fixtures: store) }
    }
}

/// The vendors that a server answers with, which a reload can replace at once while it runs.
public final class VendorsInForce: Sendable {
    private let current: Mutex<LoadedVendors>
    private let ownSecrets: [KnownSecrets]
    @usableFromInline let uploads = UploadTotal()

    /// - Parameter secrets: the server's own secrets, such as the control API's token.
    package init(_ loaded: LoadedVendors, hiding secrets: [String] = []) {
        current = Mutex(loaded)
        ownSecrets = secrets.isEmpty ? [] : [KnownSecrets(secrets)]
    }

    /// A redactor for the secrets in these vendor states, in the fixtures and in the server itself.
    func redactor(_ index: SecretIndex, _ sandboxed: [any AnySandboxedVendor]) -> Redactor {
        let (secrets, published) = loaded.secrets.texts
        return Redactor(ownSecrets + [secrets] + index.layers(of: sandboxed), published: published)
    }

    /// The vendors in force. Callers that need several values should read it once.
    package var loaded: LoadedVendors { current.withLock { $0 } }

    /// The vendor in that place, which every sandbox reads when an exchange begins.
    @usableFromInline subscript(place: Int) -> any AnyLoadedVendor { current.withLock { $0.vendors[place] } }

    /// Replaces all of them; callers that already hold the old ones finish with them.
    package func replace(with loaded: LoadedVendors) {
        let old = current.withLock { current in
            precondition(
                current.vendors.elementsEqual(loaded.vendors) { type(of: $0) == type(of: $1) },
                "each load has the same vendors in the same places")
            let old = current
            current = loaded
            return old
        }
        // Destroyed here, after unlocking.
        withExtendedLifetime(old) {}
    }
}

/// Numbers vendors in the order they were loaded, to tell the later of two fixture loads.
@usableFromInline
enum Generation {
    private static let last = Atomic(0)

    @usableFromInline
    static func next() -> Int { last.add(1, ordering: .relaxed).newValue }
}

@usableFromInline
final class LoadedVendor<V: Vendor>: Sendable {
    @usableFromInline typealias Answering = @Sendable (Exchange, RouteTable.Match, SandboxedVendor<V>) -> ExchangeStep

    @usableFromInline let generation: Int
    @usableFromInline let vendor: V
    @usableFromInline let fixtures: VendorFixtures
    @usableFromInline let table: [Route<V>]
    // Made here, since outside the vendor's own target generic code would look up types for each list.
    @usableFromInline let routes: [RouteListing]
    @usableFromInline let failureNames: [String]
    @usableFromInline let switchDeclarations: [SwitchDeclaration]
    @usableFromInline let catalog: FailureCatalog<V.Failure>
    /// What any route masks: a body sent to a neighbouring route by mistake contains the same secrets.
    @usableFromInline let secrets: Set<String>
    @usableFromInline let traits: VendorTraits
    @usableFromInline let addedRoutes: RouteTable?
    @usableFromInline let unoffered: [UnofferedPart]
    @usableFromInline let scenarios: [Scenario]
    /// ``SandboxedVendor/respond(to:at:by:)`` as compiled in the vendor's own target.
    @usableFromInline let answering: Answering

    @inlinable
    init(_ type: V.Type, fixtures store: FixtureStore) throws(FixtureProblem) {
        fixtures = VendorFixtures(store: store, folder: V.identity.id)
        let described = try V.routes(in: fixtures)
        table = described ?? V.routes
        addedRoutes = described.flatMap(Self.table)
        unoffered = V.notOffered.map(UnofferedPart.init)
        let ids = table.map(\.id)
        routes = table.map { $0.listing }
        failureNames = V.Failure.allCases.map { $0.rawValue }
        switchDeclarations = V.Switches.declared()
        catalog = try FailureCatalog(fixtures, scope: FailureScope(switches: switchDeclarations, routes: ids))
        vendor = try V(fixtures: fixtures)
        scenarios = try Scenario.all(
            in: fixtures,
            InterventionScope(
                vendor: V.identity.id, routes: ids, failures: failureNames,
                actions: V.actions.map(\.listing), defects: { Self.ownDefects }, fixtures: fixtures))
        generation = Generation.next()
        secrets = Self.secrets(of: table)
        traits = VendorTraits(V.identity, secrets: secrets, answersByTemplate: described != nil)
        if described == nil {
            answering = { $2.respond(to: $0, at: $1, by: $2.loaded) }
        } else {
            answering = { exchange, _, vendor in vendor.rematch(exchange) }
        }
    }
}

extension LoadedVendor {
    @usableFromInline
    static func table(of routes: [Route<V>]) -> RouteTable? {
        let table = RouteTable([RouteTable.Member(identity: V.identity, routes: routes.map { ($0.id, $0.endpoints) })])
        return (try? table.check()) == nil ? nil : table
    }

    @usableFromInline static var ownDefects: [String] { V.tokenKinds.flatMap(\.defects) }

    /// Neighbouring routes mostly have the same secrets, whose comparison costs nothing.
    @usableFromInline
    static func secrets(of table: [Route<V>]) -> Set<String> {
        var (all, last): (Set<String>, Set<String>) = ([], [])
        for route in table where route.secrets != last {
            last = route.secrets
            all.formUnion(last)
        }
        return all
    }
}

/// The vendor for lists, files and commands.
extension LoadedVendor: AnyLoadedVendor {
    @usableFromInline var identity: VendorIdentity { V.identity }
    @usableFromInline var failures: [FailureListing] { catalog.listing }
    @usableFromInline var outsideChecks: [String: OutsideNeed] {
        let lists: [(OutsideNeed, [String])] = [
            (.record, V.recordChecks), (.history, V.historyChecks), (.key, V.keyChecks), (.account, V.accountChecks),
        ]
        return lists.reduce(into: [:]) { checks, list in
            for check in list.1 { checks[check] = list.0 }
        }
    }
    @usableFromInline
    func description() throws(FixtureProblem) -> VendorDescription {
        try fixtures.once { () throws(FixtureProblem) in
            VendorDescription(
                answers: try AnswerCatalog(fixtures, routes: table.map(\.id), failures: failureNames),
                failures: try catalog.shapes(), security: table.map { V.security(of: $0.access) })
        }
    }
    @usableFromInline var actions: [ActionListing] { V.actions.map(\.listing) }
    @usableFromInline var tokenKinds: [TokenKind] { V.tokenKinds }
    @usableFromInline var requestFacts: [(name: String, about: String)] { V.requestFacts }
    @usableFromInline var samples: [(label: String, value: String)] { vendor.samples }
    @usableFromInline var secretKeys: [SecretKey] { vendor.secretKeys }
    @usableFromInline var secretTexts: [String] { vendor.secretTexts }

    @usableFromInline
    func sampleRequest(at moment: Moment, base: String) throws(ControlRefusal) -> SampleRequest {
        let sandbox = SandboxIdentity(name: SandboxName.standard, start: "00000000", publicBase: PublicBase(base))
        return try vendor.sampleRequest(
            in: TokenSetting(state: vendor.initialState, moment: moment, switches: .init(), sandbox: sandbox))
    }

    @usableFromInline
    func placed(
        at index: Int, of vendors: VendorsInForce, _ settings: Settings, in sandbox: SandboxIdentity, _ alarm: Alarm,
        _ changes: ChangeMark
    ) -> any AnySandboxedVendor {
        SandboxedVendor(
            self, at: index, of: vendors, settings: settings, sandbox: sandbox, alarm: alarm, changes: changes)
    }
}
