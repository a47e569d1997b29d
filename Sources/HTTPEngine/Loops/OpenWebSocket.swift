internal import Wire

/// The WebSocket that a connection has become.
struct OpenWebSocket {
    let upgrade: WebSocketUpgrade
    let channel: SocketChannel
    var conversation: WebSocketConversation
    /// When the client sent anything last.
    var lastHeard: Moment

    /// Whether the client's close frame has to wait for the answers to what it sent before; they are in the mailbox.
    var mustSendFirst: Bool { conversation.isCloseNext && channel.hasWaiting }

    /// The end that the handler holds.
    var socket: WebSocket { WebSocket(channel) }
}
