import Dispatch
import HTTPTypes
import Synchronization
import Testing

@testable import HTTPEngine

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Many concurrent client exchanges, against servers that stall, lie and flood.
@Suite(.timeLimit(.minutes(15))) struct ClientExchangesTests {
    /// A separate client, so that no other test's exchanges count.
    private func client(
        exchanges: Int = 1000, bytes: Int = 1 << 26, threads: Int = 1,
        resolve: @escaping @Sendable (ClientTarget) -> [SocketAddress] = { _ in [] }
    ) -> ClientExchanges {
        ClientExchanges(
            ClientOccupancy(maximumExchanges: exchanges, maximumBytes: bytes),
            NameLookUps(maximumThreads: threads, resolve: resolve))
    }

    /// Returns once this many exchanges are under way.
    private func underWay(_ count: Int, _ client: ClientExchanges) async {
        while client.occupancy.exchanges != count { await Task.yield() }
    }

    @Test func `Servers that say nothing hold up nobody, and each is given up in time`() async throws {
        let client = client()
        let silent = try ListeningSocket(.init(port: 0))
        try await withServer { port in
            try await withThrowingTaskGroup { group in
                for _ in 0..<100 {
                    group.addTask {
                        await #expect(throws: ClientError.cancelled) {
                            try await client.get("http://\(silent.address)/", within: .seconds(300))
                        }
                    }
                }
                await underWay(100, client)
                let answer = try await client.get("http://127.0.0.1:\(port)/healthy")
                #expect(String(decoding: answer.body, as: UTF8.self) == "GET /healthy []")
                #expect(client.occupancy.exchanges == 100)
                group.cancelAll()
                try await group.waitForAll()
            }
        }
        await underWay(0, client)
        await withTaskGroup { group in
            for _ in 0..<100 {
                group.addTask {
                    await #expect(throws: ClientError.timedOut) {
                        try await client.get("http://\(silent.address)/", within: .milliseconds(20))
                    }
                }
            }
        }
        #expect(client.occupancy.exchanges == 0)
        #expect(client.occupancy.bytes == 0)
    }

    @Test func `What is asked beyond the bound is refused at once, and a place that is given back can be taken`()
        async throws
    {
        let client = client(exchanges: 2)
        let silent = try ListeningSocket(.init(port: 0))
        let url = "http://\(silent.address)/"
        let calls = (0..<2).map { _ in Task { try await client.get(url, within: .seconds(300)) } }
        await underWay(2, client)
        await #expect(throws: ClientError.tooMany) { try await client.get(url, within: .seconds(300)) }
        calls[0].cancel()
        await underWay(1, client)
        try await withServer { port in
            let answer = try await client.get("http://127.0.0.1:\(port)/")
            #expect(answer.status == .ok)
        }
        calls[1].cancel()
        for call in calls { await #expect(throws: ClientError.cancelled) { try await call.value } }
    }

    @Test func `A task that was cancelled before it asked asks nobody`() async throws {
        let client = client()
        let call = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await client.get("http://127.0.0.1:1/")
        }
        call.cancel()
        await #expect(throws: ClientError.cancelled) { try await call.value }
        #expect(client.occupancy.exchanges == 0)
    }

    @Test func `The thread ends with the client`() async throws {
        weak var heldByThread: ClientOccupancy?
        try await withServer { port in
            let client = client()
            heldByThread = client.occupancy
            let answer = try await client.get("http://127.0.0.1:\(port)/")
            #expect(answer.status == .ok)
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
        await underWay(6, client)
        while lookUps.count.load(ordering: .relaxed) < 2 { await Task.yield() }
        for call in calls { call.cancel() }
        for call in calls { await #expect(throws: ClientError.cancelled) { try await call.value } }
        await underWay(0, client)
        for _ in 0..<3 { mayGoOn.signal() }
        await #expect(throws: ClientError.unknownHost("last.test")) { try await client.get("http://last.test/") }
        #expect(lookUps.count.load(ordering: .relaxed) == 3)
    }

    @Test func `A look-up that outlives its time is given up, and what needs none goes on`() async throws {
        let (isOver, lookUps) = (DispatchSemaphore(value: 0), Counter())
        let client = client { target in
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
        // The only thread is busy, so this name is not looked up at all.
        await #expect(throws: ClientError.timedOut) {
            try await client.get("http://other.test/", within: .milliseconds(20))
        }
        try await withServer { port in
            let answer = try await client.get("http://127.0.0.1:\(port)/")
            #expect(answer.status == .ok)
            isOver.signal()
            isOver.signal()
            let later = try await client.get("http://third.test:\(port)/")
            #expect(later.status == .ok)
            #expect(lookUps.count.load(ordering: .relaxed) == 2)
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
            #expect(answer.status == .ok)
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
        try await expect(error) { socket in
            self.write(Array(answer.utf8), to: socket)
            socket.shutdownWriting()
        }
    }

    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "4\r\nabcd\r\n", ClientError.tooLarge),
        ("HTTP/1.1 200 OK\r\n\r\n", "abcd", .tooLarge), ("HTTP/1.1 200 OK\r\n", "A: b\r\n", .malformedAnswer),
        ("HTTP/1.1 200 ", "OK", .malformedAnswer),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;", "x", .malformedAnswer),
    ])
    func `An answer without end is cut off`(begin: String, rest: String, error: ClientError) async throws {
        try await expect(error) { socket in
            let rest = Array(String(repeating: rest, count: 4096).utf8)
            guard self.write(Array(begin.utf8), to: socket) else { return }
            while self.write(rest, to: socket) {}
        }
    }

    @Test func `Announcements without end are cut off, and hold up nobody`() async throws {
        try await expect(.malformedAnswer) { socket in
            let announcement = Array(String(repeating: "HTTP/1.1 100 Continue\r\n\r\n", count: 1000).utf8)
            while self.write(announcement, to: socket) {}
        }
    }

    @Test(arguments: [
        "", "HTTP/1.1 2", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\na", "HTTP/1.1 100 Continue\r\n\r\n",
    ])
    func `An answer that stops in the midst is given up in time`(answer: String) async throws {
        try await expect(.timedOut, within: .milliseconds(50)) { self.write(Array(answer.utf8), to: $0) }
    }

    @Test func `A drip that never ends is given up in time`() async throws {
        try await expect(.timedOut, within: .milliseconds(100)) { socket in
            guard self.write(Array("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n".utf8), to: socket) else { return }
            // Each byte is sent only after waiting a while for the client's end.
            for _ in 0..<1000 where !self.hasEnded(socket, within: 5) { self.write([0x61], to: socket) }
        }
    }

    @Test func `More than may be kept in all is not kept`() async throws {
        let client = client(bytes: 100_000)
        try await expect(.tooMany, maximumBody: 1 << 30, client) { socket in
            guard self.write(Array("HTTP/1.1 200 OK\r\n\r\n".utf8), to: socket) else { return }
            let part = [UInt8](repeating: 1, count: 10_000)
            while self.write(part, to: socket) {}
        }
        #expect(client.occupancy.bytes == 0)
        try await withServer { port in
            let answer = try await client.get("http://127.0.0.1:\(port)/")
            #expect(answer.status == .ok)
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
            .post, url, [:], [UInt8](repeating: 7, count: 30_000_000), TestAuthority.trust(), .seconds(20), 100)
        let outcome = await client().outcome(of: exchange)
        isAnswered.signal()
        try await served
        let answer = try outcome.get()
        #expect(answer.status.code == 413)
        #expect(answer.body == Array("no".utf8))
    }

    /// Connects the client to a server that handles the connection as the test wants, and expects that error.
    private func expect(
        _ error: ClientError, within limit: Duration = .seconds(20), maximumBody: Int = 1000,
        _ client: ClientExchanges? = nil, _ serve: @escaping @Sendable (Socket) -> Void
    ) async throws {
        let listener = try ListeningSocket(.init(port: 0))
        async let served: Void = onThread {
            waitFor(listener.socket, [.reading])
            let socket = try #require(listener.socket.accept()).socket
            defer { socket.close() }
            serve(socket)
            while !self.hasEnded(socket, within: 1000) {}
        }
        let client = client ?? self.client()
        await #expect(throws: error) {
            try await client.get("http://\(listener.address)/", within: limit, maximumBody: maximumBody)
        }
        #expect(client.occupancy.exchanges == 0)
        try await served
    }

    /// Sends all of the bytes; returns false if the client has gone.
    @discardableResult private func write(_ bytes: [UInt8], to socket: Socket) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            switch rest.withUnsafeBytes(socket.write) {
            case .moved(let count): rest = rest.dropFirst(count)
            case .wouldBlock: waitFor(socket, [.writing])
            case .ended, .broken: return false
            }
        }
        return true
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

extension ClientExchanges {
    fileprivate func get(
        _ url: String, within limit: Duration = .seconds(20), maximumBody: Int = 1000
    ) async throws -> ClientResponse {
        try await outcome(of: try HTTPClient.exchange(.get, url, [:], [], .system, limit, maximumBody)).get()
    }
}
