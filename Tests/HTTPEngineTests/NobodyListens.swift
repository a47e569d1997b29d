import Wire

/// A handler that ignores all events.
struct NobodyListens: WebSocketHandler {
    func opened(_ socket: WebSocket) {}
    func received(_ message: WebSocketMessage, on socket: WebSocket) {}
    func closed(_ socket: WebSocket, _ closure: WebSocketClosure) {}
}
