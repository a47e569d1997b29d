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

    /// The default limits.
    package init() {}
}
