public import JSON
import Tokens
import Wire

/// A vendor with its failures, ready to answer.
public struct VendorMount<V: Vendor>: MountedVendor {
    @usableFromInline let vendor: V
    @usableFromInline let catalog: FailureCatalog<V.Failure>
    @usableFromInline let table: [Route<V>]
    /// What any route masks.
    public let secrets: Set<String>
    /// Answers an exchange whose path leads to the vendor.
    public let answer: @Sendable (Exchange, Destination) -> ExchangeStep

    /// Reads the vendor's fixtures.
    @inlinable
    public init(_ type: V.Type, fixtures store: FixtureStore) throws(FixtureProblem) {
        let fixtures = VendorFixtures(store: store, folder: V.identity.id)
        let table = V.routes
        let scope = FailureScope(switches: V.Switches.declarations, routes: table.map(\.id))
        let catalog = try FailureCatalog<V.Failure>(fixtures, scope: scope)
        let vendor = try V(fixtures: fixtures)
        let desk = ExchangeDesk(vendor: vendor, table: table, catalog: catalog)
        self.table = table
        self.catalog = catalog
        self.vendor = vendor
        secrets = desk.secrets
        answer = { desk.answer($0, at: $1) }
    }

    /// Name, owned paths and path rules.
    public var identity: VendorIdentity { V.identity }

    /// The routes, in the vendor's order.
    public var routes: [RouteListing] {
        table.map {
            RouteListing(
                id: $0.id, endpoints: $0.endpoints, evidence: $0.evidence, source: $0.source, bodyLimit: $0.bodyLimit)
        }
    }

    /// The failures, in the vendor's order.
    public var failures: [FailureListing] { catalog.listing }
    /// The switches.
    public var switchDeclarations: [SwitchDeclaration] { V.Switches.declarations }
    /// The kinds of token that can be minted.
    public var tokenKinds: [TokenKind] { V.tokenKinds }
    /// Ids and public keys of the sample accounts.
    public var samples: [SampleCredential] { vendor.samples }

    /// A fresh state for a sandbox.
    public func makeCell(_ settings: Settings) -> any StateCell {
        VendorCell<V>(initialState: vendor.initialState, settings: settings)
    }

    /// A request that works at that moment.
    public func sampleRequest(at moment: Moment) throws(MintRefusal) -> SampleRequest {
        try vendor.sampleRequest(at: moment)
    }
}

// MARK: - Tokens

extension VendorMount {
    /// Makes a token.
    public func mint(_ order: MintOrder, in cell: any StateCell, at moment: Moment) throws(MintRefusal) -> MintedToken {
        try checkDefect(of: order)
        return try vendor.mint(order, in: setting(cell, moment))
    }

    private func checkDefect(of order: MintOrder) throws(MintRefusal) {
        guard let name = order.members["defect"]?.string else { return }
        let own = V.tokenKinds.first { $0.name == order.kind }?.defects ?? []
        do throws(MintError) {
            if !own.contains(name) { _ = try Defect(named: name) }
        } catch {
            let hint = Nearest.hint(to: name, among: own + Defect.names)
            throw MintRefusal("a token of kind \(order.kind) has no defect \(name)\(hint)")
        }
    }

    /// Says what the vendor would answer to a token.
    public func explain(
        _ token: String, knowing context: JSONObject, in cell: any StateCell, at moment: Moment
    ) -> TokenExplanation {
        let cell = VendorCell<V>.typed(cell)
        let verdict = vendor.explain(token, knowing: context, in: setting(cell, moment))
        let response = verdict.findings.failure.map {
            catalog.response($0, route: nil, switches: cell.switchValues)
        }
        return TokenExplanation(
            vendor: V.identity.id, kind: verdict.kind, account: verdict.account,
            failure: verdict.findings.failure?.rawValue, response: response, findings: verdict.findings.all)
    }

    private func setting(_ cell: any StateCell, _ moment: Moment) -> TokenSetting<V> {
        let cell = VendorCell<V>.typed(cell)
        return TokenSetting(state: cell.snapshot, moment: moment, switches: cell.switches)
    }
}
