public import HTTPTypes
public import Wire

/// A vendor's settings for a socket requested by a handshake.
public struct SocketOpening<V: Vendor>: Sendable {
    /// The topics that the socket receives messages for.
    public let topics: [SocketTopic]
    /// What the vendor remembers about the socket, such as the id of its session.
    public let label: V.SocketLabel
    /// The subprotocol chosen from those the handshake offers.
    public let subprotocol: String?
    /// The largest message in bytes; a larger one closes with 1009.
    public let maximumMessageBytes: Int
    /// How long the client may send nothing, not even pings, before the server closes with 1001.
    public let silence: Duration
    /// Fields of the answer besides those of RFC 6455.
    public let fields: HTTPFields

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
    /// Creates the answer, and the log that the journal shows; called with the era of the state that the handler saw.
    let accept: @Sendable (Sandbox, VendorStateStore<V>, _ era: Int) -> (Response, SocketLog)
    /// The era of the state that the handler saw; a reset changes it. Set after the handler, under the lock.
    @usableFromInline var era = 0
}

extension Call {
    /// Accepts a handshake. The socket opens, and is greeted by ``Vendor/socketOpened(_:_:)``, once the answer
    /// is sent.
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
