public import Tokens
public import Wire

/// A vendor's context for an event on one of its sockets.
public struct SocketCall<V: Vendor>: Sendable {
    /// The vendor with its accounts and keys.
    public let vendor: V
    /// What the vendor remembers about the socket.
    public let label: V.SocketLabel
    /// The moment of the event, by the sandbox's clock.
    public let moment: Moment
    /// The source of ids and other random values.
    public let identifiers: IdentifierSource
    /// How this sandbox wants the vendor to behave.
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
    /// The vendor with its accounts and keys.
    public let vendor: V
    /// The moment that the vendor named.
    public let deadline: Moment
    /// The time by the sandbox's clock: the deadline or later, much later when the clock was moved.
    public let moment: Moment
    /// The source of ids and other random values.
    public let identifiers: IdentifierSource
    /// How this sandbox wants the vendor to behave.
    public let switches: V.Switches
    public var outbox = Outbox()
}
