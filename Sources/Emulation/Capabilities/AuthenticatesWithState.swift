/// A vendor whose authentication needs to know of the state, such as issuers that were registered while the server runs.
public protocol AuthenticatesWithState: Vendor {
    /// What authentication may know of a state. Taken under the lock for each request, so it must be cheap to copy.
    func authenticationContext(in state: State) -> AuthenticationContext
}

extension AuthenticatesWithState {
    /// Locks the state for as long as it takes.
    @inlinable
    public func authenticationContext(_ read: ((State) -> AuthenticationContext) -> AuthenticationContext)
        -> AuthenticationContext
    { read { authenticationContext(in: $0) } }
}

extension Vendor where AuthenticationContext == Void {
    /// Most vendors know nothing of the state, and then it is not locked.
    @inlinable
    public func authenticationContext(_ read: ((State) -> Void) -> Void) {}
}
