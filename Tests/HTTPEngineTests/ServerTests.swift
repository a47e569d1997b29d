import Expectations
import HTTPTypes
import Testing
import Wire

@testable import HTTPEngine

@Suite(.timeLimit(.minutes(15))) struct ServerTests {
    private func get(_ path: String, _ fields: String = "") -> String {
        "GET \(path) HTTP/1.1\r\nHost: a\r\n\(fields)\r\n"
    }

    /// Everything a client receives that sends all of the text, ends its direction and reads to the end.
    private func exchange(
        _ text: String, _ handler: StubHandler = StubHandler(), _ limits: Limits = Limits()
    ) async throws -> String {
        try await answers(to: text, handler, limits: limits, isFinished: true)
    }

    @Test func `A connection serves one request after another`() async throws {
        try await withClient { [self] client in
            for number in 1...3 {
                try client.send(get("/\(number)"))
                expect(try client.readAnswer(), ends: "\r\n\r\nGET /\(number) []")
            }
        }
    }

    @Test func `A head that arrives byte by byte is a request`() async throws {
        try await withClient { [self] client in
            for byte in get("/slow").utf8 { try client.send(String(decoding: [byte], as: UTF8.self)) }
            expect(try client.readAnswer(), ends: "GET /slow []")
        }
    }

    @Test(arguments: [
        ("Content-Length: 3\r\n\r\nabc", "abc"), ("Content-Length: 4\r\n\r\nabcd", "too much"),
        ("Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n", "too much"),
    ]) func `A content is taken without asking for its route only when its announced length suits every route`(
        rest: String, body: String
    ) async throws {
        let handler = StubHandler(smallestBodyLimit: 3, limit: { _ in 0 })
        expect(contents(try await exchange("PUT / HTTP/1.1\r\nHost: a\r\n\(rest)", handler)), is: ["PUT / [\(body)]"])
    }

    @Test func `Requests behind one another are answered in order`() async throws {
        let text = (1...300).map { get("/\($0)") }.joined()
        expect(contents(try await exchange(text)), is: (1...300).map { "GET /\($0) []" })
    }

    @Test func `Order holds when every other answer is deferred`() async throws {
        let handler = StubHandler(respond: { request in
            let response = Response.text(StubHandler.describe(request))
            guard request.target.hasSuffix("0") else { return .ready(response) }
            return .deferred {
                await Task.yield()
                return response
            }
        })
        let text = (1...60).map { get("/\($0)") }.joined()
        expect(contents(try await exchange(text, handler, .patient)), is: (1...60).map { "GET /\($0) []" })
    }

    @Test func `A client that ended its direction gets its deferred answer`() async throws {
        let (isRequested, isSent) = (Signal(), Signal())
        let answer = try await withServer(StubHandler.holding(isRequested, until: isSent)) { port in
            let client = try await onThread { [self] in
                let client = try RawClient(port: port)
                try client.send(get("/held"))
                client.finishSending()
                return client
            }
            defer { client.close() }
            await isRequested.wait()
            isSent.give()
            return try await onThread { try client.readToEnd() }
        }
        expect(answer, ends: "\r\n\r\nheld")
    }

    @Test func `A deferred answer is cancelled when the connection breaks`() async throws {
        let isRequested = Signal()
        let isCancelled = Signal()
        let handler = StubHandler(respond: { _ in
            .deferred {
                await withTaskCancellationHandler {
                    isRequested.give()
                    await isCancelled.wait()
                } onCancel: {
                    isCancelled.give()
                }
                return .empty()
            }
        })
        try await withServer(handler) { port in
            let client = try await onThread {
                let client = try RawClient(port: port)
                try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                return client
            }
            await isRequested.wait()
            client.reset()
            await isCancelled.wait()
        }
    }

    @Test func `HEAD gets the head of GET and no content, and the connection goes on`() async throws {
        let answers = try await exchange("HEAD /h HTTP/1.1\r\nHost: a\r\n\r\n" + get("/g"))
        expect(contents(answers), is: ["", "GET /g []"])
        expect(answers, contains: "Content-Length: 10\r\n")
    }

    @Test func `A client that waits for the interim answer gets it before it sends`() async throws {
        try await withClient { client in
            try client.send("PUT /c HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n")
            expect(try client.read(until: "\r\n\r\n"), is: "HTTP/1.1 100 Continue\r\n\r\n")
            try client.send("abc")
            expect(try client.readAnswer(), ends: "PUT /c [abc]")
        }
    }

    @Test func `The limit of a content is the route's`() async throws {
        let handler = StubHandler(limit: { $0.path == "/large" ? 10 : 1 })
        let put = { (path: String) in "PUT \(path) HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n0123456789" }
        let answers = try await exchange(put("/large") + put("/small") + get("/never"), handler)
        expect(contents(answers), is: ["PUT /large [0123456789]", "PUT /small [too much]"])
    }

    @Test func `A client that sends a long content before it reads still gets the refusal`() async throws {
        let text =
            "PUT /c HTTP/1.1\r\nHost: a\r\nContent-Length: 3000000\r\n\r\n" + String(repeating: "x", count: 3_000_000)
        expect(contents(try await exchange(text)), is: ["PUT /c [too much]"])
    }

    @Test func `Who asks to keep the connection learns for how long, a second less than the truth`() async throws {
        let kept = "Connection: keep-alive\r\nKeep-Alive: timeout=29\r\n"
        let last = get("/b", "Connection: close\r\n")
        for field in ["keep-alive", "Keep-Alive, TE"] {
            expect(try await exchange(get("/a", "Connection: \(field)\r\n") + last), contains: kept)
        }
        expect(try await exchange("GET /1 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"), contains: kept)
        for field in ["", "Keep-Alive: timeout=5\r\n", "Connection: close, keep-alive\r\n"] {
            expect(try await exchange(get("/a", field) + last).lowercased(), lacks: "keep-alive")
        }
    }

    @Test func `OPTIONS about the whole server is answered without the handler`() async throws {
        let answers = try await exchange("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n" + get("/g"))
        expect(answers, begins: "HTTP/1.1 204 No Content\r\nAllow: GET, HEAD")
        expect(contents(answers), is: ["", "GET /g []"])
    }

    @Test func `A long answer reaches a client that reads late`() async throws {
        let body = [UInt8](repeating: 0x78, count: 4_000_000)
        let handler = StubHandler(respond: { _ in .ready(Response(status: .ok, body: body)) })
        let length = try await withClient(handler, receiveBuffer: 32_768) { [self] client in
            try client.send(get("/1") + get("/2", "Connection: close\r\n"))
            return try client.readToEnd().utf8.count { $0 == 0x78 }
        }
        expect(length, is: 8_000_000)
    }

    @Test func `The handler sees who is calling`() async throws {
        let handler = StubHandler(respond: { .ready(.text("\($0.connection.remoteAddress) \($0.connection.isSecure)")) }
        )
        expect(contents(try await exchange(get("/"), handler)), is: ["127.0.0.1 false"])
    }
}
