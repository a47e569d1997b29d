import Testing

@testable import HTTPEngine

/// What the parser accepts; each test names the section of RFC 9112 that it is about, if no other.
@Suite struct RequestParserTests {
    @Test func `Section 2-1: a request is its line, its fields and its content`() throws {
        let text = "POST /a?b=c HTTP/1.1\r\nHost: x.test:80\r\nContent-Length: 3\r\nX-Y:\t z z \r\n\r\nabc"
        let request = try #require(ParserOutcome.requests(text).first)
        #expect(
            request
                == .init(
                    method: "POST", target: "/a?b=c", authority: "x.test:80",
                    fields: ["Host: x.test:80", "Content-Length: 3", "X-Y: z z"], body: Array("abc".utf8),
                    exceeds: false, version: "HTTP/1.1", persists: true, expectsContinue: false))
    }

    @Test func `Section 2-2: one empty line before a request is ignored`() {
        #expect(ParserOutcome.requests("\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n").count == 1)
        #expect(
            ParserOutcome.requests("GET / HTTP/1.1\r\nHost: a\r\n\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n").count == 2)
        #expect(ParserOutcome.parse("\r\n\r\nGET / HTTP/1.1\r\n") == [.refusal(.malformedRequestLine)])
    }

    @Test(arguments: ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
    func `Section 3-1: the methods of RFC 9110 and 5789 pass`(method: String) {
        #expect(ParserOutcome.requests("\(method) / HTTP/1.1\r\nHost: a\r\n\r\n").map(\.method) == [method])
    }

    @Test(arguments: [
        ("/", "/", "h"), ("/a[1]^{}|\"<>\\`", "/a[1]^{}|\"<>\\`", "h"), ("//a//b", "//a//b", "h"),
        ("/%2F%41", "/%2F%41", "h"), ("http://other:81/p?q", "/p?q", "other:81"),
        ("HTTPS://other", "/", "other"), ("http://other?q", "/?q", "other"), ("http://[::1]:8/", "/", "[::1]:8"),
    ])
    func `Section 3-2: a target becomes origin form, and an absolute one beats Host`(
        target: String, origin: String, authority: String
    ) throws {
        let request = try #require(ParserOutcome.requests("GET \(target) HTTP/1.1\r\nHost: h\r\n\r\n").first)
        #expect(request.target == origin)
        #expect(request.authority == authority)
    }

    @Test func `Section 3-2-4: an asterisk asks about the whole server, with OPTIONS only`() {
        #expect(ParserOutcome.requests("OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n").map(\.target) == ["*"])
        #expect(ParserOutcome.parse("GET * HTTP/1.1\r\nHost: h\r\n\r\n") == [.refusal(.malformedTarget)])
    }

    @Test(arguments: ["a", "a.b-c_d~e", "127.0.0.1:8080", "[::1]", "[::ffff:1.2.3.4]:65535", "a:", "a:0"])
    func `Section 3-2: a host is a name or an address, with or without port`(host: String) {
        #expect(ParserOutcome.requests("GET / HTTP/1.1\r\nHost: \(host)\r\n\r\n").map(\.authority) == [host])
    }

    @Test func `Section 3-2: a client of version 1-0 need not name a host`() throws {
        let request = try #require(ParserOutcome.requests("GET / HTTP/1.0\r\n\r\n").first)
        #expect(request.authority == nil)
        #expect(request.version == "HTTP/1.0")
    }

    @Test(arguments: [
        ("HTTP/1.1", "", true), ("HTTP/1.1", "Connection: close\r\n", false),
        ("HTTP/1.1", "Connection: TE ,\tCLOSE\r\n", false), ("HTTP/1.1", "Connection: closed\r\n", true),
        ("HTTP/1.0", "", false), ("HTTP/1.0", "Connection: Keep-Alive\r\n", true),
        ("HTTP/1.0", "Connection: keep-alive\r\nConnection: close\r\n", false),
    ])
    func `Section 9-3: version and Connection decide whether the connection goes on`(
        version: String, line: String, persists: Bool
    ) {
        let text = "GET / \(version)\r\nHost: a\r\n\(line)\r\n"
        #expect(ParserOutcome.requests(text).map(\.persists) == [persists])
    }

    @Test func `Section 9-3-2: requests behind one another come in order`() {
        let text = (1...5).map { "GET /\($0) HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n\($0)" }.joined()
        let requests = ParserOutcome.requests(text)
        #expect(requests.map(\.target) == ["/1", "/2", "/3", "/4", "/5"])
        #expect(requests.map { String(decoding: $0.body, as: UTF8.self) } == ["1", "2", "3", "4", "5"])
    }

    @Test(arguments: [
        "3\r\nabc\r\n0\r\n\r\n", "1\r\na\r\n2\r\nbc\r\n000\r\n\r\n", "3;a\r\nabc\r\n0;b=c;d=\"e\\\" f\"\r\n\r\n",
        "3 ; a = b\r\nabc\r\n0\r\nTrailer: x\r\nContent-Length: 9\r\n\r\n", "00000000003\r\nabc\r\n0\r\n\r\n",
    ])
    func `Section 7-1: the chunks are the content, extensions and trailers are dropped`(chunks: String) {
        let text = "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n\(chunks)"
        let requests = ParserOutcome.requests(text + "GET /next HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(requests.map { String(decoding: $0.body, as: UTF8.self) } == ["abc", ""])
        #expect(requests.first?.fields.contains { $0.hasPrefix("Trailer") } == false)
    }

    @Test(arguments: [
        ("Content-Length: 10\r\n\r\n0123456789", false), ("Content-Length: 11\r\n\r\n", true),
        ("Transfer-Encoding: chunked\r\n\r\n5\r\n01234\r\n5\r\n01234\r\n0\r\n\r\n", false),
        ("Transfer-Encoding: chunked\r\n\r\n5\r\n01234\r\n6\r\n", true),
    ])
    func `RFC 9110 section 15-5-14: a content over the limit goes up as such, and nothing follows`(
        rest: String, exceeds: Bool
    ) throws {
        let next = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
        let requests = ParserOutcome.requests("PUT / HTTP/1.1\r\nHost: a\r\n\(rest)\(next)", bodyLimit: 10)
        let first = try #require(requests.first)
        #expect(first.exceeds == exceeds)
        #expect(first.body.count == (exceeds ? 0 : 10))
        #expect(first.persists != exceeds)
        #expect(requests.count == (exceeds ? 1 : 2))
    }

    @Test(arguments: [("1.1", "100-Continue", true), ("1.0", "100-continue", false)])
    func `RFC 9110 section 10-1-1: a client of version 1-1 may wait for the interim answer`(
        version: String, expectation: String, isExpected: Bool
    ) {
        let text = "PUT / HTTP/\(version)\r\nHost: a\r\nExpect: \(expectation)\r\nContent-Length: 1\r\n\r\na"
        #expect(ParserOutcome.requests(text).map(\.expectsContinue) == [isExpected])
    }

    @Test func `Section 5-5: bytes beyond ASCII and tabulators may stand in a value`() {
        #expect(
            ParserOutcome.requests("GET / HTTP/1.1\r\nHost: a\r\nX: ä\tö\r\n\r\n").map { $0.fields.last } == [
                "X: ä\tö"
            ])
    }
}
