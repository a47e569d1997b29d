internal import Wire

/// The WebSocket that a connection has become.
///
/// An object, so that a connection that is none holds a reference only, and asking for it copies nothing.
final class OpenWebSocket {
    let upgrade: WebSocketUpgrade
    let channel: SocketChannel
    var conversation: WebSocketConversation
    /// When the client sent anything last.
    var lastHeard: Moment

    init(upgrade: WebSocketUpgrade, channel: SocketChannel, lastHeard: Moment) {
        self.upgrade = upgrade
        self.channel = channel
        conversation = WebSocketConversation(upgrade)
        self.lastHeard = lastHeard
    }

    /// Whether the client's close frame has to wait for the answers to what it sent before; they are in the mailbox.
    var mustSendFirst: Bool { conversation.isCloseNext && channel.hasWaiting }

    /// The end that the handler holds.
    var socket: WebSocket { WebSocket(channel) }
}
