public import Wire

/// Answers the engine's requests.
///
/// Calls run on the connection's loop: work that must wait belongs into ``Wire/Answer/deferred(_:)``.
public protocol RequestHandler: Sendable {
    /// The largest content in bytes that every route accepts; read once, when the server starts.
    ///
    /// A request that announces no more is accepted without asking for its route's limit.
    var smallestBodyLimit: Int { get }

    /// The largest content in bytes that the route of this request accepts.
    ///
    /// Called at most once per request, when the head is complete; `request.body` is empty then.
    func bodyLimit(for request: Request) -> Int

    /// The answer to a complete request.
    ///
    /// Content over the limit arrives as ``Wire/Request/bodyExceedsLimit`` with an empty body, and the connection
    /// closes after the answer.
    func answer(_ request: Request) -> Answer

    /// The server exists and will report its load here.
    func willServe(_ occupancy: ServerOccupancy)

    /// An event that the engine handled by itself, for an operator's log.
    func noted(_ note: EngineNote)
}

extension RequestHandler {
    /// Zero, so that every route with content is asked.
    public var smallestBodyLimit: Int { 0 }

    /// Does nothing.
    public func willServe(_ occupancy: ServerOccupancy) {}

    /// Does nothing.
    public func noted(_ note: EngineNote) {}
}
