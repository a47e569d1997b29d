/// A vendor whose authentication depends on the state, such as issuers registered while the server runs.
public protocol AuthenticatesWithState: Vendor {
    /// What authentication may read from a state. Taken under the lock for each request, so it must be cheap to copy.
    func authenticationContext(in state: State) -> AuthenticationContext
}

extension AuthenticatesWithState {
    /// Holds the state's lock for the duration.
    @inlinable
    public func authenticationContext(_ read: ((State) -> AuthenticationContext) -> AuthenticationContext)
        -> AuthenticationContext
    { read { authenticationContext(in: $0) } }
}

extension Vendor where AuthenticationContext == Void {
    /// Most vendors need nothing from the state, so it is not locked.
    @inlinable
    public func authenticationContext(_ read: ((State) -> Void) -> Void) {}
}
