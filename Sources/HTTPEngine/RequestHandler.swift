public import Wire

/// What the engine asks for every request.
///
/// The calls run on the loop of the connection: what must wait belongs into ``Wire/Answer/deferred(_:)``.
public protocol RequestHandler: Sendable {
    /// The largest content in bytes that every route takes; read once, when the server starts.
    ///
    /// A request that announces no more is taken without asking for its route.
    var smallestBodyLimit: Int { get }

    /// The largest content in bytes that the route of this request takes.
    ///
    /// Asked at most once, when the head is complete; `request.body` is empty then.
    func bodyLimit(for request: Request) -> Int

    /// The answer to a complete request.
    ///
    /// A content over the limit comes as ``Wire/Request/bodyExceedsLimit`` with an empty body, and the connection
    /// closes after the answer.
    func answer(_ request: Request) -> Answer

    /// The server that will ask has come into being, and this is how busy it is from now on.
    func willServe(_ occupancy: ServerOccupancy)

    /// Something that the engine dealt with by itself, for an operator's log.
    func noted(_ note: EngineNote)
}

extension RequestHandler {
    /// None at all, so that every route with content is asked for.
    public var smallestBodyLimit: Int { 0 }

    /// Does nothing.
    public func willServe(_ occupancy: ServerOccupancy) {}

    /// Does nothing.
    public func noted(_ note: EngineNote) {}
}
