public import Wire

/// Answers the engine's requests.
///
/// Calls run on the connection's loop: work that must wait belongs into ``Wire/Answer/deferred(_:)``.
public protocol RequestHandler: Sendable {
    /// The largest content in bytes that every route accepts; read once, when the server starts.
    ///
    /// A request that announces no more is accepted without asking for its route's limit.
    var smallestBodyLimit: Int { get }

    /// The limit for a request's content, and how the request is answered.
    ///
    /// Called at most once per request, when the head is complete and `body` is still empty. The returned answer is
    /// then used instead of ``answer(_:)``.
    func admit(_ head: Request) -> Admission

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

/// A handler's reply to the head of a request.
public struct Admission: Sendable {
    /// The largest content in bytes that the route accepts.
    public let bodyLimit: Int
    /// The answer to the request, once it is complete.
    public let answer: @Sendable (Request) -> Answer

    /// An admission with these parts.
    public init(bodyLimit: Int, answer: @escaping @Sendable (Request) -> Answer) {
        self.bodyLimit = bodyLimit
        self.answer = answer
    }
}

extension RequestHandler {
    /// The largest content in bytes that the route of this request accepts.
    public func bodyLimit(for head: Request) -> Int { admit(head).bodyLimit }

    /// Zero, so that every route with content is asked.
    public var smallestBodyLimit: Int { 0 }

    public func willServe(_ occupancy: ServerOccupancy) {}

    public func noted(_ note: EngineNote) {}
}
