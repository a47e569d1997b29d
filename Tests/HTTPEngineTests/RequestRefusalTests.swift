import Testing

@testable import HTTPEngine

/// What the parser refuses; each test names the section of RFC 9112 that it is about, if no other.
@Suite struct RequestRefusalTests {
    private func refusal(line: String) -> [ParserOutcome] { ParserOutcome.parse("\(line)\r\nHost: a\r\n\r\n") }
    private func refusal(fields: String) -> [ParserOutcome] {
        ParserOutcome.parse("PUT / HTTP/1.1\r\n\(fields)\r\n\r\n")
    }
    private func refusal(chunks: String) -> [ParserOutcome] {
        ParserOutcome.parse("PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n\(chunks)")
    }

    @Test(arguments: [
        "GET", "GET /", "GET / ", " GET / HTTP/1.1", "GET\t/ HTTP/1.1", "GET / HTTP/1.1 ", "GET  HTTP/1.1",
        "/ HTTP/1.1",
        "GET / http/1.1", "GET / HTTP/1", "GET / HTTP/11", "GET / HTTP/1.10", "GET / HTTP/1,1", "G(T / HTTP/1.1",
        "GET / HTTP/a.1", "\u{16}\u{03}\u{01}",
    ])
    func `Section 3: what is no request line`(line: String) {
        #expect([[.refusal(.malformedRequestLine)], [.refusal(.malformedTarget)]].contains(refusal(line: line)))
    }

    @Test(arguments: [
        "GET a HTTP/1.1", "GET  / HTTP/1.1", "GET /  HTTP/1.1", "GET /a b HTTP/1.1", "GET /#a HTTP/1.1",
        "GET /ä HTTP/1.1", "GET /\u{7F} HTTP/1.1", "GET /\0 HTTP/1.1", "GET /%00 HTTP/1.1", "GET /?a=%00 HTTP/1.1",
        "GET ftp://a/ HTTP/1.1", "GET http:/a HTTP/1.1", "GET http:///a HTTP/1.1", "GET http://u@a/ HTTP/1.1",
        "GET http://a:b/ HTTP/1.1", "GET //[ HTTP/1.1 HTTP/1.1", "GET /a\rb HTTP/1.1", "GET ?a HTTP/1.1",
        "GET http://a:65536/ HTTP/1.1",
    ])
    func `Section 3-2: what is no target`(line: String) {
        #expect(refusal(line: line) == [.refusal(.malformedTarget)])
    }

    @Test(arguments: [
        "TRACE / HTTP/1.1", "CONNECT a:1 HTTP/1.1", "get / HTTP/1.1", "PROPFIND / HTTP/1.1", "!# / HTTP/1.1",
    ])
    func `RFC 9110 section 9: a method that no handler sees`(line: String) {
        #expect(refusal(line: line) == [.refusal(.unknownMethod)])
        #expect(Refusal.unknownMethod.status == .notImplemented)
    }

    @Test(arguments: ["GET / HTTP/2.0", "GET / HTTP/1.2", "GET / HTTP/0.9", "PRI * HTTP/2.0"])
    func `RFC 9110 section 6-2: a version that is not spoken`(line: String) {
        #expect(refusal(line: line) == [.refusal(.unsupportedVersion)])
        #expect(Refusal.unsupportedVersion.status == .httpVersionNotSupported)
    }

    @Test(arguments: [
        "GET / HTTP/1.1\nHost: a\n\n", "GET / HTTP/1.1\r\nHost: a\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\n\n",
        "\nGET / HTTP/1.1\r\n",
    ])
    func `Section 2-2: LF alone ends no line`(text: String) {
        #expect(ParserOutcome.parse(text) == [.refusal(.bareLineFeed)])
    }

    @Test(arguments: [
        "Host : a", " Host: a", "Host: a\r\n b", "Host: a\r\n\tb", "Host", ": a", "Ho st: a", "Host: a\r\nX: a\0b",
        "Host: a\r\nX: a\rb", "Host: a\r\nX: a\u{7F}", "Host: a\r\nX\u{E4}: a", "Host: a\r\nX: \u{1B}",
        "Host: a\r\nX(: a",
    ])
    func `Section 5: what is no field line`(fields: String) {
        #expect(refusal(fields: fields) == [.refusal(.malformedField)])
    }

    @Test(arguments: [
        "X: y", "Host:", "Host: a\r\nHost: a", "Host: a\r\nhOST: b", "Host: a b", "Host: a,b", "Host: a/b", "Host: u@a",
        "Host: a:b", "Host: a:65536", "Host: a:000080", "Host: [::1", "Host: [a]", "Host: []", "Host: [::1]a",
        "Host: :80",
        "Host: a%00", "Host: ä", "Host: http://a",
    ])
    func `Section 3-2: not exactly one valid Host`(fields: String) {
        #expect(refusal(fields: fields) == [.refusal(.invalidHost)])
    }

    @Test(arguments: [
        "Content-Length: 1\r\nContent-Length: 1", "Content-Length: 1, 1", "Content-Length: +1", "Content-Length: -1",
        "Content-Length: 0x1", "Content-Length: 1 1", "Content-Length:", "Content-Length: 1.0", "Content-Length: ١",
    ])
    func `Section 6-3: a length that two parties can read differently`(fields: String) {
        #expect(refusal(fields: "Host: a\r\n" + fields) == [.refusal(.invalidContentLength)])
    }

    @Test func `RFC 9110 section 15-5-14: a length beyond all numbers`() {
        let fields = "Host: a\r\nContent-Length: 99999999999999999999"
        #expect(refusal(fields: fields) == [.refusal(.contentTooLarge)])
        #expect(Refusal.contentTooLarge.status == .contentTooLarge)
    }

    @Test(arguments: [
        "chunked\r\nContent-Length: 1", "chunked\r\nTransfer-Encoding: chunked", "identity", "gzip", "chunked, gzip",
        "chunked, chunked", "chunked;a=b", "\"chunked\"", "xchunked", ", chunked", "", "chunked,",
        "identity\r\nTransfer-Encoding: chunked",
    ])
    func `Section 6-1: a transfer coding that two parties can read differently`(value: String) {
        let outcome = refusal(fields: "Host: a\r\nTransfer-Encoding: \(value)")
        #expect(outcome == [.refusal(.invalidTransferEncoding)])
    }

    @Test func `Section 6-1: a coding that is not known below chunked`() {
        let outcome = refusal(fields: "Host: a\r\nTransfer-Encoding: gzip, chunked")
        #expect(outcome == [.refusal(.unknownTransferCoding)])
        #expect(Refusal.unknownTransferCoding.status == .notImplemented)
    }

    @Test func `Section 6-1: version 1-0 knows no transfer coding`() {
        let text = "PUT / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
        #expect(ParserOutcome.parse(text) == [.refusal(.invalidTransferEncoding)])
    }

    @Test(arguments: [
        "\r\n", "g\r\n", "-1\r\n", "+1\r\n", "0x1\r\n", " 1\r\n", "1 \r\n", "1\n", "1\ra\r\n", "1;\r\n", "1;=a\r\n",
        "1;a=\r\n", "1;a=\"b\r\n", "1;a b\r\n", "1;a\0\r\n", "1000000000000000\r\n", "1\r\nab\r\n", "1\r\na\n",
        "1\r\na\r\r",
        "1\r\na0\r\n",
    ])
    func `Section 7-1: what breaks the chunked coding`(chunks: String) {
        #expect(refusal(chunks: chunks) == [.refusal(.malformedChunk)])
    }

    @Test(arguments: ["0\r\na\r\n", "0\r\na : b\r\n", "0\r\n a: b\r\n", "0\r\na: \0\r\n"])
    func `Section 7-1-2: a trailer is a field line too`(chunks: String) {
        #expect(refusal(chunks: chunks) == [.refusal(.malformedField)])
    }

    @Test(arguments: ["200-ok", "100-continue, 100-continue", "", "100-continue;a"])
    func `RFC 9110 section 10-1-1: another expectation`(value: String) {
        let outcome = refusal(fields: "Host: a\r\nExpect: \(value)")
        #expect(outcome == [.refusal(.unknownExpectation)])
        #expect(Refusal.unknownExpectation.status == .expectationFailed)
    }

    @Test func `Nothing comes after a refusal`() {
        let text = "GET / HTTP/3.0\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"
        #expect(ParserOutcome.parse(text) == [.refusal(.unsupportedVersion)])
        #expect(ParserOutcome.parse(Array(text.utf8), portions: [1]) == [.refusal(.unsupportedVersion)])
    }

    @Test func `Every refusal has a status of a client or of a server that lacks something`() {
        for refusal in Refusal.allCases {
            #expect((400..<600).contains(refusal.status.code))
            #expect(refusal.status.code != 500)
        }
    }
}
