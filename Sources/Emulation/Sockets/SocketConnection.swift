import Wire

/// What leads the events of one socket to the state that it belongs to.
final class SocketConnection<V: ServesSockets>: WebSocketHandler {
    let sandbox: Sandbox
    let opening: SocketOpening<V>
    /// Which state the handshake was judged by.
    let era: Int
    let log = SocketLog()
    private let cell: VendorCell<V>

    init(_ opening: SocketOpening<V>, era: Int, in sandbox: Sandbox, cell: VendorCell<V>) {
        self.opening = opening
        self.era = era
        self.sandbox = sandbox
        self.cell = cell
    }

    func opened(_ socket: WebSocket) {
        // Pinned before it can be told anything: from here on the end comes for certain.
        sandbox.pinSocket()
        cell.open(socket, self)
        sandbox.journal.noteChange()
    }

    func received(_ message: WebSocketMessage, on socket: WebSocket) {
        sandbox.touch()
        cell.receive(message, on: socket, self)
        sandbox.journal.noteChange()
    }

    func closed(_ socket: WebSocket, _ closure: WebSocketClosure) {
        cell.forget(socket, closure, self)
        sandbox.unpinSocket()
        sandbox.journal.noteChange()
    }
}
