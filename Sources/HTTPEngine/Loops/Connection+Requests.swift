internal import Wire

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
            if transport.handshakeProblem == nil { noteHandshake("the client broke the connection off", loop) }
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
                persists: parser.persists && !loop.isStopping)
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

    private func note(_ event: EngineNote.Event, _ loop: EventLoop) {
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
