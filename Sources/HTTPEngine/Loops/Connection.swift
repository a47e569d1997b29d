internal import Wire

/// One client's connection: a state machine that lives on one loop and is touched by no other thread.
///
/// Requests are answered one at a time and in order. While a deferred answer is worked on, what the client sends
/// meanwhile is kept up to a bound and not looked at.
final class Connection {
    private enum Phase {
        /// Requests are read and answered.
        case reading
        /// A deferred answer is being worked on.
        case answering(Task<Void, Never>)
        /// The last answer is being sent.
        case finishing
        /// Everything is sent; what arrives is dropped until the client closes. RFC 9112 section 9.6: closing at once
        /// would reset the connection, and the client could lose the answer.
        case lingering
        /// The connection is closed.
        case ended
    }

    /// What a connection is given time for.
    private enum Wait {
        case nextRequest
        case head
        case content
        case answer
        case client
        case close
    }

    /// Which connection this is among all that had or will have the same descriptor on this loop.
    let identifier: UInt64

    private let transport: Transport
    private var parser: RequestParser
    private var output = OutputBuffer()
    private var phase = Phase.reading
    private var exchange = ResponseEncoder.Exchange()
    private var hasReadToEnd = false
    private var isPostponed = false
    private var interest = Interest.reading
    private var wait: Wait?
    private var deadline: Moment?
    private var reminder: Moment?

    /// Bytes of further requests that are kept while an answer is worked on.
    private static let pipelineBytes = 64 * 1024
    /// Unsent bytes from which on no further request is answered.
    private static let unsentBytes = 256 * 1024
    /// Requests that are answered before other connections get their turn.
    private static let requestsPerTurn = 64

    init(_ transport: Transport, identifier: UInt64, limits: Limits, _ connection: Request.Connection) {
        self.transport = transport
        self.identifier = identifier
        parser = RequestParser(limits: limits, connection: connection)
    }

    var descriptor: Int32 { transport.descriptor }

    /// Takes the first look at a new connection.
    func begin(_ loop: EventLoop) {
        receive(loop)
        proceed(loop)
    }

    /// Does what has become possible.
    func handle(_ readiness: Readiness, _ loop: EventLoop) {
        guard !readiness.isBroken else { return loop.close(self) }
        if readiness.isReadable { receive(loop) }
        proceed(loop)
    }

    /// Answers what can be answered, sends what can be sent, and arranges for the rest.
    func proceed(_ loop: EventLoop) {
        isPostponed = false
        var remaining = Self.requestsPerTurn
        var hasUsedAll = false
        while canAnswer, remaining > 0, !hasUsedAll {
            hasUsedAll = !step(loop)
            remaining -= 1
        }
        guard flush(loop) else { return }
        // Nothing would report requests that are here already, whether the turn or the room for answers was used up.
        if canAnswer, !hasUsedAll { postpone(loop) }
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
        // Whoever merely waits for something to happen stops waiting and answers with what there is.
        if case .answering(let task) = phase { task.cancel() }
        // A request may have arrived that nobody has looked at.
        if parser.isIdle, case .reading = phase { receive(loop) }
        proceed(loop)
    }

    /// Looks whether the client has run out of time; `moment` is the one for which the loop was asked.
    func timerFired(set moment: Moment, _ loop: EventLoop) {
        guard reminder == moment else { return }
        reminder = nil
        guard let deadline else { return }
        guard deadline <= loop.now else { return remind(at: deadline, loop) }
        expire(loop)
    }

    /// Closes the socket; only the loop calls this.
    func end() {
        if case .answering(let task) = phase { task.cancel() }
        phase = .ended
        transport.close()
    }
}

// MARK: - Receiving and answering

extension Connection {
    private func receive(_ loop: EventLoop) {
        switch transport.read(into: loop.scratch) {
        case .moved(let count):
            if case .lingering = phase { return }
            parser.feed(UnsafeRawBufferPointer(rebasing: loop.scratch[..<count]))
        case .wouldBlock: break
        case .ended: hasReadToEnd = true
        case .broken: loop.close(self)
        }
    }

    private var canAnswer: Bool {
        guard case .reading = phase else { return false }
        return output.count < Self.unsentBytes
    }

    /// Takes the next step of the parser; false when it needs more bytes.
    private func step(_ loop: EventLoop) -> Bool {
        switch parser.next() {
        case .more:
            // The client may have ended its side only, RFC 9112 section 9.6: all that it asked is answered by now.
            if hasReadToEnd { phase = .finishing }
            return false
        case .head:
            acceptContent(loop)
        case .request(let request):
            wait = nil
            exchange = ResponseEncoder.Exchange(
                isHead: request.method == .head, version: request.version,
                persists: parser.persists && !loop.isStopping)
            answer(request, loop)
        case .refusal(let refusal):
            loop.encoder.encode(refusal, into: &output.bytes)
            phase = .finishing
        }
        return true
    }

    private func acceptContent(_ loop: EventLoop) {
        let limit = isServerWide(parser.request) ? 0 : loop.handler.bodyLimit(for: parser.request)
        parser.acceptContent(upTo: limit)
        // The interim answer is left out when content has arrived already, RFC 9110 section 10.1.1.
        if parser.expectsContinue, parser.isInContent, parser.bufferedCount == 0 {
            ResponseEncoder.encodeContinue(into: &output.bytes)
        }
    }

    private func answer(_ request: Request, _ loop: EventLoop) {
        if isServerWide(request) { return send(.serverOptions, loop) }
        switch loop.handler.answer(request) {
        case .ready(let response): send(response, loop)
        case .deferred(let work): phase = .answering(start(work, loop.mailbox))
        }
    }

    /// `OPTIONS *` asks about the server and not about a path, so no handler is asked. RFC 9110 section 9.3.7.
    private func isServerWide(_ request: Request) -> Bool { request.target == "*" }

    private func start(_ work: @escaping @Sendable () async -> Response, _ mailbox: LoopMailbox) -> Task<Void, Never> {
        Task { [descriptor, identifier] in
            mailbox.post(.answered(descriptor: descriptor, connection: identifier, await work()))
        }
    }

    private func send(_ response: Response, _ loop: EventLoop) {
        exchange.persists = exchange.persists && !loop.isStopping
        let persists = loop.encoder.encode(response, for: exchange, into: &output.bytes)
        if !persists { phase = .finishing }
    }

    private func postpone(_ loop: EventLoop) {
        isPostponed = true
        loop.postpone(self)
    }
}

// MARK: - Sending, waiting, ending

extension Connection {
    /// Sends what the client takes; false when the connection has ended or ends by that.
    private func flush(_ loop: EventLoop) -> Bool {
        if case .ended = phase { return false }
        guard let sent = output.flush(to: transport) else {
            loop.close(self)
            return false
        }
        if sent > 0 { wait = nil }
        return true
    }

    private func settle(_ loop: EventLoop) {
        if loop.isStopping, case .reading = phase, parser.isIdle, output.count == 0 { return loop.close(self) }
        if case .finishing = phase, output.count == 0 {
            guard !hasReadToEnd else { return loop.close(self) }
            _ = transport.finishWriting()
            phase = .lingering
        }
        if case .lingering = phase, hasReadToEnd { return loop.close(self) }
        updateInterest(loop)
        updateDeadline(loop)
    }

    private func updateInterest(_ loop: EventLoop) {
        var wanted: Interest = output.count > 0 ? .writing : []
        if !hasReadToEnd, !isPostponed, wantsToRead { wanted.insert(.reading) }
        guard wanted != interest else { return }
        loop.watch(self, from: interest, to: wanted)
        interest = wanted
    }

    private var wantsToRead: Bool {
        switch phase {
        case .reading: output.count < Self.unsentBytes
        case .answering: parser.bufferedCount < Self.pipelineBytes
        case .lingering: true
        case .finishing, .ended: false
        }
    }

    private func updateDeadline(_ loop: EventLoop) {
        let current = currentWait
        guard current != wait else { return }
        wait = current
        deadline = patience(for: current, loop.limits).map { loop.now + $0 }
        if let deadline, reminder.map({ deadline < $0 }) ?? true { remind(at: deadline, loop) }
    }

    private var currentWait: Wait {
        if case .lingering = phase { return .close }
        if output.count > 0 { return .client }
        if case .answering = phase { return .answer }
        return parser.isInContent ? .content : parser.isIdle ? .nextRequest : .head
    }

    private func patience(for wait: Wait, _ limits: Limits) -> Duration? {
        switch wait {
        case .nextRequest: limits.idle
        case .head: limits.header
        case .content: limits.body
        case .client: limits.write
        case .close: limits.linger
        case .answer: nil
        }
    }

    private func remind(at moment: Moment, _ loop: EventLoop) {
        reminder = moment
        loop.remind(self, at: moment)
    }

    /// RFC 9110 section 15.5.9: a client that is late with its request hears of it, one that has begun none does not.
    private func expire(_ loop: EventLoop) {
        switch wait {
        case .head, .content:
            loop.encoder.encode(.timedOut, into: &output.bytes)
            phase = .finishing
            if flush(loop) { settle(loop) }
        case .client:
            // The system would keep the rest of the answer in memory for minutes.
            transport.discardUnsent()
            loop.close(self)
        case .nextRequest, .close, .answer, nil:
            loop.close(self)
        }
    }
}

extension Response {
    /// The answer to `OPTIONS *`.
    fileprivate static let serverOptions = Response(
        status: .noContent, fields: [.allow: "GET, HEAD, POST, PUT, DELETE, PATCH, OPTIONS"])
}
