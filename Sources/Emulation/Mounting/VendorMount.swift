public import JSON
import Tokens
import Wire

/// A vendor with its failures, ready to answer.
public struct VendorMount<V: Vendor>: MountedVendor {
    @usableFromInline let desk: ExchangeDesk<V>
    /// The scenarios of its fixtures.
    public let scenarios: [Scenario]
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
        scenarios = try Scenario.all(
            in: fixtures,
            InterventionScope(
                vendor: V.identity.id, routes: table.map(\.id), failures: V.Failure.allCases.map(\.rawValue),
                actions: V.actions.map(\.listing), fixtures: fixtures))
        let desk = ExchangeDesk(vendor: vendor, table: table, catalog: catalog)
        self.desk = desk
        answer = { desk.answer($0, at: $1) }
    }

    /// Name, owned paths and path rules.
    public var identity: VendorIdentity { V.identity }

    /// The routes, in the vendor's order.
    public var routes: [RouteListing] {
        desk.table.map {
            RouteListing(
                id: $0.id, endpoints: $0.endpoints, evidence: $0.evidence, observed: $0.observed, source: $0.source,
                bodyLimit: $0.bodyLimit)
        }
    }

    /// The failures, in the vendor's order.
    public var failures: [FailureListing] { desk.catalog.listing }
    /// What any route masks.
    public var secrets: Set<String> { desk.secrets }
    /// The switches.
    public var switchDeclarations: [SwitchDeclaration] { V.Switches.declarations }
    /// What can happen to its state without a request.
    public var actions: [ActionListing] { V.actions.map(\.listing) }

    /// Does an action, and returns what a person may want to know of it.
    public func perform(
        _ action: String, _ members: JSONObject, in sandbox: Sandbox, cell: any StateCell
    ) throws(ActionRefusal) -> JSON {
        try VendorCell<V>.typed(cell).perform(action, members, as: desk, at: sandbox.now, sandbox.identifiers)
    }

    /// The kinds of token that can be minted.
    public var tokenKinds: [TokenKind] { V.tokenKinds }
    /// What the explanation of a token may want to know of its request.
    public var requestFacts: [RequestFact] { V.requestFacts }
    /// Ids and public keys of the sample accounts.
    public var samples: [SampleCredential] { desk.vendor.samples }

    /// A fresh state for a sandbox, whose alarm it is, and in which the vendor has that index.
    public func makeCell(
        _ settings: Settings, in sandbox: SandboxIdentity, _ alarm: Alarm, _ index: Int
    ) -> any StateCell {
        VendorCell<V>(desk: desk, settings: settings, sandbox: sandbox, alarm: alarm, index: index)
    }

    /// Lets the deadlines in a sandbox pass that are due by its clock as it is now.
    public func passDeadlines(in sandbox: Sandbox, cell: any StateCell) {
        VendorCell<V>.typed(cell).passDeadlines(in: sandbox, at: desk)
    }

    /// Makes a sandbox's state what the fixtures give.
    public func reset(_ cell: any StateCell) {
        let cell = VendorCell<V>.typed(cell)
        cell.replace(desk.vendor.state(afterResetting: cell.snapshot(at: desk).state), madeAt: desk)
    }

    /// The mount as the one of this vendor.
    static func typed(_ vendor: any MountedVendor) -> VendorMount<V> {
        guard let mount = vendor as? VendorMount<V> else {
            // Every edition has the vendors of the first at the same places, so another one is a fault of ours.
            preconditionFailure("another vendor stands in the place of \(V.identity.id)")
        }
        return mount
    }

    /// A request that works at that moment.
    public func sampleRequest(at moment: Moment) throws(MintRefusal) -> SampleRequest {
        try desk.vendor.sampleRequest(at: moment)
    }
}

// MARK: - Tokens

extension VendorMount {
    /// Makes a token.
    public func mint(_ order: MintOrder, in cell: any StateCell, at moment: Moment) throws(MintRefusal) -> MintedToken {
        try checkDefect(of: order)
        let (vendor, setting) = setting(cell, moment)
        let minted = try vendor.mint(order, in: setting)
        try checkEffect(on: minted, of: order, vendor, setting)
        return minted
    }

    /// Refuses a general defect with which the vendor finds the same as without: whoever tests with it would learn nothing.
    private func checkEffect(
        on minted: MintedToken, of order: MintOrder, _ vendor: V, _ setting: TokenSetting<V>
    ) throws(MintRefusal) {
        // A defect of the vendor's own may need the request to show, such as another customer's path.
        guard let name = order.members["defect"]?.string, !ownDefects(of: order).contains(name) else { return }
        var members = order.members
        members["defect"] = nil
        let sound = try vendor.mint(MintOrder(kind: order.kind, members: members), in: setting)
        func marks(_ token: MintedToken) -> [String] {
            let findings = vendor.explain(token.token, knowing: [:], in: setting).findings
            return findings.all.map {
                "\($0.check) \($0.outcome) \($0.found == nil || $0.found == .absent) \($0.note ?? "")"
            }
        }
        guard marks(minted) == marks(sound) else { return }
        throw MintRefusal(
            "the defect \(name) changes nothing about this token of kind \(order.kind): \(V.identity.title) finds the same "
                + "without it")
    }

    private func ownDefects(of order: MintOrder) -> [String] {
        V.tokenKinds.first { $0.name == order.kind }?.defects ?? []
    }

    private func checkDefect(of order: MintOrder) throws(MintRefusal) {
        guard let name = order.members["defect"]?.string else { return }
        let own = ownDefects(of: order)
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
        let (vendor, setting) = setting(cell, moment)
        let verdict = vendor.explain(token, knowing: context, in: setting)
        let switches = VendorCell<V>.typed(cell).switchValues
        let response = verdict.findings.refusal.map {
            desk.catalog.response($0.failure, $0.parameters, route: nil, switches: switches)
        }
        return TokenExplanation(
            vendor: V.identity.id, kind: verdict.kind, account: verdict.account,
            failure: verdict.findings.failure?.rawValue, response: response, findings: verdict.findings.all,
            clients: V.checkers.map { checker in
                let token = CompactToken(token)
                return (checker.name, checker.verdict(on: token, at: moment, margin: V.margin(setting.switches)))
            })
    }

    /// The state with the vendor that it belongs to.
    private func setting(_ cell: any StateCell, _ moment: Moment) -> (V, TokenSetting<V>) {
        let cell = VendorCell<V>.typed(cell)
        let content = cell.snapshot(at: desk)
        return (
            content.desk.vendor,
            TokenSetting(state: content.state, moment: moment, switches: cell.switches, sandbox: cell.sandbox)
        )
    }
}

// MARK: - Export and import

extension VendorMount {
    /// What a sandbox holds.
    public func export(_ cell: any StateCell, _ extent: StateExtent) -> JSON? {
        let content = VendorCell<V>.typed(cell).snapshot(at: desk)
        return content.desk.vendor.export(content.state, extent)
    }

    /// Reads and checks a state; what is returned puts it in force.
    public func read(
        _ node: FixtureNode, _ extent: StateExtent, for cell: any StateCell
    ) throws(FixtureProblem) -> @Sendable () -> Void {
        let cell = VendorCell<V>.typed(cell)
        let content = cell.snapshot(at: desk)
        let state = try content.desk.vendor.state(importing: node, extent, over: content.state)
        return { cell.replace(state, madeAt: content.desk) }
    }
}
