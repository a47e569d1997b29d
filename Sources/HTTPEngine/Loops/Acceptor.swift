internal import Synchronization

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// Accepts the connections of all listeners and deals them out: each to the loop that has the fewest.
///
/// One loop accepts for all. A listener for each loop would have the kernel choose by a hash of the addresses, and a hash
/// may give most of some dozen connections to one of them.
final class Acceptor {
    private let listeners: [ListeningSocket]
    private let mailboxes: [LoopMailbox]
    private let maximumConnections: Int
    /// Connections that are accepted before those that exist get their turn.
    private static let connectionsPerRound = 256
    private var isWatching = false
    private var turn = 0
    /// Whether a client may wait at a listener.
    private(set) var isReady = false
    /// When accepting goes on after it had to pause.
    private(set) var resumption: Moment?

    init(_ listeners: [ListeningSocket], _ mailboxes: [LoopMailbox], maximumConnections: Int) {
        self.listeners = listeners
        self.mailboxes = mailboxes
        self.maximumConnections = maximumConnections
    }

    /// Begins to watch the listeners.
    func begin(_ poller: Poller) {
        guard !isWatching else { return }
        isWatching = true
        for listener in listeners { _ = poller.add(listener.socket.descriptor, .reading) }
    }

    /// Notes that a client may wait at a listener.
    func markReady() { isReady = isWatching }

    /// Whether a client may wait or a pause is over.
    func mustAccept(_ now: Moment) -> Bool { isReady || resumption.map { $0 <= now } ?? false }

    /// Accepts what waits, and gives each connection to a mailbox.
    func accept(
        _ poller: Poller, _ now: Moment, give: (LoopMailbox, Arrival) -> Void
    ) {
        isReady = false
        // Each listener comes first in its turn, or the last free place would always go to the same one.
        turn = (turn + 1) % listeners.count
        let inTurn = listeners[turn...] + listeners[..<turn]
        let mustPause = inTurn.count { !acceptAll(of: $0, give) } > 0
        if mustPause, resumption == nil { watch(poller, from: .reading, to: []) }
        if !mustPause, resumption != nil { watch(poller, from: [], to: .reading) }
        // A listener that cannot be served stays readable: watching it further would keep a core busy.
        resumption = mustPause ? now + .milliseconds(10) : nil
    }

    /// Ends a pause earlier, since there is room again.
    func resume(at moment: Moment) { resumption = moment }

    /// Stops listening.
    func end() {
        for listener in listeners { listener.close() }
    }

    /// False when the listener has to wait for connections or descriptors to become free.
    private func acceptAll(of listener: ListeningSocket, _ give: (LoopMailbox, Arrival) -> Void) -> Bool {
        for round in 0..<Self.connectionsPerRound {
            let counts = mailboxes.map { $0.connectionCount.load(ordering: .relaxed) }
            // Behind the one that took the last place nobody may wait; if somebody does, the poller says so again.
            guard counts.reduce(0, +) < maximumConnections else { return round > 0 }
            guard let (socket, client) = listener.socket.accept() else {
                switch OperatingSystem.lastError {
                case EMFILE, ENFILE, ENOBUFS, ENOMEM: return false
                case EINTR, ECONNABORTED: continue
                default: return true
                }
            }
            let fewest = counts.indices.min { counts[$0] < counts[$1] } ?? 0
            let arrival = Arrival(socket: socket, remoteAddress: client.host, identity: listener.identity)
            give(mailboxes[fewest], arrival)
        }
        isReady = true
        return true
    }

    private func watch(_ poller: Poller, from old: Interest, to new: Interest) {
        for listener in listeners { poller.change(listener.socket.descriptor, from: old, to: new) }
    }
}
