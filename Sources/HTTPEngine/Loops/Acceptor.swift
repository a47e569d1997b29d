internal import Synchronization

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// Accepts the connections of all listeners and assigns each to the loop with the fewest.
///
/// A single loop accepts. With one listener per loop, the kernel would choose by a hash of the addresses, and of a few
/// dozen connections most could land on one loop.
final class Acceptor {
    private let listeners: [ListeningSocket]
    private let mailboxes: [LoopMailbox]
    private let maximumConnections: Int
    /// Connections accepted before existing ones get their turn.
    private static let connectionsPerRound = 256
    private var isWatching = false
    private var turn = 0
    /// Whether a client may be waiting at a listener.
    private(set) var isReady = false
    /// When accepting resumes after a pause.
    private(set) var resumption: MonotonicTime?

    init(_ listeners: [ListeningSocket], _ mailboxes: [LoopMailbox], maximumConnections: Int) {
        self.listeners = listeners
        self.mailboxes = mailboxes
        self.maximumConnections = maximumConnections
    }

    /// Starts watching the listeners.
    func begin(_ poller: Poller) {
        guard !isWatching else { return }
        isWatching = true
        for listener in listeners { _ = poller.add(listener.socket.descriptor, .reading) }
    }

    func markReady() { isReady = isWatching }

    func mustAccept(_ now: MonotonicTime) -> Bool { isReady || resumption.map { $0 <= now } ?? false }

    /// Accepts waiting connections and passes each to a loop's mailbox.
    func accept(_ poller: Poller, _ now: MonotonicTime, give: (LoopMailbox, AcceptedSocket) -> Void) {
        isReady = false
        // Listeners take turns being first, or the last free slot would always go to the same one.
        turn = (turn + 1) % listeners.count
        let inTurn = listeners[turn...] + listeners[..<turn]
        let mustPause = inTurn.count { !acceptAll(of: $0, give) } > 0
        if mustPause, resumption == nil { watch(poller, from: .reading, to: []) }
        if !mustPause, resumption != nil { watch(poller, from: [], to: .reading) }
        // A listener that cannot be served stays readable; watching it would keep a core busy.
        resumption = mustPause ? now + .milliseconds(10) : nil
    }

    /// Ends a pause early, since there is room again.
    func resume(at moment: MonotonicTime) { resumption = moment }

    func end() {
        for listener in listeners { listener.close() }
    }

    /// Returns false if the listener must wait for connections or descriptors to be freed.
    private func acceptAll(of listener: ListeningSocket, _ give: (LoopMailbox, AcceptedSocket) -> Void) -> Bool {
        for round in 0..<Self.connectionsPerRound {
            let counts = mailboxes.map { $0.connectionCount.load(ordering: .relaxed) }
            // If this loop took the last slot, nobody else may be waiting; otherwise the poller reports again.
            guard counts.reduce(0, +) < maximumConnections else { return round > 0 }
            guard let (socket, client) = listener.socket.accept() else {
                switch OperatingSystem.lastError {
                case EMFILE, ENFILE, ENOBUFS, ENOMEM: return false
                case EINTR, ECONNABORTED: continue
                default: return true
                }
            }
            let fewest = counts.indices.min { counts[$0] < counts[$1] } ?? 0
            let accepted = AcceptedSocket(socket: socket, remoteAddress: client.host, identity: listener.identity)
            give(mailboxes[fewest], accepted)
        }
        isReady = true
        return true
    }

    private func watch(_ poller: Poller, from old: Interest, to new: Interest) {
        for listener in listeners { poller.change(listener.socket.descriptor, from: old, to: new) }
    }
}
