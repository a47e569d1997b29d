import Wire

/// One client's connection: a state machine that only its loop's thread touches.
///
/// Requests are answered one at a time and in order. During a deferred or delayed answer, further input is buffered up
/// to a limit and not parsed. The extensions handle requests, answers, the WebSocket and waiting.
final class Connection {
    enum Phase {
        /// Requests are read and answered.
        case reading
        /// A deferred answer is in progress.
        case answering(Task<Void, Never>)
        /// A complete response is delayed.
        case holding(Response, Duration)
        /// An answer is sent in chunks.
        case dripping(Drip)
        /// The connection has become a WebSocket.
        case conversing
        /// The last answer is being sent.
        case finishing
        /// Everything is sent; input is discarded until the client closes. RFC 9112 section 9.6: closing at once would
        /// reset the connection, and the client could lose the answer.
        case lingering
        case ended
    }

    /// What a connection waits for; each except `answer` has a time limit.
    enum Wait {
        case handshake
        case nextRequest
        case head
        case content
        case answer
        case pause
        case message
        case client
        case close
    }

    /// Distinguishes this connection from earlier and later ones with the same descriptor on this loop.
    let identifier: UInt64

    /// Counts the open connections.
    let occupancy: ServerOccupancy
    let transport: Transport
    var parser: RequestParser
    var output = OutputBuffer()
    /// What it kept when that was last counted.
    private var countedBytes = 0
    var phase = Phase.reading
    /// The handler's reply to the head of the request whose content is being read.
    var admission: Admission?
    var exchange = ResponseEncoder.Framing()
    /// The WebSocket that this has become, until its end is reported.
    var webSocket: OpenWebSocket?
    var hasReadToEnd = false
    /// Whether the loop resumes this connection without an event from the poller.
    var isPostponed = false
    /// Whether the last turn ended for lack of bytes.
    private var hasUsedAll = true
    var interest = Interest.reading
    var wait: Wait?
    var waitBegin: MonotonicTime
    var deadline: MonotonicTime?
    /// The time the current timer is set for, and that of a later one set before.
    var reminder: MonotonicTime?
    var laterReminder: MonotonicTime?

    /// Bytes of further requests to buffer during an answer.
    static let pipelineBytes = 64 * 1024
    /// With this many unsent bytes, nothing further is answered.
    static let unsentBytes = 256 * 1024
    /// What each may keep even when all together keep too much: who sends and reads little notices nothing.
    static let smallBytes = 16 * 1024
    /// Requests or frames handled before other connections get their turn.
    static let stepsPerTurn = 16

    init(_ transport: Transport, identifier: UInt64, _ loop: EventLoop, _ connection: Request.Connection) {
        self.transport = transport
        self.identifier = identifier
        waitBegin = loop.now
        occupancy = loop.occupancy
        parser = RequestParser(limits: loop.limits, connection: connection)
        occupancy.connectionOpened()
    }

    var descriptor: Int32 { transport.descriptor }

    /// Reads a new connection for the first time.
    func begin(_ loop: EventLoop) {
        receive(loop)
        proceed(loop)
    }

    /// Does what an event makes possible; ``conclude(_:)`` must follow before the loop waits again.
    func handle(_ readiness: Readiness, _ loop: EventLoop) {
        guard !readiness.isBroken else { return breakOff(loop) }
        let goesOn = readiness.isWritable && wantsToRead && transport.needs.contains(.writing)
        if readiness.isReadable || goesOn { receive(loop) }
        answer(loop)
    }

    /// Resumes after other connections had their turn.
    func resume(_ loop: EventLoop) {
        isPostponed = false
        if hasUsedAll, transport.hasBufferedInput, wantsToRead { receive(loop) }
        proceed(loop)
    }

    /// Answers and sends as much as possible, and arranges for the rest.
    func proceed(_ loop: EventLoop) {
        answer(loop)
        conclude(loop)
    }

    /// Answers as much as one turn allows.
    private func answer(_ loop: EventLoop) {
        var remaining = Self.stepsPerTurn
        hasUsedAll = false
        while canStep, remaining > 0, !hasUsedAll {
            hasUsedAll = webSocket == nil ? !step(loop) : !converse(loop)
            remaining -= 1
        }
    }

    /// Sends as much as possible, and arranges for the rest.
    func conclude(_ loop: EventLoop) {
        guard flush(loop) else { return }
        countBytes()
        if parser.isInContent, isOverfull() {
            parser.giveUp()
            refuse(.overfull, loop)
            return conclude(loop)
        }
        // No event would report input that is already here, whether the turn or the output buffer was used up.
        if canStep, !hasUsedAll || transport.hasBufferedInput { postpone(loop) }
        settle(loop)
    }

    /// Sends a deferred answer.
    func complete(_ response: Response, _ loop: EventLoop) {
        guard case .answering = phase else { return }
        phase = .reading
        send(response, loop)
        proceed(loop)
    }

    /// Ends the connection as soon as nothing is in flight on it.
    func stop(_ loop: EventLoop) {
        switch phase {
        // Cancels: work that only waits for an event answers at once with what there is.
        case .answering(let task): task.cancel()
        case .holding, .dripping: continueAnswer(loop)
        case .conversing: webSocket?.conversation.close(WebSocketClosure(.goingAway), into: &output.bytes)
        // An unread request may have arrived.
        case .reading: if parser.isIdle { receive(loop) }
        case .finishing, .lingering, .ended: break
        }
        proceed(loop)
    }

    /// Closes the socket; only the loop calls this.
    func end() {
        if case .answering(let task) = phase { task.cancel() }
        phase = .ended
        transport.close()
        occupancy.keep(-countedBytes)
        occupancy.connectionClosed()
        reportEnd(WebSocketClosure(.abnormal))
    }

    /// Whether the next request or frame may be handled.
    private var canStep: Bool {
        switch phase {
        case .reading: hasRoom
        case .conversing: hasRoom && webSocket?.mustSendFirst != true
        case .answering, .holding, .dripping, .finishing, .lingering, .ended: false
        }
    }

    /// Whether little enough waits to be sent for more to be answered.
    var hasRoom: Bool { output.count == 0 || output.count < Self.unsentBytes && !isOverfull() }

    /// Whether this keeps more than a little, with so many bytes more, while all connections together keep too much.
    func isOverfull(with bytes: Int = 0) -> Bool {
        max(output.count, keptBytes) + bytes > Self.smallBytes && occupancy.isFull(with: bytes)
    }

    /// Counts what this keeps. Most connections keep nothing, and then touch no memory that others use.
    private func countBytes() {
        let bytes = keptBytes
        guard bytes != countedBytes else { return }
        occupancy.keep(bytes - countedBytes)
        countedBytes = bytes
    }

    private var keptBytes: Int {
        switch phase {
        case .reading: output.memory + parser.contentBytes
        case .holding(let response, _): output.memory + response.body.count
        case .dripping(let drip): output.memory + drip.rest.count
        case .answering, .conversing, .finishing, .lingering, .ended: output.memory
        }
    }

    func postpone(_ loop: EventLoop) {
        guard !isPostponed else { return }
        isPostponed = true
        loop.postpone(self)
    }
}

// How a connection reads requests and gets them answered.
extension Connection {
    func receive(_ loop: EventLoop) {
        if case .lingering = phase { return drain(loop) }
        switch transport.read(into: loop.scratch) {
        case .moved(let count):
            let received = UnsafeRawBufferPointer(rebasing: loop.scratch[..<count])
            webSocket == nil ? parser.feed(received) : hear(received, loop)
        case .wouldBlock: break
        case .ended:
            hasReadToEnd = true
            if let problem = transport.handshakeProblem { note(.handshakeFailed(problem), loop) }
        case .broken: giveUp(loop)
        }
    }

    private func drain(_ loop: EventLoop) {
        switch transport.drain(into: loop.scratch) {
        case .moved, .wouldBlock: break
        case .ended: hasReadToEnd = true
        case .broken: loop.close(self)
        }
    }

    /// Answers an HTTP client on a TLS listener in plain text.
    private func giveUp(_ loop: EventLoop) {
        if transport.hasFallenBack { return refuse(.notTLS, loop) }
        guard let problem = transport.handshakeProblem else { return loop.close(self) }
        note(.handshakeFailed(problem), loop)
        // Not at once: unread bytes from the client would cause a reset, which would lose the explaining alert.
        phase = .finishing
    }

    /// Ends a broken connection. A client that rejects a certificate often disconnects right after its alert, which may
    /// still be readable.
    func breakOff(_ loop: EventLoop) {
        if !transport.isEstablished {
            receive(loop)
            if transport.handshakeProblem == nil { noteHandshake("the client broke off the connection", loop) }
        }
        loop.close(self)
    }

    /// Advances the parser; false when it needs more bytes.
    func step(_ loop: EventLoop) -> Bool {
        switch parser.next() {
        case .more:
            if hasReadToEnd { endRequests(loop) }
            return false
        case .head:
            acceptContent(loop)
        case .request(let request):
            wait = nil
            exchange = ResponseEncoder.Framing(
                isHead: request.method == .head, version: request.version,
                persists: parser.persists && !loop.isStopping, asksToPersist: parser.asksToPersist)
            answer(request, loop)
        case .refusal(let refusal):
            refuse(refusal, loop)
        }
        return true
    }

    /// Ends a connection that receives nothing more. RFC 9112 section 9.6: the client may only have closed its side;
    /// its requests are answered by now. Section 8: if it closed within a request, it may still read the error.
    private func endRequests(_ loop: EventLoop) {
        parser.isIdle ? phase = .finishing : refuse(.incompleteRequest, loop)
    }

    /// Answers invalid bytes and ends the connection.
    func refuse(_ refusal: RequestRejection, _ loop: EventLoop) {
        note(.refused(status: refusal.status.code, reason: refusal.reason), loop)
        loop.encoder.encode(refusal, into: &output.bytes)
        phase = .finishing
    }

    /// Notes a failed handshake, if one had begun.
    func noteHandshake(_ problem: String, _ loop: EventLoop) {
        if transport.hasBegunHandshake { note(.handshakeFailed(problem), loop) }
    }

    func note(_ event: EngineNote.Event, _ loop: EventLoop) {
        loop.handler.noted(EngineNote(event: event, remoteAddress: parser.connection.remoteAddress))
    }

    private func acceptContent(_ loop: EventLoop) {
        parser.acceptContent(upTo: contentLimit(loop))
        // No interim answer once content has arrived (RFC 9110 section 10.1.1).
        if parser.expectsContinue, parser.isInContent, parser.bufferedCount == 0 {
            ResponseEncoder.encodeContinue(into: &output.bytes)
        }
    }

    private func contentLimit(_ loop: EventLoop) -> Int {
        if parser.isServerWide { return 0 }
        if let length = parser.announcedLength, length <= loop.smallestBodyLimit { return loop.smallestBodyLimit }
        let admission = loop.handler.admit(parser.head)
        self.admission = admission
        return admission.bodyLimit
    }

    private func answer(_ request: Request, _ loop: EventLoop) {
        if parser.isServerWide { return send(.serverOptions, loop) }
        let admission = admission.take()
        switch admission?.answer(request) ?? loop.handler.answer(request) {
        case .ready(let response): send(response, loop)
        case .deferred(let work):
            let task = start(work, loop.mailbox)
            phase = .answering(task)
            // A request that arrives during a stop missed the cancellation of the others.
            if loop.isStopping { task.cancel() }
        }
    }

    private func start(_ work: @escaping @Sendable () async -> Response, _ mailbox: LoopMailbox) -> Task<Void, Never> {
        Task { [descriptor, identifier] in
            mailbox.post(.answered(descriptor: descriptor, connection: identifier, await work()))
        }
    }
}

extension Response {
    fileprivate static let serverOptions = Response(
        status: .noContent, fields: [.allow: "GET, HEAD, POST, PUT, DELETE, PATCH, OPTIONS"])
}
