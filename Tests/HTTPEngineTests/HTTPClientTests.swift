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
            #expect(answer.status == .created)
            #expect(answer.fields[.server] == "s")
            #expect(String(decoding: answer.body, as: UTF8.self) == "POST /a?b [abc] 127.0.0.1:\(port) x")
        }
    }

    @Test func `An answer to HEAD has a length and no content`() async throws {
        try await withServer { port in
            let answer = try await HTTPClient.send(
                method: .head, url: "http://localhost:\(port)", within: .seconds(120))
            #expect(answer.fields[.contentLength] == "9")
            #expect(answer.body.isEmpty)
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
                #expect(bodies == Set((0..<40).map { "GET /\($0) []" }))
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
            #expect(answer.body == [1, 2, 3])
        }
    }

    @Test func `An answer that does not come in time is given up`() async throws {
        let isOver = Signal()
        let handler = StubHandler(respond: { _ in
            .deferred {
                await isOver.wait()
                return .empty()
            }
        })
        try await withServer(handler) { port in
            await #expect(throws: ClientError.timedOut) {
                try await HTTPClient.send(url: "http://127.0.0.1:\(port)/", within: .milliseconds(50))
            }
            isOver.give()
        }
    }

    @Test func `A cancelled task does not wait for its answer`() async throws {
        let isRequested = Signal()
        let isOver = Signal()
        let handler = StubHandler(respond: { _ in
            isRequested.give()
            return .deferred {
                await isOver.wait()
                return .empty()
            }
        })
        try await withServer(handler) { port in
            let call = Task { try await HTTPClient.send(url: "http://127.0.0.1:\(port)/", within: .seconds(300)) }
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
        "http://a/b c", "http://u@a/",
        "http://a:x/", "http://a/\r\nX: y", "http://a\0/", "http://ä/",
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
        #expect(target.host == host)
        #expect(target.port == port)
        #expect(target.pathAndQuery == path)
        #expect(target.isSecure == url.lowercased().hasPrefix("https:"))
    }

    @Test(arguments: [
        ("http://127.0.0.1", ["127.0.0.1"]), ("https://[::1]:8/", ["::1"]), ("http://10.1.2.3:4", ["10.1.2.3"]),
        ("http://localhost:81", ["::1", "127.0.0.1"]), ("http://LocalHost", ["::1", "127.0.0.1"]),
        ("http://a.b.LOCALHOST.:82", ["::1", "127.0.0.1"]), ("http://localhost.", ["::1", "127.0.0.1"]),
        ("http://localhost.test", []), ("http://mylocalhost", []), ("http://keys.example.test", []),
    ])
    func `Addresses and names of this machine need no look-up`(url: String, addresses: [String]) throws {
        let target = try ClientTarget(url)
        #expect(target.knownAddresses.map(\.host) == addresses)
        #expect(target.knownAddresses.allSatisfy { $0.port == target.port })
    }
}

@Suite struct ResponseParserTests {
    /// The answer to a text that arrives in one piece or byte by byte, after which the connection ends.
    private func parse(_ text: String, isHead: Bool = false, bytewise: Bool) throws -> ClientResponse {
        var parser = ResponseParser(isHead: isHead, maximumBody: 10)
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
        #expect(String(decoding: body, as: UTF8.self) == answer.1)
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
        #expect(throws: answer.1) { try parse(answer.0, bytewise: bytewise) }
    }

    @Test(arguments: [(65_536, ClientError.connectionLost), (65_537, .malformedAnswer)])
    func `A line without an end is waited for up to 64 KiB`(length: Int, error: ClientError) {
        let start = "HTTP/1.1 200 "
        let line = start + String(repeating: "a", count: length - start.utf8.count)
        #expect(throws: error) { try parse(line, bytewise: false) }
    }
}
