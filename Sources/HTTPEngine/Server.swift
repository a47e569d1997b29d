internal import Synchronization

/// A web server: it listens, reads requests strictly by RFC 9112, and sends what its handler answers.
///
/// It listens from the beginning and accepts from ``start()`` on; a server that nobody holds any more stops at once.
public final class Server: Sendable {
    /// The addresses at which the server listens, in the order of the configuration.
    public let addresses: [BoundAddress]

    private let acceptingMailbox: LoopMailbox
    private let running: RunningLoops

    /// Binds and listens; clients that connect before ``start()`` wait.
    public init(_ configuration: ServerConfiguration, handler: any RequestHandler) throws(ServerError) {
        guard !configuration.listeners.isEmpty else { throw .noListener }
        var listeners: [ListeningSocket] = []
        for listener in configuration.listeners { listeners.append(try ListeningSocket(listener)) }
        addresses = listeners.map(\.address)
        let seats = try Seat.make(configuration, listeners, handler)
        guard let first = seats.first else { throw .noListener }
        acceptingMailbox = first.mailbox
        running = RunningLoops()
        for seat in seats where !running.start(seat) {
            first.mailbox.post(.stop(deadline: .now))
            throw .lastFailure(of: "pthread_create")
        }
    }

    deinit { acceptingMailbox.post(.stop(deadline: .now)) }

    /// Begins to accept connections.
    public func start() { acceptingMailbox.post(.accept) }

    /// Stops: accepts nothing more, closes idle connections, and answers what is in flight.
    ///
    /// What is not answered within the limit is cut off. Returns when all connections are closed.
    public func stop(within limit: Duration) async {
        acceptingMailbox.post(.stop(deadline: .now + limit))
        await waitUntilStopped()
    }

    /// Returns when the server has stopped.
    public func waitUntilStopped() async { await running.waitUntilEnded() }
}

/// What one loop is made of.
struct Seat: Sendable {
    let limits: Limits
    let handler: any RequestHandler
    let mailbox: LoopMailbox
    let poller: Poller
    /// The server's listeners, for the loop that accepts.
    let listeners: [ListeningSocket]?
    /// The other loops, for the loop that accepts; it tells them to stop.
    let peers: [LoopMailbox]

    /// The seats of a server, the accepting one first.
    static func make(
        _ configuration: ServerConfiguration, _ listeners: [ListeningSocket], _ handler: any RequestHandler
    ) throws(ServerError) -> [Seat] {
        var mailboxes: [LoopMailbox] = []
        for _ in 0..<max(1, configuration.loops) { mailboxes.append(try LoopMailbox()) }
        let limits = configuration.limits
        var seats: [Seat] = []
        for mailbox in mailboxes {
            let isFirst = seats.isEmpty
            seats.append(
                Seat(
                    limits: limits, handler: handler, mailbox: mailbox, poller: try Poller(),
                    listeners: isFirst ? listeners : nil, peers: isFirst ? Array(mailboxes.dropFirst()) : []))
        }
        return seats
    }
}

/// Counts the loops that run, and tells when the last one has ended.
final class RunningLoops: Sendable {
    private struct State {
        var count = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    /// Runs a loop on a thread of its own; false when the system has no thread left.
    func start(_ seat: Seat) -> Bool {
        state.withLock { $0.count += 1 }
        let isRunning = OperatingSystem.startThread { [self] in
            EventLoop(seat).run()
            loopEnded()
        }
        if !isRunning { loopEnded() }
        return isRunning
    }

    /// Returns when no loop runs any more.
    func waitUntilEnded() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if state.count > 0 { state.waiting.append(continuation) }
                return state.count == 0
            }
            if isOver { continuation.resume() }
        }
    }

    private func loopEnded() {
        let waiting = state.withLock { state in
            state.count -= 1
            guard state.count == 0 else { return [CheckedContinuation<Void, Never>]() }
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}
