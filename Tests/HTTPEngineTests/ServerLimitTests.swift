import Expectations
import Synchronization
import Testing
import Wire

@testable import HTTPEngine

/// How a server treats clients that are slow, too many, or gone.
@Suite(.timeLimit(.minutes(15))) struct ServerLimitTests {
    private func limits(_ change: (inout Limits) -> Void) -> Limits {
        var limits = Limits()
        change(&limits)
        return limits
    }

    /// Everything a client receives that sends the text and reads to the end.
    private func answer(to text: String, _ limits: Limits) async throws -> String {
        try await withServer(limits: limits) { port in
            try await onThread {
                let client = try RawClient(port: port)
                defer { client.close() }
                try client.send(text)
                return try client.readToEnd()
            }
        }
    }

    @Test func `A head that does not end in time is told so`() async throws {
        let answer = try await answer(to: "GET / HTTP/1.1\r\nHost: a\r\n", limits { $0.header = .milliseconds(30) })
        #expect(answer.hasPrefix("HTTP/1.1 408 Request Timeout\r\n"))
    }

    @Test func `A content that does not end in time is told so`() async throws {
        let text = "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\na"
        let answer = try await answer(to: text, limits { $0.body = .milliseconds(30) })
        #expect(answer.hasPrefix("HTTP/1.1 408 Request Timeout\r\n"))
    }

    @Test func `An idle connection ends without a word`() async throws {
        #expect(try await answer(to: "", limits { $0.idle = .milliseconds(30) }).isEmpty)
        let served = try await answer(to: "GET / HTTP/1.1\r\nHost: a\r\n\r\n", limits { $0.idle = .milliseconds(30) })
        #expect(served.hasSuffix("GET / []"))
    }

    @Test func `A client that takes nothing of its answer is cut off`() async throws {
        let handler = StubHandler(respond: { _ in
            .ready(Response(status: .ok, body: [UInt8](repeating: 0, count: 32 << 20)))
        })
        try await withServer(handler, limits: limits { $0.write = .milliseconds(50) }, loops: 1) { port in
            let client = try await onThread {
                let client = try RawClient(port: port, receiveBuffer: 4096)
                try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                return client
            }
            defer { client.close() }
            let count = try await onThread { try client.countAfterCutOff() }
            #expect(count < 32 << 20)
        }
    }

    @Test func `A client that does not close is closed after the last answer`() async throws {
        let text = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
        try await withServer(limits: limits { $0.linger = .milliseconds(30) }) { port in
            try await onThread {
                let client = try RawClient(port: port)
                defer { client.close() }
                try client.send(text)
                #expect(try client.readToEnd().hasSuffix("GET / []"))
                // Sending fails only after the server has closed.
                #expect(throws: RawClientError.self) { while true { try client.send("x") } }
            }
        }
    }

    @Test func `A client over the limit gets the place of the one that has been idle for longest`() async throws {
        try await withServer(limits: limits { $0.maximumConnections = 2 }, loops: 1) { port in
            try await onThread {
                let idle = try RawClient(port: port)
                defer { idle.close() }
                try idle.send("GET /1 HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(try idle.readAnswer().hasSuffix("GET /1 []"))
                let next = try RawClient(port: port)
                defer { next.close() }
                try next.send("GET /2 HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(try next.readAnswer().hasSuffix("GET /2 []"))
                let last = try RawClient(port: port)
                defer { last.close() }
                try last.send("GET /3 HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(try last.readAnswer().hasSuffix("GET /3 []"))
                #expect(try idle.readToEnd().isEmpty)
            }
        }
    }

    @Test func `A client over the limit waits while all others are being answered`() async throws {
        let isReleased = Signal()
        let handler = StubHandler(respond: { request in
            guard request.path == "/held" else { return .ready(.text(StubHandler.describe(request))) }
            return .deferred {
                await isReleased.wait()
                return .text("held")
            }
        })
        try await withServer(handler, limits: limits { $0.maximumConnections = 1 }) { port in
            try await onThread {
                let held = try RawClient(port: port)
                defer { held.close() }
                try held.send("GET /held HTTP/1.1\r\nHost: a\r\n\r\n")
                let next = try RawClient(port: port)
                defer { next.close() }
                try next.send("GET /2 HTTP/1.1\r\nHost: a\r\n\r\n")
                isReleased.give()
                #expect(try held.readAnswer().hasSuffix("held"))
                #expect(try next.readAnswer().hasSuffix("GET /2 []"))
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
                try fast.send("GET /fast HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(try fast.readAnswer().hasSuffix("GET /fast []"))
                try slow.send("cde")
                #expect(try slow.readAnswer().hasSuffix("PUT /slow [abcde]"))
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
        let server = try Server(
            ServerConfiguration(listeners: [way.listener()], loops: 1, limits: limits), handler: notebook)
        server.start()
        let port = server.addresses[0].port
        do {
            // Always without TLS: clients that speak TLS properly are not noted.
            try await onThread {
                let client = try RawClient(port: port)
                defer { client.close() }
                try body(client)
            }
        } catch {
            await server.stop(within: .zero)
            throw error
        }
        await server.stop(within: .zero)
        return notebook.notes
    }

    @Test func `A refusal is noted with the rule that was broken`() async throws {
        let notes = try await notes(.clear) { client in
            try client.send("GET / HTTP/1.1\nHost: a\r\n\r\n")
            _ = try client.readToEnd()
        }
        expect(notes, is: ["400 to 127.0.0.1: a line ends in LF without CR (RFC 9112 section 2.2)"])
    }

    @Test func `A request in the clear at the port for https is noted`() async throws {
        let notes = try await notes(.secure) { client in
            try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try client.readToEnd().hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
        }
        expect(notes, is: ["400 to 127.0.0.1: a plain-text request arrived at the https port"])
    }

    @Test func `A handshake that does not end in time ends the connection, and is noted`() async throws {
        var limits = Limits()
        limits.handshake = .milliseconds(30)
        let notes = try await notes(.secure, limits: limits) { client in
            try client.send([0x16, 0x03, 0x01])
            #expect(try client.readBytesToEnd().isEmpty)
        }
        expect(notes, is: ["TLS handshake with 127.0.0.1 failed: it took too long"])
    }

    @Test func `A client that connects to the port for https and sends nothing ends in time, without a note`()
        async throws
    {
        var limits = Limits()
        limits.handshake = .milliseconds(30)
        let notes = try await notes(.secure, limits: limits) { client throws in
            #expect(try client.readBytesToEnd().isEmpty)
        }
        #expect(notes.isEmpty)
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
        let server = try Server(ServerConfiguration(listeners: [Way.secure.listener()], loops: 1), handler: notebook)
        server.start()
        let port = server.addresses[0].port
        try await onThread {
            let client = try RawClient(port: port)
            try client.send([0x16, 0x03, 0x01])
            client.reset()
            // A second client is served after the first one ends.
            let next = try RawClient(port: port, over: .secure)
            defer { next.close() }
            try next.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try next.readAnswer().hasSuffix("fine"))
        }
        await server.stop(within: .zero)
        expect(notebook.notes.count, is: 1)
        #expect(notebook.notes.allSatisfy { $0.hasPrefix("TLS handshake with 127.0.0.1 failed: the client ") })
    }

    @Test func `A TLS handshake at the port for http is noted`() async throws {
        let notes = try await notes(.clear) { client in
            try client.send([0x16, 0x03, 0x01])
            _ = try client.readToEnd()
        }
        expect(notes, is: ["400 to 127.0.0.1: a TLS handshake arrived at the http port"])
    }

    @Test func `What is no handshake at the port for https ends at once, and is noted`() async throws {
        let notes = try await notes(.secure) { client in
            try client.send([0x00, 0x01, 0x02])
            #expect(try client.readBytesToEnd().isEmpty)
        }
        expect(notes, is: ["TLS handshake with 127.0.0.1 failed: the client does not speak TLS"])
    }
}

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
        let upgrade = WebSocketUpgrade(handshake, handler: Greeter(), maximumMessageBytes: 1024, silence: .seconds(600))
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
        expect(counts.0, is: [[1, 0]])
        expect(counts.1, is: [[2, 1]])
        expect(counts.2, is: [0])
        await server.stop(within: .seconds(5))
        expect(kept.counts, is: [[0, 0]])
    }
}
