import Wire

/// Takes all events and does nothing.
struct NobodyListens: WebSocketHandler {
    func opened(_ socket: WebSocket) {}
    func received(_ message: WebSocketMessage, on socket: WebSocket) {}
    func closed(_ socket: WebSocket, _ closure: WebSocketClosure) {}
}
