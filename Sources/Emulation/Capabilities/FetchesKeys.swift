/// A vendor that verifies tokens with keys published by others.
///
/// It names the keys that a request needs; the pipeline fetches them once for all waiting requests.
public protocol FetchesKeys<State, Credentials, Switches>: Vendor {
    /// The keys that issuers publish elsewhere, as the sandbox has cached them.
    func remoteKeys(in state: State) -> [RemoteKeys]

    /// Stores the fetched keys of the issuer that `keys` names.
    func store(_ keys: RemoteKeys, in state: inout State)

    /// The published keys that must be fetched before these credentials can be judged; `nil` when none are missing.
    ///
    /// The request waits for them and is then authenticated again with ``Arrival/keyFetch`` set; this is not called
    /// again.
    func awaitedKeys(of credentials: Credentials) -> KeyRequirement?

    /// How long published keys are cached, and how often they are fetched.
    func keyFetchPolicy(_ switches: Switches) -> KeyFetchPolicy
}

extension FetchesKeys {
    /// The default policy.
    package func keyFetchPolicy(_ switches: Switches) -> KeyFetchPolicy { KeyFetchPolicy() }

    package var keyFetcher: (any FetchesKeys<State, Credentials, Switches>)? { self }
}
