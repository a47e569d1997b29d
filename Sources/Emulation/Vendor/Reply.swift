public import HTTPTypes
public import JSON
public import Wire

/// What a handler gives: a response, or something that must be waited for first.
public enum Reply: Sendable {
    /// The response.
    case respond(Response)
    /// A response with compact JSON. It is written behind the lock of the vendor's state, so a long one keeps nobody waiting.
    case json(JSON, status: HTTPResponse.Status = .ok)
    /// Work to wait for. No thread is held; afterwards the handler runs again, with the same moment and journal entry.
    /// A handler that waits must not have changed any state.
    case wait(@Sendable () async -> Void)
    /// Published keys to ask for. Afterwards the handler runs again as after a wait, with ``Call/keyFetch`` set, and has
    /// ``RemoteKeys/take(_:_:)`` take over what came of it.
    case fetchKeys(RemoteKeys)
    /// A handshake that is accepted, by ``Call/openSocket(_:_:)``.
    case openSocket

    /// A response without content.
    public static func empty(_ status: HTTPResponse.Status = .noContent) -> Reply { .respond(.empty(status)) }
}
