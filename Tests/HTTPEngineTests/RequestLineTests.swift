import Testing

@testable import HTTPEngine

/// The first line of a request; each test names its section of RFC 9112, or another source.
@Suite struct RequestLineTests {
    @Test func `Section 2-1: a request is its line, its fields and its content`() {
        let text = "POST /a?b=c HTTP/1.1\r\nHost: x.test:80\r\nContent-Length: 3\r\nX-Y:\t z z \r\n\r\nabc"
        #expect(
            ParserOutcome.parse(text) == [
                .request(
                    .init(
                        method: "POST", target: "/a?b=c", authority: "x.test:80",
                        fields: ["Host: x.test:80", "Content-Length: 3", "X-Y: z z"], body: Array("abc".utf8),
                        exceeds: false, version: "HTTP/1.1", persists: true, expectsContinue: false))
            ])
    }

    @Test(arguments: ["HTTP/1.1 200 OK", "HTTP/1.0 404 Not Found"])
    func `Section 2-1: an answer is no request`(line: String) {
        #expect(ParserOutcome.of(line: line) == [.refusal(.malformedRequestLine)])
    }

    @Test func `Section 2-2: one empty line before a request is ignored`() {
        let request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
        #expect(ParserOutcome.requests("\r\n" + request).count == 1)
        #expect(ParserOutcome.requests(request + "\r\n" + request).count == 2)
    }

    @Test func `Section 2-2: a second empty line before a request is refused`() {
        #expect(ParserOutcome.parse("\r\n\r\nGET / HTTP/1.1\r\n") == [.refusal(.malformedRequestLine)])
    }

    @Test(arguments: [" ", "\t", "\u{0B}", "\u{0C}", "\0", "\u{FEFF}", "\r\n ", "\r\n\t"])
    func `Section 2-2: nothing but that line may stand before a request`(prefix: String) {
        #expect(ParserOutcome.of(line: prefix + "GET / HTTP/1.1") == [.refusal(.malformedRequestLine)])
    }

    @Test(arguments: ["\n", "\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", "GET / HTTP/1.1\n", "GET / HTTP/1.1\nHost: a\n\n"])
    func `Section 2-2: LF alone does not end the request line`(text: String) {
        #expect(ParserOutcome.parse(text) == [.refusal(.bareLineFeed)])
    }

    @Test(arguments: [
        "GET / HTTP/1.1\rHost: a\r\r", "\rGET / HTTP/1.1\r\n", "GET\r/ HTTP/1.1\r\n", "GET /a\rb HTTP/1.1\r\n",
        "GET / HTTP/1.1\r\r\n", "GET /\r HTTP/1.1\nHost: a\n\n", "\r\rGET / HTTP/1.1\r\n",
    ])
    func `Section 2-2: CR alone makes the request line invalid, even if no line ends`(text: String) {
        #expect(ParserOutcome.parse(text) == [.refusal(.bareCarriageReturn)])
    }

    @Test(arguments: [
        "GET / http/1.1", "GET / Http/1.1", "GET / HTTP/1", "GET / HTTP/1.", "GET / HTTP/.1", "GET / HTTP/11",
        "GET / HTTP/1.10", "GET / HTTP/01.1", "GET / HTTP/1,1", "GET / HTTP/a.1", "GET / HTTP/1.a", "GET / HTTP/-1.1",
        "GET / HTTP /1.1", "GET / HTTP/ 1.1", "GET / HTTPS/1.1", "GET / ICAP/1.0", "GET / HTTP\\1.1", "GET / HTTP/1.1a",
    ])
    func `Section 2-3: a version is HTTP, a digit, a dot and a digit`(line: String) {
        let outcomes = ParserOutcome.of(line: line)
        #expect([[.refusal(.malformedRequestLine)], [.refusal(.malformedTarget)]].contains(outcomes))
    }

    @Test(arguments: ["GET", "GET ", "GET /", "GET / ", "GET /a", "/", "/ HTTP/1.1", "GET  HTTP/1.1", " "])
    func `Section 3: HTTP 0-9 and other lines without a part are refused`(line: String) {
        let outcomes = ParserOutcome.of(line: line)
        #expect([[.refusal(.malformedRequestLine)], [.refusal(.malformedTarget)]].contains(outcomes))
    }

    @Test func `Section 3: a line of HTTP 0-9 is refused without waiting for more`() {
        #expect(ParserOutcome.parse("GET /\r\n") == [.refusal(.malformedRequestLine)])
    }

    @Test(arguments: [
        "GET  / HTTP/1.1", "GET /  HTTP/1.1", "GET / HTTP/1.1 ", "GET\t/ HTTP/1.1", "GET /\tHTTP/1.1",
        "GET / HTTP/1.1\t", "GET /\u{0B}HTTP/1.1", "GET\u{0C}/ HTTP/1.1", "GET\u{A0}/ HTTP/1.1",
    ])
    func `Section 3: one space and nothing else separates the parts`(line: String) {
        let outcomes = ParserOutcome.of(line: line)
        #expect([[.refusal(.malformedRequestLine)], [.refusal(.malformedTarget)]].contains(outcomes))
    }

    @Test(arguments: ["\u{03}\u{01}", "\0", "{", "\u{80}"])
    func `Section 3: what begins as no request is refused at its first byte`(text: String) {
        #expect(ParserOutcome.parse(text) == [.refusal(.malformedRequestLine)])
    }

    @Test func `Section 3: a line of 8000 bytes is read`() {
        let target = "/" + String(repeating: "a", count: 7986)
        let line = "GET \(target) HTTP/1.1"
        #expect(line.utf8.count == 8000)
        #expect(ParserOutcome.requests("\(line)\r\nHost: a\r\n\r\n").map(\.target) == [target])
    }

    @Test(arguments: ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
    func `Section 3-1: the methods of RFC 9110 and 5789 pass`(method: String) {
        #expect(ParserOutcome.requests("\(method) / HTTP/1.1\r\nHost: a\r\n\r\n").map(\.method) == [method])
    }

    @Test(arguments: ["get", "Get", "GeT", "pOST"])
    func `Section 3-1: methods differ by case`(method: String) {
        #expect(ParserOutcome.of(line: "\(method) / HTTP/1.1") == [.refusal(.unknownMethod)])
    }

    @Test(arguments: ["G(T", "GET/", "G@T", "\"GET\"", "GET:", "GET,", "GÉT", "G\0T", "G\u{7F}T"])
    func `Section 3-1: a method is a token`(method: String) {
        #expect(ParserOutcome.of(line: "\(method) / HTTP/1.1") == [.refusal(.malformedRequestLine)])
    }

    @Test(arguments: [
        "TRACE / HTTP/1.1", "CONNECT a:1 HTTP/1.1", "PROPFIND / HTTP/1.1", "!# / HTTP/1.1", "QUERY / HTTP/1.1",
    ])
    func `RFC 9110 section 9-1: a method that no handler sees is not implemented`(line: String) {
        #expect(ParserOutcome.of(line: line) == [.refusal(.unknownMethod)])
        #expect(RequestRejection.unknownMethod.status == .notImplemented)
    }

    @Test(arguments: ["HTTP/1.2", "HTTP/1.9"])
    func `RFC 9110 section 2-5: a later minor version is read as the latest known`(version: String) {
        let request = "GET / \(version)\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
        let requests = ParserOutcome.requests(request)
        #expect(requests.map(\.version) == ["HTTP/1.1"])
        #expect(requests.map(\.persists) == [true])
    }

    @Test(arguments: ["GET / HTTP/2.0", "GET / HTTP/3.0", "GET / HTTP/0.9", "GET / HTTP/0.0", "GET / HTTP/9.9"])
    func `RFC 9110 section 15-6-6: another major version is not supported`(line: String) {
        #expect(ParserOutcome.of(line: line) == [.refusal(.unsupportedVersion)])
        #expect(RequestRejection.unsupportedVersion.status == .httpVersionNotSupported)
    }

    @Test func `RFC 9113 section 3-4: prior knowledge of HTTP 2 is refused as its version, once`() {
        #expect(
            ParserOutcome.parse("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\u{04}\0\0\0\0\0") == [
                .refusal(.unsupportedVersion)
            ])
    }
}
