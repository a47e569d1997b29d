/// A vendor whose tokens are verified with keys it publishes itself, which drills can rotate and break.
public protocol PublishesKeys<State>: Vendor {
    /// The issuers that publish keys, including those of the sandbox.
    func issuers(in state: State) -> [IssuerKeys]

    /// Stores the changed keys of the issuer that `keys` names.
    func store(_ keys: IssuerKeys, in state: inout State)
}

extension PublishesKeys {
    package var keyPublisher: (any PublishesKeys<State>)? { self }
}
