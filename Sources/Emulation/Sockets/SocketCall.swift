public import Tokens
public import Wire

/// What a vendor works with when something happens at one of its sockets.
public struct SocketCall<V: ServesSockets>: Sendable {
    /// The vendor with its accounts and keys.
    public let vendor: V
    /// What the vendor wanted to know of the socket again.
    public let label: V.SocketLabel
    /// The moment at which it happens, by the sandbox's clock.
    public let moment: Moment
    /// Source of ids and other randomness.
    public let identifiers: IdentifierSource
    /// How this sandbox wants the vendor to behave.
    public let switches: V.Switches
    /// What other sockets are told.
    public var outbox = Outbox()
    /// Remarks for the journal.
    private(set) var notes: [Finding] = []

    /// Sends a message to this socket, in order with what ``outbox`` tells the others.
    public mutating func reply(_ message: WebSocketMessage) { outbox.reply(message) }

    /// Closes this socket; what was sent before still arrives.
    public mutating func close(_ closure: WebSocketClosure) { outbox.hangUp(closure) }

    /// Remarks something for the journal, such as why a frame was ignored.
    public mutating func note(_ finding: Finding) { notes.append(finding) }
}

/// What a vendor works with when a deadline has passed that it named.
public struct DeadlineCall<V: KeepsDeadlines>: Sendable {
    /// The vendor with its accounts and keys.
    public let vendor: V
    /// The moment that the vendor named.
    public let deadline: Moment
    /// What the sandbox's clock shows: the deadline or a later moment, much later when the clock was moved.
    public let moment: Moment
    /// Source of ids and other randomness.
    public let identifiers: IdentifierSource
    /// How this sandbox wants the vendor to behave.
    public let switches: V.Switches
    /// What sockets are told.
    public var outbox = Outbox()
}
