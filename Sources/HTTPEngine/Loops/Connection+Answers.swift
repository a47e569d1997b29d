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

// What a connection waits for, how long, and what happens after that.
extension Connection {
    /// Sends as much as the client accepts; false when the connection has ended or ends now.
    func flush(_ loop: EventLoop) -> Bool {
        if case .ended = phase { return false }
        guard let sent = output.flush(to: transport) else {
            loop.close(self)
            return false
        }
        // Progress restarts only the time limit for a slow reader.
        if sent > 0, wait == .client { wait = nil }
        return true
    }

    func settle(_ loop: EventLoop) {
        if loop.isStopping, case .reading = phase, parser.isIdle, output.count == 0 { return loop.close(self) }
        if case .finishing = phase, output.count == 0 {
            guard !hasReadToEnd else { return loop.close(self) }
            if transport.finishWriting() { phase = .lingering }
        }
        if case .lingering = phase, hasReadToEnd { return loop.close(self) }
        updateInterest(loop)
        updateDeadline(loop)
    }

    private func updateInterest(_ loop: EventLoop) {
        var wanted: Interest = wantsToRead ? transport.needs : []
        if output.count > 0 { wanted.insert(.writing) }
        if case .finishing = phase { wanted.insert(.writing) }
        if !hasReadToEnd, !isPostponed, wantsToRead { wanted.insert(.reading) }
        guard wanted != interest else { return }
        loop.watch(self, from: interest, to: wanted)
        interest = wanted
    }

    var wantsToRead: Bool {
        switch phase {
        case .reading, .conversing: hasRoom
        case .answering, .holding, .dripping: parser.bufferedCount < Self.pipelineBytes
        case .lingering: true
        case .finishing, .ended: false
        }
    }
}

// MARK: - Deadlines

extension Connection {
    /// Checks whether the client has run out of time; `moment` is the time the timer was set for.
    func timerFired(set moment: MonotonicTime, _ loop: EventLoop) {
        guard reminder == moment else { return }
        reminder = laterReminder
        laterReminder = nil
        guard let deadline else { return }
        guard deadline <= loop.now else { return remind(of: deadline, loop) }
        expire(loop)
    }

    private func updateDeadline(_ loop: EventLoop) {
        let current = currentWait
        guard current != wait else { return }
        wait = current
        waitBegin = loop.now
        deadline = patience(for: current, loop.limits).map { begin(of: current, loop) + $0 }
        if let deadline { remind(of: deadline, loop) }
    }

    private var currentWait: Wait {
        if case .reading = phase, !transport.isEstablished { return .handshake }
        if output.count > 0 { return .client }
        return switch phase {
        case .reading: parser.isInContent ? .content : parser.isIdle ? .nextRequest : .head
        case .answering: .answer
        case .holding, .dripping: .pause
        case .conversing: webSocket?.conversation.isClosing == true ? .close : .message
        case .finishing: .client
        case .lingering, .ended: .close
        }
    }

    /// Silence counts from the client's last byte, whatever was sent to it since.
    private func begin(of wait: Wait, _ loop: EventLoop) -> MonotonicTime {
        wait == .message ? webSocket?.lastHeard ?? loop.now : loop.now
    }

    private func patience(for wait: Wait, _ limits: Limits) -> Duration? {
        switch wait {
        case .handshake: limits.handshake
        case .nextRequest: limits.idle
        case .head: limits.header
        case .content: limits.body
        case .client: limits.write
        case .close: limits.linger
        case .message: webSocket?.upgrade.silence
        case .pause: pause
        case .answer: nil
        }
    }

    private var pause: Duration? {
        switch phase {
        case .holding(_, let delay): delay
        case .dripping(let drip): drip.pause
        case .reading, .answering, .conversing, .finishing, .lingering, .ended: nil
        }
    }

    /// Sets a timer for the deadline, unless an earlier one is set.
    private func remind(of deadline: MonotonicTime, _ loop: EventLoop) {
        guard reminder.map({ deadline < $0 }) ?? true else { return }
        // The later timer stays in the heap and serves again after this one.
        laterReminder = reminder ?? laterReminder
        reminder = deadline
        loop.remind(self, at: deadline)
    }

    private func expire(_ loop: EventLoop) {
        switch wait {
        case .head, .content:
            // RFC 9110 section 15.5.9: a client that is late with its request gets this answer.
            refuse(.timedOut, loop)
            proceed(loop)
        case .pause:
            wait = nil
            continueAnswer(loop)
            proceed(loop)
        case .message:
            webSocket?.conversation.close(WebSocketClosure(.goingAway, reason: "silence"), into: &output.bytes)
            proceed(loop)
        case .client:
            // The system would otherwise hold the rest of the answer in memory for minutes.
            reset(loop)
        case .handshake:
            noteHandshake("it took too long", loop)
            loop.close(self)
        case .nextRequest, .close, .answer, nil:
            loop.close(self)
        }
    }
}

// MARK: - Making room

extension Connection {
    /// The order in which connections are closed to make room, 0 first; `nil` for never.
    ///
    /// A client without a request loses least. One that sends a request or is being answered loses more, unless it may
    /// be gone.
    var expendability: Int? {
        switch wait {
        case .nextRequest, .close: 0
        case .handshake, .head: 1
        case .answer, .pause: hasReadToEnd ? 1 : nil
        case .content, .client: Self.costly
        case .message: Self.costly + 1
        case nil: nil
        }
    }

    /// From this value on, connections are closed one at a time.
    static let costly = 2

    /// Closes the connection unless an unread request has arrived; returns whether it was closed.
    func giveWay(_ loop: EventLoop) -> Bool {
        if case .reading = phase, parser.isIdle {
            receive(loop)
            guard parser.isIdle else {
                proceed(loop)
                return false
            }
        }
        loop.close(self)
        return true
    }
}
