import Dispatch
import HTTPTypes
import Synchronization
package import Wire

/// A client's end of a WebSocket, over TCP or in memory, which reports what it received in order.
package final class LiveSocket: Sendable {
    package enum Event: Sendable, Hashable {
        case text(String)
        case binary([UInt8])
        /// The answer to a ping, with its payload.
        case pong([UInt8])
        /// The server has closed, or the connection has ended (1006).
        case closed(WebSocketClosure)
    }

    private let inbox: SocketInbox
    private let end: any SocketEnd

    init(_ inbox: SocketInbox, _ end: any SocketEnd) {
        self.inbox = inbox
        self.end = end
    }

    /// The next event, once it has arrived.
    package func next() async -> Event { await inbox.next() }

    package func next(_ count: Int) async -> [Event] {
        var events: [Event] = []
        while events.count < count { events.append(await next()) }
        return events
    }

    package func send(_ message: WebSocketMessage) { end.send(message) }

    /// Sends a ping of at most 125 bytes, which the server answers.
    package func ping(_ payload: [UInt8]) { end.ping(payload) }

    /// Closes the client's direction; the server answers.
    package func close(_ closure: WebSocketClosure = WebSocketClosure(.normal)) { end.close(closure) }
}

protocol SocketEnd: Sendable {
    func send(_ message: WebSocketMessage)
    func ping(_ payload: [UInt8])
    func close(_ closure: WebSocketClosure)
}

package struct SocketRefused: Error {
    /// The answer, with its entry in the journal.
    package let answer: ReceivedAnswer
}

extension World {
    private static let handshake: Fields = [
        ("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Version", "13"),
        ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
    ]

    /// Opens a WebSocket in this sandbox.
    ///
    /// - Throws: ``SocketRefused`` when the status is not 101.
    package func openSocket(_ target: String, _ fields: Fields = []) async throws -> LiveSocket {
        let fields = fields + [("X-Understudy-Sandbox", name)] + Self.handshake
        switch depth {
        case .socket: return try await TCPSocketEnd.open(target, fields, at: stage.port, of: self)
        case .pipeline:
            let response = await stage.pipeline.response(
                to: Request(method: .get, target: target, authority: "127.0.0.1", fields: FieldLines(fields)))
            guard let upgrade = response.upgrade else {
                throw refusal(response.status.code, response.fields.map { ($0.name.rawName, $0.value) }, response.body)
            }
            return MemorySocketEnd.open(upgrade)
        }
    }

    func refusal(_ status: Int, _ fields: [(String, String)], _ body: [UInt8]) -> SocketRefused {
        SocketRefused(
            answer: ReceivedAnswer(status: status, fields: fields, body: body, entry: sandbox.journal.entries().last))
    }
}

/// Events that were not read yet, and the reader that waits for more.
final class SocketInbox: Sendable {
    private struct State {
        var events: [LiveSocket.Event] = []
        var waiter: CheckedContinuation<LiveSocket.Event, Never>?
        var hasEnded = false
    }

    private let state = Mutex(State())

    init() {}

    /// Adds an event; events after the end are dropped.
    func add(_ event: LiveSocket.Event) {
        let waiter = state.withLock { state -> CheckedContinuation<LiveSocket.Event, Never>? in
            if state.hasEnded { return nil }
            if case .closed = event { state.hasEnded = true }
            guard let waiter = state.waiter else {
                state.events.append(event)
                return nil
            }
            state.waiter = nil
            return waiter
        }
        waiter?.resume(returning: event)
    }

    func next() async -> LiveSocket.Event {
        await withCheckedContinuation { continuation in
            let event = state.withLock { state -> LiveSocket.Event? in
                if !state.events.isEmpty { return state.events.removeFirst() }
                state.waiter = continuation
                return nil
            }
            if let event { continuation.resume(returning: event) }
        }
    }
}

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

    func close(_ closure: WebSocketClosure) { queue.async { [channel] in channel.close(closure) } }
}
