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
