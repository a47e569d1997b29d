/// What clients may ask of a server, in bytes, counts and time.
public struct Limits: Sendable {
    /// The bytes of a head: request line and field lines. Chunk extensions and trailers may take as many once more.
    public var headerBytes = 32 * 1024
    /// The field lines of a head.
    public var headerLines = 100
    /// The connections that are open at one time.
    ///
    /// For further ones others give way: first those that are idle or behind their last answer, then those that are late
    /// with a handshake or a head, then those that are slow with content, then silent WebSockets, among equals the oldest.
    /// Who is being answered keeps its place; if that holds for all, newcomers wait in the listener's queue.
    public var maximumConnections = 10_000
    /// How long a TLS handshake may take.
    public var handshake: Duration = .seconds(10)
    /// How long a connection may stay open between two requests.
    public var idle: Duration = .seconds(30)
    /// How long a head may take from its first to its last byte.
    public var header: Duration = .seconds(15)
    /// How long the content may take from the end of the head to its last byte.
    public var body: Duration = .seconds(60)
    /// How long an answer may wait for the client to take more of it.
    public var write: Duration = .seconds(30)
    /// How long a connection that the server has finished stays readable, so that the client gets the last answer.
    public var linger: Duration = .seconds(2)
    /// The bytes that may wait for a WebSocket's client, and the largest message for it. One that lets more gather is sent
    /// those, a close frame with code 1013 behind them, and nothing more; one that reads nothing is reset after ``write``.
    public var webSocketQueueBytes = 1024 * 1024

    /// The default limits.
    public init() {}
}
