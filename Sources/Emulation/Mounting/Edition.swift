/// The vendors as one reading of the fixtures made them.
public struct Edition: Sendable {
    /// The vendors, in the catalog's order.
    public let vendors: [any MountedVendor]
    /// A short text that changes with any fixture file.
    public let fingerprint: String

    /// Reads the fixtures of every vendor and makes it ready.
    ///
    /// - Throws: the first thing that is wrong with the fixtures.
    public init(of modules: [VendorModule], fixtures: FixtureStore) throws(FixtureProblem) {
        var vendors: [any MountedVendor] = []
        for module in modules { vendors.append(try module.mount(fixtures)) }
        self.vendors = vendors
        fingerprint = fixtures.fingerprint(of: modules.map(\.identity.id))
    }

    /// An edition of these vendors.
    init(vendors: [any MountedVendor], fingerprint: String) {
        self.vendors = vendors
        self.fingerprint = fingerprint
    }
}
