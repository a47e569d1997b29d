import Dispatch
import Expectations
import HTTPTypes
import Synchronization
import Testing

@testable import HTTPEngine

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Concurrent client exchanges, against servers that stall, lie and flood.
@Suite(.timeLimit(.minutes(15))) struct ClientExchangeTests {
    /// Separate threads, so that no other test's exchanges count.
    private func client(
        threads: Int = 8, waiting: Int = 1000,
        resolve: @escaping @Sendable (ClientTarget) -> [SocketAddress] = { _ in [] }
    ) -> ClientThreads {
        ClientThreads(maximum: threads, waiting: waiting, resolve: resolve)
    }

    @Test func `What finds no place to wait is refused at once, and a cancelled request gives its place back`()
        async throws
    {
        let silent = try ListeningSocket(.init(port: 0))
        let begun = Counter()
        let client = client(threads: 1, waiting: 1) { _ in
            begun.count.add(1, ordering: .relaxed)
            return SocketAddress.literal("127.0.0.1", port: silent.address.port)
        }
        let first = Task { try await client.get("http://silent.test/", within: .seconds(300)) }
        while begun.count.load(ordering: .relaxed) < 1 { await Task.yield() }
        // Of two more one waits for the thread, so that only the other one ends.
        try await withThrowingTaskGroup { group in
            for _ in 0..<2 { group.addTask { try await client.outcome("http://silent.test/", within: .seconds(300)) } }
            let refused = try await group.next()?.failure
            expect(refused, is: .tooMany)
            group.cancelAll()
            let cancelled = try await group.next()?.failure
            expect(cancelled, is: .cancelled)
        }
        first.cancel()
        await #expect(throws: ClientError.cancelled) { try await first.value }
        try await withServer { port in
            // What was given up keeps its place until the thread comes to it.
            var outcome = try await client.outcome("http://127.0.0.1:\(port)/")
            while outcome.failure == .tooMany { outcome = try await client.outcome("http://127.0.0.1:\(port)/") }
            let answer = try outcome.get()
            expect(answer.status, is: .ok)
        }
        expect(begun.count.load(ordering: .relaxed), is: 1)
    }

    @Test func `A task that was cancelled before it asked asks nobody`() async throws {
        let lookUps = Counter()
        let client = client { _ in
            lookUps.count.add(1, ordering: .relaxed)
            return []
        }
        let call = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await client.get("http://nobody.test/")
        }
        call.cancel()
        await #expect(throws: ClientError.cancelled) { try await call.value }
        expect(lookUps.count.load(ordering: .relaxed), is: 0)
    }

    @Test func `A thread ends with its work`() async throws {
        weak var heldByThread: ClientThreads?
        try await withServer { port in
            let client = client()
            heldByThread = client
            let answer = try await client.get("http://127.0.0.1:\(port)/")
            expect(answer.status, is: .ok)
        }
        while heldByThread != nil { await Task.yield() }
    }

    // MARK: Names

    @Test func `Names are looked up on so many threads and no more, and what nobody waits for is not looked up`()
        async throws
    {
        let mayGoOn = DispatchSemaphore(value: 0)
        let lookUps = Counter()
        let client = client(threads: 2) { _ in
            lookUps.count.add(1, ordering: .relaxed)
            mayGoOn.wait()
            return []
        }
        let calls = (0..<6).map { number in Task { try await client.get("http://name-\(number).test/") } }
        while lookUps.count.load(ordering: .relaxed) < 2 { await Task.yield() }
        for call in calls { call.cancel() }
        for call in calls { await #expect(throws: ClientError.cancelled) { try await call.value } }
        for _ in 0..<3 { mayGoOn.signal() }
        await #expect(throws: ClientError.unknownHost("last.test")) { try await client.get("http://last.test/") }
        expect(lookUps.count.load(ordering: .relaxed), is: 3)
    }

    @Test func `A look-up that outlives its time is given up, and so is what waits for its thread`() async throws {
        let (isOver, lookUps) = (DispatchSemaphore(value: 0), Counter())
        let client = client(threads: 1) { target in
            lookUps.count.add(1, ordering: .relaxed)
            isOver.wait()
            return SocketAddress.literal("127.0.0.1", port: target.port)
        }
        // Again where the time was over before the thread came to the name, so that it did not look it up.
        while lookUps.count.load(ordering: .relaxed) == 0 {
            await #expect(throws: ClientError.timedOut) {
                try await client.get("http://slow.test/", within: .milliseconds(20))
            }
        }
        await #expect(throws: ClientError.timedOut) {
            try await client.get("http://127.0.0.1:1/", within: .milliseconds(20))
        }
        try await withServer { port in
            isOver.signal()
            isOver.signal()
            let later = try await client.get("http://third.test:\(port)/")
            expect(later.status, is: .ok)
            expect(lookUps.count.load(ordering: .relaxed), is: 2)
        }
    }

    @Test func `A name without an address is unknown`() async {
        let client = client()
        await #expect(throws: ClientError.unknownHost("nowhere.test")) { try await client.get("http://nowhere.test/") }
    }

    @Test(arguments: ["localhost", "a.localhost", "two.test"])
    func `Where the first address refuses the next one is asked`(host: String) async throws {
        let client = client { target in
            SocketAddress.literal("127.0.0.1", port: 1) + SocketAddress.literal("127.0.0.1", port: target.port)
        }
        // The server listens only on 127.0.0.1, but local names resolve to ::1 first.
        try await withServer { port in
            let answer = try await client.get("http://\(host):\(port)/")
            expect(answer.status, is: .ok)
        }
    }

    // MARK: Answers that never end well

    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab", ClientError.connectionLost),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n", .connectionLost),
        ("HTTP/1.1 200 OK\r\nContent-Length: 999999999999\r\n\r\nab", .tooLarge), ("", .connectionLost),
        ("\0\u{1}\u{2}\r\n", .malformedAnswer),
    ])
    func `An answer that lies about its length is none`(answer: String, error: ClientError) async throws {
        try await expectExchange(error) { socket in
            self.write(Array(answer.utf8), to: socket)
            socket.shutdownWriting()
        }
    }

    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "4\r\nabcd\r\n", ClientError.tooLarge),
        ("HTTP/1.1 200 OK\r\n\r\n", "abcd", .tooLarge), ("HTTP/1.1 200 OK\r\n", "A: b\r\n", .malformedAnswer),
        ("HTTP/1.1 200 ", "OK", .malformedAnswer),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;", "x", .malformedAnswer),
        ("", "HTTP/1.1 100 Continue\r\n\r\n", .malformedAnswer),
    ])
    func `An answer without end is cut off`(begin: String, rest: String, error: ClientError) async throws {
        try await expectExchange(error) { socket in
            let rest = Array(String(repeating: rest, count: 4096).utf8)
            guard self.write(Array(begin.utf8), to: socket) else { return }
            while self.write(rest, to: socket) {}
        }
    }

    @Test(arguments: [
        "", "HTTP/1.1 2", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\na", "HTTP/1.1 100 Continue\r\n\r\n",
    ])
    func `An answer that stops in the midst is given up in time`(answer: String) async throws {
        try await expectExchange(.timedOut, within: .milliseconds(50)) { self.write(Array(answer.utf8), to: $0) }
    }

    @Test func `A drip that never ends is given up in time`() async throws {
        try await expectExchange(.timedOut, within: .milliseconds(100)) { socket in
            guard self.write(Array("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n".utf8), to: socket) else { return }
            // Each byte is sent only after waiting a while for the client's end.
            for _ in 0..<1000 where !self.hasEnded(socket, within: 5) { self.write([0x61], to: socket) }
        }
    }

    @Test(arguments: Way.allCases)
    func `A server may answer without reading the request to its end`(way: Way) async throws {
        let listener = try ListeningSocket(way.listener())
        let isAnswered = DispatchSemaphore(value: 0)
        async let served: Void = onThread {
            waitFor(listener.socket, [.reading])
            let socket = try #require(listener.socket.accept()).socket
            let identity = listener.identity
            let transport = try #require(identity.map { Transport(socket, identity: $0) } ?? Transport(socket))
            var first = [UInt8](repeating: 0, count: 1)
            // Over TLS the first read performs the handshake.
            while case .wouldBlock = first.withUnsafeMutableBytes(transport.read) { waitFor(socket, [.reading]) }
            _ = Array("HTTP/1.1 413 Content Too Large\r\nContent-Length: 2\r\n\r\nno".utf8)
                .withUnsafeBytes(transport.write)
            // Closing with unread bytes resets the connection, so the client must have the answer first.
            isAnswered.wait()
            transport.close()
        }
        let url = "\(way == .clear ? "http" : "https")://localhost:\(listener.address.port)/"
        let exchange = try HTTPClient.exchange(
            .post, url, [:], [UInt8](repeating: 7, count: 30_000_000), TestAuthority.trust(), 100)
        let outcome = await exchange.outcome(on: client(), within: .seconds(20))
        isAnswered.signal()
        try await served
        let answer = try outcome.get()
        expect(answer.status.code, is: 413)
        expect(answer.body, is: Array("no".utf8))
    }

    /// Connects the client to a server that handles the connection as the test wants, and expects that error.
    private func expectExchange(
        _ error: ClientError, within limit: Duration = .seconds(20), _ serve: @escaping @Sendable (Socket) -> Void
    ) async throws {
        let listener = try ListeningSocket(.init(port: 0))
        async let served: Void = onThread {
            waitFor(listener.socket, [.reading])
            let socket = try #require(listener.socket.accept()).socket
            defer { socket.close() }
            serve(socket)
            while !self.hasEnded(socket, within: 1000) {}
        }
        await #expect(throws: error) { try await client().get("http://\(listener.address)/", within: limit) }
        try await served
    }

    /// Sends all of the bytes; returns false if the client has gone.
    @discardableResult private func write(_ bytes: [UInt8], to socket: Socket) -> Bool {
        socket.writeAll(bytes, by: socket.write)
    }

    /// Whether the client ends its direction within the given milliseconds; its input is discarded.
    private func hasEnded(_ socket: Socket, within milliseconds: Int32) -> Bool {
        var part = [UInt8](repeating: 0, count: 4096)
        while true {
            switch part.withUnsafeMutableBytes(socket.read) {
            case .moved: continue
            case .ended, .broken: return true
            case .wouldBlock:
                var entry = pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0)
                if poll(&entry, 1, milliseconds) == 0 { return false }
            }
        }
    }
}

/// A counter that any thread may increment.
private final class Counter: Sendable {
    let count = Atomic(0)
}

extension ClientThreads {
    fileprivate func get(_ url: String, within limit: Duration = .seconds(20)) async throws -> ClientResponse {
        try await outcome(url, within: limit).get()
    }

    fileprivate func outcome(
        _ url: String, within limit: Duration = .seconds(20)
    ) async throws -> ClientExchange.Outcome {
        try await HTTPClient.exchange(.get, url, [:], [], .system, 1000).outcome(on: self, within: limit)
    }
}

extension ClientExchange.Outcome {
    fileprivate var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}
