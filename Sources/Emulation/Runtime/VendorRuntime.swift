public import HTTPTypes
public import Tokens
public import Wire

/// A vendor that is ready to answer, from one load of its fixtures.
///
/// An exchange passes through the functions of this file from top to bottom: ``answer(_:at:in:)`` finds the vendor's
/// route, ``authenticate(_:at:_:in:after:isDecided:)`` judges the credentials, ``intervene(_:_:in:)`` applies faults
/// and scenarios, ``handle(_:_:in:)`` authorizes and handles the call under the lock of the sandbox's state, and
/// ``finish(_:_:_:in:)`` returns the answer with its journal record.
///
/// Inlinable throughout, so that a vendor's own target compiles it for its own types: unspecialized, a third of a
/// request's time went into looking up generic metadata and copying values through witness tables.
@usableFromInline
final class VendorRuntime<V: Vendor>: Sendable {
    @usableFromInline typealias Answering =
        @Sendable (Exchange, RouteTable.Match, VendorStateStore<V>) -> ExchangeStep

    /// The vendor's position in the load order.
    @usableFromInline let generation: Int
    @usableFromInline let vendor: V
    @usableFromInline let table: [Route<V>]
    @usableFromInline let catalog: FailureCatalog<V.Failure>
    /// What any route masks: a body sent to a neighbouring route by mistake contains the same secrets.
    @usableFromInline let secrets: Set<String>
    @usableFromInline let scenarios: [Scenario]
    /// ``answer(_:at:in:)`` of the runtime in force, as compiled in the vendor's own target.
    @usableFromInline let answering: Answering

    @inlinable
    init(_ type: V.Type, fixtures store: FixtureStore) throws(FixtureProblem) {
        let fixtures = VendorFixtures(store: store, folder: V.identity.id)
        table = V.routes
        let ids = table.map(\.id)
        catalog = try FailureCatalog(fixtures, scope: FailureScope(switches: V.Switches.declarations, routes: ids))
        vendor = try V(fixtures: fixtures)
        scenarios = try Scenario.all(
            in: fixtures,
            InterventionScope(
                vendor: V.identity.id, routes: ids, failures: V.Failure.allCases.map(\.rawValue),
                actions: V.actions.map(\.listing), fixtures: fixtures))
        generation = Generation.next()
        secrets = table.reduce(into: []) { $0.formUnion($1.secrets) }
        answering = { $2.runtime.answer($0, at: $1, in: $2) }
    }
}

// MARK: - Steps of an exchange

extension VendorRuntime {
    /// Answers an exchange whose path leads to the vendor.
    @inlinable
    func answer(_ exchange: Exchange, at match: RouteTable.Match, in store: VendorStateStore<V>) -> ExchangeStep {
        switch match {
        case .route(_, let index, let parameters):
            let route = table[index]
            if exchange.request.bodyExceedsLimit { return refuseLongBody(exchange, at: route, in: store) }
            return authenticate(exchange, at: route, parameters, in: store)
        case .otherMethods(_, let methods):
            return unrouted(exchange, in: store) ?? refuse(exchange, knowing: methods, in: store)
        case .unknown, .unowned:
            return unrouted(exchange, in: store) ?? refuse(exchange, knowing: nil, in: store)
        }
    }

    /// Authenticates the exchange: once, and again when published keys that it had to wait for have arrived.
    ///
    /// - Parameters:
    ///   - keyFetch: the result of fetching the keys; `nil` before.
    ///   - isDecided: whether faults and scenarios have already been applied.
    @inlinable
    func authenticate(
        _ exchange: Exchange, at route: Route<V>, _ parameters: PathParameters, in store: VendorStateStore<V>,
        after keyFetch: KeyFetchReport? = nil, isDecided: Bool = false
    ) -> ExchangeStep {
        let arrival = Arrival(
            vendor: vendor, route: route, request: exchange.request, parameters: parameters,
            moment: exchange.moment, isClockFrozen: exchange.isClockFrozen, switches: store.switches,
            authenticationContext: store.authenticationContext(at: self),
            sandbox: exchange.sandbox.identity, selector: exchange.selector, keyFetch: keyFetch,
            refusedTokens: exchange.isWatched ? exchange.sandbox.refusedTokens : TokenDigests())
        var findings = Findings<V.Failure>()
        var call = Call(
            arrival: arrival, credentials: vendor.authenticate(arrival, &findings),
            identifiers: exchange.sandbox.identifiers, findings: findings)
        if let missing = vendor.awaitedKeys(of: call.credentials) {
            return awaitKeys(missing, exchange, call, in: store, isDecided: isDecided)
        }
        return isDecided ? handle(exchange, &call, in: store) : intervene(exchange, &call, in: store)
    }

    /// Applies faults and scenarios.
    @inlinable
    func intervene(_ exchange: Exchange, _ call: inout Call<V>, in store: VendorStateStore<V>) -> ExchangeStep {
        guard exchange.isWatched else { return handle(exchange, &call, in: store) }
        let token = vendor.token(of: call.credentials)
        let matchContext = MatchContext(
            request: exchange.request, parameters: call.parameters, claims: token?.claims, token: token,
            moment: exchange.moment)
        // Decided here, so that a call without an intervention continues in the vendor's own code.
        let decision = exchange.sandbox.intervene(matchContext, vendor: V.identity.id, route: call.route.id)
        if let note = matchContext.budgetNote { call.findings.note(note) }
        guard let intervention = decision else { return handle(exchange, &call, in: store) }
        return carryOut(intervention, matchContext, exchange, &call, in: store)
    }

    /// Authorizes the call and runs its handler, and repeats both after any wait.
    @inlinable
    func handle(_ exchange: Exchange, _ call: inout Call<V>, in store: VendorStateStore<V>) -> ExchangeStep {
        let judged = call.findings.list
        switch store.run(&call, at: self) {
        case .replied(.respond(let response)):
            return finish(exchange, response, call, in: store)
        case .replied(.json(let value, let status)):
            return finish(exchange, .json(value, status: status), call, in: store)
        case .replied(.later(let make)):
            return finish(exchange, make(), call, in: store)
        case .replied(.wait(let job)):
            rewind(&call, to: judged)
            return .waiting { [call] in
                await job()
                var call = call
                return self.handle(exchange, &call, in: store)
            }
        case .replied(.fetchKeys(let keys)):
            rewind(&call, to: judged)
            return awaitKeys(keys, exchange, call, in: store)
        case .replied(.openSocket):
            return open(exchange, call, in: store)
        case .refused(let refusal):
            return finish(exchange, refusal, record(of: call), in: store) { response in
                response.fields.append(contentsOf: call.answerFields)
            }
        case .sealed:
            return .moved
        case .outdated(let later):
            // The fixtures were reloaded since the call was judged, and the state has moved on: nothing was done yet,
            // so the later vendor alone judges the call and answers it.
            return later.authenticate(exchange, at: call.route, call.parameters, in: store, isDecided: true)
        }
    }

    /// Forgets what a handler did before it had to wait.
    @inlinable
    func rewind(_ call: inout Call<V>, to judged: FindingList) {
        call.findings.rewind(to: judged)
        call.parts = nil
        call.answerFields = HTTPFields()
        call.interventions = []
    }

    @inlinable
    func finish(
        _ exchange: Exchange, _ response: consuming Response, _ call: Call<V>, in store: VendorStateStore<V>
    ) -> ExchangeStep {
        if !call.answerFields.isEmpty { response.fields.append(contentsOf: call.answerFields) }
        return finish(exchange, response, record(of: call), in: store)
    }

    @inlinable
    func finish(
        _ exchange: Exchange, _ refusal: Refusal<V.Failure>, _ record: ExchangeRecord, in store: VendorStateStore<V>,
        amend: (inout Response) -> Void = { _ in }
    ) -> ExchangeStep {
        var record = record
        record.failure = refusal.failure.rawValue
        record.reason = refusal.reason
        var response = response(to: exchange, refusal, at: record.route, in: store)
        amend(&response)
        return finish(exchange, response, record, in: store)
    }

    @inlinable
    func finish(
        _ exchange: Exchange, _ response: consuming Response, _ record: consuming ExchangeRecord,
        in store: VendorStateStore<V>
    ) -> ExchangeStep {
        vendor.finish(&response, to: exchange.request, exchange.sandbox.identifiers) { store.switches }
        return .finished(response, record)
    }

    @inlinable
    func record(of call: Call<V>) -> ExchangeRecord {
        var record = ExchangeRecord()
        record.vendor = V.identity.id
        record.route = call.route.id
        record.checks = call.findings.list
        record.parts = call.parts
        record.ownInterventions = call.interventions
        record.cause = call.outbox.cause
        record.secrets = secrets
        record.claims = vendor.token(of: call.credentials)?.claims
        return record
    }
}

/// Answers given before a handler is reached. Not inlinable: few exchanges get here.
extension VendorRuntime {
    /// The vendor's answer to a request without a route, when that is not a failure.
    @usableFromInline
    func unrouted(_ exchange: Exchange, in store: VendorStateStore<V>) -> ExchangeStep? {
        guard let response = vendor.unroutedAnswer(to: exchange.request, { store.switches }) else { return nil }
        return finish(exchange, response, record(), in: store)
    }

    /// Refuses a path that has no route, or only other methods.
    @usableFromInline
    func refuse(_ exchange: Exchange, knowing methods: [HTTPRequest.Method]?, in store: VendorStateStore<V>)
        -> ExchangeStep
    {
        var record = record()
        if let allow = methods?.map(\.rawValue).joined(separator: ", ") {
            let failure = V.unrouted.methodNotAllowed
            let reason = "found the method \(exchange.request.method.rawValue); expected \(allow) at this path"
            return finish(exchange, Refusal(failure, because: reason), record, in: store) { response in
                if failure != V.unrouted.routeNotFound { response.fields[.allow] = allow }
            }
        }
        var refusal = Refusal(V.unrouted.routeNotFound, because: "\(V.identity.title) has nothing at this path")
        if let part = V.unrouted.notOffered, let reason = part.reason(at: exchange.request.path) {
            (refusal, record.mayBeMistyped) = (Refusal(part.failure, because: reason), false)
        }
        return finish(exchange, refusal, record, in: store)
    }

    @usableFromInline
    func refuseLongBody(_ exchange: Exchange, at route: Route<V>, in store: VendorStateStore<V>) -> ExchangeStep {
        var record = record()
        record.route = route.id
        let limit = route.bodyLimit ?? V.identity.bodyLimit ?? RouteListing.standardBodyLimit
        let reason = exchange.request.excess(over: limit)
        return finish(exchange, Refusal(V.unrouted.bodyTooLarge, because: reason), record, in: store)
    }

    /// The answer to a failure, in the form that the vendor gives it for the sender of the request.
    @usableFromInline
    func response(
        to exchange: Exchange, _ refusal: Refusal<V.Failure>, at route: String?, in store: VendorStateStore<V>
    ) -> Response {
        let values = store.switchValues
        guard V.presentsFailures else {
            return catalog.response(refusal.failure, refusal.parameters, route: route, switches: values)
        }
        let sandbox = exchange.sandbox
        let setting = FailureSetting<V.Failure, V.Switches>(
            failure: refusal.failure, request: exchange.request, route: route, switches: store.switches,
            identifiers: sandbox.identifiers, moment: sandbox.now,
            base: sandbox.identity.publicBase.address(of: sandbox.name, by: exchange.selector))
        var parameters = vendor.freshParameters(in: setting)
        for parameter in refusal.parameters { parameters[parameter.name] = parameter.value }
        var response = catalog.response(refusal.failure, parameters, route: route, switches: values)
        let context = store.content.withLock { vendor.failureContext(in: $0.state, setting) }
        vendor.present(&response, refusal.parameters, context, in: setting)
        return response
    }

    private func record() -> ExchangeRecord {
        var record = ExchangeRecord()
        record.vendor = V.identity.id
        record.secrets = secrets
        return record
    }
}

/// The vendor for lists, files and commands.
extension VendorRuntime: LoadedVendor {
    @usableFromInline var identity: VendorIdentity { V.identity }
    @usableFromInline var failures: [FailureListing] { catalog.listing }
    // Not by a key path, which generic code would have to build at run time.
    @usableFromInline var failureNames: [String] { V.Failure.allCases.map { $0.rawValue } }
    @usableFromInline var switchDeclarations: [SwitchDeclaration] { V.Switches.declarations }
    @usableFromInline var actions: [ActionListing] { V.actions.map(\.listing) }
    @usableFromInline var tokenKinds: [TokenKind] { V.tokenKinds }
    @usableFromInline var requestFacts: [RequestFact] { V.requestFacts }
    @usableFromInline var samples: [SampleCredential] { vendor.samples }
    @usableFromInline var sharedSecrets: [SharedSecret] { vendor.sharedSecrets }
    @usableFromInline var secretTexts: [String] { vendor.secretTexts }

    @usableFromInline var routes: [RouteListing] {
        table.map {
            RouteListing(
                id: $0.id, endpoints: $0.endpoints, evidence: $0.evidence, observed: $0.observed, source: $0.source,
                bodyLimit: $0.bodyLimit)
        }
    }

    @usableFromInline
    func sampleRequest(at moment: Moment, base: String) throws(MintRefusal) -> SampleRequest {
        try vendor.sampleRequest(at: moment, base: base)
    }

    @usableFromInline
    func putInForce() -> any AnyVendorInForce { VendorInForce(self) }
}

/// Opening sockets. Not inlinable: few exchanges get here.
extension VendorRuntime {
    /// Accepts a handshake for a handler; events on the socket join the exchange's entry.
    @usableFromInline
    func open(_ exchange: Exchange, _ call: Call<V>, in store: VendorStateStore<V>) -> ExchangeStep {
        guard let order = call.socket else {
            preconditionFailure("a handler of \(V.identity.id) replies with a socket that the call did not open")
        }
        let (response, log) = order.accept(exchange.sandbox, store, order.era)
        var record = record(of: call)
        record.socket = log
        return finish(exchange, response, record, in: store)
    }
}
