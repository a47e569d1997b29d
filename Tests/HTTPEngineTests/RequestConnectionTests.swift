import Testing
import Wire

@testable import HTTPEngine

/// How requests affect their connection; each test names its section of RFC 9112, or another source.
@Suite(.timeLimit(.minutes(15))) struct RequestConnectionTests {
    private let next = "GET /next HTTP/1.1\r\nHost: a\r\n\r\n"

    /// Everything a client receives that sends the text and reads until the server ends the connection.
    private func answers(to text: String, isFinished: Bool = false) async throws -> String {
        try await withServer { port in
            try await onThread {
                let client = try RawClient(port: port)
                defer { client.close() }
                try client.send(text)
                if isFinished { client.finishSending() }
                return try client.readToEnd()
            }
        }
    }

    private func contents(_ answers: String) -> [String] {
        answers.split(separator: "HTTP/1.1 ").compactMap { answer in
            answer.firstRange(of: "\r\n\r\n").map { String(answer[$0.upperBound...]) }
        }
    }

    @Test(arguments: [
        "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, TE, close\r\n\r\n", "GET / HTTP/1.0\r\n\r\n",
        "GET / HTTP/1.0\r\nConnection: keep-alive\r\nConnection: close\r\n\r\n",
    ])
    func `Section 9-6: the last request gets its answer, and none behind it is processed`(text: String) async throws {
        let answers = try await answers(to: text + next + next)
        #expect(contents(answers) == ["GET / []"])
        #expect(answers.contains("\r\nConnection: close\r\n"))
    }

    @Test func `Section 9-3: version 1-0 that asks for more is told that it gets it`() async throws {
        let kept = "GET /kept HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"
        let answers = try await answers(to: kept + "GET /last HTTP/1.0\r\n\r\n")
        #expect(contents(answers) == ["GET /kept []", "GET /last []"])
        #expect(answers.firstRange(of: "Connection: keep-alive\r\n") != nil)
    }

    @Test(arguments: [
        "PUT /half HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nabcd",
        "PUT /half HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n",
        "PUT /half HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n",
        "PUT /half HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n0\r\n",
        "GET /half HTTP/1.1\r\nHost: a\r\n", "GET /half HT",
    ])
    func `Section 6-3: a request that ends before its content does is not processed`(text: String) async throws {
        let answers = try await answers(to: next + text, isFinished: true)
        #expect(answers.contains("GET /next []"))
        #expect(!answers.contains("/half"))
    }

    @Test func `Section 9-6: a client that ended its side gets all that it asked for whole`() async throws {
        #expect(contents(try await answers(to: next + next, isFinished: true)) == ["GET /next []", "GET /next []"])
    }

    @Test(arguments: [
        ("1.0", "Expect: 100-continue\r\nContent-Length: 3\r\n", "abc"), ("1.1", "Expect: 100-continue\r\n", ""),
        ("1.1", "Expect: 100-continue\r\nContent-Length: 0\r\n", ""), ("1.1", "Content-Length: 3\r\n", "abc"),
        ("1.1", "Expect: 100-continue\r\nContent-Length: 2000\r\n", ""),
    ])
    func `RFC 9110 section 10-1-1: who does not wait, need not or must not send gets no interim answer`(
        version: String, fields: String, content: String
    ) async throws {
        let text = "PUT / HTTP/\(version)\r\nHost: a\r\nConnection: close\r\n\(fields)\r\n\(content)"
        let answers = try await answers(to: text)
        #expect(!answers.contains(" 100 Continue"))
        #expect(answers.hasPrefix("HTTP/1.1 200 OK\r\n"))
    }

    @Test(arguments: ["h2c", "websocket", "TLS/1.0"])
    func `RFC 9110 section 7-8: version 1-0 cannot switch to another protocol`(name: String) async throws {
        let answers = try await answers(to: "GET / HTTP/1.0\r\nConnection: Upgrade\r\nUpgrade: \(name)\r\n\r\n")
        #expect(contents(answers) == ["GET / []"])
    }

    @Test func `RFC 9113 section 3-4: prior knowledge of HTTP 2 gets one whole refusal`() async throws {
        let answers = try await answers(to: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\u{12}\u{04}\0\0\0\0\0")
        #expect(answers.hasPrefix("HTTP/1.1 505 HTTP Version Not Supported\r\n"))
        #expect(contents(answers) == [""])
    }
}
