internal import Wire

/// One thread's share of the server: its connections, their timers, and the wait for whatever happens next.
///
/// Everything here belongs to the thread that calls ``run()``; other threads reach it through its mailbox.
final class EventLoop {
    let limits: Limits
    let handler: any RequestHandler
    let occupancy: ServerOccupancy
    let smallestBodyLimit: Int
    let mailbox: LoopMailbox
    /// The time at which the loop woke up; good enough for all that it does until it waits again.
    private(set) var now = Moment.now
    private(set) var encoder = ResponseEncoder()
    /// Whether what is in flight is answered and nothing else begins.
    private(set) var isStopping = false
    /// Room to read into, shared by the connections: at any moment at most one of them reads.
    let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 16)

    private let poller: Poller
    private let peers: [LoopMailbox]
    private var acceptor: Acceptor?
    private var connections: [Connection?] = []
    private var openCount = 0
    private var nextIdentifier: UInt64 = 0
    private var timers = TimerHeap()
    private var unfinished: [Connection] = []
    /// Connections whose answers of this round have not been sent.
    private var answered: [Connection] = []
    private var stopDeadline: Moment?

    /// A loop; the first one of a server also accepts.
    init(_ seat: Seat) {
        limits = seat.limits
        handler = seat.handler
        occupancy = seat.occupancy
        smallestBodyLimit = seat.handler.smallestBodyLimit
        mailbox = seat.mailbox
        poller = seat.poller
        peers = seat.peers
        acceptor = seat.listeners.map {
            Acceptor($0, [seat.mailbox] + seat.peers, maximumConnections: seat.limits.maximumConnections)
        }
    }

    deinit {
        scratch.deallocate()
    }

    /// Serves until a stop is complete.
    func run() {
        var found: [Readiness] = []
        _ = poller.add(mailbox.wakeUp.descriptor, .reading)
        while !(isStopping && openCount == 0) {
            poller.wait(milliseconds: patience, into: &found)
            now = .now
            encoder.setDate(unixTime: OperatingSystem.unixTime)
            // A descriptor that is closed here may be given out again at once, and reports that are still to come in
            // this round would hit the new connection; so connections only begin when all reports are done.
            let isCalled = serve(found)
            if isCalled { readMailbox() }
            resumeUnfinished()
            acceptWaiting()
            fireTimers()
        }
    }

    /// The connection under that descriptor, if it still is the one meant.
    private func connection(_ descriptor: Int32, _ identifier: UInt64) -> Connection? {
        guard let connection = connection(descriptor), connection.identifier == identifier else { return nil }
        return connection
    }

    private func connection(_ descriptor: Int32) -> Connection? {
        connections.indices.contains(Int(descriptor)) ? connections[Int(descriptor)] : nil
    }
}

// MARK: - One round

extension EventLoop {
    /// How long an answer is kept for the ones behind it, besides the work on the last of them.
    private static let gathering = Duration.milliseconds(1)

    /// Gives the reports to their connections; true when there is mail.
    ///
    /// Answers are sent a few together. Each one sent wakes its client, and on a machine whose cores are all at work that
    /// client pushes this thread aside, for one answer and time and again; together they are read together too.
    private func serve(_ found: [Readiness]) -> Bool {
        var isCalled = false
        var end = now + Self.gathering
        defer { sendAnswers() }
        for readiness in found {
            if let connection = connection(readiness.descriptor) {
                connection.handle(readiness, self)
                answered.append(connection)
                let moment = Moment.now
                if end < moment {
                    sendAnswers()
                    end = moment + Self.gathering
                }
            } else if readiness.descriptor == mailbox.wakeUp.descriptor {
                isCalled = true
            } else {
                acceptor?.markReady()
            }
        }
        return isCalled
    }

    private func sendAnswers() {
        for connection in answered { connection.conclude(self) }
        answered.removeAll(keepingCapacity: true)
    }

    /// Goes on with connections that have more to do than fits into one turn.
    private func resumeUnfinished() {
        guard !unfinished.isEmpty else { return }
        let waiting = unfinished
        unfinished = []
        for connection in waiting { connection.resume(self) }
    }

    private func readMailbox() {
        for message in mailbox.take() {
            switch message {
            case .accept: acceptor?.begin(poller)
            case .adopt(let arrival): adopt(arrival)
            case .answered(let descriptor, let identifier, let response):
                connection(descriptor, identifier)?.complete(response, self)
            case .webSocket(let descriptor, let identifier, let command):
                connection(descriptor, identifier)?.perform(command, self)
            case .shed: shed()
            case .stop(let deadline): stop(by: deadline)
            case .hurry(let deadline): if isStopping { hurry(to: deadline) }
            }
        }
    }

    private func acceptWaiting() {
        guard let acceptor, acceptor.mustAccept(now) else { return }
        acceptor.accept(poller, now) { mailbox, arrival in
            mailbox.connectionCount.add(1, ordering: .relaxed)
            if mailbox === self.mailbox {
                adopt(arrival)
            } else {
                mailbox.post(.adopt(arrival))
            }
        }
        guard acceptor.resumption != nil, !isStopping else { return }
        for peer in peers { peer.post(.shed) }
        if shed() > 0 { acceptor.resume(at: now) }
    }

    private func fireTimers() {
        while let entry = timers.takeDue(at: now) {
            connection(entry.descriptor, entry.connection)?.timerFired(set: entry.moment, self)
        }
        guard let stopDeadline, stopDeadline <= now else { return }
        for connection in connections { connection.map(close) }
    }

    /// How long the loop may wait, in milliseconds; `nil` when nothing but an event can wake it.
    private var patience: Int32? {
        guard unfinished.isEmpty else { return 0 }
        var next = timers.earliest
        for other in [stopDeadline, acceptor?.resumption] {
            if let other { next = next.map { min($0, other) } ?? other }
        }
        return next.map { $0.milliseconds(since: .now) }
    }
}

// MARK: - Connections

extension EventLoop {
    private func adopt(_ arrival: Arrival) {
        guard let transport = Transport(arrival), poller.add(transport.descriptor, .reading) else {
            mailbox.connectionCount.subtract(1, ordering: .relaxed)
            return arrival.socket.close()
        }
        let connection = Connection(
            transport, identifier: nextIdentifier, self,
            Request.Connection(remoteAddress: arrival.remoteAddress, isSecure: arrival.identity != nil))
        nextIdentifier += 1
        let place = Int(transport.descriptor)
        while connections.count <= place { connections.append(nil) }
        connections[place] = connection
        openCount += 1
        // Most clients have sent their request by now, and those that have not say when they do.
        connection.begin(self)
    }

    /// Changes what the loop waits for on a connection.
    func watch(_ connection: Connection, from old: Interest, to new: Interest) {
        poller.change(connection.descriptor, from: old, to: new)
    }

    /// Has the connection looked at when `moment` has come.
    func remind(_ connection: Connection, at moment: Moment) {
        timers.insert(
            TimerHeap.Entry(
                moment: moment, descriptor: connection.descriptor, connection: connection.identifier))
    }

    /// Has the connection go on in the next round, after everybody else had a turn.
    func postpone(_ connection: Connection) { unfinished.append(connection) }

    /// Ends a connection at once.
    func close(_ connection: Connection) {
        guard self.connection(connection.descriptor) === connection else { return }
        connections[Int(connection.descriptor)] = nil
        openCount -= 1
        mailbox.connectionCount.subtract(1, ordering: .relaxed)
        connection.end()
    }

    /// Closes the connections that lose least by it, and says how many: idle ones before those at work, and among them the
    /// oldest first.
    @discardableResult private func shed() -> Int {
        let candidates = connections.compactMap { connection in
            connection.flatMap { connection in
                connection.expendability.map { (expendability: $0, since: connection.waitBegin, connection) }
            }
        }
        let order = candidates.sorted { ($0.expendability, $0.since) < ($1.expendability, $1.since) }
        // Many at a time of those that lose little, so that a flood does not come here for each; of the others only one.
        let cheap = order.prefix { $0.expendability < Connection.costly }
        let least = cheap.isEmpty ? order.prefix(1) : cheap.prefix(1 + openCount / 32)
        return least.count { $0.2.giveWay(self) }
    }

    private func stop(by deadline: Moment) {
        // Clients in the queue of a listener have been told that they are connected.
        acceptor?.markReady()
        while acceptor?.isReady == true { acceptWaiting() }
        acceptor?.end()
        acceptor = nil
        // Only now, so that the other loops end after they got their last connection.
        for peer in peers { peer.post(.stop(deadline: deadline)) }
        hurry(to: deadline)
        guard !isStopping else { return }
        isStopping = true
        for connection in connections { connection?.stop(self) }
    }

    private func hurry(to deadline: Moment) {
        stopDeadline = stopDeadline.map { min($0, deadline) } ?? deadline
    }
}
