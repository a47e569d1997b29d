import Wire

// Sockets and deadlines: changes to a state without a request.
extension SandboxedVendor.Content {
    /// Finishes a vendor's work on the state by sending its messages to sockets.
    ///
    /// - Parameter isRefused: whether to discard the messages.
    @usableFromInline
    mutating func settle(_ outbox: inout Outbox, isRefused: Bool, at moment: Moment) {
        let cause = isRefused ? nil : FrameCause()
        if let cause { live.registry.commit(outbox, from: nil, at: moment, because: cause) }
        outbox = Outbox()
        outbox.cause = cause
    }

    /// Reads the deadline that the vendor names now, and updates the alarm.
    @inlinable
    mutating func lookAhead() {
        let deadline = loaded.vendor.nextDeadline(in: state)
        if deadline != live.named { live.name(deadline) }
    }

    /// Brings the state to a moment, using the vendor of that loaded or a later one.
    mutating func prepare(
        for moment: Moment, at loaded: LoadedVendor<V>, _ identifiers: IdentifierSource, _ switches: V.Switches
    ) {
        _ = catchUp(with: loaded)
        passDeadlines(until: moment, identifiers, switches)
    }

    /// Passes the deadlines that are due by then.
    @usableFromInline
    mutating func passDeadlines(until moment: Moment, _ identifiers: IdentifierSource, _ switches: V.Switches) {
        // ours: a vendor with endless successive deadlines must not block access to the state.
        for _ in 0..<1000 {
            guard let deadline = live.armed, deadline <= moment else { return }
            let vendor = loaded.vendor
            var call = DeadlineCall(
                vendor: vendor, deadline: deadline, moment: moment, identifiers: identifiers, switches: switches)
            vendor.deadlinePassed(&call, &state)
            live.registry.commit(call.outbox, from: nil, at: moment)
            let next = vendor.nextDeadline(in: state)
            live.named = next
            // A deadline that does not advance would stay due forever; it counts again once the vendor names another.
            live.arm(next.flatMap { $0 > deadline ? $0 : nil })
        }
    }
}

extension SandboxedVendor {
    @usableFromInline
    func passDeadlines(in sandbox: Sandbox) {
        let (switches, loaded) = (switches, loaded)
        content.withLock { content in
            _ = content.catchUp(with: loaded)
            content.lookAhead()
            guard content.live.armed != nil, !content.isSealed else { return }
            content.passDeadlines(until: sandbox.now, sandbox.identifiers, switches)
            content.live.arm(content.live.armed)
            noteChange(&content)
        }
    }

    @usableFromInline
    func end() { content.withLock { $0.live.end() } }

    @usableFromInline
    func seal() {
        content.withLock { content in
            content.live.end()
            content.isSealed = true
        }
    }

    @usableFromInline
    func unseal() {
        content.withLock { content in
            content.isSealed = false
            content.live.resume()
            content.live.name(content.loaded.vendor.nextDeadline(in: content.state))
        }
    }
}

extension SandboxedVendor {
    /// Registers a socket whose handshake was answered, and lets the vendor greet it.
    func open(_ socket: WebSocket, _ connection: SocketConnection<V>) {
        work(connection) { content, call in
            guard connection.era == content.live.era, !content.live.isOver else {
                return socket.close(WebSocketClosure(.goingAway, reason: "the sandbox was reset"))
            }
            content.live.registry.add(
                socket,
                OpenSocket(topics: connection.opening.topics, log: connection.log))
            content.loaded.vendor.socketOpened(&call, &content.state)
            connection.log.noted(call.notes)
            content.live.registry.commit(call.outbox, from: socket, at: call.moment)
        }
    }

    /// Lets the vendor handle a message.
    func receive(_ message: WebSocketMessage, on socket: WebSocket, _ connection: SocketConnection<V>) {
        work(connection) { content, call in
            // The message may cross the server's own close.
            guard content.live.registry.sockets[socket]?.isClosing == false else { return }
            content.loaded.vendor.socketReceived(message, &call, &content.state)
            connection.log.received(message, call.notes, at: call.moment)
            content.live.registry.commit(call.outbox, from: socket, at: call.moment)
        }
    }

    func forget(_ socket: WebSocket, _ closure: WebSocketClosure, _ connection: SocketConnection<V>) {
        work(connection) { content, call in
            connection.log.closed(closure, at: call.moment)
            guard content.live.registry.remove(socket) != nil else { return }
            content.loaded.vendor.socketClosed(closure, &call, &content.state)
            connection.log.noted(call.notes)
            content.live.registry.commit(call.outbox, from: nil, at: call.moment)
        }
    }

    private func work(_ connection: SocketConnection<V>, _ work: (inout Content, inout SocketCall<V>) -> Void) {
        let (switches, identifiers, loaded) = (switches, connection.sandbox.identifiers, loaded)
        content.withLock { content in
            guard !content.isSealed else { return }
            _ = content.catchUp(with: loaded)
            // Read under the lock, so that moments follow the order of events.
            let moment = connection.sandbox.now
            content.passDeadlines(until: moment, identifiers, switches)
            var call = SocketCall<V>(
                vendor: content.loaded.vendor, label: connection.opening.label, moment: moment,
                identifiers: identifiers, switches: switches)
            work(&content, &call)
            content.lookAhead()
            noteChange(&content)
        }
    }
}
