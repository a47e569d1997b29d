public import JSON
public import Synchronization
import Wire

/// One vendor's state in one sandbox, behind its lock.
@usableFromInline
final class VendorCell<V: Vendor>: StateCell {
    /// The state, and the desk whose vendor it belongs to.
    @usableFromInline
    struct Content: Sendable {
        @usableFromInline var desk: ExchangeDesk<V>
        @usableFromInline var state: V.State
        @usableFromInline var live: LiveState

        /// Moves the state on to a vendor that was read later; `false`, and nothing is done, when it is ahead of that one.
        @usableFromInline
        mutating func catchUp(with desk: ExchangeDesk<V>) -> Bool {
            guard desk !== self.desk else { return true }
            guard desk.generation > self.desk.generation else { return false }
            state = desk.vendor.adopt(state, startedFrom: self.desk.vendor)
            self.desk = desk
            lookAhead()
            return true
        }
    }

    /// What became of a call.
    @usableFromInline
    enum Outcome: Sendable {
        case replied(Reply)
        case refused(Refusal<V.Failure>)
        /// The state belongs to a vendor that was read later than the one which judged the call; nothing was done.
        case outdated(ExchangeDesk<V>)

        /// Whether the vendor has answered, and so means what it has changed and what it tells.
        @usableFromInline var isAnswer: Bool {
            switch self {
            case .replied(.respond), .replied(.json), .replied(.openSocket): true
            case .replied(.wait), .replied(.fetchKeys), .refused, .outdated: false
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
    private let inForce: VendorInForce<V>

    /// Where the state belongs.
    let sandbox: SandboxIdentity

    init(
        _ inForce: VendorInForce<V>, settings: Settings, sandbox: SandboxIdentity, alarm: Alarm, index: Int
    ) {
        let desk = inForce.desk
        self.inForce = inForce
        self.sandbox = sandbox
        content = Mutex(
            Content(desk: desk, state: desk.vendor.initialState, live: LiveState(alarm: alarm, vendor: index)))
        behaviour = Mutex(Self.behaviour(settings))
    }

    /// The vendor as the fixtures in force make it.
    var desk: ExchangeDesk<V> { inForce.desk }

    @usableFromInline
    func answer(_ exchange: Exchange, at match: RouteTable.Match) -> ExchangeStep {
        let desk = desk
        return desk.answering(desk, exchange, match, self)
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

    // Read under the lock: a copy of the state would have the next change copy all of it.
    @usableFromInline
    func secrets(since mark: SecretMark?) -> (texts: [String], mark: SecretMark)? {
        content.withLock { content in
            let ledger = content.desk.vendor.secrets(in: content.state)
            let now = SecretMark(era: content.live.era, number: ledger.latest)
            if now == mark { return nil }
            return (ledger.texts(after: mark?.era == now.era ? mark?.number ?? 0 : 0), now)
        }
    }

    /// The state with the desk it belongs to, which is the one in force or a later one.
    func snapshot() -> Content {
        let desk = desk
        return content.withLock { content in
            _ = content.catchUp(with: desk)
            return content
        }
    }

    /// That desk, or a later one if the state has moved on to it.
    func latest(_ desk: ExchangeDesk<V>) -> ExchangeDesk<V> {
        content.withLock { $0.desk.generation > desk.generation ? $0.desk : desk }
    }

    /// What authentication may know of the state, for the vendor of that desk.
    @inlinable
    func standing(at desk: ExchangeDesk<V>) -> V.Standing {
        desk.vendor.standing { read in
            content.withLock { content in
                if content.desk !== desk { _ = content.catchUp(with: desk) }
                return read(content.state)
            }
        }
    }

    /// Changes the state as the vendor of that desk or of a later one.
    func change<Value: Sendable>(
        at desk: ExchangeDesk<V>, _ change: (ExchangeDesk<V>, inout V.State) -> Value
    ) -> Value {
        content.withLock { content in
            _ = content.catchUp(with: desk)
            defer { content.lookAhead() }
            return change(content.desk, &content.state)
        }
    }

    /// Replaces the state by one that the vendor of that desk made; sockets of the old one are closed.
    func replace(_ state: V.State, madeAt desk: ExchangeDesk<V>) {
        let replaced = content.withLock { content in
            let (latest, replaced) = (content.desk, content.state)
            content.live.clear(WebSocketClosure(.goingAway, reason: "the state was replaced"))
            (content.desk, content.state) = (desk, state)
            _ = content.catchUp(with: latest)
            // Whatever the alarm was set for, the clock may be another one too.
            content.live.name(content.nextDeadline)
            return replaced
        }
        // Destroyed after unlocking: a million records take a while.
        withExtendedLifetime(replaced) {}
    }

    /// Authorizes the call and, when every check held, runs its handler; both under the lock.
    @inlinable
    func run(_ call: inout Call<V>, at desk: ExchangeDesk<V>) -> Outcome {
        content.withLock { content in
            // Compared here, so that the usual case costs one comparison and no call.
            if content.desk !== desk, !content.catchUp(with: desk) { return .outdated(content.desk) }
            if content.live.armed != nil {
                content.passDeadlines(until: call.moment, call.identifiers, call.switches)
            }
            let outcome = Self.work(&call, &content.state)
            if !call.outbox.isEmpty {
                content.settle(&call.outbox, isRefused: !outcome.isAnswer, at: call.moment)
            }
            // Most vendors name none, and then nothing is asked.
            if desk.deadlineKeeper != nil { content.lookAhead() }
            if case .replied(.openSocket) = outcome { call.socket?.era = content.live.era }
            return outcome
        }
    }

    @inlinable
    static func work(_ call: inout Call<V>, _ state: inout V.State) -> Outcome {
        call.vendor.authorize(&call, &state)
        if let refusal = call.findings.refusal { return .refused(refusal) }
        do throws(Refusal<V.Failure>) {
            return .replied(try call.route.handler(&call, &state))
        } catch {
            return .refused(error)
        }
    }

    @usableFromInline
    func perform(
        _ action: String, _ members: JSONObject, in sandbox: Sandbox
    ) throws(ActionRefusal) -> JSON {
        try perform(action, members, as: desk, at: sandbox.now, sandbox.identifiers)
    }

    /// Does an action as the vendor of that desk or of a later one; under the lock, unless it only reads.
    func perform(
        _ name: String, _ members: JSONObject, as desk: ExchangeDesk<V>, at moment: Moment,
        _ identifiers: IdentifierSource
    ) throws(ActionRefusal) -> JSON {
        let switches = switches
        guard let action = V.actions.first(where: { $0.listing.name == name }) else {
            let hint = Nearest.hint(to: name, among: V.actions.map(\.listing.name))
            throw ActionRefusal("\(V.identity.id) has no action \(name)\(hint)")
        }
        if let problem = action.listing.problem(with: members.map(\.name)) { throw ActionRefusal(problem) }
        let order = { (vendor: V) in
            ActionCall<V>(
                vendor: vendor, members: members, moment: moment, identifiers: identifiers, switches: switches)
        }
        switch action.work {
        case .reads(let body):
            let (vendor, state) = content.withLock { content in
                content.prepare(for: moment, at: desk, identifiers, switches)
                return (content.desk.vendor, content.state)
            }
            return try body(order(vendor), state)
        case .changes(let body):
            return try content.withLock { (content) throws(ActionRefusal) in
                content.prepare(for: moment, at: desk, identifiers, switches)
                var outbox = Outbox()
                let told = try body(order(content.desk.vendor), &content.state, &outbox)
                content.settle(&outbox, isRefused: false, at: moment)
                content.lookAhead()
                return told
            }
        }
    }
}
