/// How a response is put on the wire: at once and whole, unless something else is wanted.
///
/// What a client meets on a bad network or behind a failing proxy, as a value, so that the engine does it for any
/// response and holds no thread meanwhile.
public struct Transmission: Sendable, Hashable {
    /// What goes wrong while a response is sent.
    public enum Fault: Sendable, Hashable {
        /// The connection breaks instead of an answer: the client receives a TCP reset, over TLS without a farewell.
        ///
        /// A reset also takes from the client what it has not read of earlier answers.
        case reset
        /// The connection closes in good order without a byte of an answer.
        case empty
        /// The head goes out as usual, then so many bytes of the content, then the connection closes.
        case truncated(bytes: Int)
        /// Bytes that are no HTTP take the place of the answer, and the connection closes.
        case garbage
        /// The answer goes out in portions of so many bytes, a millisecond apart at least; the first one goes at once.
        ///
        /// An answer that opens a WebSocket is too short for that, and goes out whole.
        case drip(bytes: Int, every: Duration)
    }

    /// How long the complete response waits before any of it is sent.
    public var delay: Duration
    /// What goes wrong; `nil` for nothing.
    public var fault: Fault?

    /// A transmission with these peculiarities.
    public init(delay: Duration = .zero, fault: Fault? = nil) {
        self.delay = delay
        self.fault = fault
    }

    /// At once and whole.
    public static let plain = Transmission()
}
