public import Wire

/// What the engine asks for every request.
///
/// The calls run on the loop of the connection: what must wait belongs into ``Wire/Answer/deferred(_:)``.
public protocol RequestHandler: Sendable {
    /// The largest content in bytes that every route takes; read once, when the server starts.
    ///
    /// A request that announces no more is taken without asking for its route.
    var smallestBodyLimit: Int { get }

    /// How long the content of a request may be whose head is complete, and who answers it.
    ///
    /// Asked at most once a request; its answer is then asked of what this gives, and not of ``answer(_:)``.
    func admit(_ head: Request) -> Admission

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

/// What a handler says to a head.
public struct Admission: Sendable {
    /// The largest content in bytes that the route takes.
    public let bodyLimit: Int
    /// The answer to the request, once it is complete.
    public let answer: @Sendable (Request) -> Answer

    /// An admission of these parts.
    public init(bodyLimit: Int, answer: @escaping @Sendable (Request) -> Answer) {
        self.bodyLimit = bodyLimit
        self.answer = answer
    }
}

extension RequestHandler {
    /// The largest content in bytes that the route of a request takes.
    public func bodyLimit(for head: Request) -> Int { admit(head).bodyLimit }

    /// None at all, so that every route with content is asked for.
    public var smallestBodyLimit: Int { 0 }

    /// Does nothing.
    public func willServe(_ occupancy: ServerOccupancy) {}

    /// Does nothing.
    public func noted(_ note: EngineNote) {}
}
