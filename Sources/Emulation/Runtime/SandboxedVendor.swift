public import HTTPTypes
public import JSON
public import Synchronization
public import Tokens
public import Wire

/// A vendor in one sandbox: its state there, protected by one lock, and the answers to its requests.
///
/// An exchange passes through the functions of this file from top to bottom: ``respond(to:at:by:)`` finds the vendor's
/// route, ``authenticate(_:at:_:by:after:isDecided:)`` judges the credentials, ``intervene(_:_:by:)`` applies faults and
/// scenarios, ``handle(_:_:by:)`` authorizes and handles the call under the lock, and ``finish(_:_:_:by:)`` returns the
/// answer with its journal record. Each is given the load of fixtures that judges the call.
///
/// Inlinable throughout, so that a vendor's own target compiles it for its own types: unspecialized, a third of a
/// request's time went into looking up generic metadata and copying values through witness tables.
@usableFromInline
final class SandboxedVendor<V: Vendor>: AnySandboxedVendor {
    @usableFromInline
    struct Content: Sendable {
        @usableFromInline var loaded: LoadedVendor<V>
        @usableFromInline var state: V.State
        @usableFromInline var live: LiveState
        /// Whether the state is kept elsewhere by now, and must not change here any more.
        @usableFromInline var isSealed = false
        /// Whether the state may differ from what was last written of it.
        @usableFromInline var isChanged = true
        /// What of the state is counted among the uploads of all sandboxes.
        @usableFromInline var countedUploads = 0

        /// Moves the state on to a later vendor; `false`, without changes, when it already belongs to a later one.
        @usableFromInline
        mutating func catchUp(with loaded: LoadedVendor<V>) -> Bool {
            guard loaded !== self.loaded else { return true }
            guard loaded.generation > self.loaded.generation else { return false }
            state = loaded.vendor.adopt(state, startedFrom: self.loaded.vendor)
            self.loaded = loaded
            isChanged = true
            lookAhead()
            return true
        }
    }

    @usableFromInline
    enum Outcome: Sendable {
        case replied(Reply)
        case refused(Refusal<V.Failure>)
        /// The state belongs to a vendor that was loaded after the one that judged the call; nothing was done.
        case outdated(LoadedVendor<V>)
        /// The state is kept elsewhere by now; nothing was done.
        case sealed

        /// Whether the vendor has answered, so that its changes and messages count.
        @usableFromInline var isAnswer: Bool {
            switch self {
            case .replied(.respond), .replied(.json), .replied(.later), .replied(.openSocket): true
            case .replied(.wait), .replied(.fetchKeys), .refused, .outdated, .sealed: false
            }
        }
    }

    @usableFromInline
    struct Behaviour: Sendable {
        @usableFromInline let switches: V.Switches
        @usableFromInline let values: SwitchValues
    }

    @usableFromInline let content: Mutex<Content>
    @usableFromInline let behaviour: Mutex<Behaviour>
    @usableFromInline let changes: ChangeMark
    @usableFromInline let vendors: VendorsInForce
    @usableFromInline let index: Int
    private let answering: LoadedVendor<V>.Answering

    let sandbox: SandboxIdentity

    init(
        _ loaded: LoadedVendor<V>, at index: Int, of vendors: VendorsInForce, settings: Settings,
        sandbox: SandboxIdentity, alarm: Alarm, changes: ChangeMark
    ) {
        (self.vendors, self.index, self.sandbox, self.changes) = (vendors, index, sandbox, changes)
        answering = loaded.answering
        content = Mutex(
            Content(loaded: loaded, state: loaded.vendor.initialState, live: LiveState(alarm: alarm, vendor: index)))
        behaviour = Mutex(Self.behaviour(settings, of: loaded))
    }

    deinit { vendors.uploads.add(-content.withLock { $0.countedUploads }) }

    @inlinable var loaded: LoadedVendor<V> {
        // Each load has the same vendors in the same places, which is checked when it comes into force.
        unsafeDowncast(vendors[index], to: LoadedVendor<V>.self)
    }

    @usableFromInline
    func answer(_ exchange: Exchange, at match: RouteTable.Match) -> ExchangeStep { answering(exchange, match, self) }

    private static func behaviour(_ settings: Settings, of loaded: LoadedVendor<V>) -> Behaviour {
        let values = settings.values(vendor: V.identity.id, loaded.switchDeclarations)
        return Behaviour(switches: V.Switches(values), values: values)
    }

    @inlinable var switches: V.Switches { behaviour.withLock { $0.switches } }
    @inlinable var switchValues: SwitchValues { behaviour.withLock { $0.values } }

    @usableFromInline
    func apply(_ settings: Settings) {
        let fresh = Self.behaviour(settings, of: loaded)
        behaviour.withLock { $0 = fresh }
    }
}

// MARK: - Steps of an exchange

extension SandboxedVendor {
    @inlinable
    func respond(to exchange: Exchange, at match: RouteTable.Match, by loaded: LoadedVendor<V>) -> ExchangeStep {
        switch match {
        case .route(_, let index, let parameters):
            let route = loaded.table[index]
            if exchange.request.bodyExceedsLimit { return refuseLongBody(exchange, at: route, by: loaded) }
            return authenticate(exchange, at: route, parameters, by: loaded)
        case .otherMethods(_, let methods):
            return unrouted(exchange, by: loaded) ?? refuse(exchange, knowing: methods, by: loaded)
        case .unknown, .unowned:
            return unrouted(exchange, by: loaded) ?? refuse(exchange, knowing: nil, by: loaded)
        }
    }

    /// Finds the route anew, since a reload may have replaced it on the way here.
    @inlinable
    func rematch(_ exchange: Exchange) -> ExchangeStep {
        let (loaded, request) = (loaded, exchange.request)
        let match = loaded.addedRoutes?.match(request.method, request.path)
        return respond(to: exchange, at: match ?? .unowned, by: loaded)
    }

    /// Authenticates the exchange: once, and again when published keys that it had to wait for have arrived.
    ///
    /// - Parameters:
    ///   - keyFetch: the result of fetching the keys; `nil` before.
    ///   - isDecided: whether faults and scenarios have already been applied.
    @inlinable
    func authenticate(
        _ exchange: Exchange, at route: Route<V>, _ parameters: PathParameters, by loaded: LoadedVendor<V>,
        after keyFetch: KeyFetchReport? = nil, isDecided: Bool = false
    ) -> ExchangeStep {
        let arrival = Arrival(
            vendor: loaded.vendor, route: route, request: exchange.request, parameters: parameters,
            moment: exchange.moment, isClockFrozen: exchange.isClockFrozen, switches: switches,
            authenticationContext: authenticationContext(at: loaded),
            sandbox: exchange.sandbox.identity, selector: exchange.selector, keyFetch: keyFetch,
            refusedTokens: exchange.isWatched ? exchange.sandbox.refusedTokens : TokenDigests())
        var findings = Findings<V.Failure>()
        var call = Call(
            arrival: arrival, credentials: loaded.vendor.authenticate(arrival, &findings),
            identifiers: exchange.sandbox.identifiers, findings: findings)
        if let missing = loaded.vendor.awaitedKeys(of: call.credentials) {
            return awaitKeys(missing, exchange, call, by: loaded, isDecided: isDecided)
        }
        return isDecided ? handle(exchange, &call, by: loaded) : intervene(exchange, &call, by: loaded)
    }

    @inlinable
    func intervene(_ exchange: Exchange, _ call: inout Call<V>, by loaded: LoadedVendor<V>) -> ExchangeStep {
        guard exchange.isWatched else { return handle(exchange, &call, by: loaded) }
        let token = loaded.vendor.token(of: call.credentials)
        let matchContext = MatchContext(
            request: exchange.request, parameters: call.parameters, claims: readableClaims(of: token), token: token,
            moment: exchange.moment)
        // Decided here, so that a call without an intervention continues in the vendor's own code.
        let decision = exchange.sandbox.intervene(matchContext, vendor: V.identity.id, route: call.route.id)
        if let note = matchContext.budgetNote { call.findings.note(note) }
        guard let intervention = decision else { return handle(exchange, &call, by: loaded) }
        return carryOut(intervention, matchContext, exchange, &call, by: loaded)
    }

    /// Authorizes the call and runs its handler, and repeats both after any wait.
    @inlinable
    func handle(_ exchange: Exchange, _ call: inout Call<V>, by loaded: LoadedVendor<V>) -> ExchangeStep {
        let judged = call.findings.list
        switch run(&call, at: loaded) {
        case .replied(.respond(let response)):
            return finish(exchange, response, call, by: loaded)
        case .replied(.json(let value, let status)):
            return finish(exchange, .json(value, status: status), call, by: loaded)
        case .replied(.later(let make)):
            return finish(exchange, make(), call, by: loaded)
        case .replied(.wait(let job)):
            rewind(&call, to: judged)
            return .waiting { [call] in
                await job()
                var call = call
                return self.handle(exchange, &call, by: loaded)
            }
        case .replied(.fetchKeys(let keys)):
            rewind(&call, to: judged)
            return awaitKeys(keys, exchange, call, by: loaded)
        case .replied(.openSocket):
            return open(exchange, call, by: loaded)
        case .refused(let refusal):
            let record = record(of: call, by: loaded, read: call.arrival.read)
            return finish(exchange, refusal, record, by: loaded) { response in
                response.fields.append(contentsOf: call.answerFields)
            }
        case .sealed:
            return .moved
        case .outdated(let later):
            // The fixtures were reloaded since the call was judged, and the state has moved on: nothing was done yet,
            // so the later vendor alone judges the call and answers it.
            return authenticate(exchange, at: call.route, call.parameters, by: later, isDecided: true)
        }
    }

    /// Authorizes the call and, if every check passed, runs its handler; both under the lock.
    @inlinable
    func run(_ call: inout Call<V>, at loaded: LoadedVendor<V>) -> Outcome {
        content.withLock { content in
            // Compared here, so that the usual case costs one comparison and no call.
            if content.loaded !== loaded, !content.catchUp(with: loaded) { return .outdated(content.loaded) }
            if content.isSealed { return .sealed }
            if content.live.armed != nil { content.passDeadlines(until: call.moment, call.identifiers, call.switches) }
            let outcome = Self.work(&call, &content.state, vendors.uploads)
            if !call.outbox.isEmpty { content.settle(&call.outbox, isRefused: !outcome.isAnswer, at: call.moment) }
            content.lookAhead()
            if case .replied(.openSocket) = outcome { call.socket?.era = content.live.era }
            noteChange(&content)
            return outcome
        }
    }

    @inlinable
    static func work(_ call: inout Call<V>, _ state: inout V.State, _ uploads: UploadTotal) -> Outcome {
        call.vendor.authorize(&call, &state)
        if let refusal = call.findings.refusal { return .refused(refusal) }
        let full = call.vendor.fullCopy(of: state, among: uploads)
        do throws(Refusal<V.Failure>) {
            let reply = try call.route.handler(&call, &state)
            if let full, let reason = call.vendor.undo(&state, since: full, among: uploads) {
                return .refused(Refusal(V.Failure.bodyTooLarge, because: reason))
            }
            return .replied(reply)
        } catch {
            return .refused(error)
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
        _ exchange: Exchange, _ response: consuming Response, _ call: Call<V>, by loaded: LoadedVendor<V>
    ) -> ExchangeStep {
        if !call.answerFields.isEmpty { response.fields.append(contentsOf: call.answerFields) }
        return finish(exchange, response, record(of: call, by: loaded, read: call.arrival.read), by: loaded)
    }

    @inlinable
    func finish(
        _ exchange: Exchange, _ refusal: Refusal<V.Failure>, _ record: ExchangeRecord, by loaded: LoadedVendor<V>,
        amend: (inout Response) -> Void = { _ in }
    ) -> ExchangeStep {
        var record = record
        record.failure = refusal.failure.rawValue
        record.reason = refusal.reason
        var response = response(to: exchange, refusal, at: record.route, by: loaded)
        amend(&response)
        return finish(exchange, response, record, by: loaded)
    }

    @inlinable
    func finish(
        _ exchange: Exchange, _ response: consuming Response, _ record: consuming ExchangeRecord,
        by loaded: LoadedVendor<V>
    ) -> ExchangeStep {
        loaded.vendor.finish(&response, to: exchange.request, exchange.sandbox.identifiers) { switches }
        return .finished(response, record)
    }

    /// The claims for conditions, which take a token with claims for a readable one. To a vendor that knows no kinds of
    /// tokens, each is readable.
    @usableFromInline
    func readableClaims(of token: CompactToken?) -> JSONObject? {
        guard let token, token.claims == nil, V.tokenKinds.isEmpty else { return token?.claims }
        return [:]
    }

    /// Made in one piece, since a record that is changed is also copied.
    ///
    /// - Parameter read: what was read of the request; `nil` unless its handler answered it.
    @inlinable
    func record(of call: Call<V>, by loaded: LoadedVendor<V>, read: ReadParts? = nil) -> ExchangeRecord {
        ExchangeRecord(
            loaded.traits, route: call.route.id, checks: call.findings.list,
            claims: loaded.vendor.token(of: call.credentials)?.claims, read: read,
            reading: read?.contains(.others) == true ? call.arrival.reading.withLock { $0 } : nil, parts: call.parts,
            ownInterventions: call.interventions, cause: call.outbox.cause)
    }
}

/// Answers given before a handler is reached. Not inlinable: few exchanges get here.
extension SandboxedVendor {
    /// The vendor's answer to a request without a route, when that is not a failure.
    @usableFromInline
    func unrouted(_ exchange: Exchange, by loaded: LoadedVendor<V>) -> ExchangeStep? {
        guard let response = loaded.vendor.unroutedAnswer(to: exchange.request, { switches }) else { return nil }
        return finish(exchange, response, ExchangeRecord(loaded.traits), by: loaded)
    }

    /// Refuses a path that has no route, or only other methods.
    @usableFromInline
    func refuse(_ exchange: Exchange, knowing methods: [HTTPRequest.Method]?, by loaded: LoadedVendor<V>)
        -> ExchangeStep
    {
        var record = ExchangeRecord(loaded.traits)
        if let allow = methods?.map(\.rawValue).joined(separator: ", ") {
            let failure = V.Failure.methodNotAllowed
            let reason = "found the method \(exchange.request.method.rawValue); expected \(allow) at this path"
            return finish(exchange, Refusal(failure, because: reason), record, by: loaded) { response in
                if failure != .routeNotFound { response.fields[.allow] = allow }
            }
        }
        var refusal = Refusal(V.Failure.routeNotFound, because: "\(V.identity.title) has nothing at this path")
        for part in loaded.unoffered {
            guard let reason = part.reason(at: exchange.request.path) else { continue }
            (refusal, record.mayBeMistyped) = (Refusal(V.routeNotOffered, because: reason), false)
            break
        }
        return finish(exchange, refusal, record, by: loaded)
    }

    @usableFromInline
    func refuseLongBody(_ exchange: Exchange, at route: Route<V>, by loaded: LoadedVendor<V>) -> ExchangeStep {
        var record = ExchangeRecord(loaded.traits)
        record.route = route.id
        let limit = route.bodyLimit ?? V.identity.bodyLimit ?? RouteListing.standardBodyLimit
        let reason = exchange.request.excess(over: limit)
        return finish(exchange, Refusal(V.Failure.bodyTooLarge, because: reason), record, by: loaded)
    }

    /// The answer to a failure, in the form that the vendor gives it for the sender of the request.
    @usableFromInline
    func response(
        to exchange: Exchange, _ refusal: Refusal<V.Failure>, at route: String?, by loaded: LoadedVendor<V>
    ) -> Response {
        let values = switchValues
        guard V.presentsFailures else {
            return loaded.catalog.response(refusal.failure, refusal.parameters, route: route, switches: values)
        }
        let sandbox = exchange.sandbox
        let setting = FailureSetting<V.Failure, V.Switches>(
            failure: refusal.failure, request: exchange.request, route: route, switches: switches,
            identifiers: sandbox.identifiers, moment: sandbox.now,
            base: sandbox.identity.publicBase.address(of: sandbox.name, by: exchange.selector))
        var parameters = loaded.vendor.freshParameters(in: setting)
        for parameter in refusal.parameters { parameters[parameter.name] = parameter.value }
        var response = loaded.catalog.response(refusal.failure, parameters, route: route, switches: values)
        let context = content.withLock { loaded.vendor.failureContext(in: $0.state, setting) }
        loaded.vendor.present(&response, refusal.parameters, context, in: setting)
        return response
    }
}

/// Opening sockets. Not inlinable: few exchanges get here.
extension SandboxedVendor {
    /// Accepts a handshake for a handler; events on the socket join the exchange's entry.
    @usableFromInline
    func open(_ exchange: Exchange, _ call: Call<V>, by loaded: LoadedVendor<V>) -> ExchangeStep {
        guard let order = call.socket else {
            preconditionFailure("a handler of \(V.identity.id) replies with a socket that the call did not open")
        }
        let (response, log) = order.accept(exchange.sandbox, self, order.era)
        var record = record(of: call, by: loaded, read: call.arrival.read)
        record.socket = log
        return finish(exchange, response, record, by: loaded)
    }
}
