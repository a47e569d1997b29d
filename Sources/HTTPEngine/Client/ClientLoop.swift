/// The client's thread: all exchanges in progress, and the wait for events.
///
/// Everything here belongs to the thread that calls ``run()``; other threads use its mailbox. It makes no blocking
/// calls, so one stalled exchange delays no other.
final class ClientLoop {
    /// What other threads tell the loop.
    enum Message: Sendable {
        /// Start this exchange.
        case begin(ClientExchange)
        case found([SocketAddress], for: ClientExchange)
        /// The exchange's caller no longer waits.
        case forget(ClientExchange)
        /// The client was released.
        case end
    }

    /// The read buffer, shared by the exchanges: only one reads at a time.
    let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 16)

    private let poller: Poller
    private let mailbox: Mailbox<Message>
    private let occupancy: ClientOccupancy
    private let lookUps: NameLookUps
    private var now = MonotonicTime.now
    private var connections: [ObjectIdentifier: ClientConnection] = [:]
    private var watched: [Int32: ClientConnection] = [:]
    private var unfinished: [ClientConnection] = []
    /// No deadline is earlier. Searching all exchanges when it is due costs less than keeping them sorted.
    private var earliestDeadline: MonotonicTime?
    private var isOver = false

    init(_ poller: Poller, _ mailbox: Mailbox<Message>, _ occupancy: ClientOccupancy, _ lookUps: NameLookUps) {
        (self.poller, self.mailbox, self.occupancy, self.lookUps) = (poller, mailbox, occupancy, lookUps)
    }

    deinit { scratch.deallocate() }

    /// Performs exchanges until told to end.
    func run() {
        var found: [Readiness] = []
        while !isOver {
            poller.wait(milliseconds: patience, into: &found)
            now = .now
            // New sockets begin only after all events are handled, which might be about others with the same number.
            let isCalled = serve(found)
            if isCalled { readMailbox() }
            resumeUnfinished()
            endOverdue()
        }
        for connection in connections.values { end(connection, .failure(.cancelled)) }
    }
}

// MARK: - One round

extension ClientLoop {
    /// Passes events to their exchanges; true when there is mail.
    private func serve(_ found: [Readiness]) -> Bool {
        var isCalled = false
        for readiness in found {
            if let connection = watched[readiness.descriptor] {
                // A postponed one has its turn after the others.
                if !connection.isPostponed { connection.handle(readiness, self) }
            } else {
                isCalled = true
            }
        }
        return isCalled
    }

    private func readMailbox() {
        for message in mailbox.take() {
            switch message {
            case .begin(let exchange): begin(exchange)
            case .found(let addresses, let exchange): connection(exchange)?.found(addresses, self)
            case .forget(let exchange): connection(exchange).map { end($0, .failure(.cancelled)) }
            case .end: isOver = true
            }
        }
    }

    private func begin(_ exchange: ClientExchange) {
        let connection = ClientConnection(exchange)
        connections[ObjectIdentifier(exchange)] = connection
        earliestDeadline = earliestDeadline.map { min($0, exchange.deadline) } ?? exchange.deadline
        // The caller may have gone in the meantime.
        exchange.hasEnded ? end(connection, .failure(.cancelled)) : connection.proceed(self)
    }

    private func connection(_ exchange: ClientExchange) -> ClientConnection? {
        connections[ObjectIdentifier(exchange)]
    }

    private func resumeUnfinished() {
        let waiting = unfinished
        unfinished = []
        for connection in waiting {
            connection.isPostponed = false
            if isUnderWay(connection) { connection.proceed(self) }
        }
    }

    private func isUnderWay(_ connection: ClientConnection) -> Bool {
        self.connection(connection.exchange) === connection
    }

    private func endOverdue() {
        guard let earliestDeadline, earliestDeadline <= now else { return }
        for connection in connections.values where connection.exchange.deadline <= now {
            end(connection, .failure(.timedOut))
        }
        self.earliestDeadline = connections.values.lazy.map(\.exchange.deadline).min()
    }

    /// How long the loop may wait, in milliseconds; `nil` if only an event can wake it.
    private var patience: Int32? {
        unfinished.isEmpty ? earliestDeadline.map { $0.milliseconds(since: .now) } : 0
    }
}

// MARK: - What connections ask for

extension ClientLoop {
    /// Starts looking up the addresses of a host.
    func lookUp(_ connection: ClientConnection) {
        let (exchange, mailbox) = (connection.exchange, mailbox)
        lookUps.find(exchange.target, for: exchange) { mailbox.post(.found($0, for: exchange)) }
    }

    /// Starts watching a socket; false with `errno` set when the system has no room for it.
    func watch(_ socket: Socket, for connection: ClientConnection, _ interest: Interest) -> Bool {
        guard poller.add(socket.descriptor, interest) else { return false }
        watched[socket.descriptor] = connection
        return true
    }

    /// Changes the events that the loop watches on a socket.
    func change(_ socket: Socket, from old: Interest, to new: Interest) {
        poller.change(socket.descriptor, from: old, to: new)
    }

    /// Stops watching a socket that is about to be closed.
    func forget(_ socket: Socket) { watched[socket.descriptor] = nil }

    /// Resumes the exchange in the next round, after all others had a turn.
    func postpone(_ connection: ClientConnection) {
        guard !connection.isPostponed else { return }
        connection.isPostponed = true
        unfinished.append(connection)
    }

    /// Counts bytes buffered for an exchange; false when the total exceeds the limit.
    func keep(_ byteCount: Int) -> Bool { occupancy.keep(byteCount) }

    /// Ends an exchange and frees its place.
    func end(_ connection: ClientConnection, _ outcome: ClientExchange.Outcome) {
        guard isUnderWay(connection) else { return }
        connections[ObjectIdentifier(connection.exchange)] = nil
        lookUps.forget(connection.exchange)
        connection.close(self)
        occupancy.leave(byteCount: connection.machine.byteCount)
        connection.exchange.end(outcome)
    }
}
