/// A vendor that verifies tokens by keys which others publish.
///
/// It says which keys a request needs; the pipeline fetches them, once for all requests that wait for them.
public protocol FetchesKeys<State, Credentials, Switches>: Vendor {
    /// The keys that issuers publish elsewhere, as a sandbox has them.
    func remoteKeys(in state: State) -> [RemoteKeys]

    /// Stores the keys of an issuer of that name that were asked for.
    func store(_ keys: RemoteKeys, in state: inout State)

    /// The published keys that have to be asked for before these credentials can be judged; `nil` when nothing is missing.
    ///
    /// The request waits for them, and is then authenticated anew with ``Arrival/keyFetch`` set; it is not asked again.
    func awaitedKeys(of credentials: Credentials) -> KeyRequirement?

    /// How long published keys are kept, and how often they are asked for.
    func keyFetchPolicy(_ switches: Switches) -> KeyFetchPolicy
}

extension FetchesKeys {
    /// The standard policy.
    public func keyFetchPolicy(_ switches: Switches) -> KeyFetchPolicy { KeyFetchPolicy() }

    package var keyFetcher: (any FetchesKeys<State, Credentials, Switches>)? { self }
}
