/// A vendor whose state changes with time, as when a session ends.
public protocol KeepsDeadlines<State, Switches>: Vendor {
    /// The next deadline; `nil` for none.
    ///
    /// Called under the lock after every possible change of the state, so it must be stored, not searched for.
    func nextDeadline(in state: State) -> Moment?

    /// Does what is due at the call's moment, by the sandbox's clock.
    ///
    /// Called when a running clock reaches the deadline, immediately when the clock is moved there, and always before a
    /// call, frame or action at that moment or later. The next deadline must be later.
    func deadlinePassed(_ call: inout DeadlineCall<Self>, _ state: inout State)
}

extension KeepsDeadlines {
    /// Passes a deadline; returns the messages for sockets.
    func pass(
        _ deadline: Moment, at moment: Moment, _ identifiers: IdentifierSource, _ switches: Switches,
        _ state: inout State
    ) -> Outbox {
        var call = DeadlineCall(
            vendor: self, deadline: deadline, moment: moment, identifiers: identifiers, switches: switches)
        deadlinePassed(&call, &state)
        return call.outbox
    }

    package var deadlineKeeper: (any KeepsDeadlines<State, Switches>)? { self }
}
