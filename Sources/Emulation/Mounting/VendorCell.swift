import JSON
public import Synchronization

/// One vendor's state in one sandbox, behind its lock.
public final class VendorCell<V: Vendor>: StateCell {
    @usableFromInline
    struct Behaviour: Sendable {
        @usableFromInline let switches: V.Switches
        @usableFromInline let values: SwitchValues
    }

    private let initialState: V.State
    @usableFromInline let state: Mutex<V.State>
    @usableFromInline let behaviour: Mutex<Behaviour>

    init(initialState: V.State, settings: Settings) {
        self.initialState = initialState
        state = Mutex(initialState)
        behaviour = Mutex(Self.behaviour(settings))
    }

    private static func behaviour(_ settings: Settings) -> Behaviour {
        let values = settings.values(vendor: V.identity.id, V.Switches.declarations)
        return Behaviour(switches: V.Switches(values), values: values)
    }

    @inlinable var switches: V.Switches { behaviour.withLock { $0.switches } }
    @inlinable var switchValues: SwitchValues { behaviour.withLock { $0.values } }
    var snapshot: V.State { state.withLock { $0 } }

    /// Forgets all that happened.
    public func reset() {
        state.withLock { $0 = initialState }
    }

    /// Takes over changed settings.
    public func apply(_ settings: Settings) {
        let fresh = Self.behaviour(settings)
        behaviour.withLock { $0 = fresh }
    }

    /// Authorizes the call and, when every check held, runs its handler; both under the lock.
    @inlinable
    func run(_ call: inout Call<V>) -> Result<Reply, Refusal<V.Failure>> {
        state.withLock { state in
            call.vendor.authorize(&call, state)
            if let failure = call.findings.failure { return .failure(Refusal(failure)) }
            return Result { () throws(Refusal<V.Failure>) in try call.route.handler(&call, &state) }
        }
    }

    /// Does an action, under the lock.
    func perform(
        _ name: String, _ members: JSONObject, _ vendor: V, at moment: Moment, _ identifiers: IdentifierSource
    ) throws(ActionRefusal) -> JSON {
        guard let action = V.actions.first(where: { $0.listing.name == name }) else {
            let hint = Nearest.hint(to: name, among: V.actions.map(\.listing.name))
            throw ActionRefusal("\(V.identity.id) has no action \(name)\(hint)")
        }
        if let problem = action.listing.problem(with: members.map(\.name)) { throw ActionRefusal(problem) }
        let call = ActionCall<V>(vendor: vendor, members: members, moment: moment, identifiers: identifiers)
        return try state.withLock { (state) throws(ActionRefusal) in try action.body(call, &state) }
    }

    /// The cell as the one of this vendor.
    @inlinable
    static func typed(_ cell: any StateCell) -> VendorCell<V> {
        guard let cell = cell as? VendorCell<V> else {
            // Cells and mounts stand at the same index of the same list, so another type is a fault of ours.
            preconditionFailure("a cell of another vendor stands in the place of \(V.identity.id)'s")
        }
        return cell
    }
}
