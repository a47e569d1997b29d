internal import Wire

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
