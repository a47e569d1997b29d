internal import Wire

// What comes in on a connection, and who answers it.
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

    /// A client that speaks no TLS where TLS is spoken hears of it in its own language.
    private func giveUp(_ loop: EventLoop) {
        if transport.hasFallenBack { return refuse(.notTLS, loop) }
        guard let problem = transport.handshakeProblem else { return loop.close(self) }
        note(.handshakeFailed(problem), loop)
        // Not at once: what the client has sent besides would have the alert, which says why, lost in a reset.
        phase = .finishing
    }

    /// Ends a connection that is broken. A client that refuses a certificate often breaks off right behind the alert that
    /// says so, which may still be read.
    func breakOff(_ loop: EventLoop) {
        if !transport.isEstablished {
            receive(loop)
            if transport.handshakeProblem == nil { noteHandshake("the client broke the connection off", loop) }
        }
        loop.close(self)
    }

    /// Takes the next step of the parser; false when it needs more bytes.
    func step(_ loop: EventLoop) -> Bool {
        switch parser.next() {
        case .more:
            if hasReadToEnd { endRequests(loop) }
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
            refuse(refusal, loop)
        }
        return true
    }

    /// Ends a connection on which nothing more comes. RFC 9112 section 9.6: the client may have ended its side only; all
    /// that it asked is answered by now. Section 8: if it ended amid a request, it may be there to hear of that.
    private func endRequests(_ loop: EventLoop) {
        parser.isIdle ? phase = .finishing : refuse(.incompleteRequest, loop)
    }

    /// Answers bytes that are no request, and ends the connection.
    func refuse(_ refusal: Refusal, _ loop: EventLoop) {
        note(.refused(status: refusal.status.code, reason: refusal.reason), loop)
        loop.encoder.encode(refusal, into: &output.bytes)
        phase = .finishing
    }

    /// Notes that a handshake has failed, if it was one and is not complete.
    func noteHandshake(_ problem: String, _ loop: EventLoop) {
        if transport.hasBegunHandshake { note(.handshakeFailed(problem), loop) }
    }

    private func note(_ event: EngineNote.Event, _ loop: EventLoop) {
        loop.handler.noted(EngineNote(event, remoteAddress: parser.request.connection.remoteAddress))
    }

    private func acceptContent(_ loop: EventLoop) {
        parser.acceptContent(upTo: contentLimit(loop))
        // The interim answer is left out when content has arrived already, RFC 9110 section 10.1.1.
        if parser.expectsContinue, parser.isInContent, parser.bufferedCount == 0 {
            ResponseEncoder.encodeContinue(into: &output.bytes)
        }
    }

    private func contentLimit(_ loop: EventLoop) -> Int {
        if parser.isServerWide { return 0 }
        if let length = parser.announcedLength, length <= loop.smallestBodyLimit { return loop.smallestBodyLimit }
        let admission = loop.handler.admit(parser.request)
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
            // A request that arrives with the stop has missed that of the others.
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
    /// The answer to `OPTIONS *`.
    fileprivate static let serverOptions = Response(
        status: .noContent, fields: [.allow: "GET, HEAD, POST, PUT, DELETE, PATCH, OPTIONS"])
}
