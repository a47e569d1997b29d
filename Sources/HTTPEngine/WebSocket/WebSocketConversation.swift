internal import Wire

/// The server's side of one open WebSocket: a pure value that reads no socket and no clock.
///
/// Feed it what arrives, and call ``next(into:)`` until it returns `nil`; it appends what must be sent to the output.
/// Each call answers at most one frame, so not calling it while the output is full bounds a client that asks but does
/// not read.
struct WebSocketConversation {
    /// The result of ``next(into:)``.
    enum Event {
        case message(WebSocketMessage)
        /// A frame that does not concern the handler was answered or dropped.
        case handled
        /// The conversation is over; nothing follows in the output.
        ///
        /// The closure is that of the side that closed first: the client's as received, or the server's own.
        case ended(WebSocketClosure)
    }

    private var frames: WebSocketFrames
    private var ownClosure: WebSocketClosure?

    /// Whether both close frames were exchanged or a failure was answered, so that the connection must finish.
    private(set) var hasEnded = false

    /// The conversation after that upgrade.
    init(_ upgrade: WebSocketUpgrade) {
        frames = WebSocketFrames(maximumMessageBytes: upgrade.maximumMessageBytes)
    }

    /// Whether the server has sent its close frame and waits for the client's.
    var isClosing: Bool { ownClosure != nil && !hasEnded }

    /// The number of received bytes that wait for ``next(into:)``.
    var bufferedCount: Int { frames.bufferedCount }

    /// Whether ``next(into:)`` will answer the client's close frame, after which nothing can be sent.
    var isCloseNext: Bool { frames.isCloseNext }

    /// Adds received bytes; after the end they are dropped.
    mutating func receive(_ bytes: UnsafeRawBufferPointer) { frames.feed(bytes) }

    /// Handles the next frame that needs it; `nil` when more bytes are needed, and after the end.
    mutating func next(into output: inout [UInt8]) -> Event? {
        switch frames.next() {
        case .more:
            return nil
        case .message(let message):
            // ours: RFC 6455 does not say what to do with messages that cross the close frame; they cannot be answered.
            return isClosing ? .handled : .message(message)
        case .ping(let payload):
            // RFC 6455 section 1.4: after its close frame a peer sends nothing, and the other discards the rest.
            if !isClosing { WebSocketEncoder.encodePong(payload, into: &output) }
            return .handled
        case .pong:
            // RFC 6455 section 5.5.3: an unsolicited pong needs no answer.
            return .handled
        case .close(let closure):
            // RFC 6455 section 5.5.1: the answer typically repeats the code.
            return end(closure, answer: WebSocketClosure(closure.code), &output)
        case .failure(let closure):
            return end(closure, answer: closure, &output)
        }
    }

    /// Appends a message to the output, unless the close frame has been sent.
    func send(_ message: WebSocketMessage, into output: inout [UInt8]) {
        guard ownClosure == nil, !hasEnded else { return }
        WebSocketEncoder.encode(message, into: &output)
    }

    /// Appends a close frame to the output; further calls do nothing.
    mutating func close(_ closure: WebSocketClosure, into output: inout [UInt8]) {
        guard ownClosure == nil, !hasEnded else { return }
        ownClosure = closure
        WebSocketEncoder.encode(closure, into: &output)
    }

    /// RFC 6455 section 5.5.1: each side sends one close frame, so ours is not sent twice.
    private mutating func end(
        _ closure: WebSocketClosure, answer: WebSocketClosure, _ output: inout [UInt8]
    ) -> Event {
        if ownClosure == nil { WebSocketEncoder.encode(answer, into: &output) }
        hasEnded = true
        return .ended(ownClosure ?? closure)
    }
}
