import Dispatch
import Synchronization

package struct LoadedVendors: Sendable {
    /// The vendors, in the catalog's order.
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
