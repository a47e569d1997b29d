internal import Wire

/// The WebSocket that a connection has become.
struct OpenWebSocket {
    let upgrade: WebSocketUpgrade
    let channel: SocketChannel
    var conversation: WebSocketConversation

    /// The end that the handler holds.
    var socket: WebSocket { WebSocket(channel) }
}
