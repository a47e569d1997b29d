import Dispatch
import Synchronization
import Wire

/// Data beside a vendor's state, under the same lock: its open sockets and its next deadline.
@usableFromInline
struct LiveState: Sendable {
    var registry = SocketRegistry()
    @usableFromInline var named: Moment?
    /// The moment that the alarm is set for; `nil` when it is not set.
    @usableFromInline var armed: Moment?
    /// Counts replacements of the state; a handshake from an earlier era opens nothing.
    @usableFromInline private(set) var era = 0
    private(set) var isOver = false

    private let alarm: Alarm
    private let vendor: Int

    init(alarm: Alarm, vendor: Int) { (self.alarm, self.vendor) = (alarm, vendor) }

    /// Sets the alarm for the deadline that the vendor names now.
    @usableFromInline
    mutating func name(_ deadline: Moment?) {
        named = deadline
        arm(deadline)
    }

    mutating func arm(_ deadline: Moment?) {
        if armed == nil, deadline == nil { return }
        armed = isOver ? nil : deadline
        alarm.set(armed, for: vendor)
    }

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

    /// Removes a socket that has ended, and returns its entry; `nil` when it was already removed.
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
    mutating func commit(_ outbox: Outbox, from own: WebSocket?, at moment: Moment, because cause: FrameCause? = nil) {
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

/// Wakes sandboxes when something is due in them: one timer for all, and no thread while nothing is due.
final class DeadlineTimer: Sendable {
    private struct Key: Hashable {
        let alarm: ObjectIdentifier
        let vendor: Int
    }

    private struct State {
        var due = DueHeap<Moment, Int>()
        /// What is booked by its number; a heap entry with any other number was cancelled.
        var bookings: [Int: (alarm: Alarm, vendor: Int)] = [:]
        var numbers: [Key: Int] = [:]
        var lastNumber = 0
        var source: (any DispatchSourceTimer)?
        var armed: Moment?
    }

    private static let queue = DispatchQueue(label: "understudy.deadlines", qos: .userInitiated)

    private let state = Mutex(State())

    deinit { state.withLock { $0.source }?.cancel() }

    /// Rings the alarm for the vendor at that moment by the machine's clock, replacing an earlier booking; `nil` only
    /// cancels it.
    func set(_ moment: Moment?, for alarm: Alarm, _ vendor: Int) {
        let key = Key(alarm: ObjectIdentifier(alarm), vendor: vendor)
        state.withLock { state in
            if let old = state.numbers.removeValue(forKey: key) { state.bookings[old] = nil }
            guard let moment else { return }
            state.lastNumber += 1
            state.bookings[state.lastNumber] = (alarm, vendor)
            state.numbers[key] = state.lastNumber
            state.due.insert(moment, state.lastNumber)
            // Cancelled entries stay until their time, unless they become the majority.
            if state.due.count > 2 * state.bookings.count + 64 { state.due.keep { state.bookings[$0] != nil } }
            arm(&state)
        }
    }

    /// Waits for the first moment, if it is earlier than the current one.
    private func arm(_ state: inout State) {
        guard let first = state.due.first, state.armed.map({ first < $0 }) ?? true else { return }
        let source = state.source ?? makeSource()
        state.source = source
        state.armed = first
        // Checks again after a day at most: a moment may be arbitrarily far away.
        let wait = min(max(0, first.unixSeconds - SandboxClock.machine.unixSeconds), 86_400)
        // By the wall clock, since sandboxes show the machine's time even when it is changed.
        source.schedule(wallDeadline: .now() + wait, leeway: .milliseconds(1))
    }

    private func makeSource() -> any DispatchSourceTimer {
        let source = DispatchSource.makeTimerSource(queue: Self.queue)
        source.setEventHandler { [weak self] in self?.fire() }
        source.activate()
        return source
    }

    private func fire() {
        let now = SandboxClock.machine
        let due = state.withLock { state in
            var due: [(Alarm, Int)] = []
            state.armed = nil
            while let (_, number) = state.due.removeFirst(until: now) {
                guard let (alarm, vendor) = state.bookings.removeValue(forKey: number) else { continue }
                state.numbers[Key(alarm: ObjectIdentifier(alarm), vendor: vendor)] = nil
                due.append((alarm, vendor))
            }
            arm(&state)
            return due
        }
        // After unlocking: waking a sandbox books again.
        for (alarm, vendor) in due { alarm.ring(vendor) }
    }
}

/// Wakes a sandbox when something in it is due by its clock. Created before the sandbox, whose stores hold it.
public final class Alarm: Sendable {
    private struct Owner {
        weak var sandbox: Sandbox?
    }

    private let owner = Mutex(Owner())
    private let timer: DeadlineTimer

    init(_ timer: DeadlineTimer) { self.timer = timer }

    func attach(to sandbox: Sandbox) { owner.withLock { $0.sandbox = sandbox } }

    var sandbox: Sandbox? { owner.withLock { $0.sandbox } }

    /// Sets when the vendor's deadlines are checked next; `nil` cancels that.
    ///
    /// Called under the lock of the vendor's state, so that the later of two changes wins. What is already due is
    /// handled soon, but not in this call.
    func set(_ deadline: Moment?, for vendor: Int) { timer.set(deadline.flatMap(machineMoment), for: self, vendor) }

    /// The machine's time at which the sandbox's clock will show the moment; `nil` for never, since it stops before
    /// that.
    private func machineMoment(of deadline: Moment) -> Moment? {
        guard let clock = sandbox?.clock else { return nil }
        let wait = deadline.unixSeconds - clock.now.unixSeconds
        // Nor does the clock ever show a moment beyond its range.
        if wait > 0, clock.isFrozen || !Moment.representable.contains(deadline) { return nil }
        return Moment(unixSeconds: SandboxClock.machine.unixSeconds + max(0, wait))
    }

    func ring(_ vendor: Int) { sandbox?.passDeadlines(of: vendor) }
}
