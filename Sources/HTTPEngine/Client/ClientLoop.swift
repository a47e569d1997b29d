/// The thread of the client: all exchanges under way, and the wait for whatever happens next.
///
/// Everything here belongs to the thread that calls ``run()``; others reach it through its mailbox. Nothing that it calls
/// waits for anybody, so one exchange that stalls holds up no other.
final class ClientLoop {
    /// What other threads tell the loop.
    enum Message: Sendable {
        /// Do what this exchange asks for.
        case begin(ClientExchange)
        /// These are the addresses of its host.
        case found([SocketAddress], for: ClientExchange)
        /// Nobody waits for it any more.
        case forget(ClientExchange)
        /// Nobody asks any more.
        case end
    }

    /// Room to read into, shared by the exchanges: at any moment at most one of them reads.
    let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 16)

    private let poller: Poller
    private let mailbox: Mailbox<Message>
    private let occupancy: ClientOccupancy
    private let lookUps: NameLookUps
    private var now = MonotonicTime.now
    private var connections: [ObjectIdentifier: ClientConnection] = [:]
    private var watched: [Int32: ClientConnection] = [:]
    private var unfinished: [ClientConnection] = []
    /// No deadline lies before this. To look through all exchanges once it has come is cheaper than to keep an order.
    private var earliestDeadline: MonotonicTime?
    private var isOver = false

    init(_ poller: Poller, _ mailbox: Mailbox<Message>, _ occupancy: ClientOccupancy, _ lookUps: NameLookUps) {
        (self.poller, self.mailbox, self.occupancy, self.lookUps) = (poller, mailbox, occupancy, lookUps)
    }

    deinit { scratch.deallocate() }

    /// Works on exchanges until it is told to end.
    func run() {
        var found: [Readiness] = []
        while !isOver {
            poller.wait(milliseconds: patience, into: &found)
            now = .now
            // New sockets only begin when all reports are done, which might be about others of the same number.
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
    /// Gives the reports to their exchanges; true when there is mail.
    private func serve(_ found: [Readiness]) -> Bool {
        var isCalled = false
        for readiness in found {
            if let connection = watched[readiness.descriptor] {
                // One that goes on by itself has its turn behind the others.
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
        // Whoever asked may have gone before this was read.
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

    /// How long the loop may wait, in milliseconds; `nil` when nothing but an event can wake it.
    private var patience: Int32? {
        unfinished.isEmpty ? earliestDeadline.map { $0.milliseconds(since: .now) } : 0
    }
}

// MARK: - What connections ask for

extension ClientLoop {
    /// Has the addresses of a host found.
    func lookUp(_ connection: ClientConnection) {
        let (exchange, mailbox) = (connection.exchange, mailbox)
        lookUps.find(exchange.target, for: exchange) { mailbox.post(.found($0, for: exchange)) }
    }

    /// Begins to watch a socket; false with `errno` set when the system has no room for it.
    func watch(_ socket: Socket, for connection: ClientConnection, _ interest: Interest) -> Bool {
        guard poller.add(socket.descriptor, interest) else { return false }
        watched[socket.descriptor] = connection
        return true
    }

    /// Changes what is watched for.
    func change(_ socket: Socket, from old: Interest, to new: Interest) {
        poller.change(socket.descriptor, from: old, to: new)
    }

    /// Watches a socket no more, which is about to be closed.
    func forget(_ socket: Socket) { watched[socket.descriptor] = nil }

    /// Has the exchange go on in the next round, after all others had a turn.
    func postpone(_ connection: ClientConnection) {
        guard !connection.isPostponed else { return }
        connection.isPostponed = true
        unfinished.append(connection)
    }

    /// Counts bytes that are kept for an exchange; false when they are too many in all.
    func keep(_ byteCount: Int) -> Bool { occupancy.keep(byteCount) }

    /// Ends an exchange; only then its place is free.
    func end(_ connection: ClientConnection, _ outcome: ClientExchange.Outcome) {
        guard isUnderWay(connection) else { return }
        connections[ObjectIdentifier(connection.exchange)] = nil
        lookUps.forget(connection.exchange)
        connection.close(self)
        occupancy.leave(byteCount: connection.machine.byteCount)
        connection.exchange.end(outcome)
    }
}
