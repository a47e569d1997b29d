import Expectations
import Synchronization
import Testing
import Wire

@testable import HTTPEngine

/// A WebSocket after the upgrade of its connection.
@Suite(.timeLimit(.minutes(15))) struct ServerWebSocketTests {
    private func handler(
        _ echo: any WebSocketHandler, silence: Duration = .seconds(600), transmission: Transmission = .plain
    ) -> StubHandler {
        StubHandler(respond: { request in
            do {
                var response = Response.webSocket(
                    WebSocketUpgrade(
                        try WebSocketHandshake(request), handler: echo, maximumMessageBytes: 1 << 20, silence: silence))
                response.transmission = transmission
                return .ready(response)
            } catch let problem as WebSocketHandshake.Problem {
                return .ready(problem.response)
            } catch {
                return .ready(.empty(.internalServerError))
            }
        })
    }

    /// Opens a WebSocket, runs `body` on it and waits until the handler sees its end; returns the handler's events.
    private func events(
        _ echo: Echo = Echo(), silence: Duration = .seconds(600), limits: Limits = Limits(),
        transmission: Transmission = .plain, over way: Way, _ body: @escaping @Sendable (WebSocketClient) throws -> Void
    ) async throws -> [Echo.Event] {
        try await withServer(
            handler(echo, silence: silence, transmission: transmission), limits: limits, over: way
        ) { port in
            try await onThread {
                let client = try WebSocketClient(port: port, over: way)
                defer { client.close() }
                try body(client)
            }
            await echo.ended.wait()
        }
        return echo.events
    }

    /// A client that has read the server's greeting.
    private func greeted(by text: String, at port: Int, receiveBuffer: Int32? = nil) async throws -> WebSocketClient {
        try await onThread {
            let client = try WebSocketClient(port: port, receiveBuffer: receiveBuffer)
            expect(try client.read(), is: .text(text))
            return client
        }
    }

    @Test(arguments: Way.allCases)
    func `A handshake is answered by the sample of RFC 6455 section 1-3, and messages go both ways`(way: Way)
        async throws
    {
        let events = try await events(Echo(greeting: "hello"), over: way) { client in
            expect(try client.read(), is: .text("hello"))
            try client.send("one")
            expect(try client.read(), is: .text("one"))
            try client.send(ClientFrame.bytes(0x82, [0, 255]))
            expect(try client.read(), is: .init(opcode: 2, payload: [0, 255]))
            try client.send(ClientFrame.close(1000))
            expect(try client.read(), is: .close(1000))
            expectEmpty(try client.raw.readBytesToEnd())
        }
        expect(
            events,
            is: [.opened, .received(.text("one")), .received(.binary([0, 255])), .closed(WebSocketClosure(.normal))])
    }

    @Test(arguments: Way.allCases)
    func `An answer goes out before the close frame that came with its question is answered`(way: Way) async throws {
        _ = try await events(over: way) { client in
            try client.send(ClientFrame.text("question") + ClientFrame.close(1000))
            expect(try client.read(), is: .text("question"))
            expect(try client.read(), is: .close(1000))
        }
    }

    @Test(arguments: Way.allCases)
    func `A message over the limit closes with 1009 before it has arrived`(way: Way) async throws {
        let events = try await events(over: way) { client in
            try client.send([0x82, 0xFF, 0, 0, 0, 0, 0x7F, 0, 0, 0, 1, 2, 3, 4])
            expect(try client.read().payload.prefix(2), is: [0x03, 0xF1])
        }
        guard case .closed(let closure) = events.last else { return #expect(Bool(false)) }
        expect(closure.code, is: .messageTooBig)
    }

    @Test(arguments: Way.allCases) func `A silent client is closed with 1001`(way: Way) async throws {
        let events = try await events(silence: .milliseconds(20), over: way) { client in
            expect(try client.read(), is: .close(1001, "silence"))
            try client.send(ClientFrame.close(1001))
            expectEmpty(try client.raw.readBytesToEnd())
        }
        expect(events, is: [.opened, .closed(WebSocketClosure(.goingAway, reason: "silence"))])
    }

    @Test(arguments: Way.allCases)
    func `A client that does not answer a close frame is cut off`(way: Way) async throws {
        let limits = Limits.with { $0.linger = .milliseconds(20) }
        let events = try await events(silence: .milliseconds(20), limits: limits, over: way) { client throws in
            expect(try client.read(), is: .close(1001, "silence"))
            _ = try? client.raw.readBytesToEnd()
        }
        expect(events.count, is: 2)
    }

    @Test func `A stop closes with 1001 and waits for the client's close frame`() async throws {
        let echo = Echo(greeting: "hello")
        let (server, port) = try startServer(handler(echo), loops: 1)
        let client = try await greeted(by: "hello", at: port)
        defer { client.close() }
        async let stop: Void = server.stop(within: .seconds(30))
        try await onThread {
            expect(try client.read(), is: .close(1001))
            try client.send(ClientFrame.close(1001))
            expectEmpty(try client.raw.readBytesToEnd())
        }
        await stop
        expect(echo.events, is: [.opened, .closed(WebSocketClosure(.goingAway))])
    }

    @Test func `Every thread may send; each thread's messages keep their order`() async throws {
        let echo = Echo(greeting: "ready")
        try await withServer(handler(echo)) { port in
            let client = try await greeted(by: "ready", at: port)
            defer { client.close() }
            let socket = try #require(echo.sockets.first)
            await withTaskGroup { group in
                for name in ["a", "b", "c", "d"] {
                    group.addTask { for number in 0..<200 { socket.send(.text("\(name) \(number)")) } }
                }
            }
            let texts = try await onThread {
                try (0..<800).map { _ in String(decoding: try client.read().payload, as: UTF8.self) }
            }
            for name in ["a", "b", "c", "d"] {
                expect(texts.filter { $0.hasPrefix(name) }, is: (0..<200).map { "\(name) \($0)" })
            }
        }
    }

    @Test func `A client that lets too much gather is dropped and learns why, and another one goes on`() async throws {
        let echo = Echo(greeting: "ready")
        try await withServer(handler(echo), limits: .with { $0.webSocketQueueBytes = 64 * 1024 }, loops: 1) { port in
            let slow = try await greeted(by: "ready", at: port, receiveBuffer: 4096)
            defer { slow.close() }
            let other = try await greeted(by: "ready", at: port)
            defer { other.close() }
            let socket = try #require(echo.sockets.first)
            // The system buffers some megabytes before the queue starts to fill.
            for _ in 0..<4000 where !echo.events.contains(where: { $0 != .opened }) {
                socket.send(.binary([UInt8](repeating: 1, count: 16 * 1024)))
            }
            await echo.ended.wait()
            expect(
                echo.events.last,
                is: .closed(WebSocketClosure(.tryAgainLater, reason: "the client takes its messages too slowly")))
            try await onThread {
                try other.send("still here")
                expect(try other.read(), is: .text("still here"))
                var last = try slow.read()
                while last.opcode == 2 {
                    // No frame is cut: what was queued is sent before the end.
                    expect(last.payload.count, is: 16 * 1024)
                    last = try slow.read()
                }
                expect(last, is: .close(1013, "the client takes its messages too slowly"))
                expectEmpty(try slow.raw.readBytesToEnd())
            }
        }
    }

    @Test(arguments: Way.allCases)
    func `What is sent after the end does not reach who has the descriptor next`(way: Way) async throws {
        let echo = Echo(greeting: "hello")
        try await withServer(handler(echo), loops: 1, over: way) { port in
            try await onThread {
                let gone = try WebSocketClient(port: port, over: way)
                expect(try gone.read(), is: .text("hello"))
                try gone.send(ClientFrame.bytes(0x88))
                expect(try gone.read(), is: .init(opcode: 8, payload: []))
                expectEmpty(try gone.raw.readBytesToEnd())
                gone.close()
            }
            await echo.ended.wait()
            try await onThread {
                let next = try WebSocketClient(port: port, over: way)
                defer { next.close() }
                expect(try next.read(), is: .text("hello"))
                echo.sockets[0].send(.text("too late"))
                echo.sockets[0].close(WebSocketClosure(.normal))
                echo.sockets[1].send(.text("in time"))
                expect(try next.read(), is: .text("in time"))
            }
        }
    }

    @Test(arguments: [
        Transmission(delay: .milliseconds(10)), Transmission(fault: .drip(bytes: 1, every: .seconds(3600))),
    ])
    func `A handshake can be delayed, and is not dripped`(transmission: Transmission) async throws {
        _ = try await events(Echo(greeting: "hello"), transmission: transmission, over: .clear) { client throws in
            expect(try client.read(), is: .text("hello"))
        }
    }

    @Test(arguments: [Transmission.Fault.reset, .empty, .garbage], Way.allCases)
    func `A handshake can be broken like any answer`(fault: Transmission.Fault, way: Way) async throws {
        let echo = Echo()
        await #expect(throws: RawClientError.self) {
            try await withServer(handler(echo, transmission: Transmission(fault: fault)), over: way) { port in
                _ = try await onThread { try WebSocketClient(port: port, over: way) }
            }
        }
        expectEmpty(echo.events)
    }

    @Test func `A truncated handshake opens the WebSocket and ends it`() async throws {
        let truncated = Transmission(fault: .truncated(bytes: 0))
        let events = try await events(Echo(greeting: "hello"), transmission: truncated, over: .clear) { client throws in
            expectEmpty(try client.raw.readBytesToEnd())
        }
        expect(events, is: [.opened, .closed(WebSocketClosure(.abnormal))])
    }

    @Test func `What the server sends does not count against a client's silence`() async throws {
        let echo = Echo(greeting: "tick")
        let events = try await events(echo, silence: .milliseconds(60), over: .clear) { client in
            var frame = try client.read()
            while frame == .text("tick") {
                echo.sockets[0].send(.text("tick"))
                frame = try client.read()
            }
            expect(frame, is: .close(1001, "silence"))
            try client.send(ClientFrame.close(1001))
            expectEmpty(try client.raw.readBytesToEnd())
        }
        expect(events, is: [.opened, .closed(WebSocketClosure(.goingAway, reason: "silence"))])
    }

    @Test func `A client that sends anything is not silent, however long it stays`() async throws {
        for _ in 0..<10 {
            let longestPause = Mutex(Duration.zero)
            let events = try await events(silence: .seconds(2), over: .clear) { client in
                var (last, isOpen) = (ContinuousClock.now, true)
                let end = last + .milliseconds(2500)
                while isOpen, last < end {
                    try client.send(ClientFrame.bytes(0x89))
                    isOpen = try client.read().opcode == 10
                    let now = ContinuousClock.now
                    longestPause.withLock { $0 = max($0, now - last) }
                    last = now
                }
                guard isOpen else { return }
                try client.send(ClientFrame.close(1000))
                expect(try client.read(), is: .close(1000))
            }
            // A machine so busy that the client was silent for half of that time shows nothing.
            guard longestPause.withLock({ $0 }) < .seconds(1) else { continue }
            expect(events, is: [.opened, .closed(WebSocketClosure(.normal))])
            return
        }
        Issue.record("each of ten times the machine let the client send nothing for a second")
    }

    @Test func `A request that is no handshake is told how to become one`() async throws {
        try await withClient(handler(Echo())) { client in
            let plain = try client.get("/socket")
            expect(plain, begins: "HTTP/1.1 426 Upgrade Required\r\nUpgrade: websocket\r\n")
            expect(plain, contains: "\r\nConnection: upgrade\r\n")
            // The connection stays open.
            try client.send(WebSocketClient.handshake.replacing("Version: 13", with: "Version: 8"))
            expect(try client.readAnswer(), contains: "\r\nSec-WebSocket-Version: 13\r\n")
            try client.send(WebSocketClient.handshake.replacing("==", with: ""))
            expect(try client.readAnswer(), begins: "HTTP/1.1 400 Bad Request\r\n")
        }
    }
}
