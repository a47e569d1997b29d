internal import Synchronization

/// How many connections a server has open at this moment; any thread may ask at any time.
public final class ServerOccupancy: Sendable {
    private let connections = Atomic(0)
    private let webSockets = Atomic(0)

    init() {}

    /// The open connections, those that have become WebSockets included.
    public var openConnections: Int { connections.load(ordering: .relaxed) }
    /// The connections that are WebSockets now.
    public var openWebSockets: Int { webSockets.load(ordering: .relaxed) }

    func connectionOpened() { connections.add(1, ordering: .relaxed) }
    func connectionClosed() { connections.subtract(1, ordering: .relaxed) }
    func webSocketOpened() { webSockets.add(1, ordering: .relaxed) }
    func webSocketClosed() { webSockets.subtract(1, ordering: .relaxed) }
}
