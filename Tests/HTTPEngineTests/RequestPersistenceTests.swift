import Testing

@testable import HTTPEngine

/// Whether and how a connection continues; each test names its section of RFC 9112, or another source.
@Suite struct RequestPersistenceTests {
    private func persists(_ version: String, _ lines: String, at location: SourceLocation = #_sourceLocation) -> [Bool]
    {
        ParserOutcome.requests("GET / HTTP/\(version)\r\nHost: a\r\n\(lines)\r\n", at: location).map(\.persists)
    }

    @Test(arguments: [
        "", "Connection: keep-alive\r\n", "Connection:\r\n", "Connection: closed, x-close\r\n", "Close: close\r\n",
    ])
    func `Section 9-3: version 1-1 goes on unless it is told to close`(lines: String) {
        #expect(persists("1.1", lines) == [true])
    }

    @Test(arguments: [
        "", "Connection: TE\r\n", "Keep-Alive: timeout=5\r\n", "Connection: keep-alives\r\n", "Connection:\r\n",
    ])
    func `Section 9-3: version 1-0 ends unless it asks for more`(lines: String) {
        #expect(persists("1.0", lines) == [false])
    }

    @Test(arguments: ["keep-alive", "Keep-Alive", "TE, KEEP-ALIVE", ",keep-alive", "TE\r\nConnection: keep-alive"])
    func `Section 9-3: version 1-0 may ask for more`(options: String) {
        #expect(persists("1.0", "Connection: \(options)\r\n") == [true])
    }

    @Test(
        arguments: ["1.0", "1.1"],
        [
            "close", "Close", "CLOSE", "close, keep-alive", "keep-alive, close", "TE ,\tclose ", ",close", "close,",
            ",,close,,",
            "keep-alive\r\nConnection: close", "close\r\nConnection: keep-alive", "TE\r\nX: y\r\nconnection: , close",
        ])
    func `Section 9-6: close wins wherever it stands in Connection`(version: String, options: String) {
        #expect(persists(version, "Connection: \(options)\r\n") == [false])
    }

    @Test func `Section 9-3-2: requests behind one another come in order`() {
        let text = (1...5).map { "GET /\($0) HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n\($0)" }.joined()
        let requests = ParserOutcome.requests(text)
        #expect(requests.map(\.target) == ["/1", "/2", "/3", "/4", "/5"])
        #expect(requests.map { String(decoding: $0.body, as: UTF8.self) } == ["1", "2", "3", "4", "5"])
    }

    @Test func `Section 9-3: nothing of one request is left for the next`() {
        let first =
            "PUT / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\na"
        let requests = ParserOutcome.requests(first + "GET / HTTP/1.1\r\nHost: b\r\n\r\n")
        #expect(requests.map(\.persists) == [false, true])
        #expect(requests.map(\.expectsContinue) == [true, false])
        #expect(requests.map(\.authority) == ["a", "b"])
        #expect(requests.map(\.body.count) == [1, 0])
    }

    @Test func `Section 2-2: nothing comes after a refusal`() {
        let refused = "GET / HTTP/3.0\r\nHost: a\r\n\r\n"
        let next = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
        #expect(ParserOutcome.parse(refused + next) == [.refusal(.unsupportedVersion)])
        #expect(ParserOutcome.parse(refused + refused) == [.refusal(.unsupportedVersion)])
    }

    @Test(arguments: ["Host", "Content-Length", "Transfer-Encoding", "close, Content-Length"])
    func `RFC 9110 section 7-6-1: Connection takes no field away from the last recipient`(option: String) {
        let length = ParserOutcome.requests(
            "PUT / HTTP/1.1\r\nHost: a\r\nConnection: \(option)\r\nContent-Length: 3\r\n\r\nabc")
        #expect(length.map(\.body) == [Array("abc".utf8)])
        let chunks = ParserOutcome.requests(
            "PUT / HTTP/1.1\r\nHost: a\r\nConnection: \(option)\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
        )
        #expect(chunks.map(\.body) == [Array("abc".utf8)])
        #expect(chunks.map(\.authority) == ["a"])
    }

    @Test(arguments: ["h2c", "HTTP/2.0", "TLS/1.0", "foo, bar"])
    func `RFC 9110 section 7-8: a switch to another protocol is passed over`(name: String) {
        let upgrade =
            "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: \(name)\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n"
        let text = "GET / HTTP/1.1\r\nHost: a\r\n\(upgrade)\r\n"
        #expect(ParserOutcome.requests(text + text).map(\.persists) == [true, true])
    }

    @Test(arguments: ["100-continue", "100-Continue", " 100-CONTINUE "])
    func `RFC 9110 section 10-1-1: a client may wait for the interim answer`(value: String) {
        let text = "PUT / HTTP/1.1\r\nHost: a\r\nExpect: \(value)\r\nContent-Length: 1\r\n\r\na"
        #expect(ParserOutcome.requests(text).map(\.expectsContinue) == [true])
    }

    @Test func `RFC 9110 section 10-1-1: a client of version 1-0 waits for no interim answer`() {
        let text = "PUT / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\na"
        #expect(ParserOutcome.requests(text).map(\.expectsContinue) == [false])
    }

    @Test(arguments: ["", "Content-Length: 0\r\n"])
    func `RFC 9110 section 10-1-1: without content there is nothing to wait for`(length: String) {
        let text = "GET / HTTP/1.1\r\nHost: a\r\n\(length)Expect: 100-continue\r\n\r\n"
        #expect(ParserOutcome.requests(text).map(\.expectsContinue) == [false])
    }

    @Test(arguments: ["200-ok", "100-continue, 100-continue", "", "100-continue;a", "y 100-continue", "100 continue"])
    func `RFC 9110 section 15-5-18: another expectation fails`(value: String) {
        #expect(ParserOutcome.of(fields: "Host: a\r\nExpect: \(value)") == [.refusal(.unknownExpectation)])
        #expect(RequestRejection.unknownExpectation.status == .expectationFailed)
    }
}
