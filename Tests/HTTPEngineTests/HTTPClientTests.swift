import Expectations
import HTTPTypes
import Testing
import Wire

@testable import HTTPEngine

@Suite(.timeLimit(.minutes(15))) struct HTTPClientTests {
    @Test func `A request arrives with its fields and content, and the whole answer comes back`() async throws {
        let handler = StubHandler(respond: { request in
            let seen = "\(StubHandler.describe(request)) \(request.authority ?? "") \(request.fields[.accept] ?? "")"
            return .ready(Response(status: .created, fields: [.server: "s"], body: Array(seen.utf8)))
        })
        try await withServer(handler) { port in
            let answer = try await HTTPClient.send(
                method: .post, url: "http://127.0.0.1:\(port)/a?b#c", fields: [.accept: "x", .contentLength: "9"],
                body: Array("abc".utf8), within: .seconds(120))
            expect(answer.status, is: .created)
            expect(answer.fields[.server], is: "s")
            expect(String(decoding: answer.body, as: UTF8.self), is: "POST /a?b [abc] 127.0.0.1:\(port) x")
        }
    }

    @Test func `An answer to HEAD has a length and no content`() async throws {
        try await withServer { port in
            let answer = try await HTTPClient.send(
                method: .head, url: "http://localhost:\(port)", within: .seconds(120))
            expect(answer.fields[.contentLength], is: "9")
            expectEmpty(answer.body)
        }
    }

    @Test func `Many calls at once all come back`() async throws {
        try await withServer { port in
            try await withThrowingTaskGroup { group in
                for number in 0..<40 {
                    group.addTask {
                        try await HTTPClient.send(url: "http://127.0.0.1:\(port)/\(number)", within: .seconds(120)).body
                    }
                }
                var bodies: Set<String> = []
                for try await body in group { bodies.insert(String(decoding: body, as: UTF8.self)) }
                expect(bodies, is: Set((0..<40).map { "GET /\($0) []" }))
            }
        }
    }

    @Test func `An answer over the limit is refused`() async throws {
        let handler = StubHandler(respond: { _ in .ready(Response(status: .ok, body: [1, 2, 3])) })
        try await withServer(handler) { port in
            let url = "http://127.0.0.1:\(port)/"
            await #expect(throws: ClientError.tooLarge) {
                try await HTTPClient.send(url: url, within: .seconds(120), maximumBody: 2)
            }
            let answer = try await HTTPClient.send(url: url, within: .seconds(120), maximumBody: 3)
            expect(answer.body, is: [1, 2, 3])
        }
    }

    @Test func `A cancelled task does not wait for its answer`() async throws {
        let (isRequested, isOver) = (Signal(), Signal())
        try await withServer(StubHandler.holding(isRequested, until: isOver)) { port in
            let call = Task { try await HTTPClient.send(url: "http://127.0.0.1:\(port)/held", within: .seconds(300)) }
            await isRequested.wait()
            call.cancel()
            await #expect(throws: ClientError.cancelled) { try await call.value }
            isOver.give()
        }
    }

    @Test func `A port without listener is said in one line`() async {
        // A port that was free a moment ago could be a parallel test's by now; port 1 is nobody's.
        await #expect(throws: ClientError.notReachable("127.0.0.1:1", reason: "Connection refused")) {
            try await HTTPClient.send(url: "http://127.0.0.1:1/", within: .seconds(120))
        }
    }

    @Test(arguments: [
        "", "http://", "http:///a", "https://", "https:///a", "https:/a", "ftp://a/", "/a", "http://a b/",
        "http://a/b c", "http://u@a/", "http://a:x/", "http://a/\r\nX: y", "http://a\0/", "http://ä/",
    ])
    func `What is no URL is refused before anything is sent`(url: String) async {
        await #expect(throws: ClientError.invalidURL(url)) {
            try await HTTPClient.send(url: url, within: .seconds(120))
        }
    }

    @Test(arguments: [
        ("http://a", "a", 80, "/"), ("HTTP://a.b:81/c?d", "a.b", 81, "/c?d"), ("http://[::1]:82?x", "::1", 82, "/?x"),
        ("http://[::1]/#f", "::1", 80, "/"), ("http://a:/", "a", 80, "/"), ("https://a", "a", 443, "/"),
        ("HTTPS://[::1]?x", "::1", 443, "/?x"), ("https://a:80/", "a", 80, "/"),
    ])
    func `A URL says host, port and path`(url: String, host: String, port: Int, path: String) throws {
        let target = try ClientTarget(url)
        expect(target.host, is: host)
        expect(target.port, is: port)
        expect(target.pathAndQuery, is: path)
        expect(target.isSecure, is: url.lowercased().hasPrefix("https:"))
    }

    @Test(arguments: [
        ("http://127.0.0.1", ["127.0.0.1"]), ("https://[::1]:8/", ["::1"]), ("http://10.1.2.3:4", ["10.1.2.3"]),
        ("http://localhost:81", ["::1", "127.0.0.1"]), ("http://LocalHost", ["::1", "127.0.0.1"]),
        ("http://a.b.LOCALHOST.:82", ["::1", "127.0.0.1"]), ("http://localhost.", ["::1", "127.0.0.1"]),
        ("http://localhost.test", []), ("http://mylocalhost", []), ("http://keys.example.test", []),
    ])
    func `Addresses and names of this machine need no look-up`(url: String, addresses: [String]) throws {
        let target = try ClientTarget(url)
        expect(target.knownAddresses.map(\.host), is: addresses)
        expectEmpty(target.knownAddresses.map(\.port).filter { $0 != target.port })
    }
}

@Suite struct ResponseParserTests {
    /// The answer to a text that arrives in one piece or byte by byte, after which the connection ends.
    private func parse(_ text: String, bytewise: Bool) throws -> ClientResponse {
        var parser = ResponseParser(isHead: false, maximumBody: 10)
        let bytes = Array(text.utf8)
        for portion in bytewise ? bytes.map({ [$0] }) : [bytes] {
            if let answer = try portion.withUnsafeBytes({ try parser.feed($0) }) { return answer }
        }
        return try parser.finish()
    }

    @Test(
        arguments: [
            ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab", "ab"), ("HTTP/1.0 200\r\n\r\nab", "ab"),
            ("HTTP/1.1 200 \r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n1\r\nb\r\n0\r\n\r\n", "ab"),
            ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na", "a"),
            (
                String(repeating: "HTTP/1.1 100 Continue\r\n\r\n", count: 20)
                    + "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na", "a"
            ),
            ("HTTP/1.1 204 No Content\r\n\r\n", ""), ("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", ""),
        ], [false, true])
    func `An answer is complete by length, by chunks or by the end`(answer: (String, String), bytewise: Bool) throws {
        let body = try parse(answer.0, bytewise: bytewise).body
        expect(String(decoding: body, as: UTF8.self), is: answer.1)
    }

    @Test(
        arguments: [
            ("", ClientError.connectionLost), ("HTTP/1.1 200 OK\r\n", .connectionLost),
            ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\na", .connectionLost),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n", .connectionLost),
            ("HTTP/2 200\r\n\r\n", .malformedAnswer), ("HTTP/1.1 20 OK\r\n\r\n", .malformedAnswer),
            ("HTTP/1.1 200 OK\n\n", .malformedAnswer), ("HTTP/1.1 200 OK\r\nA : b\r\n\r\n", .malformedAnswer),
            ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", .malformedAnswer),
            ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", .malformedAnswer),
            ("HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n", .tooLarge),
            ("HTTP/1.1 200 OK\r\n\r\n01234567890", .tooLarge),
            (String(repeating: "HTTP/1.1 103 Early Hints\r\n\r\n", count: 21), .malformedAnswer),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nb\r\n", .tooLarge),
        ], [false, true])
    func `What is no complete answer is none`(answer: (String, ClientError), bytewise: Bool) {
        expect(throws: answer.1) { try parse(answer.0, bytewise: bytewise) }
    }

    @Test(arguments: [(65_536, ClientError.connectionLost), (65_537, .malformedAnswer)])
    func `A line without an end is waited for up to 64 KiB`(length: Int, error: ClientError) {
        let start = "HTTP/1.1 200 "
        let line = start + String(repeating: "a", count: length - start.utf8.count)
        expect(throws: error) { try parse(line, bytewise: false) }
    }
}

/// The client over TLS, against a test server that sends exactly what it is told to.
@Suite(.timeLimit(.minutes(15))) struct TLSClientTests {
    @Test(arguments: ["localhost", "127.0.0.1"])
    func `A request goes over TLS and its answer comes back`(host: String) async throws {
        let answer = try await exchange(host: host, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab", .bare)
        expect(answer.body, is: Array("ab".utf8))
    }

    @Test func `Content without a length ends with close_notify`() async throws {
        let answer = try await exchange("HTTP/1.1 200 OK\r\n\r\nab", .closeNotify)
        expect(answer.body, is: Array("ab".utf8))
    }

    @Test func `Content without a length does not end where somebody cut the connection`() async throws {
        await #expect(throws: ClientError.connectionLost) {
            try await exchange("HTTP/1.1 200 OK\r\n\r\nab", .bare)
        }
    }

    @Test func `A large answer arrives whole`() async throws {
        let body = String(repeating: "0123456789abcdef", count: 50_000)
        let answer = try await exchange(
            "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)", .closeNotify)
        expect(answer.body, is: Array(body.utf8))
    }

    @Test func `A large request arrives whole`() async throws {
        let body = [UInt8](repeating: 7, count: 3_000_000)
        let answer = try await exchange("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", .closeNotify, body: body)
        expect(answer.status, is: .ok)
    }

    @Test(arguments: [
        ("other.test", true, "it is for another host"), ("localhost", false, "unable to get local issuer certificate"),
    ])
    func `A server that is not trusted gets no request`(name: String, isKnown: Bool, reason: String) async throws {
        await #expect(throws: ClientError.notTrusted(reason)) {
            try await exchange("", .bare, names: [name], trust: isKnown ? nil : .system)
        }
    }

    @Test func `A server that speaks no TLS is said to`() async throws {
        try await withServer { port in
            _ = await #expect(throws: ClientError.tlsFailed("the server does not speak TLS")) {
                try await HTTPClient.send(url: "https://127.0.0.1:\(port)/", within: .seconds(120))
            }
        }
    }

    @Test func `A server that says nothing is given up in time`() async throws {
        let listener = try ListeningSocket(.init(port: 0))
        await #expect(throws: ClientError.timedOut) {
            try await HTTPClient.send(url: "https://\(listener.address)/", within: .milliseconds(50))
        }
    }

    @Test func `A server that closes during the handshake is said to`() async throws {
        let listener = try ListeningSocket(.init(port: 0))
        async let accepted: Void = onThread {
            waitFor(listener.socket, [.reading])
            guard let socket = listener.socket.accept()?.socket else { return }
            waitFor(socket, [.reading])
            _ = socket.takeAll()
            socket.close()
        }
        await #expect(throws: ClientError.tlsFailed("the server closed the connection during the handshake")) {
            try await HTTPClient.send(url: "https://\(listener.address)/", within: .seconds(120))
        }
        try await accepted
    }

    @Test func `Each refusal is one line that ends in a full stop`() {
        for error in [ClientError.notTrusted("x"), .tlsFailed("y"), .invalidURL("z")] {
            expect(error.description, ends: ".")
        }
    }

    /// How the server ends the connection after its answer.
    private enum Ending {
        case closeNotify
        /// Only the TCP stream ends.
        case bare
    }

    /// Makes the client send a request to a server that gives one answer.
    @discardableResult private func exchange(
        host: String = "localhost", _ answer: String, _ ending: Ending, body: [UInt8] = [],
        names: [String] = ["localhost", "127.0.0.1"], trust: TLSTrust? = nil
    ) async throws -> ClientResponse {
        let listener = try ListeningSocket(.init(port: 0))
        let identity = try TestAuthority.identity(names)
        async let served: Void = onThread { try serve(listener, identity, answer, ending, body.count) }
        let url = "https://\(host):\(listener.address.port)/path"
        do {
            let response = try await HTTPClient.send(
                method: body.isEmpty ? .get : .post, url: url, body: body,
                trust: trust ?? TestAuthority.trust(), within: .seconds(120))
            try await served
            return response
        } catch {
            try? await served
            throw error
        }
    }

    private func serve(
        _ listener: ListeningSocket, _ identity: TLSIdentity, _ answer: String, _ ending: Ending, _ bodySize: Int
    ) throws {
        waitFor(listener.socket, [.reading])
        let socket = try #require(listener.socket.accept()).socket
        let transport = try #require(Transport(socket, identity: identity))
        defer { transport.close() }
        var request: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 65_536)
        while !String(decoding: request.prefix(4096), as: UTF8.self).contains("\r\n\r\n") || request.count < bodySize {
            switch part.withUnsafeMutableBytes(transport.read) {
            case .moved(let count): request += part.prefix(count)
            case .wouldBlock: if !transport.hasBufferedInput { waitFor(socket, [.reading]) }
            case .ended, .broken: return
            }
        }
        guard socket.writeAll(Array(answer.utf8), by: transport.write) else { return }
        if ending == .bare { socket.shutdownWriting() } else { _ = transport.finishWriting() }
        waitFor(socket, [.reading])
    }
}
