import Dispatch
import Synchronization

/// The vendors as one reading of the fixtures made them.
public struct LoadedVendors: Sendable {
    /// The vendors, in the catalog's order.
    public let vendors: [any LoadedVendor]
    /// A short text that changes with any fixture file.
    public let fingerprint: String
    /// The folders they were read from, the topmost first.
    public let layers: [FixtureLayer]
    /// What the fixtures hold that nobody may see.
    let secrets: FixtureSecrets

    /// Reads the fixtures of every vendor and makes it ready.
    ///
    /// - Throws: the first thing that is wrong with the fixtures.
    public init(of loaders: [VendorLoader], fixtures: FixtureStore) throws(FixtureProblem) {
        let (readings, count) = Self.read(loaders, fixtures)
        var vendors: [any LoadedVendor] = []
        // Who asked for a file that cannot be read knows the line that names it, so that comes first.
        for reading in readings { vendors.append(try reading.get()) }
        let fingerprint = try count.get()
        try Self.checkScenarioNames(vendors)
        self.init(
            vendors: vendors, fingerprint: fingerprint, layers: try fixtures.layers(of: loaders.map(\.identity.id)))
    }

    /// Reads the vendors side by side, which know nothing of each other: most of a start goes into it.
    private static func read(
        _ loaders: [VendorLoader], _ fixtures: FixtureStore
    ) -> ([Result<any LoadedVendor, FixtureProblem>], fingerprint: Result<String, FixtureProblem>) {
        let none = Result<String, FixtureProblem>.success("")
        let found = Mutex((readings: [Int: Result<any LoadedVendor, FixtureProblem>](), fingerprint: none))
        DispatchQueue.concurrentPerform(iterations: loaders.count + 1) { index in
            guard index < loaders.count else {
                let fingerprint = Result { () throws(FixtureProblem) in
                    try fixtures.fingerprint(of: loaders.map(\.identity.id))
                }
                return found.withLock { $0.fingerprint = fingerprint }
            }
            let reading = Result { () throws(FixtureProblem) in try loaders[index].load(fixtures) }
            found.withLock { $0.readings[index] = reading }
        }
        return found.withLock { found in (loaders.indices.compactMap { found.readings[$0] }, found.fingerprint) }
    }

    /// These vendors.
    init(vendors: [any LoadedVendor], fingerprint: String, layers: [FixtureLayer] = []) {
        self.vendors = vendors
        self.fingerprint = fingerprint
        self.layers = layers
        secrets = FixtureSecrets(of: vendors)
    }

    /// The scenarios of all vendors.
    public var scenarios: [Scenario] { vendors.flatMap(\.scenarios) }

    /// The scenario of that name.
    public func scenario(_ name: String) -> Scenario? { scenarios.first { $0.name == name } }

    /// A scenario is activated by its name alone.
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
