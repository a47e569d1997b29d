import Wire

struct OpenSocket: Sendable {
    let topics: [SocketTopic]
    let log: SocketLog
    /// Whether the server has closed it and is waiting for the client to do the same.
    var isClosing = false
}

/// The open sockets of a vendor in one sandbox, indexed by topic.
struct SocketRegistry: Sendable {
    private(set) var sockets: [WebSocket: OpenSocket] = [:]
    private var audiences: [SocketTopic: Set<WebSocket>] = [:]

    mutating func add(_ socket: WebSocket, _ entry: OpenSocket) {
        sockets[socket] = entry
        for topic in entry.topics { audiences[topic, default: []].insert(socket) }
    }

    /// Removes a socket that has ended.
    ///
    /// - Returns: its entry; `nil` when it was already removed.
    mutating func remove(_ socket: WebSocket) -> OpenSocket? {
        guard let entry = sockets.removeValue(forKey: socket) else { return nil }
        hide(socket, at: entry.topics)
        return entry
    }

    mutating func removeAll() -> [WebSocket] {
        defer { self = SocketRegistry() }
        return Array(sockets.keys)
    }

    /// Sends the contents of an outbox to open sockets, in order.
    ///
    /// - Parameters:
    ///   - own: the socket whose frame is being handled, if any.
    ///   - cause: the exchange that is being handled, if any.
    mutating func commit(
        _ outbox: Outbox, from own: WebSocket?, at moment: Moment, because cause: FrameCause? = nil
    ) {
        for order in outbox.orders {
            switch order {
            case .send(let message, let topics): send(message, to: audience(of: topics), moment, cause)
            case .reply(let message): send(message, to: own.map { [$0] } ?? [], moment, cause)
            case .close(let closure, let topic): for socket in audience(of: [topic]) { close(socket, closure) }
            case .hangUp(let closure): if let own { close(own, closure) }
            }
        }
    }

    private func audience(of topics: [SocketTopic]) -> Set<WebSocket> {
        guard topics.count != 1 else { return audiences[topics[0]] ?? [] }
        return topics.reduce(into: []) { $0.formUnion(audiences[$1] ?? []) }
    }

    private func send(
        _ message: WebSocketMessage, to audience: Set<WebSocket>, _ moment: Moment, _ cause: FrameCause?
    ) {
        for socket in audience {
            guard let entry = sockets[socket], !entry.isClosing else { continue }
            socket.send(message)
            entry.log.sent(message, at: moment, because: cause)
        }
    }

    private mutating func close(_ socket: WebSocket, _ closure: WebSocketClosure) {
        guard let entry = sockets[socket], !entry.isClosing else { return }
        sockets[socket]?.isClosing = true
        hide(socket, at: entry.topics)
        socket.close(closure)
    }

    private mutating func hide(_ socket: WebSocket, at topics: [SocketTopic]) {
        for topic in topics {
            audiences[topic]?.remove(socket)
            if audiences[topic]?.isEmpty == true { audiences[topic] = nil }
        }
    }
}
