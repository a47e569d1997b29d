internal import Wire

// The connection as a WebSocket: frames in, frames out, until both sides have closed.
extension Connection {
    /// Accepts a handshake; what the client has sent behind it are frames already.
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

    /// Takes in what the client has sent.
    func hear(_ received: UnsafeRawBufferPointer, _ loop: EventLoop) {
        webSocket?.conversation.receive(received)
        // Whatever it is, the client is not silent.
        webSocket?.lastHeard = loop.now
        if wait == .message { wait = nil }
    }

    /// Deals with the next frame; false when more bytes are needed.
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

    /// Does what a thread has asked for through the channel.
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

    /// Gives up a client that lets more gather than it may.
    ///
    /// What waits for it goes out, and the close frame behind that: one that is slow and reads learns why, one that reads
    /// nothing is reset when its patience (``Limits/write``) is over. Nothing more is added meanwhile.
    private func drop(_ loop: EventLoop) {
        let closure = WebSocketClosure(.tryAgainLater, reason: "the client takes its messages too slowly")
        webSocket?.conversation.close(closure, into: &output.bytes)
        reportEnd(closure)
        phase = .finishing
        postpone(loop)
    }

    /// Tells the handler of the end, once.
    func reportEnd(_ closure: WebSocketClosure) {
        guard let ended = webSocket else { return }
        webSocket = nil
        occupancy.webSocketClosed()
        ended.channel.end()
        ended.upgrade.handler.closed(ended.socket, closure)
    }
}
