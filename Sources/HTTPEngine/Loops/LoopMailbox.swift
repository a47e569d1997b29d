import Synchronization
import Wire

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// The only way for other threads to reach a loop.
final class LoopMailbox: Sendable {
    enum Message: Sendable {
        /// Start accepting connections.
        case accept
        /// Take over an accepted connection.
        case adopt(AcceptedSocket)
        /// A deferred answer is ready. The connection may be gone, and its descriptor reused.
        case answered(descriptor: Int32, connection: UInt64, Response)
        /// Perform a command on a WebSocket; the same applies.
        case webSocket(descriptor: Int32, connection: UInt64, SocketChannel.Command)
        /// Close some connections, since new ones need their place.
        case shed
        /// Finish what is in flight, accept nothing more, and end by the deadline.
        case stop(deadline: MonotonicTime)
        /// If stopping, end by this deadline.
        case hurry(deadline: MonotonicTime)
    }

    /// The loop's connections, including those on their way to it.
    let connectionCount = Atomic<Int>(0)
    /// What the loop watches besides its connections.
    let wakeUp: WakeUp
    private let messages = Mutex<[Message]>([])

    init() throws(ServerError) { wakeUp = try WakeUp() }

    /// Posts a message; only the first of several wakes the thread.
    func post(_ message: Message) {
        let isFirst = messages.withLock { messages in
            messages.append(message)
            return messages.count == 1
        }
        if isFirst { wakeUp.signal() }
    }

    func take() -> [Message] {
        wakeUp.clear()
        return messages.withLock { messages in
            defer { messages = [] }
            return messages
        }
    }
}

/// A self-pipe: any thread writes to it to wake the loop that watches it.
final class WakeUp: Sendable {
    /// The end that the loop watches for reading.
    let descriptor: Int32
    private let writer: Int32

    init() throws(ServerError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw .lastFailure(of: "pipe") }
        descriptor = ends[0]
        writer = ends[1]
        ends.forEach(makeNonBlocking)
    }

    deinit {
        closeDescriptor(descriptor)
        closeDescriptor(writer)
    }

    /// Wakes the loop. A full pipe is no failure: the loop is about to wake up.
    func signal() {
        var byte: UInt8 = 0
        _ = write(writer, &byte, 1)
    }

    /// Consumes all signals so far.
    func clear() {
        withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { buffer in
            while read(descriptor, buffer.baseAddress, buffer.count) == buffer.count {}
        }
    }
}

/// Connects any thread with the WebSocket of one connection, through the mailbox of its loop.
final class SocketChannel: WebSocket.Channel {
    enum Command: Sendable {
        case send(WebSocketMessage)
        /// Start the closing handshake.
        case close(WebSocketClosure)
        /// Give up on the client: its queue exceeds the limit.
        case drop
    }

    private let mailbox: LoopMailbox
    private let descriptor: Int32
    private let connection: UInt64
    /// The bytes that may wait in the mailbox for this connection.
    private let limit: Int
    private let waiting = Atomic<Int>(0)
    private let isOpen = Atomic<Bool>(true)

    init(_ mailbox: LoopMailbox, descriptor: Int32, connection: UInt64, limit: Int) {
        self.mailbox = mailbox
        self.descriptor = descriptor
        self.connection = connection
        self.limit = limit
    }

    func send(_ message: WebSocketMessage) {
        guard isOpen.load(ordering: .relaxed) else { return }
        let total = waiting.add(message.cost, ordering: .relaxed).newValue
        guard total > limit else { return post(.send(message)) }
        end()
        post(.drop)
    }

    func close(_ closure: WebSocketClosure) {
        if isOpen.load(ordering: .relaxed) { post(.close(closure)) }
    }

    var hasWaiting: Bool { waiting.load(ordering: .relaxed) > 0 }

    /// Notes that the loop has taken a message.
    func taken(_ message: WebSocketMessage) { waiting.subtract(message.cost, ordering: .relaxed) }

    /// Makes further calls do nothing.
    func end() { isOpen.store(false, ordering: .relaxed) }

    private func post(_ command: Command) {
        mailbox.post(.webSocket(descriptor: descriptor, connection: connection, command))
    }
}

extension WebSocketMessage {
    /// The bytes that a queued message counts, even an empty one.
    fileprivate var cost: Int { byteCount + 64 }
}

/// A time of the monotonic clock in nanoseconds, cheap to compare for timers.
struct MonotonicTime: Comparable, Sendable {
    private let nanoseconds: Int64

    static var now: MonotonicTime {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return MonotonicTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    static func < (left: MonotonicTime, right: MonotonicTime) -> Bool { left.nanoseconds < right.nanoseconds }

    static func + (moment: MonotonicTime, duration: Duration) -> MonotonicTime {
        let (seconds, attoseconds) = duration.components
        // A timeout over thirty years is none; clamping prevents overflow.
        let whole = min(max(seconds, -1_000_000_000), 1_000_000_000) * 1_000_000_000
        return MonotonicTime(nanoseconds: moment.nanoseconds + whole + attoseconds / 1_000_000_000)
    }

    /// The milliseconds since an earlier moment, rounded up, since a timer that fires early would have to fire again; 0
    /// if `earlier` is later.
    func milliseconds(since earlier: MonotonicTime) -> Int32 {
        guard nanoseconds > earlier.nanoseconds else { return 0 }
        return Int32(clamping: (nanoseconds - earlier.nanoseconds - 1) / 1_000_000 + 1)
    }
}
