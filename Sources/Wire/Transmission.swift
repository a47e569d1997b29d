/// How a response goes over the wire: at once and complete by default.
///
/// Describes bad networks and failing proxies as a value, so that the engine can apply them to any response without
/// holding a thread.
public struct Transmission: Sendable, Hashable {
    /// A fault during sending.
    public enum Fault: Sendable, Hashable {
        /// Resets the TCP connection instead of answering; over TLS without `close_notify`.
        ///
        /// A reset also discards what the client has not yet read of earlier answers.
        case reset
        /// Closes the connection in good order without sending anything.
        case empty
        /// Sends the head and that many bytes of the content, then closes the connection.
        case truncated(bytes: Int)
        /// Sends bytes that are not HTTP instead of the answer, then closes the connection.
        case garbage
        /// Sends the answer in chunks of that many bytes, at least a millisecond apart; the first goes at once.
        ///
        /// An answer that opens a WebSocket is too short for this and is sent whole.
        case drip(bytes: Int, every: Duration)
    }

    /// How long the complete response waits before it is sent.
    public var delay: Duration
    /// The fault, or `nil`.
    public var fault: Fault?

    public init(delay: Duration = .zero, fault: Fault? = nil) {
        self.delay = delay
        self.fault = fault
    }

    /// At once and whole.
    public static let plain = Transmission()
}
