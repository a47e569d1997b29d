import Wire

/// An answer that is sent in chunks, and the rest of it.
struct Drip {
    var rest: ArraySlice<UInt8>
    /// The size of a chunk in bytes, at least 1.
    let portion: Int
    /// The pause between chunks.
    let pause: Duration
}

// How an answer is sent: at once and complete, or with the faults of its ``Transmission``.
extension Connection {
    func send(_ response: Response, _ loop: EventLoop) {
        let length = response.body.count
        if length > Self.smallBytes, isOverfull(with: length) { return refuse(.overfull, loop) }
        guard !response.isPlain else { return write(response, loop) }
        let delay = response.transmission.delay
        guard delay > .zero, !loop.isStopping else { return transmit(response, loop) }
        phase = .holding(response, delay)
    }

    /// Resumes a paused answer, without further pauses when stopping.
    func continueAnswer(_ loop: EventLoop) {
        switch phase {
        case .holding(let response, _):
            phase = .reading
            transmit(response, loop)
        case .dripping(var drip):
            let portion = drip.rest.prefix(loop.isStopping ? .max : drip.portion)
            drip.rest = drip.rest.dropFirst(portion.count)
            output.bytes.append(contentsOf: portion)
            phase = drip.rest.isEmpty ? phaseAfterAnswer : .dripping(drip)
        case .reading, .answering, .conversing, .finishing, .lingering, .ended: break
        }
    }

    private func transmit(_ response: Response, _ loop: EventLoop) {
        switch response.transmission.fault {
        case nil: write(response, loop)
        case .reset:
            // Earlier answers are not part of the fault.
            _ = output.flush(to: transport)
            reset(loop)
        case .empty: phase = .finishing
        case .garbage:
            output.bytes.append(contentsOf: Self.garbage)
            phase = .finishing
        case .truncated(let bytes):
            write(response, loop)
            let content = ResponseEncoder.sendsContent(response, exchange) ? response.body.count : 0
            output.bytes.removeLast(max(0, content - max(0, bytes)))
            phase = .finishing
        case .drip(let portion, let pause):
            response.upgrade == nil ? drip(response, portion, pause, loop) : write(response, loop)
        }
    }

    private func write(_ response: Response, _ loop: EventLoop) {
        if let upgrade = response.upgrade { return open(upgrade, response, loop) }
        encode(response, into: &output.bytes, loop)
        phase = phaseAfterAnswer
    }

    private func encode(_ response: Response, into bytes: inout [UInt8], _ loop: EventLoop) {
        exchange.persists = exchange.persists && !loop.isStopping
        exchange.persists = loop.encoder.encode(response, for: exchange, into: &bytes)
    }

    private var phaseAfterAnswer: Phase { exchange.persists ? .reading : .finishing }

    private func drip(_ response: Response, _ portion: Int, _ pause: Duration, _ loop: EventLoop) {
        var bytes: [UInt8] = []
        encode(response, into: &bytes, loop)
        // Without any pause, timers would keep the loop busy until the last chunk.
        phase = .dripping(Drip(rest: bytes[...], portion: max(1, portion), pause: max(pause, .milliseconds(1))))
        continueAnswer(loop)
    }

    /// Resets the connection instead of answering.
    func reset(_ loop: EventLoop) {
        transport.discardUnsent()
        loop.close(self)
    }

    /// Bytes that cannot be read as a status line.
    private static let garbage = [UInt8](0x80...0xFF)
}

// The connection as a WebSocket, until both sides have closed.
extension Connection {
    /// Accepts a handshake; bytes after it are already frames.
    func open(_ upgrade: WebSocketUpgrade, _ response: Response, _ loop: EventLoop) {
        var response = response
        response.fields = upgrade.answerFields(with: response.fields)
        _ = loop.encoder.encode(response, for: exchange, into: &output.bytes)
        let channel = SocketChannel(
            loop.mailbox, descriptor: descriptor, connection: identifier, limit: loop.limits.webSocketQueueBytes)
        let open = OpenWebSocket(upgrade: upgrade, channel: channel, lastHeard: loop.now)
        parser.takeUnused().withUnsafeBytes { open.conversation.receive($0) }
        webSocket = open
        occupancy.webSocketOpened()
        phase = .conversing
        upgrade.handler.opened(open.socket)
        if loop.isStopping { webSocket?.conversation.close(WebSocketClosure(.goingAway), into: &output.bytes) }
    }

    func hear(_ received: UnsafeRawBufferPointer, _ loop: EventLoop) {
        webSocket?.conversation.receive(received)
        // Any byte ends the silence.
        webSocket?.lastHeard = loop.now
        if wait == .message { wait = nil }
    }

    /// Handles the next frame; false when it needs more bytes.
    func converse(_ loop: EventLoop) -> Bool {
        switch webSocket?.conversation.next(into: &output.bytes) {
        case .message(let message):
            if let webSocket { webSocket.upgrade.handler.received(message, on: webSocket.socket) }
            return true
        case .handled:
            return true
        case .ended(let closure):
            phase = .finishing
            reportEnd(closure)
            return true
        case nil:
            if hasReadToEnd { phase = .finishing }
            return false
        }
    }

    /// Performs a command that another thread sent through the channel.
    func perform(_ command: SocketChannel.Command, _ loop: EventLoop) {
        guard case .conversing = phase else { return }
        switch command {
        case .send(let message):
            webSocket?.channel.taken(message)
            webSocket?.conversation.send(message, into: &output, frame: loop.frame)
            guard output.count <= loop.limits.webSocketQueueBytes else { return drop(loop) }
            if isOverfull() {
                // Others may have filled the server while this client reads well.
                guard flush(loop) else { return }
                if isOverfull() { return drop(loop, because: "too much waits for all clients, and for this one too") }
            }
        case .close(let closure):
            webSocket?.conversation.close(closure, into: &output.bytes)
        case .drop:
            return drop(loop)
        }
        // Several messages in one round go out in one write.
        postpone(loop)
    }

    /// Gives up on a client for which too much waits.
    ///
    /// The queue is sent, then the close frame: a slow reader learns the reason, a client that does not read is reset
    /// after ``Limits/write``. Until then nothing more is queued.
    private func drop(_ loop: EventLoop, because reason: String = "the client takes its messages too slowly") {
        let closure = WebSocketClosure(.tryAgainLater, reason: reason)
        note(.refused(status: Int(closure.code.rawValue), reason: reason), loop)
        webSocket?.conversation.close(closure, into: &output.bytes)
        reportEnd(closure)
        phase = .finishing
        postpone(loop)
    }

    /// Reports the end to the handler, once.
    func reportEnd(_ closure: WebSocketClosure) {
        guard let ended = webSocket else { return }
        webSocket = nil
        occupancy.webSocketClosed()
        ended.channel.end()
        ended.upgrade.handler.closed(ended.socket, closure)
    }
}

/// The WebSocket that a connection has become.
///
/// A class, so that other connections only need room for a reference, and access copies nothing.
final class OpenWebSocket {
    let upgrade: WebSocketUpgrade
    let channel: SocketChannel
    var conversation: WebSocketConversation
    /// When the client last sent anything.
    var lastHeard: MonotonicTime

    init(upgrade: WebSocketUpgrade, channel: SocketChannel, lastHeard: MonotonicTime) {
        self.upgrade = upgrade
        self.channel = channel
        conversation = WebSocketConversation(upgrade)
        self.lastHeard = lastHeard
    }

    /// Whether the client's close frame must wait for answers to earlier messages, which are in the mailbox.
    var mustSendFirst: Bool { conversation.isCloseNext && channel.hasWaiting }

    /// The handler's end.
    var socket: WebSocket { WebSocket(channel) }
}
