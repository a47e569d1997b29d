import Dispatch
public import Synchronization

package struct LoadedVendors: Sendable {
    package let vendors: [any LoadedVendor]
    /// A short string that changes with any fixture file that was read.
    package let fingerprint: String
    /// The folders they were read from, topmost first.
    package let layers: [FixtureLayer]
    let secrets: FixtureSecrets

    /// Loads the fixtures of every vendor.
    ///
    /// - Throws: the first problem with the fixtures.
    package init(of loaders: [VendorLoader], fixtures: FixtureStore) throws(FixtureProblem) {
        var vendors: [any LoadedVendor] = []
        // The vendor knows the line that names an unreadable file, so its problem comes first.
        for reading in Self.read(loaders, fixtures) { vendors.append(try reading.get()) }
        try fixtures.checkEntries()
        try Self.checkScenarioNames(vendors)
        self.init(
            vendors: vendors, fingerprint: fixtures.fingerprint,
            layers: try fixtures.layers(of: loaders.map(\.identity.id)))
    }

    /// Reads the independent vendors in parallel: this is most of startup time.
    private static func read(
        _ loaders: [VendorLoader], _ fixtures: FixtureStore
    ) -> [Result<any LoadedVendor, FixtureProblem>] {
        let found = Mutex<[Int: Result<any LoadedVendor, FixtureProblem>]>([:])
        DispatchQueue.concurrentPerform(iterations: loaders.count) { index in
            let reading = Result { () throws(FixtureProblem) in try loaders[index].load(fixtures) }
            found.withLock { $0[index] = reading }
        }
        return found.withLock { found in loaders.indices.compactMap { found[$0] } }
    }

    init(vendors: [any LoadedVendor], fingerprint: String, layers: [FixtureLayer] = []) {
        self.vendors = vendors
        self.fingerprint = fingerprint
        self.layers = layers
        secrets = FixtureSecrets(of: vendors)
    }

    /// Members that contain a secret in some vendor's state.
    package var memberSecrets: Set<String> { vendors.reduce(into: []) { $0.formUnion($1.secrets) } }

    package var scenarios: [Scenario] { vendors.flatMap(\.scenarios) }

    package func scenario(_ name: String) -> Scenario? { scenarios.first { $0.name == name } }

    /// Scenario names must be unique: a scenario is activated by its name alone.
    private static func checkScenarioNames(_ vendors: [any LoadedVendor]) throws(FixtureProblem) {
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
    public let switchDeclarations: [SwitchDeclaration]
    @usableFromInline let listRules: @Sendable () -> [RuleListing]
    /// Rules of its clients for judging a token without a server.
    public let checkers: [TokenChecker]
    /// Loads the vendor's fixtures and prepares it to answer; throws the first problem with them.
    public let load: @Sendable (FixtureStore) throws(FixtureProblem) -> any LoadedVendor

    /// The rules for judging tokens and their senders, in the order of its checks.
    public var rules: [RuleListing] { listRules() }

    @inlinable
    public init<V: Vendor>(_ type: V.Type) {
        identity = V.identity
        switchDeclarations = V.Switches.declarations
        listRules = { V.rules }
        checkers = V.checkers
        load = { (store) throws(FixtureProblem) in try VendorRuntime(type, fixtures: store) }
    }
}

/// One vendor from the fixtures in force, which every sandbox reads when an exchange begins.
@usableFromInline
final class VendorInForce<V: Vendor>: AnyVendorInForce {
    @usableFromInline let current: Mutex<VendorRuntime<V>>

    init(_ runtime: VendorRuntime<V>) {
        current = Mutex(runtime)
    }

    @inlinable var runtime: VendorRuntime<V> { current.withLock { $0 } }

    @usableFromInline
    func replace(with vendor: any LoadedVendor) {
        guard let runtime = vendor as? VendorRuntime<V> else {
            // Every load has the same vendors in the same positions; anything else is a bug.
            preconditionFailure("another vendor stands in the place of \(V.identity.id)")
        }
        // The caller that replaces the old one destroys it, after unlocking.
        current.withLock { $0 = runtime }
    }

    @usableFromInline
    func makeStore(
        _ settings: Settings, in sandbox: SandboxIdentity, _ alarm: Alarm, _ changes: ChangeMark, _ index: Int
    ) -> any SandboxedVendor {
        VendorStateStore(self, settings: settings, sandbox: sandbox, alarm: alarm, changes: changes, index: index)
    }
}

/// A ``VendorInForce`` with its own types hidden.
public protocol AnyVendorInForce: Sendable {
    /// Lets a later load of the same vendor answer from now on.
    func replace(with vendor: any LoadedVendor)
    /// Creates a fresh state for a sandbox, with its alarm, its change mark, and the vendor's index in it.
    func makeStore(
        _ settings: Settings, in sandbox: SandboxIdentity, _ alarm: Alarm, _ changes: ChangeMark, _ index: Int
    ) -> any SandboxedVendor
}

/// The vendors that a server answers with, which a reload can replace at once while it runs.
package final class VendorsInForce: Sendable {
    private let current: Mutex<LoadedVendors>
    let vendors: [any AnyVendorInForce]
    /// Secrets of the server itself.
    private let ownSecrets: [KnownSecrets]

    /// Creates the set from loaded vendors.
    ///
    /// - Parameter secrets: the server's own secrets, such as the control API's token.
    package init(_ loaded: LoadedVendors, hiding secrets: [String] = []) {
        current = Mutex(loaded)
        vendors = loaded.vendors.map { $0.putInForce() }
        ownSecrets = secrets.isEmpty ? [] : [KnownSecrets(secrets)]
    }

    /// A redactor for the secrets in these vendor states, in the fixtures and in the server itself.
    func redactor(_ index: SecretIndex, _ sandboxed: [any SandboxedVendor]) -> Redactor {
        let (secrets, published) = loaded.secrets.texts
        return Redactor(ownSecrets + [secrets] + index.layers(of: sandboxed), published: published)
    }

    /// The vendors in force. Callers that need several values should read it once.
    package var loaded: LoadedVendors { current.withLock { $0 } }

    /// Replaces all of them; callers that already hold the old ones finish with them.
    package func replace(with loaded: LoadedVendors) {
        let old = current.withLock { current in
            let old = current
            current = loaded
            for (place, vendor) in zip(vendors, loaded.vendors) { place.replace(with: vendor) }
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
