public import HTTPTypes
import Synchronization
public import Tokens
public import Wire

/// A vendor's context for an event on one of its sockets.
public struct SocketCall<V: Vendor>: Sendable {
    public let vendor: V
    /// What the vendor remembers about the socket.
    public let label: V.SocketLabel
    /// The moment of the event, by the sandbox's clock.
    public let moment: Moment
    public let identifiers: IdentifierSource
    public let switches: V.Switches
    public var outbox = Outbox()
    /// Remarks for the journal.
    private(set) var notes: [Finding] = []

    /// Sends a message to this socket, in order with the messages of ``outbox`` to others.
    public mutating func reply(_ message: WebSocketMessage) { outbox.reply(message) }

    /// Closes this socket; messages sent before still arrive.
    public mutating func close(_ closure: WebSocketClosure) { outbox.hangUp(closure) }

    /// Adds a remark to the journal, such as why a frame was ignored.
    public mutating func note(_ finding: Finding) { notes.append(finding) }
}

/// A vendor's context for a deadline that has passed.
public struct DeadlineCall<V: Vendor>: Sendable {
    public let vendor: V
    /// The moment that the vendor named.
    public let deadline: Moment
    /// The time by the sandbox's clock: the deadline or later, much later when the clock was moved.
    public let moment: Moment
    public let identifiers: IdentifierSource
    public let switches: V.Switches
    public var outbox = Outbox()
}

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
    let accept: @Sendable (Sandbox, SandboxedVendor<V>, _ era: Int) -> (Response, SocketLog)
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

/// Routes the events of one socket to the state it belongs to.
final class SocketConnection<V: Vendor>: WebSocketHandler {
    let sandbox: Sandbox
    let opening: SocketOpening<V>
    /// The era of the state that judged the handshake.
    let era: Int
    let log = SocketLog()
    private let store: SandboxedVendor<V>

    init(_ opening: SocketOpening<V>, era: Int, in sandbox: Sandbox, store: SandboxedVendor<V>) {
        self.opening = opening
        self.era = era
        self.sandbox = sandbox
        self.store = store
    }

    func opened(_ socket: WebSocket) {
        // Pinned before any event: from here on, the closing event is guaranteed.
        sandbox.pinSocket()
        store.open(socket, self)
        sandbox.journal.noteChange()
    }

    func received(_ message: WebSocketMessage, on socket: WebSocket) {
        sandbox.touch()
        store.receive(message, on: socket, self)
        sandbox.journal.noteChange()
    }

    func closed(_ socket: WebSocket, _ closure: WebSocketClosure) {
        store.forget(socket, closure, self)
        sandbox.unpinSocket()
        sandbox.journal.noteChange()
    }
}

/// The messages of an exchange, a frame, an action or a deadline to open sockets.
///
/// It is committed under the lock of the state, in order, and only when the work was not refused: so sockets receive
/// messages in the order of the state's changes.
public struct Outbox: Sendable {
    @usableFromInline
    enum Order: Sendable {
        case send(WebSocketMessage, [SocketTopic])
        case close(WebSocketClosure, SocketTopic)
        /// A message to the socket whose frame is being handled.
        case reply(WebSocketMessage)
        /// Closes the socket whose frame is being handled.
        case hangUp(WebSocketClosure)
    }

    @usableFromInline private(set) var orders: [Order]
    /// The exchange whose orders were committed; `nil` before that.
    @usableFromInline var cause: FrameCause?

    @inlinable
    public init() {
        orders = []
    }

    @inlinable var isEmpty: Bool { orders.isEmpty }

    /// Sends a message to every socket that has one of these topics, once to each.
    public mutating func send(_ message: WebSocketMessage, to topics: [SocketTopic]) {
        orders.append(.send(message, topics))
    }

    /// Closes every socket with this topic; messages sent before still arrive, later ones are not sent.
    public mutating func close(_ closure: WebSocketClosure, at topic: SocketTopic) {
        orders.append(.close(closure, topic))
    }

    mutating func reply(_ message: WebSocketMessage) { orders.append(.reply(message)) }

    mutating func hangUp(_ closure: WebSocketClosure) { orders.append(.hangUp(closure)) }
}

/// An address for messages to sockets.
///
/// A socket can be registered under any number of topics, such as `session:ID`, and many sockets may share one.
public struct SocketTopic: Hashable, Sendable {
    private let text: String

    /// Creates a topic from a string that only its vendor interprets.
    public init(_ text: String) {
        self.text = text
    }
}

/// The exchange that caused messages to sockets; its number is known once the journal has it.
@usableFromInline
package final class FrameCause: Sendable {
    private let number = Atomic<Int>(0)

    init() {}

    /// The number of the entry; `nil` while there is none.
    var entry: Int? {
        let number = number.load(ordering: .relaxed)
        return number == 0 ? nil : number
    }

    func stands(at entry: Int) { number.store(entry, ordering: .relaxed) }
}
