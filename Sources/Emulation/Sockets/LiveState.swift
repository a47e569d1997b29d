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
