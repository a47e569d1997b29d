import Expectations
import Synchronization
import Testing
import Wire

@testable import HTTPEngine

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Starting and stopping a server.
@Suite(.timeLimit(.minutes(15))) struct ServerLifeTests {
    private func server(_ listeners: [ServerConfiguration.Listener], _ handler: StubHandler = StubHandler())
        throws(ServerError) -> Server
    {
        try Server(ServerConfiguration(listeners: listeners, loops: 2), handler: handler)
    }

    /// A server on a port below those that the system gives to whoever asks for a free one, so that nobody takes the
    /// port between two uses.
    private func serverOnReservedPort(_ handler: StubHandler) throws -> Server {
        for port in Int.random(in: 20_000..<30_000)..<32_768 {
            if let server = try? server([.init(port: port)], handler) { return server }
        }
        return try server([.init(port: 0)], handler)
    }

    @Test func `Several listeners are served, each at its own address`() async throws {
        let server = try server([.init(port: 0), .init(host: "localhost", port: 0)])
        server.start()
        expect(server.addresses.map(\.host), is: ["127.0.0.1", "127.0.0.1"])
        expect(Set(server.addresses.map(\.port)).subtracting([0]).count, is: 2)
        for address in server.addresses {
            let answer = try await HTTPClient.send(url: "http://\(address)/a", within: .seconds(120))
            expect(String(decoding: answer.body, as: UTF8.self), is: "GET /a []")
        }
        await server.stop(within: .seconds(5))
    }

    @Test func `A taken port is said in one line`() async throws {
        let first = try server([.init(port: 0)])
        let port = first.addresses[0].port
        let error = expect(throws: ServerError.self) { try server([.init(port: port)]) }
        expect(error, is: .portTaken(host: "127.0.0.1", port: port))
        expect(
            error?.description,
            is: "port \(port) at 127.0.0.1 is already in use; choose another port, or 0 for a free one."
        )
        await first.stop(within: .zero)
    }

    @Test(arguments: [
        ("127.0.0.1", 65536, ServerError.invalidPort(65536)), ("127.0.0.1", -1, .invalidPort(-1)),
        ("", 0, .unknownHost("")), ("300.1.1.1", 0, .unknownHost("300.1.1.1")),
        ("192.0.2.1", 0, .foreignAddress(host: "192.0.2.1")),
    ])
    func `A wrong address is said in one line`(host: String, port: Int, expected: ServerError) {
        let error = expect(throws: ServerError.self) { try server([.init(host: host, port: port)]) }
        expect(error, is: expected)
        expect(error?.description.contains("\n"), is: false)
    }

    @Test func `A server without listeners does not start`() {
        expect(throws: ServerError.noListener) { try server([]) }
    }

    @Test func `A stop answers what is in flight, closes what is idle, and frees the port`() async throws {
        let (isRequested, isReleased) = (Signal(), Signal())
        let server = try serverOnReservedPort(.holding(isRequested, until: isReleased))
        server.start()
        let port = server.addresses[0].port
        let clients = try await onThread {
            let idle = try RawClient(port: port)
            _ = try idle.get("/")
            let held = try RawClient(port: port)
            try held.send("GET /held HTTP/1.1\r\nHost: a\r\n\r\n")
            return (idle: idle, held: held)
        }
        await isRequested.wait()
        async let stop: Void = server.stop(within: .seconds(30))
        let ends = try await onThread {
            // The end of the idle connection shows that the stop has begun; the other answer comes after it.
            let idle = try clients.idle.readToEnd()
            isReleased.give()
            let held = try clients.held.readToEnd()
            clients.idle.close()
            clients.held.close()
            return [idle, held]
        }
        await stop
        expectEmpty(ends[0])
        expect(ends[1], contains: "Connection: close\r\n")
        expect(ends[1], ends: "held")
        let next = try self.server([.init(port: port)])
        expect(next.addresses[0].port, is: port)
        await next.stop(within: .zero)
    }

    @Test func `Work that begins after the stop is told of it too`() async throws {
        let handler = StubHandler(respond: { _ in
            .deferred {
                // Like work that waits for an event: when cancelled, it answers with what it has.
                try? await Task.sleep(for: .seconds(3600))
                return .text("in time")
            }
        })
        let (server, port) = try startServer(handler, limits: .patient, loops: 1)
        let (client, idle) = try await onThread {
            let client = try RawClient(port: port)
            // The loop accepts this connection and reads half of its request before the second connection.
            try client.send("GET / HTTP/1.1\r\nHost: a\r\n")
            return (client, try RawClient(port: port))
        }
        async let stop: Void = server.stop(within: .seconds(30))
        let answer = try await onThread {
            // A loop that is stopping closes at once what is idle.
            _ = try idle.readToEnd()
            idle.close()
            try client.send("\r\n")
            return try client.readToEnd()
        }
        expect(answer, ends: "in time")
        client.close()
        await stop
    }

    @Test(arguments: [false, true])
    func `A stop cuts off what is not answered in time on every loop, whatever an earlier one allows`(
        hasEarlierStop: Bool
    ) async throws {
        let (requests, continuation) = AsyncStream<Void>.makeStream()
        let isReleased = Signal()
        let handler = StubHandler(respond: { _ in
            .deferred {
                continuation.yield()
                // Work that ignores cancellation.
                await Task.detached { await isReleased.wait() }.value
                return .text("too late")
            }
        })
        let (server, port) = try startServer(handler)
        let clients = try await onThread {
            try (0..<2).map { _ in
                let client = try RawClient(port: port)
                try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                return client
            }
        }
        // Each client is on a separate loop.
        var waiting = 2
        for await _ in requests {
            waiting -= 1
            if waiting == 0 { break }
        }
        let earlier: Task<Void, Never>? = hasEarlierStop ? Task { await server.stop(within: .seconds(3600)) } : nil
        await server.stop(within: .milliseconds(20))
        await earlier?.value
        for client in clients {
            expectEmpty(try await onThread { try client.readToEnd() })
            client.close()
        }
        isReleased.give()
    }

    /// A process that is being started has copies of all descriptors for a moment.
    @Test func `The end of a connection that somebody has a copy of does not end the next one`() async throws {
        let occupancy = Mutex<ServerOccupancy?>(nil)
        try await withServer(StubHandler(serve: { open in occupancy.withLock { $0 = open } }), loops: 1) { port in
            let occupancy = try #require(occupancy.withLock { $0 })
            try await onThread {
                for _ in 0..<20 {
                    let client = try RawClient(port: port)
                    _ = try client.get("/")
                    let copy = dup(try client.serverDescriptor())
                    defer { close(copy) }
                    try client.send("GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
                    expect(try client.readToEnd(), ends: "GET /last []")
                    client.close()
                    while occupancy.openConnections > 0 { sched_yield() }
                    let next = try RawClient(port: port)
                    for path in ["/next", "/again"] { expect(try next.get(path), ends: "GET \(path) []") }
                    next.close()
                    while occupancy.openConnections > 0 { sched_yield() }
                }
            }
        }
    }

    @Test func `A server can be stopped before it was started, and twice`() async throws {
        let server = try server([.init(port: 0)], StubHandler(respond: { _ in .ready(.text("never started")) }))
        await server.stop(within: .seconds(5))
        await server.stop(within: .seconds(5))
        await server.waitUntilStopped()
        // The port is free now, so another process may answer there.
        let answer = try? await HTTPClient.send(url: "http://\(server.addresses[0])/", within: .seconds(120))
        #expect(answer?.body != Array("never started".utf8))
    }

    @Test func `An address with colons is written in brackets`() throws {
        expect(BoundAddress(host: "::1", port: 8, isSecure: false).description, is: "[::1]:8")
        expect(BoundAddress(host: "127.0.0.1", port: 8, isSecure: false).description, is: "127.0.0.1:8")
    }
}
