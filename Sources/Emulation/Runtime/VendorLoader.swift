/// A vendor that can be mounted: what a vendor's target shows of itself.
public struct VendorLoader: SwitchDeclaring, Sendable {
    /// Who the vendor is.
    public let identity: VendorIdentity
    /// Its switches.
    public let switchDeclarations: [SwitchDeclaration]
    /// The rules by which it judges tokens and those who send them, in the order of its checks.
    public let rules: [RuleListing]
    /// Rules of its clients by which a token can be judged without a server.
    public let checkers: [TokenChecker]
    /// Reads the vendor's fixtures and makes it ready to answer; throws the first thing that is wrong with them.
    public let load: @Sendable (FixtureStore) throws(FixtureProblem) -> any LoadedVendor

    /// The module of a vendor's type.
    @inlinable
    public init<V: Vendor>(_ type: V.Type) {
        identity = V.identity
        switchDeclarations = V.Switches.declarations
        rules = V.rules
        checkers = V.clientChecks?.checkers ?? []
        load = { (store) throws(FixtureProblem) in try VendorRuntime(type, fixtures: store) }
    }
}
