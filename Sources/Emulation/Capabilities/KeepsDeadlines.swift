/// A vendor to whose state something happens by itself, such as a session's end.
public protocol KeepsDeadlines<State, Switches>: Vendor {
    /// When something happens next; `nil` for never.
    ///
    /// Asked under the lock after everything that may have changed the state, so it must be at hand and not searched for.
    func nextDeadline(in state: State) -> Moment?

    /// Does what is due at the call's moment, by the sandbox's clock.
    ///
    /// It comes when a running clock shows the deadline, at once when the clock is moved there, and in any case before a
    /// call, a frame or an action with that or a later moment. The next deadline must be a later one.
    func deadlinePassed(_ call: inout DeadlineCall<Self>, _ state: inout State)
}

extension KeepsDeadlines {
    /// Lets a deadline pass; gives what sockets are told.
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
