internal import Wire

/// One client's connection: a state machine that lives on one loop and is touched by no other thread.
///
/// Requests are answered one at a time and in order. While an answer is worked on or kept back, what the client sends
/// meanwhile is kept up to a bound and not looked at. The other files of this name hold what it does: requests,
/// answers, the WebSocket that it may become, and its waiting.
final class Connection {
    enum Phase {
        /// Requests are read and answered.
        case reading
        /// A deferred answer is being worked on.
        case answering(Task<Void, Never>)
        /// A complete response is kept back for so long.
        case holding(Response, Duration)
        /// An answer goes out in portions.
        case dripping(Drip)
        /// The connection has become a WebSocket.
        case conversing
        /// The last answer is being sent.
        case finishing
        /// Everything is sent; what arrives is dropped until the client closes. RFC 9112 section 9.6: closing at once
        /// would reset the connection, and the client could lose the answer.
        case lingering
        /// The connection is closed.
        case ended
    }

    /// What a connection is given time for.
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

    /// Which connection this is among all that had or will have the same descriptor on this loop.
    let identifier: UInt64

    /// Where the connection counts as open.
    let occupancy: ServerOccupancy
    let transport: Transport
    var parser: RequestParser
    var output = OutputBuffer()
    var phase = Phase.reading
    /// What the handler has said to the head of the request whose content is being read.
    var admission: Admission?
    var exchange = ResponseEncoder.Exchange()
    /// The WebSocket that this has become, until its end is reported.
    var webSocket: OpenWebSocket?
    var hasReadToEnd = false
    /// Whether the loop goes on with this connection by itself, without a report of the poller.
    var isPostponed = false
    /// Whether the last turn ended for want of bytes.
    private var hasUsedAll = true
    var interest = Interest.reading
    var wait: Wait?
    var waitBegin: Moment
    var deadline: Moment?
    /// The moment for which the loop was asked, and a later one for which it was asked before.
    var reminder: Moment?
    var laterReminder: Moment?

    /// Bytes of further requests that are kept while an answer is worked on.
    static let pipelineBytes = 64 * 1024
    /// Unsent bytes from which on nothing further is answered.
    static let unsentBytes = 256 * 1024
    /// Requests or frames that are dealt with before other connections get their turn.
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

    /// Takes the first look at a new connection.
    func begin(_ loop: EventLoop) {
        receive(loop)
        proceed(loop)
    }

    /// Does what has become possible; ``conclude(_:)`` must follow before the loop waits again.
    func handle(_ readiness: Readiness, _ loop: EventLoop) {
        guard !readiness.isBroken else { return breakOff(loop) }
        let goesOn = readiness.isWritable && wantsToRead && transport.needs.contains(.writing)
        if readiness.isReadable || goesOn { receive(loop) }
        answer(loop)
    }

    /// Goes on after other connections had their turn.
    func resume(_ loop: EventLoop) {
        isPostponed = false
        if hasUsedAll, transport.hasBufferedInput, wantsToRead { receive(loop) }
        proceed(loop)
    }

    /// Answers what can be answered, sends what can be sent, and arranges for the rest.
    func proceed(_ loop: EventLoop) {
        answer(loop)
        conclude(loop)
    }

    /// Answers what can be answered in one turn.
    private func answer(_ loop: EventLoop) {
        var remaining = Self.stepsPerTurn
        hasUsedAll = false
        while canStep, remaining > 0, !hasUsedAll {
            hasUsedAll = webSocket == nil ? !step(loop) : !converse(loop)
            remaining -= 1
        }
    }

    /// Sends what can be sent, and arranges for the rest.
    func conclude(_ loop: EventLoop) {
        guard flush(loop) else { return }
        // Nothing would report what is here already, whether the turn or the room for answers was used up.
        if canStep, !hasUsedAll || transport.hasBufferedInput { postpone(loop) }
        settle(loop)
    }

    /// Sends the answer that was deferred.
    func complete(_ response: Response, _ loop: EventLoop) {
        guard case .answering = phase else { return }
        phase = .reading
        send(response, loop)
        proceed(loop)
    }

    /// Has the connection end as soon as nothing is in flight on it.
    func stop(_ loop: EventLoop) {
        switch phase {
        // Whoever merely waits for something to happen stops waiting and answers with what there is.
        case .answering(let task): task.cancel()
        case .holding, .dripping: goOn(loop)
        case .conversing: webSocket?.conversation.close(WebSocketClosure(.goingAway), into: &output.bytes)
        // A request may have arrived that nobody has looked at.
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
        occupancy.connectionClosed()
        reportEnd(WebSocketClosure(.abnormal))
    }

    /// Whether the next request or frame may be looked at.
    private var canStep: Bool {
        switch phase {
        case .reading: output.count < Self.unsentBytes
        case .conversing: output.count < Self.unsentBytes && webSocket?.mustSendFirst != true
        case .answering, .holding, .dripping, .finishing, .lingering, .ended: false
        }
    }

    func postpone(_ loop: EventLoop) {
        guard !isPostponed else { return }
        isPostponed = true
        loop.postpone(self)
    }
}
