import Wire

/// Routes the events of one socket to the state it belongs to.
final class SocketConnection<V: Vendor>: WebSocketHandler {
    let sandbox: Sandbox
    let opening: SocketOpening<V>
    /// The era of the state that judged the handshake.
    let era: Int
    let log = SocketLog()
    private let store: VendorStateStore<V>

    init(_ opening: SocketOpening<V>, era: Int, in sandbox: Sandbox, store: VendorStateStore<V>) {
        self.opening = opening
        self.era = era
        self.sandbox = sandbox
        self.store = store
    }

    func opened(_ socket: WebSocket) {
        // Pinned before any event: from here on, the closing event is guaranteed.
        sandbox.pinSocket()
        store.open(socket, self)
        sandbox.journal.noteChange()
    }

    func received(_ message: WebSocketMessage, on socket: WebSocket) {
        sandbox.touch()
        store.receive(message, on: socket, self)
        sandbox.journal.noteChange()
    }

    func closed(_ socket: WebSocket, _ closure: WebSocketClosure) {
        store.forget(socket, closure, self)
        sandbox.unpinSocket()
        sandbox.journal.noteChange()
    }
}
