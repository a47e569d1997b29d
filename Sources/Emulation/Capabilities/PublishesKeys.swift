/// A vendor whose tokens are verified by keys that it publishes itself, and that drills can rotate and break.
public protocol PublishesKeys<State>: Vendor {
    /// The issuers of tokens that publish keys, with those of a sandbox.
    func issuers(in state: State) -> [IssuerKeys]

    /// Stores the keys of an issuer of that name that something happened to.
    func store(_ keys: IssuerKeys, in state: inout State)
}

extension PublishesKeys {
    package var keyPublisher: (any PublishesKeys<State>)? { self }
}
