internal import Wire

/// The WebSocket that a connection has become.
///
/// A class, so that other connections only need room for a reference, and access copies nothing.
final class OpenWebSocket {
    let upgrade: WebSocketUpgrade
    let channel: SocketChannel
    var conversation: WebSocketConversation
    /// When the client last sent anything.
    var lastHeard: MonotonicTime

    init(upgrade: WebSocketUpgrade, channel: SocketChannel, lastHeard: MonotonicTime) {
        self.upgrade = upgrade
        self.channel = channel
        conversation = WebSocketConversation(upgrade)
        self.lastHeard = lastHeard
    }

    /// Whether the client's close frame must wait for answers to earlier messages, which are in the mailbox.
    var mustSendFirst: Bool { conversation.isCloseNext && channel.hasWaiting }

    /// The handler's end.
    var socket: WebSocket { WebSocket(channel) }
}
