public import JSON
import Tokens
import Wire

/// A vendor with its failures, ready to answer.
public struct VendorMount<V: Vendor>: MountedVendor {
    private let vendor: V
    private let catalog: FailureCatalog<V.Failure>
    private let table: [Route<V>]
    /// What any route masks.
    public let secrets: Set<String>

    /// Reads the vendor's fixtures.
    public init(_ type: V.Type, fixtures store: FixtureStore) throws(FixtureProblem) {
        let fixtures = VendorFixtures(store: store, folder: V.identity.id)
        table = V.routes
        secrets = table.reduce(into: []) { $0.formUnion($1.secrets) }
        catalog = try FailureCatalog(
            fixtures, scope: FailureScope(switches: V.Switches.declarations, routes: table.map(\.id)))
        vendor = try V(fixtures: fixtures)
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

// MARK: - Exchanges

extension VendorMount {
    /// Answers an exchange whose path leads to the vendor.
    public func answer(_ exchange: Exchange, at destination: Destination) -> ExchangeStep {
        let cell = typed(exchange.sandbox.cell(destination.vendor))
        switch destination.place {
        case .route(let index, let parameters): return arrive(exchange, at: table[index], parameters, in: cell)
        case .nowhere: return refuse(exchange, with: V.unrouted.routeNotFound, in: cell)
        case .otherMethods(let allow):
            let failure = V.unrouted.methodNotAllowed
            let reason = "the path knows \(allow), not \(exchange.request.method.rawValue)"
            guard failure != V.unrouted.routeNotFound else {
                return refuse(exchange, with: failure, because: reason, in: cell)
            }
            return refuse(exchange, with: failure, because: reason, in: cell) { $0.fields[.allow] = allow }
        }
    }

    private func arrive(
        _ exchange: Exchange, at route: Route<V>, _ parameters: PathParameters, in cell: VendorCell<V>
    ) -> ExchangeStep {
        if exchange.request.bodyExceedsLimit {
            return refuse(
                exchange, with: V.unrouted.bodyTooLarge, because: "the content is longer than the limit", at: route,
                in: cell)
        }
        let arrival = Arrival(
            vendor: vendor, route: route, request: exchange.request, parameters: parameters,
            moment: exchange.moment, switches: cell.switches)
        var findings = Findings<V.Failure>()
        let credentials = vendor.authenticate(arrival, &findings)
        let call = Call(
            arrival: arrival, credentials: credentials, identifiers: exchange.sandbox.identifiers, findings: findings)
        if let fault = exchange.sandbox.fault(vendor: V.identity.id, route: route.id),
            let failure = V.Failure(rawValue: fault.failure)
        {
            var record = record(of: call)
            record.intervention = "armed fault: \(fault.failure) at call \(fault.call)"
            return finish(exchange, Refusal(failure, because: "armed by a fault"), record, in: cell)
        }
        return handle(exchange, call, in: cell)
    }

    /// Runs the handler, and again after whatever it has to wait for.
    private func handle(_ exchange: Exchange, _ call: Call<V>, in cell: VendorCell<V>) -> ExchangeStep {
        var attempt = call
        switch cell.run(&attempt) {
        case .success(.respond(let response)):
            return finish(exchange, response, record(of: attempt))
        case .success(.wait(let job)):
            return .waiting(job) { handle(exchange, call, in: cell) }
        case .failure(let refusal):
            return finish(exchange, refusal, record(of: attempt), in: cell)
        }
    }

    private func record(of call: Call<V>) -> ExchangeRecord {
        var record = ExchangeRecord()
        record.vendor = V.identity.id
        record.route = call.route.id
        record.findings = call.findings.all
        record.secrets = call.route.secrets
        return record
    }

    private func refuse(
        _ exchange: Exchange, with failure: V.Failure, because reason: String? = nil, at route: Route<V>? = nil,
        in cell: VendorCell<V>, amend: (inout Response) -> Void = { _ in }
    ) -> ExchangeStep {
        var record = ExchangeRecord()
        record.vendor = V.identity.id
        record.route = route?.id
        // A request that missed its route by a letter carries what that route would have masked.
        record.secrets = route?.secrets ?? secrets
        return finish(exchange, Refusal(failure, because: reason), record, in: cell, amend: amend)
    }

    private func finish(
        _ exchange: Exchange, _ refusal: Refusal<V.Failure>, _ record: ExchangeRecord, in cell: VendorCell<V>,
        amend: (inout Response) -> Void = { _ in }
    ) -> ExchangeStep {
        var record = record
        record.failure = refusal.failure.rawValue
        record.reason = refusal.reason
        var response = catalog.response(
            refusal.failure, refusal.parameters, route: record.route, switches: cell.switchValues)
        amend(&response)
        return finish(exchange, response, record)
    }

    private func finish(_ exchange: Exchange, _ response: Response, _ record: ExchangeRecord) -> ExchangeStep {
        var response = response
        vendor.finish(&response, to: exchange.request)
        return .finished(response, record)
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
        let cell = typed(cell)
        let verdict = vendor.explain(token, knowing: context, in: setting(cell, moment))
        let response = verdict.findings.failure.map {
            catalog.response($0, route: nil, switches: cell.switchValues)
        }
        return TokenExplanation(
            vendor: V.identity.id, kind: verdict.kind, account: verdict.account,
            failure: verdict.findings.failure?.rawValue, response: response, findings: verdict.findings.all)
    }

    private func setting(_ cell: any StateCell, _ moment: Moment) -> TokenSetting<V> {
        let cell = typed(cell)
        return TokenSetting(state: cell.snapshot, moment: moment, switches: cell.switches)
    }

    private func typed(_ cell: any StateCell) -> VendorCell<V> {
        guard let cell = cell as? VendorCell<V> else {
            // Cells and mounts stand at the same index of the same list, so another type is a fault of ours.
            preconditionFailure("a cell of another vendor stands in the place of \(V.identity.id)'s")
        }
        return cell
    }
}
