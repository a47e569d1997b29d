import Expectations
import Synchronization
import Testing
import Wire

@testable import HTTPEngine

/// What all connections keep together is bounded: contents on their way in, answers and messages on their way out.
@Suite(.timeLimit(.minutes(15))) struct ServerMemoryTests {
    /// Knows what the server keeps, and notes what it says.
    private final class Keeper: RequestHandler {
        private struct State {
            var occupancy: ServerOccupancy?
            var notes: [String] = []
        }

        private let echo = Echo(greeting: "ready")
        private let state = Mutex(State())

        var notes: [String] { state.withLock { $0.notes } }
        var sockets: [WebSocket] { echo.sockets }

        func admit(_ head: Request) -> Admission { Admission(bodyLimit: 4 << 20, answer: answer) }

        func answer(_ request: Request) -> Answer {
            if let handshake = try? WebSocketHandshake(request) {
                return .ready(.webSocket(WebSocketUpgrade(handshake, handler: echo)))
            }
            let isLong = request.path.hasPrefix("/long")
            return .ready(Response(status: .ok, body: [UInt8](repeating: 0x78, count: isLong ? 32 << 20 : 16 << 10)))
        }

        func willServe(_ occupancy: ServerOccupancy) { state.withLock { $0.occupancy = occupancy } }
        func noted(_ note: EngineNote) { state.withLock { $0.notes.append(note.description) } }

        /// Waits until the server keeps at least that much.
        func wait(for bytes: Int, of most: Int) {
            while !(state.withLock { $0.occupancy }?.isFull(with: most - bytes + 1) ?? false) {}
        }
    }

    private func keep(
        _ most: Int, over way: Way = .clear, _ body: @escaping @Sendable (Keeper, Int) throws -> Void
    ) async throws -> [String] {
        var limits = Limits.patient
        (limits.keptBytes, limits.webSocketQueueBytes) = (most, 1 << 30)
        let keeper = Keeper()
        try await withServer(keeper, limits: limits, loops: 1, over: way) { port in
            try await onThread { try body(keeper, port) }
        }
        return keeper.notes
    }

    private static func get(_ path: String) -> String { "GET \(path) HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n" }

    private static func put(_ count: Int) -> String { "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: \(count)\r\n\r\n" }

    private static let reason = "this is long, and too much is already on its way to and from all clients"

    private static let refusal = """
        Connection: close\r
        Content-Length: 99\r
        \r
        \(reason) (RFC 9110 section 15.6.4)

        """

    private func answer(to text: String, at port: Int, over way: Way) throws -> String {
        let client = try RawClient(port: port, over: way)
        defer { client.close() }
        try client.send(text)
        return try client.readToEnd()
    }

    @Test(arguments: Way.allCases)
    func `While too much waits for a client that reads slowly, long answers become 503 and short ones go out`(way: Way)
        async throws
    {
        let notes = try await keep(40 << 20, over: way) { keeper, port in
            let slow = try RawClient(port: port, over: way, receiveBuffer: 32_768)
            defer { slow.close() }
            try slow.send(Self.get("/long"))
            keeper.wait(for: 16 << 20, of: 40 << 20)
            let refused = try answer(to: Self.get("/long"), at: port, over: way)
            expect(
                refused,
                begins:
                    "HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain; charset=utf-8\r\nRetry-After: 1\r\n")
            expect(refused, ends: Self.refusal)
            expect(try answer(to: Self.get("/short"), at: port, over: way), begins: "HTTP/1.1 200 OK\r\n")
            // What was begun is sent whole, and gives its room back.
            expect(try slow.readToEnd().utf8.count, above: 32 << 20)
            expect(try answer(to: Self.get("/long"), at: port, over: way), begins: "HTTP/1.1 200 OK\r\n")
        }
        expect(notes, is: ["503 to 127.0.0.1: \(Self.reason) (RFC 9110 section 15.6.4)"])
    }

    @Test(arguments: Way.allCases)
    func `While too much arrives, a long content becomes 503, and the others arrive whole`(way: Way) async throws {
        let content = String(repeating: "x", count: 900_000)
        let notes = try await keep(1_000_000, over: way) { keeper, port in
            let first = try RawClient(port: port, over: way)
            defer { first.close() }
            try first.send(Self.put(900_000) + content.dropLast(100_000))
            keeper.wait(for: 800_000, of: 1_000_000)
            expect(try answer(to: Self.put(900_000) + content, at: port, over: way), ends: Self.refusal)
            expect(
                try answer(
                    to: "PUT / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\ndbba0\r\n"
                        + content, at: port, over: way
                ), ends: Self.refusal)
            expect(try answer(to: Self.get("/short"), at: port, over: way), begins: "HTTP/1.1 200 OK\r\n")
            try first.send(String(content.suffix(100_000)))
            expect(try first.readAnswer(), begins: "HTTP/1.1 200 OK\r\n")
            try first.send(Self.put(900_000) + content)
            expect(try first.readAnswer(), begins: "HTTP/1.1 200 OK\r\n")
        }
        expect(notes, is: [String](repeating: "503 to 127.0.0.1: \(Self.reason) (RFC 9110 section 15.6.4)", count: 2))
    }

    @Test(arguments: Way.allCases)
    func `A message to many sockets is kept once, and each gets all messages in order`(way: Way) async throws {
        let filling = String(repeating: "y", count: 64 * 1024)
        let messages = (0..<100).map { "\($0) " + filling }
        // Kept for each of the eight sockets, they would be four times as much as may be kept.
        let notes = try await keep(12 << 20, over: way) { keeper, port in
            let clients = try (0..<8).map { _ in
                let client = try WebSocketClient(port: port, over: way, receiveBuffer: 32_768)
                expect(try client.read(), is: .text("ready"))
                return client
            }
            defer { clients.forEach { $0.close() } }
            for (number, message) in messages.enumerated() {
                for socket in keeper.sockets { socket.send(.text(message)) }
                for socket in keeper.sockets { socket.send(.text("after \(number)")) }
            }
            for client in clients {
                for (number, message) in messages.enumerated() {
                    expect(try client.read(), is: .text(message))
                    expect(try client.read(), is: .text("after \(number)"))
                }
            }
        }
        expect(notes, is: [])
    }

    @Test func `While too much waits, a socket that reads slowly is closed, and one that reads well goes on`()
        async throws
    {
        let notes = try await keep(8 << 20) { keeper, port in
            let slow = try WebSocketClient(port: port, receiveBuffer: 32_768)
            defer { slow.close() }
            expect(try slow.read(), is: .text("ready"))
            let first = keeper.sockets[0]
            let other = try WebSocketClient(port: port)
            defer { other.close() }
            expect(try other.read(), is: .text("ready"))
            let second = try #require(keeper.sockets.last)
            // No two are the same, so each counts.
            for number in 0..<1000 where keeper.notes.isEmpty {
                first.send(.text("\(number) " + String(repeating: "z", count: 64 * 1024)))
            }
            while keeper.notes.isEmpty {}
            let message = String(repeating: "w", count: 64 * 1024)
            second.send(.text(message))
            expect(try other.read(), is: .text(message))
            var last = try slow.read()
            while last.opcode == 1 { last = try slow.read() }
            expect(last, is: .close(1013, "too much waits for all clients, and for this one too"))
        }
        expect(notes, is: ["1013 to 127.0.0.1: too much waits for all clients, and for this one too"])
    }
}
