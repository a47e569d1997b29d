public import HTTPTypes
public import Wire

/// How a vendor takes a socket that a handshake asks for.
public struct SocketOpening<V: ServesSockets>: Sendable {
    /// Under which topics something is sent to the socket.
    public let topics: [SocketTopic]
    /// What the vendor wants to know of the socket again, such as the id of its session.
    public let label: V.SocketLabel
    /// The subprotocol that was chosen among those of the handshake.
    public let subprotocol: String?
    /// The largest message in bytes; a larger one closes with 1009.
    public let maximumMessageBytes: Int
    /// How long the client may send nothing at all, pings included, before the server closes with 1001.
    public let silence: Duration
    /// Fields of the answer besides those of RFC 6455.
    public let fields: HTTPFields

    /// An opening of these parts.
    public init(
        topics: [SocketTopic], label: V.SocketLabel, subprotocol: String? = nil,
        maximumMessageBytes: Int = 64 * 1024, silence: Duration = .seconds(600), fields: HTTPFields = [:]
    ) {
        self.topics = topics
        self.label = label
        self.subprotocol = subprotocol
        self.maximumMessageBytes = maximumMessageBytes
        self.silence = silence
        self.fields = fields
    }
}

/// A handshake that a handler has accepted.
public struct SocketRequest<V: Vendor>: Sendable {
    /// Makes the answer, and the log that the journal shows; called with which state the handler saw.
    let accept: @Sendable (Sandbox, VendorStateStore<V>, _ era: Int) -> (Response, SocketLog)
    /// Which state the handler saw: after a reset it is another one. Set after the handler, under the lock.
    @usableFromInline var era = 0
}

extension Call where V: ServesSockets {
    /// Accepts a handshake. The socket is open, and greeted by ``ServesSockets/socketOpened(_:_:)``, once the answer is sent.
    public mutating func openSocket(_ handshake: WebSocketHandshake, _ opening: SocketOpening<V>) -> Reply {
        socket = SocketRequest { sandbox, store, era in
            let connection = SocketConnection(opening, era: era, in: sandbox, store: store)
            let upgrade = WebSocketUpgrade(
                handshake, handler: connection, subprotocol: opening.subprotocol,
                maximumMessageBytes: opening.maximumMessageBytes, silence: opening.silence)
            return (.webSocket(upgrade, fields: opening.fields), connection.log)
        }
        return .openSocket
    }
}
