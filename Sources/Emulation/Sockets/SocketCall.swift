import JSON
import Synchronization
public import Tokens
public import Wire

/// A vendor's context for an event on one of its sockets.
public struct SocketCall<V: Vendor>: Sendable {
    public let vendor: V
    public let label: V.SocketLabel
    public let moment: Moment
    public let identifiers: IdentifierSource
    public let switches: V.Switches
    public var outbox = Outbox()
    private(set) var notes: [Finding] = []

    /// Sends a message to this socket, in order with the messages of ``outbox`` to others.
    public mutating func reply(_ message: WebSocketMessage) { outbox.orders.append(.reply(message)) }

    /// Closes this socket; messages sent before still arrive.
    public mutating func close(_ closure: WebSocketClosure) { outbox.orders.append(.hangUp(closure)) }

    /// Adds a remark to the journal, such as why a frame was ignored.
    public mutating func note(_ finding: Finding) { notes.append(finding) }
}

public struct DeadlineCall<V: Vendor>: Sendable {
    public let vendor: V
    public let deadline: Moment
    /// The time by the sandbox's clock: the deadline or later, much later when the clock was moved.
    public let moment: Moment
    public let identifiers: IdentifierSource
    public let switches: V.Switches
    public var outbox = Outbox()
}

/// A vendor's settings for a socket requested by a handshake.
public struct SocketOpening<V: Vendor>: Sendable {
    public let topics: [SocketTopic]
    /// What the vendor remembers about the socket, such as the id of its session.
    public let label: V.SocketLabel
    /// The largest message in bytes; a larger one closes with 1009.
    public let maximumMessageBytes: Int
    /// How long the client may send nothing, not even pings, before the server closes with 1001.
    public let silence: Duration

    public init(
        topics: [SocketTopic], label: V.SocketLabel, maximumMessageBytes: Int = 64 * 1024,
        silence: Duration = .seconds(600)
    ) {
        (self.topics, self.label) = (topics, label)
        (self.maximumMessageBytes, self.silence) = (maximumMessageBytes, silence)
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
                handshake, handler: connection, maximumMessageBytes: opening.maximumMessageBytes,
                silence: opening.silence)
            return (.webSocket(upgrade), connection.log)
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
        (self.opening, self.era, self.sandbox, self.store) = (opening, era, sandbox, store)
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

    @usableFromInline fileprivate(set) var orders: [Order]
    /// The exchange whose orders were committed; `nil` before that.
    @usableFromInline var cause: FrameCause?

    @inlinable
    public init() { orders = [] }

    @inlinable var isEmpty: Bool { orders.isEmpty }

    /// Sends a message to every socket that has one of these topics, once to each.
    public mutating func send(_ message: WebSocketMessage, to topics: [SocketTopic]) {
        orders.append(.send(message, topics))
    }

    /// Closes every socket with this topic; messages sent before still arrive, later ones are not sent.
    public mutating func close(_ closure: WebSocketClosure, at topic: SocketTopic) {
        orders.append(.close(closure, topic))
    }
}

/// An address for messages to sockets.
///
/// A socket can be registered under any number of topics, such as `session:ID`, and many sockets may share one.
public struct SocketTopic: Hashable, Sendable {
    private let text: String

    /// Creates a topic from a string that only its vendor interprets.
    public init(_ text: String) { self.text = text }
}

/// The exchange that caused messages to sockets; its number is known once the journal has it.
@usableFromInline
package final class FrameCause: Sendable {
    private let number = Atomic<Int>(0)

    /// The number of the entry; `nil` while there is none.
    var entry: Int? {
        let number = number.load(ordering: .relaxed)
        return number == 0 ? nil : number
    }

    func stands(at entry: Int) { number.store(entry, ordering: .relaxed) }
}

/// The traffic of a socket, for the journal entry of the exchange that opened it: the newest frames within limits.
public final class SocketLog: Sendable {
    package struct Frame: Sendable {
        package let isReceived: Bool
        package let moment: Moment
        /// The message; `nil` when it was too long to keep.
        package let message: WebSocketMessage?
        package let byteCount: Int
        package let notes: [Finding]
        fileprivate let cause: FrameCause?

        fileprivate func json(_ body: ([UInt8]) -> JSON) -> JSON {
            let shown: JSON =
                switch message {
                case .text(let text)?: body(Array(text.utf8))
                case .binary?, nil: .string("(\(byteCount) bytes)")
                }
            return [
                "from": .string(isReceived ? "client" : "server"), "at": .string(moment.rfc3339), "message": shown,
                "findings": .array(notes.map(\.json)), "cause": cause?.entry.map { JSON($0) } ?? .null,
            ]
        }
    }

    private struct Content {
        var frames: [Frame] = []
        var bytes = 0
        var received = 0
        var sent = 0
        var closure: (WebSocketClosure, Moment)?
        /// The vendor's remarks on the opening and the end.
        var notes: [Finding] = []
    }

    /// ours: a longer message is counted but not kept.
    private static let longestMessage = 1024
    /// ours: the memory for the frames of one socket, in bytes; an entry counts it in full.
    static let byteLimit = 8 * 1024
    /// The overhead of a frame, and of each of its notes.
    private static let frameCost = 96
    private static let noteCost = 256
    private static let mostNotes = 8

    private let content = Mutex(Content())

    package var frames: [Frame] { content.withLock { $0.frames } }

    /// How it ended; `nil` while it is open, or while the handshake's answer is being sent.
    package var closure: WebSocketClosure? { content.withLock { $0.closure?.0 } }

    func received(_ message: WebSocketMessage, _ notes: [Finding], at moment: Moment) {
        add(message, isReceived: true, notes, moment, nil)
    }

    func sent(_ message: WebSocketMessage, at moment: Moment, because cause: FrameCause? = nil) {
        add(message, isReceived: false, [], moment, cause)
    }

    func noted(_ notes: [Finding]) {
        if notes.isEmpty { return }
        content.withLock { content in content.notes += notes.prefix(Self.mostNotes - content.notes.count) }
    }

    package var notes: [Finding] { content.withLock { $0.notes } }

    func closed(_ closure: WebSocketClosure, at moment: Moment) {
        content.withLock { $0.closure = ($0.closure ?? (closure, moment)) }
    }

    private func add(
        _ message: WebSocketMessage, isReceived: Bool, _ notes: [Finding], _ moment: Moment, _ cause: FrameCause?
    ) {
        let count = message.byteCount
        let frame = Frame(
            isReceived: isReceived, moment: moment, message: count > Self.longestMessage ? nil : message,
            byteCount: count, notes: Array(notes.prefix(Self.mostNotes)), cause: cause)
        content.withLock { content in
            if isReceived { content.received += 1 } else { content.sent += 1 }
            content.frames.append(frame)
            content.bytes += Self.cost(frame)
            var surplus = 0
            while content.bytes > Self.byteLimit, surplus < content.frames.count {
                content.bytes -= Self.cost(content.frames[surplus])
                surplus += 1
            }
            content.frames.removeFirst(surplus)
        }
    }

    private static func cost(_ frame: Frame) -> Int {
        frameCost + (frame.message == nil ? 0 : frame.byteCount) + noteCost * frame.notes.count
    }

    /// - Parameter body: renders the bytes of an exchange.
    func json(_ body: ([UInt8]) -> JSON) -> JSON {
        let content = content.withLock { $0 }
        let closed = content.closure.map { closure, moment -> JSON in
            [
                "code": JSON(Int(closure.code.rawValue)), "reason": .string(closure.reason),
                "at": .string(moment.rfc3339),
            ]
        }
        return [
            "received": JSON(content.received), "sent": JSON(content.sent), "closed": closed ?? .null,
            "findings": .array(content.notes.map(\.json)),
            "frames": .array(content.frames.map { $0.json(body) }),
        ]
    }
}
