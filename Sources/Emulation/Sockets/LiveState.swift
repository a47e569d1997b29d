import Wire

/// What lives beside a vendor's state, under the same lock: its open sockets, and when something happens by itself.
@usableFromInline
struct LiveState: Sendable {
    var registry = SocketRegistry()
    /// What the vendor named last.
    @usableFromInline var named: Moment?
    /// When the alarm is set for; `nil` for not at all.
    @usableFromInline var armed: Moment?
    /// Counts the states of which one replaced the other; a handshake of an earlier one opens nothing.
    @usableFromInline private(set) var era = 0
    /// Whether the sandbox is gone.
    private(set) var isOver = false

    private let alarm: Alarm
    private let vendor: Int

    init(alarm: Alarm, vendor: Int) {
        self.alarm = alarm
        self.vendor = vendor
    }

    /// Sets the alarm for what the vendor names now.
    mutating func name(_ deadline: Moment?) {
        named = deadline
        arm(deadline)
    }

    /// Sets the alarm, whatever it was set for.
    mutating func arm(_ deadline: Moment?) {
        if armed == nil, deadline == nil { return }
        armed = isOver ? nil : deadline
        alarm.set(armed, for: vendor)
    }

    /// Closes all sockets, since the state that they belong to is gone.
    mutating func clear(_ closure: WebSocketClosure) {
        era += 1
        for socket in registry.removeAll() { socket.close(closure) }
    }

    /// Ends for good.
    mutating func end() {
        isOver = true
        arm(nil)
        clear(WebSocketClosure(.goingAway, reason: "the sandbox is gone"))
    }
}
