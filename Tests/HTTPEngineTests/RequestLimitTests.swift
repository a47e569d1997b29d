import Testing

@testable import HTTPEngine

/// Requests that exceed limits; each test names its section of RFC 9112, or another source.
@Suite struct RequestLimitTests {
    /// A head of exactly `count` bytes.
    private func head(of count: Int) -> String {
        let frame = "GET / HTTP/1.1\r\nHost: a\r\nX: \r\n\r\n"
        return frame.replacing("X: ", with: "X: " + String(repeating: "x", count: count - frame.utf8.count))
    }

    private var limits: Limits {
        var limits = Limits()
        limits.headerBytes = 100
        limits.headerLines = 3
        return limits
    }

    @Test func `RFC 6585 section 5: a head may be as long as the limit, and not a byte longer`() {
        #expect(head(of: 100).utf8.count == 100)
        for portions in [[100_000], [1], [7]] {
            let fits = ParserOutcome.parse(Array(head(of: 100).utf8), portions: portions, limits: limits)
            let tooLong = ParserOutcome.parse(Array(head(of: 101).utf8), portions: portions, limits: limits)
            #expect(fits.count == 1)
            #expect(!fits.contains(.refusal(.headTooLarge)))
            #expect(tooLong == [.refusal(.headTooLarge)])
        }
    }

    @Test func `Section 3: a request line over the limit is a target that is too long`() {
        let line = "GET /" + String(repeating: "a", count: 100)
        #expect(ParserOutcome.parse(line, limits: limits) == [.refusal(.targetTooLong)])
        #expect(RequestRejection.targetTooLong.status == .uriTooLong)
        #expect(RequestRejection.headTooLarge.status == .requestHeaderFieldsTooLarge)
    }

    @Test func `Section 3: a method over the limit is none that is implemented`() {
        let method = String(repeating: "A", count: 101)
        for line in [method, method + " / HTTP/1.1\r\nHost: a\r\n\r\n"] {
            #expect(ParserOutcome.parse(line, limits: limits) == [.refusal(.unknownMethod)])
        }
        let other = String(repeating: "A", count: 50) + "\t" + String(repeating: "/", count: 50)
        #expect(ParserOutcome.parse(other, limits: limits) == [.refusal(.malformedRequestLine)])
    }

    @Test func `RFC 6585 section 5: a head may have as many lines as the limit, and not one more`() {
        let three = "GET / HTTP/1.1\r\nHost: a\r\na: b\r\na: b\r\n"
        #expect(ParserOutcome.parse(three + "\r\n", limits: limits).count == 1)
        #expect(ParserOutcome.parse(three + "\r\n", limits: limits) != [.refusal(.headTooLarge)])
        #expect(ParserOutcome.parse(three + "a: b\r\n\r\n", limits: limits) == [.refusal(.headTooLarge)])
    }

    @Test func `Section 7-1-1: chunk extensions and trailers share one budget`() {
        let head = "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        let name = String(repeating: "e", count: 39)
        let chunk = "1;\(name)\r\na\r\n"
        #expect(ParserOutcome.requests(head + chunk + chunk + "0\r\n\r\n").map(\.body.count) == [2])
        let three = ParserOutcome.parse(head + chunk + chunk + chunk, limits: limits)
        #expect(three == [.refusal(.malformedChunk)])
        let trailers = ParserOutcome.parse(head + chunk + chunk + "0\r\n\(name): b\r\n\r\n", limits: limits)
        #expect(trailers == [.refusal(.headTooLarge)])
    }

    @Test func `Section 6-3: a client that announces much and sends nothing costs no memory for it`() {
        let text = "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000000000000\r\n\r\n"
        #expect(ParserOutcome.parse(text, bodyLimit: .max).isEmpty)
    }
}
