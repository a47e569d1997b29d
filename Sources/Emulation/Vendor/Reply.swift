public import HTTPTypes
public import JSON
public import Wire

/// A handler's result: a response, or something to wait for first.
public enum Reply: Sendable {
    case respond(Response)
    /// A response with compact JSON. It is serialized after unlocking the vendor's state, so a long one blocks no one.
    case json(JSON, status: HTTPResponse.Status = .ok)
    /// A response that is made after unlocking the vendor's state, such as one with a fresh signature.
    case later(@Sendable () -> Response)
    /// Work to wait for. No thread is blocked; afterwards the handler runs again, with the same moment and journal
    /// entry. A handler that waits must not have changed any state.
    case wait(@Sendable () async -> Void)
    /// Published keys to fetch. Afterwards the handler runs again as after a wait, with ``Call/keyFetch`` set, and
    /// passes the result to ``RemoteKeys/take(_:_:)``.
    case fetchKeys(RemoteKeys)
    /// A handshake accepted with ``Call/openSocket(_:_:)``.
    case openSocket

    /// A response without content.
    public static func empty(_ status: HTTPResponse.Status = .noContent) -> Reply { .respond(.empty(status)) }
}
