import Tokens
import Wire

/// A vendor as loaded from one reading of its fixtures.
@usableFromInline
final class LoadedVendor<V: Vendor>: Sendable {
    @usableFromInline typealias Answering =
        @Sendable (Exchange, RouteTable.Match, SandboxedVendor<V>) -> ExchangeStep

    /// The vendor's position in the load order.
    @usableFromInline let generation: Int
    @usableFromInline let vendor: V
    @usableFromInline let fixtures: VendorFixtures
    @usableFromInline let table: [Route<V>]
    // Made here, since outside the vendor's own target generic code would look up types for each list.
    @usableFromInline let routes: [RouteListing]
    @usableFromInline let failureNames: [String]
    @usableFromInline let catalog: FailureCatalog<V.Failure>
    /// What any route masks: a body sent to a neighbouring route by mistake contains the same secrets.
    @usableFromInline let secrets: Set<String>
    @usableFromInline let traits: VendorTraits
    @usableFromInline let addedRoutes: RouteTable?
    @usableFromInline let scenarios: [Scenario]
    /// ``SandboxedVendor/respond(to:at:by:)`` as compiled in the vendor's own target.
    @usableFromInline let answering: Answering

    @inlinable
    init(_ type: V.Type, fixtures store: FixtureStore) throws(FixtureProblem) {
        fixtures = VendorFixtures(store: store, folder: V.identity.id)
        let described = try V.routes(in: fixtures)
        table = described ?? V.routes
        addedRoutes = described.flatMap(Self.table)
        let ids = table.map(\.id)
        routes = table.map { $0.listing }
        failureNames = V.Failure.allCases.map { $0.rawValue }
        catalog = try FailureCatalog(fixtures, scope: FailureScope(switches: V.Switches.declarations, routes: ids))
        vendor = try V(fixtures: fixtures)
        scenarios = try Scenario.all(
            in: fixtures,
            InterventionScope(
                vendor: V.identity.id, routes: ids, failures: failureNames,
                actions: V.actions.map(\.listing), defects: { Self.ownDefects }, fixtures: fixtures))
        generation = Generation.next()
        secrets = table.reduce(into: []) { $0.formUnion($1.secrets) }
        traits = VendorTraits(V.identity, secrets: secrets)
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
        try? RouteTable([RouteTable.Member(identity: V.identity, routes: routes.map { ($0.id, $0.endpoints) })])
    }

    @usableFromInline static var ownDefects: [String] { V.tokenKinds.flatMap(\.defects) }
}

/// The vendor for lists, files and commands.
extension LoadedVendor: AnyLoadedVendor {
    @usableFromInline var identity: VendorIdentity { V.identity }
    @usableFromInline var failures: [FailureListing] { catalog.listing }
    @usableFromInline var outsideChecks: [String: OutsideNeed] { V.outsideChecks }
    @usableFromInline
    func description() throws(FixtureProblem) -> VendorDescription {
        try fixtures.once { () throws(FixtureProblem) in
            VendorDescription(
                answers: try AnswerCatalog(fixtures, routes: table.map(\.id), failures: failureNames),
                failures: try catalog.shapes(), security: table.map { V.security(of: $0.access) })
        }
    }
    @usableFromInline var switchDeclarations: [SwitchDeclaration] { V.Switches.declarations }
    @usableFromInline var actions: [ActionListing] { V.actions.map(\.listing) }
    @usableFromInline var tokenKinds: [TokenKind] { V.tokenKinds }
    @usableFromInline var requestFacts: [(name: String, about: String)] { V.requestFacts }
    @usableFromInline var samples: [(label: String, value: String)] { vendor.samples }
    @usableFromInline var sharedSecrets: [SharedSecret] { vendor.sharedSecrets }
    @usableFromInline var secretTexts: [String] { vendor.secretTexts }

    @usableFromInline
    func sampleRequest(at moment: Moment, base: String) throws(MintRefusal) -> SampleRequest {
        let sandbox = SandboxIdentity(name: SandboxName.standard, start: "00000000", publicBase: PublicBase(base))
        return try vendor.sampleRequest(
            in: TokenSetting(state: vendor.initialState, moment: moment, switches: .documented, sandbox: sandbox))
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
