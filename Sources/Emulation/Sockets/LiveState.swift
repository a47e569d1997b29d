import Wire

/// Data beside a vendor's state, under the same lock: its open sockets and its next deadline.
@usableFromInline
struct LiveState: Sendable {
    var registry = SocketRegistry()
    /// The deadline that the vendor last named.
    @usableFromInline var named: Moment?
    /// The moment that the alarm is set for; `nil` when it is not set.
    @usableFromInline var armed: Moment?
    /// Counts replacements of the state; a handshake from an earlier era opens nothing.
    @usableFromInline private(set) var era = 0
    /// Whether the sandbox is gone.
    private(set) var isOver = false

    private let alarm: Alarm
    private let vendor: Int

    init(alarm: Alarm, vendor: Int) {
        self.alarm = alarm
        self.vendor = vendor
    }

    /// Sets the alarm for the deadline that the vendor names now.
    @usableFromInline
    mutating func name(_ deadline: Moment?) {
        named = deadline
        arm(deadline)
    }

    /// Sets the alarm, replacing any earlier setting.
    mutating func arm(_ deadline: Moment?) {
        if armed == nil, deadline == nil { return }
        armed = isOver ? nil : deadline
        alarm.set(armed, for: vendor)
    }

    /// Closes all sockets, since their state is gone.
    mutating func clear(_ closure: WebSocketClosure) {
        era += 1
        for socket in registry.removeAll() { socket.close(closure) }
    }

    /// Takes sockets and deadlines again after ``end()``.
    mutating func resume() { isOver = false }

    /// Shuts down for good, unless ``resume()`` follows.
    mutating func end() {
        isOver = true
        arm(nil)
        clear(WebSocketClosure(.goingAway, reason: "the sandbox is gone"))
    }
}

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
