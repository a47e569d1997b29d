import Synchronization

/// One vendor's state in one sandbox, behind its lock.
final class VendorCell<V: Vendor>: StateCell {
    private struct Behaviour {
        let switches: V.Switches
        let values: SwitchValues
    }

    private let initialState: V.State
    private let state: Mutex<V.State>
    private let behaviour: Mutex<Behaviour>

    init(initialState: V.State, settings: Settings) {
        self.initialState = initialState
        state = Mutex(initialState)
        behaviour = Mutex(Self.behaviour(settings))
    }

    private static func behaviour(_ settings: Settings) -> Behaviour {
        let values = settings.values(vendor: V.identity.id, V.Switches.declarations)
        return Behaviour(switches: V.Switches(values), values: values)
    }

    var switches: V.Switches { behaviour.withLock { $0.switches } }
    var switchValues: SwitchValues { behaviour.withLock { $0.values } }
    var snapshot: V.State { state.withLock { $0 } }

    func reset() {
        state.withLock { $0 = initialState }
    }

    func apply(_ settings: Settings) {
        let fresh = Self.behaviour(settings)
        behaviour.withLock { $0 = fresh }
    }

    /// Authorizes the call and, when every check held, runs its handler; both under the lock.
    func run(_ call: inout Call<V>) -> Result<Reply, Refusal<V.Failure>> {
        state.withLock { state in
            call.vendor.authorize(&call, state)
            if let failure = call.findings.failure { return .failure(Refusal(failure)) }
            return Result { () throws(Refusal<V.Failure>) in try call.route.handler(&call, &state) }
        }
    }
}
