import Wire

/// One thread's share of the server: its connections, their timers, and the wait for events.
///
/// Everything here belongs to the thread that calls ``run()``; other threads use its mailbox.
final class EventLoop {
    let limits: Limits
    let handler: any RequestHandler
    let occupancy: ServerOccupancy
    let smallestBodyLimit: Int
    let mailbox: LoopMailbox
    /// The time at which the loop woke up, precise enough until it waits again.
    private(set) var now = MonotonicTime.now
    private(set) var encoder: ResponseEncoder
    /// Whether the loop only finishes what is in flight.
    private(set) var isStopping = false
    /// The read buffer, shared by the connections: only one reads at a time.
    let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 16)

    private let poller: Poller
    private let peers: [LoopMailbox]
    private var acceptor: Acceptor?
    private var connections: [Connection?] = []
    private var openCount = 0
    private var nextIdentifier: UInt64 = 0
    /// Timers of connections. When a deadline moves back, the old entry stays and is renewed when it fires, so that a
    /// request does not cost an entry.
    private var timers = DueHeap<MonotonicTime, (descriptor: Int32, connection: UInt64)>()
    private var unfinished: [Connection] = []
    /// Connections whose answers of this round are not sent yet.
    private var answered: [Connection] = []
    private var stopDeadline: MonotonicTime?
    /// The frame of the last long message, as long as any socket waits for it.
    private weak var lastFrame: SharedFrame?

    /// A loop; the first one of a server also accepts.
    init(_ loopConfiguration: LoopConfiguration) {
        limits = loopConfiguration.limits
        encoder = ResponseEncoder(idle: loopConfiguration.limits.idle)
        handler = loopConfiguration.handler
        occupancy = loopConfiguration.occupancy
        smallestBodyLimit = loopConfiguration.handler.smallestBodyLimit
        mailbox = loopConfiguration.mailbox
        poller = loopConfiguration.poller
        peers = loopConfiguration.peers
        acceptor = loopConfiguration.listeners.map {
            Acceptor(
                $0, [loopConfiguration.mailbox] + loopConfiguration.peers,
                maximumConnections: loopConfiguration.limits.maximumConnections)
        }
    }

    deinit { scratch.deallocate() }

    /// Runs until a stop is complete.
    func run() {
        var found: [Readiness] = []
        _ = poller.add(mailbox.wakeUp.descriptor, .reading)
        while !(isStopping && openCount == 0) {
            poller.wait(milliseconds: patience, into: &found)
            now = .now
            encoder.setDate(unixTime: OperatingSystem.unixTime)
            // A closed descriptor may be reused at once, and remaining events of this round would hit the new
            // connection. So new connections begin only after all events are handled.
            let isCalled = serve(found)
            if isCalled { readMailbox() }
            resumeUnfinished()
            acceptWaiting()
            fireTimers()
        }
    }

    /// The connection with that descriptor, if it is still the same one.
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
    /// How long an answer waits for those of the same round, besides the work on the last of them.
    private static let gathering = Duration.milliseconds(1)

    /// Passes events to their connections; true when there is mail.
    ///
    /// Answers are sent in batches. Sent alone, each would wake its client, which on a busy machine preempts this
    /// thread every time; answers sent together are also read together.
    private func serve(_ found: [Readiness]) -> Bool {
        var isCalled = false
        var end = now + Self.gathering
        defer { sendAnswers() }
        for readiness in found {
            if let connection = connection(readiness.descriptor) {
                connection.handle(readiness, self)
                answered.append(connection)
                let moment = MonotonicTime.now
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

    /// Resumes connections with more work than fits into one turn.
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
            case .adopt(let accepted): adopt(accepted)
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
        acceptor.accept(poller, now) { mailbox, accepted in
            mailbox.connectionCount.add(1, ordering: .relaxed)
            if mailbox === self.mailbox {
                adopt(accepted)
            } else {
                mailbox.post(.adopt(accepted))
            }
        }
        guard acceptor.resumption != nil, !isStopping else { return }
        for peer in peers { peer.post(.shed) }
        if shed() > 0 { acceptor.resume(at: now) }
    }

    private func fireTimers() {
        while let (moment, timer) = timers.removeFirst(until: now) {
            connection(timer.descriptor, timer.connection)?.timerFired(set: moment, self)
        }
        guard let stopDeadline, stopDeadline <= now else { return }
        for connection in connections { connection.map(close) }
    }

    /// How long the loop may wait, in milliseconds; `nil` if only an event can wake it.
    private var patience: Int32? {
        guard unfinished.isEmpty else { return 0 }
        var next = timers.first
        for other in [stopDeadline, acceptor?.resumption] {
            if let other { next = next.map { min($0, other) } ?? other }
        }
        return next.map { $0.milliseconds(since: .now) }
    }
}

// MARK: - Connections

extension EventLoop {
    private func adopt(_ accepted: AcceptedSocket) {
        guard let transport = Transport(accepted), poller.add(transport.descriptor, .reading) else {
            mailbox.connectionCount.subtract(1, ordering: .relaxed)
            return accepted.socket.close()
        }
        let connection = Connection(
            transport, identifier: nextIdentifier, self,
            Request.Connection(remoteAddress: accepted.remoteAddress, isSecure: accepted.identity != nil))
        nextIdentifier += 1
        let place = Int(transport.descriptor)
        while connections.count <= place { connections.append(nil) }
        connections[place] = connection
        openCount += 1
        // Most clients have already sent their request; the poller reports the others.
        connection.begin(self)
    }

    func watch(_ connection: Connection, from old: Interest, to new: Interest) {
        poller.change(connection.descriptor, from: old, to: new)
    }

    /// Sets a timer for a connection.
    func remind(_ connection: Connection, at moment: MonotonicTime) {
        timers.insert(moment, (connection.descriptor, connection.identifier))
    }

    /// The frame of a message that usually goes to many sockets, one after the other.
    func frame(of message: WebSocketMessage) -> SharedFrame {
        if let lastFrame, lastFrame.carries(message) { return lastFrame }
        let frame = SharedFrame(message, occupancy)
        lastFrame = frame
        return frame
    }

    /// Resumes the connection in the next round, after all others had a turn.
    func postpone(_ connection: Connection) { unfinished.append(connection) }

    /// Ends a connection at once.
    func close(_ connection: Connection) {
        guard self.connection(connection.descriptor) === connection else { return }
        connections[Int(connection.descriptor)] = nil
        poller.remove(connection.descriptor)
        openCount -= 1
        mailbox.connectionCount.subtract(1, ordering: .relaxed)
        connection.end()
    }

    /// Closes the connections that lose least, the oldest first among equals, and returns how many.
    @discardableResult private func shed() -> Int {
        let candidates = connections.compactMap { connection in
            connection.flatMap { connection in
                connection.expendability.map { (expendability: $0, since: connection.waitBegin, connection) }
            }
        }
        let order = candidates.sorted { ($0.expendability, $0.since) < ($1.expendability, $1.since) }
        // Cheap ones are closed in bulk, so that a flood does not cause this for every connection; costly ones one at a
        // time.
        let cheap = order.prefix { $0.expendability < Connection.costly }
        let least = cheap.isEmpty ? order.prefix(1) : cheap.prefix(1 + openCount / 32)
        return least.count { $0.2.giveWay(self) }
    }

    private func stop(by deadline: MonotonicTime) {
        // Clients in the listen queue already count as connected.
        acceptor?.markReady()
        while acceptor?.isReady == true { acceptWaiting() }
        acceptor?.end()
        acceptor = nil
        // Only now, so that the other loops end after receiving their last connection.
        for peer in peers { peer.post(.stop(deadline: deadline)) }
        hurry(to: deadline)
        guard !isStopping else { return }
        isStopping = true
        for connection in connections { connection?.stop(self) }
    }

    private func hurry(to deadline: MonotonicTime) { stopDeadline = stopDeadline.map { min($0, deadline) } ?? deadline }
}

struct LoopConfiguration: Sendable {
    let limits: Limits
    let handler: any RequestHandler
    let occupancy: ServerOccupancy
    let mailbox: LoopMailbox
    let poller: Poller
    /// The server's listeners, for the loop that accepts.
    let listeners: [ListeningSocket]?
    /// The other loops, for the loop that accepts, which tells them to stop.
    let peers: [LoopMailbox]

    /// One for each loop of a server, the accepting one first.
    static func make(
        _ configuration: ServerConfiguration, _ listeners: [ListeningSocket], _ handler: any RequestHandler,
        _ occupancy: ServerOccupancy
    ) throws(ServerError) -> [LoopConfiguration] {
        var mailboxes: [LoopMailbox] = []
        for _ in 0..<max(1, configuration.loops) { mailboxes.append(try LoopMailbox()) }
        let limits = configuration.limits
        var loopConfigurations: [LoopConfiguration] = []
        for mailbox in mailboxes {
            let isFirst = loopConfigurations.isEmpty
            loopConfigurations.append(
                LoopConfiguration(
                    limits: limits, handler: handler, occupancy: occupancy, mailbox: mailbox, poller: try Poller(),
                    listeners: isFirst ? listeners : nil, peers: isFirst ? Array(mailboxes.dropFirst()) : []))
        }
        return loopConfigurations
    }
}
