internal import Wire

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
            webSocket?.conversation.send(message, into: &output.bytes)
            guard output.count <= loop.limits.webSocketQueueBytes else { return drop(loop) }
        case .close(let closure):
            webSocket?.conversation.close(closure, into: &output.bytes)
        case .drop:
            return drop(loop)
        }
        // Several messages in one round go out in one write.
        postpone(loop)
    }

    /// Gives up on a client whose queue exceeds its limit.
    ///
    /// The queue is sent, then the close frame: a slow reader learns the reason, a client that does not read is reset
    /// after ``Limits/write``. Until then nothing more is queued.
    private func drop(_ loop: EventLoop) {
        let closure = WebSocketClosure(.tryAgainLater, reason: "the client takes its messages too slowly")
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
