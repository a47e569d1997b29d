import Synchronization
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

/// An event that the engine handled without its handler.
public struct EngineNote: Sendable, Hashable, CustomStringConvertible {
    package enum Event: Sendable, Hashable {
        /// The bytes were not a valid request and got that status.
        case refused(status: Int, reason: String)
        case handshakeFailed(String)
    }

    package let event: Event
    /// The client's address without the port.
    package let remoteAddress: String

    /// The event in one line.
    public var description: String {
        switch event {
        case .refused(let status, let reason): "\(status) to \(remoteAddress): \(reason)"
        case .handshakeFailed(let reason): "TLS handshake with \(remoteAddress) failed: \(reason)"
        }
    }
}

/// Limits on clients, in bytes, counts and time.
package struct Limits: Sendable {
    /// The bytes of a head: request line and field lines. Chunk extensions and trailers together may use the same
    /// amount again.
    package var headerBytes = 32 * 1024
    /// The number of field lines in a head.
    package var headerLines = 100
    /// The number of open connections.
    ///
    /// At the limit, others are closed for new ones: first idle or finished connections, then handshakes and unfinished
    /// heads, then clients that send or read slowly, then silent WebSockets; the oldest first among equals. A client
    /// that waits for its answer keeps its connection, unless it has closed its side. If all keep theirs, new clients
    /// wait in the listen queue.
    package var maximumConnections = 10_000
    /// The time limit of a TLS handshake.
    package var handshake: Duration = .seconds(10)
    /// How long a connection may stay idle between requests.
    package var idle: Duration = .seconds(30)
    /// The time limit of a head, from its first to its last byte.
    package var header: Duration = .seconds(15)
    /// The time limit of the content, from the end of the head to its last byte.
    package var body: Duration = .seconds(60)
    /// How long an answer waits for the client to accept more of it.
    package var write: Duration = .seconds(30)
    /// How long the server keeps reading from a finished connection, so that the client receives the last answer.
    package var linger: Duration = .seconds(2)
    /// The bytes that may be queued for a WebSocket's client, also the limit of one message. Beyond it the client gets
    /// what is queued, a close frame with code 1013, and nothing more; a client that does not read is reset after
    /// ``write``.
    package var webSocketQueueBytes = 1024 * 1024
    /// The bytes that all connections together may keep: contents on their way in, answers and messages on their way out.
    /// Beyond it a long content or answer becomes 503, and a WebSocket whose client reads slowly is closed with 1013.
    package var keptBytes = 96 << 20

    package init() {}
}

/// The number of open connections of a server, and what they keep; thread-safe.
public final class ServerOccupancy: Sendable {
    private let connections = Atomic(0)
    private let webSockets = Atomic(0)
    private let kept = Atomic(0)
    private let most: Int

    init(keeping most: Int) { self.most = most }

    /// The open connections, including WebSockets.
    package var openConnections: Int { connections.load(ordering: .relaxed) }
    package var openWebSockets: Int { webSockets.load(ordering: .relaxed) }

    func connectionOpened() { connections.add(1, ordering: .relaxed) }
    func connectionClosed() { connections.subtract(1, ordering: .relaxed) }
    func webSocketOpened() { webSockets.add(1, ordering: .relaxed) }
    func webSocketClosed() { webSockets.subtract(1, ordering: .relaxed) }

    /// Whether connections keep more than they may, with so many bytes more.
    func isFull(with bytes: Int) -> Bool { kept.load(ordering: .relaxed) + bytes > most }

    func keep(_ bytes: Int) { kept.add(bytes, ordering: .relaxed) }
}
