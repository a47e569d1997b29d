internal import Synchronization

/// The number of open connections of a server; thread-safe.
public final class ServerOccupancy: Sendable {
    private let connections = Atomic(0)
    private let webSockets = Atomic(0)

    init() {}

    /// The open connections, including WebSockets.
    package var openConnections: Int { connections.load(ordering: .relaxed) }
    package var openWebSockets: Int { webSockets.load(ordering: .relaxed) }

    func connectionOpened() { connections.add(1, ordering: .relaxed) }
    func connectionClosed() { connections.subtract(1, ordering: .relaxed) }
    func webSocketOpened() { webSockets.add(1, ordering: .relaxed) }
    func webSocketClosed() { webSockets.subtract(1, ordering: .relaxed) }
}
