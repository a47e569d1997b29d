internal import Wire

/// The server's side of one open WebSocket: a pure value that reads no socket and no clock.
///
/// Give it what arrives, and call ``next(into:)`` until it says `nil`; what is to be sent is added to the output that
/// each call is given. Each call answers one frame at most, so a client that asks and does not listen is bounded by not
/// calling while the output is full.
struct WebSocketConversation {
    /// What ``next(into:)`` did.
    enum Event {
        /// A message for the handler.
        case message(WebSocketMessage)
        /// A frame that is not the handler's business was answered or dropped.
        case handled
        /// The conversation is over; what was added to the output is the last.
        ///
        /// The closure is that of the side that closed first: the client's as it was received, or the server's own.
        case ended(WebSocketClosure)
    }

    private var frames: WebSocketFrames
    private var ownClosure: WebSocketClosure?

    /// Whether both close frames were exchanged or a failure was answered, so that the connection must finish.
    private(set) var hasEnded = false

    /// The conversation behind that upgrade.
    init(_ upgrade: WebSocketUpgrade) {
        frames = WebSocketFrames(maximumMessageBytes: upgrade.maximumMessageBytes)
    }

    /// Whether the server has sent its close frame and waits for the client's.
    var isClosing: Bool { ownClosure != nil && !hasEnded }

    /// How many received bytes wait for ``next(into:)``.
    var bufferedCount: Int { frames.bufferedCount }

    /// Whether ``next(into:)`` will answer the client's close frame, behind which nothing can be sent.
    var isCloseNext: Bool { frames.isCloseNext }

    /// Adds received bytes; after the end they are dropped.
    mutating func receive(_ bytes: UnsafeRawBufferPointer) { frames.feed(bytes) }

    /// Goes on by one frame that asks for something; `nil` when more bytes are needed, and after the end.
    mutating func next(into output: inout [UInt8]) -> Event? {
        switch frames.next() {
        case .more:
            return nil
        case .message(let message):
            // ours: RFC 6455 leaves open what becomes of messages that cross the close frame; nobody could answer them.
            return isClosing ? .handled : .message(message)
        case .ping(let payload):
            // RFC 6455 section 1.4: behind its close frame a peer sends nothing, and the other would discard it.
            if !isClosing { WebSocketEncoder.encodePong(payload, into: &output) }
            return .handled
        case .pong:
            // RFC 6455 section 5.5.3: no answer is expected to a pong that nobody asked for.
            return .handled
        case .close(let closure):
            // RFC 6455 section 5.5.1: the answer typically repeats the code.
            return end(closure, answer: WebSocketClosure(closure.code), &output)
        case .failure(let closure):
            return end(closure, answer: closure, &output)
        }
    }

    /// Adds a message to the output, unless the close frame is out already.
    func send(_ message: WebSocketMessage, into output: inout [UInt8]) {
        guard ownClosure == nil, !hasEnded else { return }
        WebSocketEncoder.encode(message, into: &output)
    }

    /// Adds a close frame to the output; further calls do nothing.
    mutating func close(_ closure: WebSocketClosure, into output: inout [UInt8]) {
        guard ownClosure == nil, !hasEnded else { return }
        ownClosure = closure
        WebSocketEncoder.encode(closure, into: &output)
    }

    /// RFC 6455 section 5.5.1: each side sends one close frame, so there is no answer behind an own one.
    private mutating func end(
        _ closure: WebSocketClosure, answer: WebSocketClosure, _ output: inout [UInt8]
    ) -> Event {
        if ownClosure == nil { WebSocketEncoder.encode(answer, into: &output) }
        hasEnded = true
        return .ended(ownClosure ?? closure)
    }
}
