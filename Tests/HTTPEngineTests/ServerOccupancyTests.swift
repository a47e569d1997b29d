import Synchronization
import Testing
import Wire

@testable import HTTPEngine

/// The load that a server reports.
@Suite(.timeLimit(.minutes(15))) struct ServerOccupancyTests {
    /// A WebSocket handler that sends a greeting, so that a client knows when it is connected.
    private struct Greeter: WebSocketHandler {
        func opened(_ socket: WebSocket) { socket.send(.text("hello")) }
        func received(_ message: WebSocketMessage, on socket: WebSocket) {}
        func closed(_ socket: WebSocket, _ closure: WebSocketClosure) {}
    }

    /// Keeps the values that the server passes.
    private final class Kept: Sendable {
        let occupancies = Mutex<[ServerOccupancy]>([])

        var counts: [[Int]] { occupancies.withLock { $0.map { [$0.openConnections, $0.openWebSockets] } } }
    }

    private static func answer(_ request: Request) -> Answer {
        guard let handshake = try? WebSocketHandshake(request) else { return .ready(.text("plain")) }
        let upgrade = WebSocketUpgrade(
            handshake, handler: Greeter(), maximumMessageBytes: 1024, silence: .seconds(600))
        return .ready(.webSocket(upgrade))
    }

    @Test func `Connections and WebSockets count while they are open, and a server says so before its first request`()
        async throws
    {
        let kept = Kept()
        let handler = StubHandler(
            respond: Self.answer, serve: { occupancy in kept.occupancies.withLock { $0.append(occupancy) } })
        let server = try Server(ServerConfiguration(listeners: [.init(port: 0)], loops: 2), handler: handler)
        #expect(kept.counts == [[0, 0]])
        server.start()
        let port = server.addresses[0].port
        let counts = try await onThread {
            let plain = try RawClient(port: port)
            try plain.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            _ = try plain.readAnswer()
            let one = kept.counts
            let socket = try WebSocketClient(port: port)
            _ = try socket.read()
            let two = kept.counts
            // The server closes after answering the close frame, so the end has been counted by then.
            try socket.send(ClientFrame.close(1000))
            _ = try socket.read()
            _ = try socket.raw.readBytesToEnd()
            let three = kept.counts.map { $0[1] }
            socket.close()
            plain.close()
            return (one, two, three)
        }
        #expect(counts.0 == [[1, 0]])
        #expect(counts.1 == [[2, 1]])
        #expect(counts.2 == [0])
        await server.stop(within: .seconds(5))
        #expect(kept.counts == [[0, 0]])
    }
}
