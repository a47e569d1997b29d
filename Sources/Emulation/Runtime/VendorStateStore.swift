public import JSON
public import Synchronization
import Tokens
import Wire

/// One vendor's state in one sandbox, protected by its lock.
@usableFromInline
final class VendorStateStore<V: Vendor>: SandboxedVendor {
    @usableFromInline
    struct Content: Sendable {
        @usableFromInline var runtime: VendorRuntime<V>
        @usableFromInline var state: V.State
        @usableFromInline var live: LiveState
        /// Whether the state is kept elsewhere by now, and must not change here any more.
        @usableFromInline var isSealed = false
        /// Whether the state may differ from what was last written of it.
        @usableFromInline var isChanged = true

        /// Moves the state on to a later vendor; `false`, without changes, when it already belongs to a later one.
        @usableFromInline
        mutating func catchUp(with runtime: VendorRuntime<V>) -> Bool {
            guard runtime !== self.runtime else { return true }
            guard runtime.generation > self.runtime.generation else { return false }
            state = runtime.vendor.adopt(state, startedFrom: self.runtime.vendor)
            self.runtime = runtime
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
        case outdated(VendorRuntime<V>)
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
    @usableFromInline let inForce: VendorInForce<V>
    private let answering: VendorRuntime<V>.Answering

    let sandbox: SandboxIdentity

    init(
        _ inForce: VendorInForce<V>, settings: Settings, sandbox: SandboxIdentity, alarm: Alarm, changes: ChangeMark,
        index: Int
    ) {
        let runtime = inForce.runtime
        self.inForce = inForce
        answering = runtime.answering
        self.sandbox = sandbox
        self.changes = changes
        content = Mutex(
            Content(runtime: runtime, state: runtime.vendor.initialState, live: LiveState(alarm: alarm, vendor: index)))
        behaviour = Mutex(Self.behaviour(settings))
    }

    @inlinable var runtime: VendorRuntime<V> { inForce.runtime }

    @usableFromInline
    func answer(_ exchange: Exchange, at match: RouteTable.Match) -> ExchangeStep {
        answering(exchange, match, self)
    }

    private static func behaviour(_ settings: Settings) -> Behaviour {
        let values = settings.values(vendor: V.identity.id, V.Switches.declarations)
        return Behaviour(switches: V.Switches(values), values: values)
    }

    @inlinable var switches: V.Switches { behaviour.withLock { $0.switches } }
    @inlinable var switchValues: SwitchValues { behaviour.withLock { $0.values } }

    @usableFromInline
    func apply(_ settings: Settings) {
        let fresh = Self.behaviour(settings)
        behaviour.withLock { $0 = fresh }
    }

    // Read under the lock: with a copy of the state around, the next change would copy all of it.
    @usableFromInline
    func secrets(since mark: SecretMark?) -> (texts: [String], mark: SecretMark)? {
        content.withLock { content in
            let ledger = content.runtime.vendor.secrets(in: content.state)
            let now = SecretMark(era: content.live.era, number: ledger.latest)
            if now == mark { return nil }
            return (ledger.texts(after: mark?.era == now.era ? mark?.number ?? 0 : 0), now)
        }
    }

    /// Notes a change of the state, while its lock is held.
    @inlinable
    func noteChange(_ content: inout Content) {
        content.isChanged = true
        changes.set()
    }

    /// The state with its runtime, which is the one in force or a later one.
    func snapshot() -> Content {
        let runtime = runtime
        return content.withLock { content in
            _ = content.catchUp(with: runtime)
            return content
        }
    }

    /// That runtime, or a later one if the state has moved on.
    func latest(_ runtime: VendorRuntime<V>) -> VendorRuntime<V> {
        content.withLock { $0.runtime.generation > runtime.generation ? $0.runtime : runtime }
    }

    @inlinable
    func authenticationContext(at runtime: VendorRuntime<V>) -> V.AuthenticationContext {
        // The compiler decides this for each vendor.
        if let nothing = () as? V.AuthenticationContext { return nothing }
        return content.withLock { content in
            if content.runtime !== runtime { _ = content.catchUp(with: runtime) }
            return content.runtime.vendor.authenticationContext(in: content.state)
        }
    }

    /// Changes the state as the vendor of that runtime or a later one.
    func change<Value: Sendable>(
        at runtime: VendorRuntime<V>, _ change: (VendorRuntime<V>, inout V.State) -> Value
    ) -> Value {
        content.withLock { content in
            _ = content.catchUp(with: runtime)
            defer {
                content.lookAhead()
                noteChange(&content)
            }
            return change(content.runtime, &content.state)
        }
    }

    /// Replaces the state with one from the vendor of that runtime; the old state's sockets are closed.
    func replace(_ state: V.State, madeAt runtime: VendorRuntime<V>) {
        let replaced = content.withLock { content in
            let (latest, replaced) = (content.runtime, content.state)
            content.live.clear(WebSocketClosure(.goingAway, reason: "the state was replaced"))
            (content.runtime, content.state) = (runtime, state)
            _ = content.catchUp(with: latest)
            // Set even if unchanged, since the clock may be another one too.
            content.live.name(content.runtime.vendor.nextDeadline(in: content.state))
            content.isChanged = true
            changes.setAnew()
            return replaced
        }
        // Destroyed after unlocking: a million records take a while.
        withExtendedLifetime(replaced) {}
    }

    /// Authorizes the call and, if every check passed, runs its handler; both under the lock.
    @inlinable
    func run(_ call: inout Call<V>, at runtime: VendorRuntime<V>) -> Outcome {
        content.withLock { content in
            // Compared here, so that the usual case costs one comparison and no call.
            if content.runtime !== runtime, !content.catchUp(with: runtime) { return .outdated(content.runtime) }
            if content.isSealed { return .sealed }
            if content.live.armed != nil {
                content.passDeadlines(until: call.moment, call.identifiers, call.switches)
            }
            let outcome = Self.work(&call, &content.state)
            if !call.outbox.isEmpty {
                content.settle(&call.outbox, isRefused: !outcome.isAnswer, at: call.moment)
            }
            content.lookAhead()
            if case .replied(.openSocket) = outcome { call.socket?.era = content.live.era }
            noteChange(&content)
            return outcome
        }
    }

    @inlinable
    static func work(_ call: inout Call<V>, _ state: inout V.State) -> Outcome {
        call.vendor.authorize(&call, &state)
        if let refusal = call.findings.refusal { return .refused(refusal) }
        let full = call.vendor.fullCopy(of: state)
        do throws(Refusal<V.Failure>) {
            let reply = try call.route.handler(&call, &state)
            if let full, let reason = call.vendor.undo(&state, since: full) {
                return .refused(Refusal(V.unrouted.bodyTooLarge, because: reason))
            }
            return .replied(reply)
        } catch {
            return .refused(error)
        }
    }

    @usableFromInline
    func perform(
        _ action: String, _ members: JSONObject, in sandbox: Sandbox, by selector: SandboxSelector
    ) throws(ActionRefusal) -> JSON {
        try perform(action, members, as: runtime, at: sandbox.now, sandbox.identifiers, by: selector)
    }

    /// Performs an action as the vendor of that runtime or a later one; under the lock, unless it only reads.
    func perform(
        _ name: String, _ members: JSONObject, as runtime: VendorRuntime<V>, at moment: Moment,
        _ identifiers: IdentifierSource, by selector: SandboxSelector
    ) throws(ActionRefusal) -> JSON {
        let switches = switches
        guard let action = V.actions.first(where: { $0.listing.name == name }) else {
            let hint = Nearest.hint(to: name, among: V.actions.map(\.listing.name))
            throw ActionRefusal("\(V.identity.id) has no action \(name)\(hint)")
        }
        if let problem = action.listing.problem(with: members.map(\.name)) { throw ActionRefusal(problem) }
        let order = { [sandbox] (vendor: V) in
            ActionCall<V>(
                vendor: vendor, members: members, moment: moment, identifiers: identifiers, switches: switches,
                sandbox: sandbox, selector: selector)
        }
        switch action.work {
        case .reads(let body):
            let (vendor, state) = content.withLock { content in
                content.prepare(for: moment, at: runtime, identifiers, switches)
                return (content.runtime.vendor, content.state)
            }
            return try body(order(vendor), state)
        case .changes(let body):
            return try content.withLock { (content) throws(ActionRefusal) in
                content.prepare(for: moment, at: runtime, identifiers, switches)
                var outbox = Outbox()
                let vendor = content.runtime.vendor
                let full = vendor.fullCopy(of: content.state)
                let told = try body(order(vendor), &content.state, &outbox)
                if let full, let reason = vendor.undo(&content.state, since: full) { throw ActionRefusal(reason) }
                content.settle(&outbox, isRefused: false, at: moment)
                content.lookAhead()
                noteChange(&content)
                return told
            }
        }
    }
}

/// Export, import and reset of the state.
extension VendorStateStore {
    @usableFromInline
    func export(_ extent: StateExtent) -> JSON? {
        let content = snapshot()
        return content.runtime.vendor.export(content.state, extent)
    }

    @usableFromInline
    func write(to rows: RowWriter) {
        let runtime = runtime
        let whole = content.withLock { content -> Content? in
            _ = content.catchUp(with: runtime)
            if rows.pass == .changes, !content.isChanged { return nil }
            if rows.pass != .marking { content.isChanged = false }
            guard rows.pass == .everything else {
                content.runtime.vendor.write(&content.state, to: rows)
                return nil
            }
            // A large state is written outside the lock, and from here on its tables note what changes.
            content.runtime.vendor.write(&content.state, to: RowWriter(.marking))
            return content
        }
        guard let whole else { return }
        var state = whole.state
        whole.runtime.vendor.write(&state, to: rows)
    }

    @usableFromInline
    func read(_ node: FixtureNode, _ extent: StateExtent) throws(FixtureProblem) -> @Sendable () -> Void {
        let content = snapshot()
        let vendor = content.runtime.vendor
        let state = try vendor.state(importing: node, extent, over: content.state)
        let (size, most) = (vendor.size(of: state), StateSize.most)
        // What a store has was within the bound, or one call beyond it.
        guard extent == .changes || size.records <= most.records && size.bytes <= most.bytes else {
            throw node.problem(
                "it has \(size.records) records of \(size.bytes) bytes besides the fixtures; at most \(most.records) of "
                    + "\(most.bytes) are kept")
        }
        return { self.replace(state, madeAt: content.runtime) }
    }

    @usableFromInline
    func reset() {
        let runtime = runtime
        replace(runtime.vendor.state(afterResetting: snapshot().state), madeAt: runtime)
    }
}

/// Minting and explaining tokens.
extension VendorStateStore {
    @usableFromInline
    func mint(
        _ order: MintRequest, at moment: Moment, by selector: SandboxSelector, _ identifiers: IdentifierSource
    ) throws(MintRefusal) -> MintedToken {
        let content = snapshot()
        let vendor = content.runtime.vendor
        let setting = TokenSetting<V>(
            state: content.state, moment: moment, switches: switches, sandbox: sandbox, selector: selector,
            identifiers: identifiers)
        let own = V.tokenKinds.first { $0.name == order.kind }?.defects ?? []
        // A defect of the vendor's own may only show with the request, such as another customer's path.
        guard let defect = order.members["defect"]?.string, !own.contains(defect) else {
            return try vendor.mint(order, in: setting)
        }
        try Self.check(defect, of: order, own)
        let minted = try vendor.mint(order, in: setting)
        var members = order.members
        members["defect"] = nil
        let sound = try vendor.mint(MintRequest(kind: order.kind, members: members), in: setting)
        func marks(_ token: MintedToken) -> [String] {
            vendor.explain(token.token, knowing: [:], in: setting).findings.all.map {
                "\($0.check) \($0.outcome) \($0.found == nil || $0.found == .absent) \($0.note ?? "")"
            }
        }
        if marks(minted) != marks(sound) { return minted }
        // A test with such a token would prove nothing.
        throw MintRefusal(
            "the defect \(defect) changes nothing in this token of kind \(order.kind): \(V.identity.title) finds the same "
                + "without it")
    }

    private static func check(_ defect: String, of order: MintRequest, _ own: [String]) throws(MintRefusal) {
        do throws(MintError) {
            _ = try Defect(named: defect)
        } catch {
            let hint = Nearest.hint(to: defect, among: own + Defect.names)
            throw MintRefusal("a token of kind \(order.kind) has no defect \(defect)\(hint)")
        }
    }

    @usableFromInline
    func explain(_ token: String, knowing context: JSONObject, at moment: Moment) -> TokenExplanation {
        let (content, switches) = (snapshot(), switches)
        let verdict = content.runtime.vendor.explain(
            token, knowing: context,
            in: TokenSetting(state: content.state, moment: moment, switches: switches, sandbox: sandbox))
        let (catalog, values) = (runtime.catalog, switchValues)
        let response = verdict.findings.refusal.map {
            catalog.response($0.failure, $0.parameters, route: nil, switches: values)
        }
        let compact = CompactToken(token)
        let settings = content.runtime.vendor.checkerSettings(in: content.state, switches)
        return TokenExplanation(
            vendor: V.identity.id, kind: verdict.kind, account: verdict.account,
            failure: verdict.findings.failure?.rawValue, response: response, findings: verdict.findings.all,
            clients: V.checkers.map { ($0.name, $0.verdict(on: compact, at: moment, settings)) })
    }
}
