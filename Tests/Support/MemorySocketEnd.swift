import Dispatch
import Synchronization
import Wire

/// The client of a WebSocket without a connection: acts as the engine for a handler, one event at a time.
final class MemorySocketEnd: SocketEnd {
    private let handler: any WebSocketHandler
    private let channel: Channel
    /// Replaces the connection's loop.
    private let queue = DispatchQueue(label: "understudy.tests.socket")

    /// The server's channel to this client. The server calls it while holding locks, so it must not call back.
    private final class Channel: WebSocket.Channel {
        let inbox: SocketInbox
        let hasEnded = Atomic(false)
        let ended = Mutex<(@Sendable (WebSocketClosure) -> Void)?>(nil)

        init(_ inbox: SocketInbox) { self.inbox = inbox }

        func send(_ message: WebSocketMessage) {
            if hasEnded.load(ordering: .sequentiallyConsistent) { return }
            switch message {
            case .text(let text): inbox.add(.text(text))
            case .binary(let bytes): inbox.add(.binary(bytes))
            }
        }

        func close(_ closure: WebSocketClosure) {
            guard !hasEnded.exchange(true, ordering: .sequentiallyConsistent) else { return }
            inbox.add(.closed(closure))
            ended.withLock { $0 }?(closure)
        }
    }

    private init(_ handler: any WebSocketHandler, _ inbox: SocketInbox) {
        self.handler = handler
        channel = Channel(inbox)
    }

    static func open(_ upgrade: WebSocketUpgrade) -> LiveSocket {
        let inbox = SocketInbox()
        let end = MemorySocketEnd(upgrade.handler, inbox)
        let (queue, channel, handler) = (end.queue, end.channel, end.handler)
        channel.ended.withLock { ended in
            ended = { [weak channel] closure in
                guard let channel else { return }
                queue.async { handler.closed(WebSocket(channel), closure) }
            }
        }
        queue.async { handler.opened(WebSocket(channel)) }
        return LiveSocket(inbox, end)
    }

    func send(_ message: WebSocketMessage) {
        queue.async { [handler, channel] in
            if !channel.hasEnded.load(ordering: .sequentiallyConsistent) {
                handler.received(message, on: WebSocket(channel))
            }
        }
    }

    /// Answered as the engine does, without the handler.
    func ping(_ payload: [UInt8]) {
        queue.async { [channel] in
            if !channel.hasEnded.load(ordering: .sequentiallyConsistent) { channel.inbox.add(.pong(payload)) }
        }
    }

    func close(_ closure: WebSocketClosure) {
        queue.async { [channel] in channel.close(closure) }
    }
}
