import Expectations
import Synchronization
import Testing
import Wire

@testable import HTTPEngine

/// How a server treats clients that are slow, too many, or gone.
@Suite(.timeLimit(.minutes(15))) struct ServerLimitTests {
    @Test func `A head that does not end in time is told so`() async throws {
        let limits = Limits.with { $0.header = .milliseconds(30) }
        let answer = try await answers(to: "GET / HTTP/1.1\r\nHost: a\r\n", limits: limits)
        expect(answer, begins: "HTTP/1.1 408 Request Timeout\r\n")
    }

    @Test func `An idle connection ends without a word`() async throws {
        let limits = Limits.with { $0.idle = .milliseconds(30) }
        expectEmpty(try await answers(to: "", limits: limits))
        let served = try await answers(to: "GET / HTTP/1.1\r\nHost: a\r\n\r\n", limits: limits)
        expect(served, ends: "GET / []")
    }

    @Test func `A client that takes nothing of its answer is cut off`() async throws {
        let handler = StubHandler(respond: { _ in
            .ready(Response(status: .ok, body: [UInt8](repeating: 0, count: 32 << 20)))
        })
        let limits = Limits.with { $0.write = .milliseconds(50) }
        let count = try await withClient(handler, limits: limits, loops: 1, receiveBuffer: 4096) { client in
            try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            return try client.countAfterCutOff()
        }
        expect(32 << 20, above: count)
    }

    @Test(arguments: [
        ("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "HTTP/1.1 200 OK\r\n"),
        ("GET /\r\n", "HTTP/1.1 400 Bad Request\r\n"),
    ])
    func `A client that does not close is closed after the last answer, be it a refusal`(
        text: String, answer: String
    ) async throws {
        try await withClient(limits: .with { $0.linger = .milliseconds(30) }) { client in
            try client.send(text)
            expect(try client.readToEnd(), begins: answer)
            // Sending fails only after the server has closed.
            expect(throws: RawClientError.self) { while true { try client.send("x") } }
        }
    }

    @Test func `A client over the limit gets the place of the one that has been idle for longest`() async throws {
        try await withServer(limits: .with { $0.maximumConnections = 2 }, loops: 1) { port in
            try await onThread {
                let idle = try RawClient(port: port)
                defer { idle.close() }
                expect(try idle.get("/1"), ends: "GET /1 []")
                let next = try RawClient(port: port)
                defer { next.close() }
                expect(try next.get("/2"), ends: "GET /2 []")
                let last = try RawClient(port: port)
                defer { last.close() }
                expect(try last.get("/3"), ends: "GET /3 []")
                expectEmpty(try idle.readToEnd())
            }
        }
    }

    @Test func `A client over the limit waits while all others are being answered`() async throws {
        let isReleased = Signal()
        let handler = StubHandler.holding(until: isReleased)
        try await withServer(handler, limits: .with { $0.maximumConnections = 1 }) { port in
            try await onThread {
                let held = try RawClient(port: port)
                defer { held.close() }
                try held.send("GET /held HTTP/1.1\r\nHost: a\r\n\r\n")
                let next = try RawClient(port: port)
                defer { next.close() }
                try next.send("GET /2 HTTP/1.1\r\nHost: a\r\n\r\n")
                isReleased.give()
                expect(try held.readAnswer(), ends: "held")
                expect(try next.readAnswer(), ends: "GET /2 []")
            }
        }
    }

    @Test func `A slow client keeps nobody waiting`() async throws {
        try await withServer(loops: 1) { port in
            try await onThread {
                let slow = try RawClient(port: port)
                defer { slow.close() }
                try slow.send("PUT /slow HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab")
                let fast = try RawClient(port: port)
                defer { fast.close() }
                expect(try fast.get("/fast"), ends: "GET /fast []")
                try slow.send("cde")
                expect(try slow.readAnswer(), ends: "PUT /slow [abcde]")
            }
        }
    }
}

/// What the engine tells an operator about clients that never get as far as a request.
@Suite(.timeLimit(.minutes(15))) struct ServerNoteTests {
    /// A handler that records the notes.
    private final class Notebook: RequestHandler {
        private let state = Mutex<[EngineNote]>([])

        var notes: [String] { state.withLock { $0.map(\.description) } }

        func admit(_ head: Request) -> Admission { Admission(bodyLimit: 1024, answer: answer) }
        func answer(_ request: Request) -> Answer { .ready(.text("fine")) }
        func noted(_ note: EngineNote) { state.withLock { $0.append(note) } }
    }

    /// The notes about a client that does this to a server with this kind of listener.
    private func notes(
        _ way: Way, limits: Limits = Limits(), _ body: @escaping @Sendable (RawClient) throws -> Void
    ) async throws -> [String] {
        let notebook = Notebook()
        // Always without TLS: clients that speak TLS properly are not noted.
        try await withClient(notebook, limits: limits, loops: 1, over: way, client: .clear, body)
        return notebook.notes
    }

    @Test(
        arguments: [
            (
                .clear, "GET / HTTP/1.1\nHost: a\r\n\r\n", "HTTP/1.1 400 Bad Request",
                "400 to 127.0.0.1: a line ends in LF without CR (RFC 9112 section 2.2)"
            ),
            (
                .clear, "\u{16}\u{03}\u{01}", "HTTP/1.1 400 Bad Request",
                "400 to 127.0.0.1: a TLS handshake arrived at the http port"
            ),
            (
                .secure, "GET / HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 400 Bad Request",
                "400 to 127.0.0.1: a plain-text request arrived at the https port"
            ),
            (.secure, "\0\u{01}\u{02}", "", "TLS handshake with 127.0.0.1 failed: the client does not speak TLS"),
        ] as [(Way, String, String, String)])
    func `Bytes that are refused are noted with the rule that was broken`(
        way: Way, text: String, statusLine: String, note: String
    ) async throws {
        let notes = try await notes(way) { client in
            try client.send(text)
            expect(String(try client.readToEnd().prefix { $0 != "\r\n" }), is: statusLine)
        }
        expect(notes, is: [note])
    }

    @Test(arguments: [("\u{16}\u{03}\u{01}", ["TLS handshake with 127.0.0.1 failed: it took too long"]), ("", [])])
    func `A handshake that does not end in time ends the connection, and is noted once it has begun`(
        text: String, expected: [String]
    ) async throws {
        let notes = try await notes(.secure, limits: .with { $0.handshake = .milliseconds(30) }) { client in
            try client.send(text)
            expectEmpty(try client.readBytesToEnd())
        }
        expect(notes, is: expected)
    }

    @Test func `A client that leaves in the middle of a handshake is noted`() async throws {
        let notes = try await notes(.secure) { client in
            try client.send([0x16, 0x03, 0x01])
            client.finishSending()
            _ = try client.readBytesToEnd()
        }
        expect(
            notes, is: ["TLS handshake with 127.0.0.1 failed: the client closed the connection during the handshake"])
    }

    @Test func `A client that breaks off in the middle of a handshake is noted`() async throws {
        let notebook = Notebook()
        try await withServer(notebook, loops: 1, over: .secure) { port in
            try await onThread {
                let client = try RawClient(port: port)
                try client.send([0x16, 0x03, 0x01])
                client.reset()
                // A second client is served after the first one ends.
                let next = try RawClient(port: port, over: .secure)
                defer { next.close() }
                expect(try next.get("/"), ends: "fine")
            }
        }
        expect(notebook.notes.count, is: 1)
        expect(notebook.notes.first ?? "", begins: "TLS handshake with 127.0.0.1 failed: the client ")
    }
}

/// The load that a server reports.
@Suite(.timeLimit(.minutes(15))) struct ServerOccupancyTests {
    /// Keeps the values that the server passes.
    private final class Kept: Sendable {
        let occupancies = Mutex<[ServerOccupancy]>([])

        var counts: [[Int]] { occupancies.withLock { $0.map { [$0.openConnections, $0.openWebSockets] } } }
    }

    private static func answer(_ request: Request) -> Answer {
        guard let handshake = try? WebSocketHandshake(request) else { return .ready(.text("plain")) }
        // The greeting tells a client when it is connected.
        let upgrade = WebSocketUpgrade(
            handshake, handler: Echo(greeting: "hello"), maximumMessageBytes: 1024, silence: .seconds(600))
        return .ready(.webSocket(upgrade))
    }

    @Test func `Connections and WebSockets count while they are open, and a server says so before its first request`()
        async throws
    {
        let kept = Kept()
        let handler = StubHandler(
            respond: Self.answer, serve: { occupancy in kept.occupancies.withLock { $0.append(occupancy) } })
        let server = try Server(ServerConfiguration(listeners: [.init(port: 0)], loops: 2), handler: handler)
        expect(kept.counts, is: [[0, 0]])
        server.start()
        let port = server.addresses[0].port
        let counts = try await onThread {
            let plain = try RawClient(port: port)
            _ = try plain.get("/")
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
        expect(counts.0, is: [[1, 0]])
        expect(counts.1, is: [[2, 1]])
        expect(counts.2, is: [0])
        await server.stop(within: .seconds(5))
        expect(kept.counts, is: [[0, 0]])
    }
}
