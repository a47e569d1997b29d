import Testing

@testable import HTTPEngine

/// Content with a length; each test names its section of RFC 9112, or another source.
@Suite struct FramingLengthTests {
    private let next = "GET /next HTTP/1.1\r\nHost: a\r\n\r\n"

    private func bodies(
        _ fields: String, _ content: String, version: String = "1.1", at location: SourceLocation = #_sourceLocation
    ) -> [String] {
        ParserOutcome.requests("PUT / HTTP/\(version)\r\nHost: a\r\n\(fields)\r\n\r\n\(content)", at: location).map {
            String(decoding: $0.body, as: UTF8.self)
        }
    }

    @Test(arguments: ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
    func `Section 6: a length counts whatever the method is`(method: String) {
        let content = "GET /inside HTTP/1.1\r\nHost: a\r\n\r\n"
        let text = "\(method) / HTTP/1.1\r\nHost: a\r\nContent-Length: \(content.utf8.count)\r\n\r\n\(content)"
        #expect(ParserOutcome.requests(text + next).map(\.target) == ["/", "/next"])
    }

    @Test(arguments: ["1.0", "1.1"])
    func `Section 6-3: without length and coding there is no content`(version: String) {
        let text = "POST / HTTP/\(version)\r\nHost: a\r\nConnection: keep-alive\r\n\r\n"
        let requests = ParserOutcome.requests(text + next)
        #expect(requests.map(\.target) == ["/", "/next"])
        #expect(requests.map(\.body) == [[], []])
    }

    @Test(arguments: ["3", "03", "000000000000000000000003", "\t3 "])
    func `Section 6-2: a length is a decimal number`(value: String) {
        #expect(bodies("Content-Length: \(value)", "abc" + next) == ["abc", ""])
    }

    @Test(arguments: ["0", "00", "0000000000000000000000000"])
    func `Section 6-2: a length of zero is no content`(value: String) {
        #expect(bodies("Content-Length: \(value)", next) == ["", ""])
    }

    @Test func `Section 6-3: a request whose content has not all arrived is none`() {
        #expect(ParserOutcome.of(fields: "Host: a\r\nContent-Length: 4", content: "abc").isEmpty)
        #expect(ParserOutcome.of(fields: "Host: a\r\nContent-Length: 4").isEmpty)
    }

    @Test(arguments: [
        "+1", "-1", "-0", "0x1", "1x", "x", "1 1", "1\t1", "1.0", "1e1", "", " ", "1;", "1,", ",1", "\"1\"", "'1'",
        "0b1",
        "1_000", "1,000", "١", "１", "¹", "1\u{A0}", "NaN", "1%30", "(1)",
    ])
    func `Section 6-3: a length that is not digits alone is refused`(value: String) {
        #expect(ParserOutcome.of(fields: "Host: a\r\nContent-Length: \(value)") == [.refusal(.invalidContentLength)])
    }

    @Test(arguments: ["1\u{0B}", "\u{0B}1", "1\0", "\0", "1\u{0C}", "\u{01}1"])
    func `Section 6-3: a length with a control character is refused`(value: String) {
        #expect(ParserOutcome.of(fields: "Host: a\r\nContent-Length: \(value)") == [.refusal(.malformedField)])
    }

    @Test(arguments: ["1, 1", "1,1", "1, 2", "0, 0"])
    func `Section 6-3: a list of lengths is refused, equal or not`(value: String) {
        #expect(ParserOutcome.of(fields: "Host: a\r\nContent-Length: \(value)") == [.refusal(.invalidContentLength)])
    }

    @Test(arguments: [
        "Content-Length: 1\r\nContent-Length: 1", "Content-Length: 1\r\nContent-Length: 2",
        "Content-Length: 0\r\ncontent-length: 0", "Content-Length: 1\r\nX: y\r\nCONTENT-LENGTH: 1",
        "Content-Length: 1\r\nContent-Length:",
    ])
    func `RFC 9110 section 8-6: two lengths are refused, equal or not`(fields: String) {
        #expect(ParserOutcome.of(fields: "Host: a\r\n" + fields, content: "a") == [.refusal(.invalidContentLength)])
        let outcomes = ParserOutcome.of(fields: "Host: a\r\n" + fields, version: "1.0", content: "a")
        #expect(outcomes == [.refusal(.invalidContentLength)])
    }

    @Test(arguments: [
        "9223372036854775808", "18446744073709551616", "18446744073709551619", "4294967296000000000",
        "99999999999999999999", "340282366920938463463374607431768211459",
    ])
    func `RFC 9110 section 8-6: a length beyond all numbers does not wrap around`(value: String) {
        #expect(ParserOutcome.of(fields: "Host: a\r\nContent-Length: \(value)") == [.refusal(.contentTooLarge)])
        #expect(RequestRejection.contentTooLarge.status == .contentTooLarge)
    }

    @Test(arguments: ["Content_Length", "Content Length", "ContentLength", "X-Content-Length", "Content-Length-"])
    func `RFC 9110 section 5-1: a name that only looks like a length is none`(name: String) {
        let outcomes = ParserOutcome.of(fields: "Host: a\r\n\(name): 3")
        guard case .request(let request) = outcomes.first else {
            #expect(outcomes == [.refusal(.malformedField)])
            #expect(name.contains(" "))
            return
        }
        #expect(request.body.isEmpty)
    }

    @Test(arguments: [
        ("Content-Length: 10\r\n\r\n0123456789", false), ("Content-Length: 11\r\n\r\n", true),
        ("Transfer-Encoding: chunked\r\n\r\n5\r\n01234\r\n5\r\n01234\r\n0\r\n\r\n", false),
        ("Transfer-Encoding: chunked\r\n\r\n5\r\n01234\r\n6\r\n", true),
        ("Transfer-Encoding: chunked\r\n\r\nfffffffffffffff\r\n", true),
    ])
    func `RFC 9110 section 15-5-14: a content over the limit goes up as such, and nothing follows`(
        rest: String, exceeds: Bool
    ) throws {
        let requests = ParserOutcome.requests("PUT / HTTP/1.1\r\nHost: a\r\n\(rest)\(next)", bodyLimit: 10)
        let first = try #require(requests.first)
        #expect(first.exceeds == exceeds)
        #expect(first.body.count == (exceeds ? 0 : 10))
        #expect(first.persists != exceeds)
        #expect(requests.count == (exceeds ? 1 : 2))
    }
}
