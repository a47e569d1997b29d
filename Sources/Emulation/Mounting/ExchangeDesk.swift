public import HTTPTypes
public import Wire

/// Where a vendor's exchanges are dealt with: authentication, faults, handler, failure, finish.
///
/// Inlinable throughout, so that a vendor's own target compiles it for its own types: unspecialized, a third of a
/// request's time went into looking up generic metadata and copying values through witness tables.
@usableFromInline
final class ExchangeDesk<V: Vendor>: Sendable {
    /// When the vendor was made ready, among all that were.
    @usableFromInline let generation: Int
    @usableFromInline let vendor: V
    @usableFromInline let table: [Route<V>]
    @usableFromInline let catalog: FailureCatalog<V.Failure>
    /// What any route masks: a body that was sent to a neighbouring route by mistake holds the same secrets.
    @usableFromInline let secrets: Set<String>

    @inlinable
    init(vendor: V, table: [Route<V>], catalog: FailureCatalog<V.Failure>) {
        generation = Generation.next()
        self.vendor = vendor
        self.table = table
        self.catalog = catalog
        secrets = table.reduce(into: []) { $0.formUnion($1.secrets) }
    }

    /// Answers an exchange whose path leads to the vendor.
    @inlinable
    func answer(_ exchange: Exchange, at destination: Destination) -> ExchangeStep {
        let cell = VendorCell<V>.typed(exchange.sandbox.cell(destination.vendor))
        if let answer = unrouted(exchange, at: destination, in: cell) { return answer }
        switch destination.place {
        case .route(let index, let parameters): return arrive(exchange, at: table[index], parameters, in: cell)
        case .nowhere:
            if let part = V.unrouted.notOffered, let reason = part.reason(at: exchange.request.path) {
                return refuse(exchange, with: part.failure, because: reason, mayBeMistyped: false, in: cell)
            }
            return refuse(
                exchange, with: V.unrouted.routeNotFound, because: "\(V.identity.title) has nothing at this path",
                in: cell)
        case .otherMethods(let allow):
            let failure = V.unrouted.methodNotAllowed
            let reason = "found the method \(exchange.request.method.rawValue); expected \(allow) at this path"
            guard failure != V.unrouted.routeNotFound else {
                return refuse(exchange, with: failure, because: reason, in: cell)
            }
            return refuse(exchange, with: failure, because: reason, in: cell) { $0.fields[.allow] = allow }
        }
    }

    /// What the vendor answers to a request without a route, where that is no failure.
    @inlinable
    func unrouted(
        _ exchange: Exchange, at destination: Destination, in cell: VendorCell<V>
    ) -> ExchangeStep? {
        if case .route = destination.place { return nil }
        guard let response = V.unroutedAnswer(to: exchange.request, { cell.switches }) else { return nil }
        var record = ExchangeRecord()
        record.vendor = V.identity.id
        record.secrets = secrets
        return finish(exchange, response, record, in: cell)
    }

    @inlinable
    func arrive(
        _ exchange: Exchange, at route: Route<V>, _ parameters: PathParameters, in cell: VendorCell<V>
    ) -> ExchangeStep {
        if exchange.request.bodyExceedsLimit {
            let limit = route.bodyLimit ?? V.identity.bodyLimit ?? RouteListing.standardBodyLimit
            return refuse(
                exchange, with: V.unrouted.bodyTooLarge, because: exchange.request.excess(over: limit), at: route,
                in: cell)
        }
        var call = judge(exchange, at: route, parameters, in: cell)
        if let order = vendor.awaitedKeys(of: call.credentials) {
            return fetch(order, exchange, call, in: cell) { self.proceed(exchange, &$0, in: cell) }
        }
        return proceed(exchange, &call, in: cell)
    }

    /// Goes on with a call that has been judged.
    @inlinable
    func proceed(_ exchange: Exchange, _ call: inout Call<V>, in cell: VendorCell<V>) -> ExchangeStep {
        guard exchange.isWatched else { return handle(exchange, &call, in: cell) }
        let encounter = Encounter(
            request: exchange.request, parameters: call.parameters, claims: vendor.claims(of: call.credentials),
            moment: exchange.moment)
        // Asked here, so that a call in which nobody has a say goes on in the vendor's own code.
        let decision = exchange.sandbox.intervene(encounter, vendor: V.identity.id, route: call.route.id)
        if let note = encounter.budgetNote { call.findings.note(note) }
        guard let intervention = decision else { return handle(exchange, &call, in: cell) }
        return intervene(intervention, encounter, exchange, &call, in: cell)
    }

    /// Authenticates the exchange.
    @inlinable
    func judge(
        _ exchange: Exchange, at route: Route<V>, _ parameters: PathParameters, in cell: VendorCell<V>,
        after keyFetch: KeyFetchReport? = nil
    ) -> Call<V> {
        let arrival = Arrival(
            vendor: vendor, route: route, request: exchange.request, parameters: parameters,
            moment: exchange.moment, switches: cell.switches, standing: cell.standing(at: self),
            sandbox: exchange.sandbox.identity, keyFetch: keyFetch)
        var findings = Findings<V.Failure>()
        let credentials = vendor.authenticate(arrival, &findings)
        return Call(
            arrival: arrival, credentials: credentials, identifiers: exchange.sandbox.identifiers, findings: findings)
    }

    /// Runs the handler, and again after whatever it has to wait for.
    @inlinable
    func handle(_ exchange: Exchange, _ call: inout Call<V>, in cell: VendorCell<V>) -> ExchangeStep {
        let judged = call.findings.list
        switch cell.run(&call, at: self) {
        case .replied(.respond(let response)):
            return finish(exchange, response, record(of: call), in: cell)
        case .replied(.json(let value, let status)):
            return finish(exchange, .json(value, status: status), record(of: call), in: cell)
        case .replied(.wait(let job)):
            call.findings.rewind(to: judged)
            call.parts = nil
            return .waiting(job) { [call] in
                var call = call
                return self.handle(exchange, &call, in: cell)
            }
        case .replied(.fetchKeys(let keys)):
            call.findings.rewind(to: judged)
            call.parts = nil
            return fetch(keys, exchange, call, in: cell)
        case .replied(.openSocket(let order)):
            return open(order, exchange, record(of: call), in: cell)
        case .refused(let refusal):
            return finish(exchange, refusal, record(of: call), in: cell)
        case .outdated(let later):
            // The fixtures were read anew since the call was judged, and the state has moved on: nothing was done yet, so
            // the later vendor judges the call and answers it alone.
            var call = later.judge(exchange, at: call.route, call.parameters, in: cell)
            if let order = later.vendor.awaitedKeys(of: call.credentials) {
                return later.fetch(order, exchange, call, in: cell) { later.handle(exchange, &$0, in: cell) }
            }
            return later.handle(exchange, &call, in: cell)
        }
    }

    @inlinable
    func record(of call: Call<V>) -> ExchangeRecord {
        var record = ExchangeRecord()
        record.vendor = V.identity.id
        record.route = call.route.id
        record.checks = call.findings.list
        record.parts = call.parts
        record.cause = call.outbox.cause
        record.secrets = secrets
        record.claims = vendor.claims(of: call.credentials)
        return record
    }

    @inlinable
    func refuse(
        _ exchange: Exchange, with failure: V.Failure, because reason: String? = nil, at route: Route<V>? = nil,
        mayBeMistyped: Bool = true, in cell: VendorCell<V>, amend: (inout Response) -> Void = { _ in }
    ) -> ExchangeStep {
        var record = ExchangeRecord()
        record.vendor = V.identity.id
        record.route = route?.id
        record.secrets = secrets
        record.mayBeMistyped = mayBeMistyped
        return finish(exchange, Refusal(failure, because: reason), record, in: cell, amend: amend)
    }

    @inlinable
    func finish(
        _ exchange: Exchange, _ refusal: Refusal<V.Failure>, _ record: ExchangeRecord, in cell: VendorCell<V>,
        amend: (inout Response) -> Void = { _ in }
    ) -> ExchangeStep {
        var record = record
        record.failure = refusal.failure.rawValue
        record.reason = refusal.reason
        var response = catalog.response(
            refusal.failure, refusal.parameters, route: record.route, switches: cell.switchValues)
        amend(&response)
        return finish(exchange, response, record, in: cell)
    }

    @inlinable
    func finish(
        _ exchange: Exchange, _ response: consuming Response, _ record: consuming ExchangeRecord,
        in cell: VendorCell<V>
    ) -> ExchangeStep {
        vendor.finish(&response, to: exchange.request, exchange.sandbox.identifiers)
        vendor.finish(&response, to: exchange.request, switches: { cell.switches })
        return .finished(response, record)
    }
}
