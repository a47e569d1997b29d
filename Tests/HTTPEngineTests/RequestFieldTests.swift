import Testing

@testable import HTTPEngine

/// The field lines of a request; each test names its section of RFC 9112, or another source.
@Suite struct RequestFieldTests {
    private func fields(_ lines: String, at location: SourceLocation = #_sourceLocation) -> [String] {
        ParserOutcome.requests("GET / HTTP/1.1\r\nHost: a\r\n\(lines)\r\n\r\n", at: location).flatMap {
            $0.fields.dropFirst()
        }
    }

    @Test(arguments: ["Host: a\n\r\n", "Host: a\r\n\n", "Host: a\r\nX: y\nZ: z\r\n\r\n", "Host: a\n\n"])
    func `Section 2-2: LF alone ends no field line`(lines: String) {
        #expect(ParserOutcome.parse("GET / HTTP/1.1\r\n" + lines) == [.refusal(.bareLineFeed)])
    }

    @Test(arguments: [
        "Host: a\r\nX: a\rb\r\n\r\n", "Host: a\rX: b\r\n\r\n", "Host: a\r\n\rX: b\r\n\r\n", "Host: a\r\r\n\r\n",
        "Host: a\r\n\r\r\n", "Host: a\r\nX\r: b\r\n\r\n", "Host: a\rX: b\n\n", "Host: a\r\n\rGET /b HTTP/1.1\r\n",
    ])
    func `Section 2-2: CR alone makes a head invalid`(lines: String) {
        #expect(ParserOutcome.parse("GET / HTTP/1.1\r\n" + lines) == [.refusal(.bareCarriageReturn)])
    }

    @Test(arguments: [" Host: a", "\tHost: a", " \r\nHost: a", " X: y\r\nHost: a"])
    func `Section 2-2: blanks between the request line and the first field are refused`(fields: String) {
        #expect(ParserOutcome.of(fields: fields) == [.refusal(.malformedField)])
    }

    @Test(arguments: ["Host", "Host a", "X", "GET /b HTTP/1.1", "Host= a", ","])
    func `Section 5: a line without a colon is no field`(line: String) {
        #expect(ParserOutcome.of(fields: "Host: a\r\n" + line) == [.refusal(.malformedField)])
    }

    @Test(arguments: [
        "Host : a", "Host\t: a", "Host: a\r\nX : y", "Host: a\r\nContent-Length : 1", "Host: a\r\nX\u{0B}: y",
    ])
    func `Section 5-1: a blank between name and colon is refused`(fields: String) {
        #expect(ParserOutcome.of(fields: fields) == [.refusal(.malformedField)])
    }

    @Test(arguments: [("X:y", "X: y"), ("X: y", "X: y"), ("X: \t y z \t", "X: y z"), ("X:", "X: "), ("X: \t", "X: ")])
    func `Section 5-1: blanks around a value are no part of it`(line: String, field: String) {
        #expect(fields(line) == [field])
    }

    @Test(arguments: [
        "Host: a\r\n b", "Host: a\r\n\tb", "Host: a\r\nX: y\r\n z", "Host: a\r\nX: y\r\n ", "Host: a\r\nX:\r\n y",
        "Host: a\r\n Content-Length: 1",
    ])
    func `Section 5-2: a line that goes on in the next one is refused`(fields: String) {
        #expect(ParserOutcome.of(fields: fields) == [.refusal(.malformedField)])
    }

    @Test(arguments: [
        ": a", "Ho st: a", "X(: a", "X/Y: a", "X@: a", "\"X\": a", "X\u{E4}: a", "X\0: a", "X\u{7F}: a", "{X}: a",
        "X;: a",
    ])
    func `RFC 9110 section 5-1: a name is a token`(line: String) {
        #expect(ParserOutcome.of(fields: "Host: a\r\n" + line) == [.refusal(.malformedField)])
    }

    @Test func `RFC 9110 section 5-1: every character of a token may stand in a name`() {
        #expect(fields("!#$%&'*+-.^_`|~09AZaz: y") == ["!#$%&'*+-.^_`|~09AZaz: y"])
    }

    @Test func `RFC 9110 section 5-3: lines of one name stay apart and in order`() {
        #expect(fields("X: 1\r\nY: 2\r\nx: 3") == ["X: 1", "Y: 2", "x: 3"])
    }

    @Test(arguments: ["\0", "a\0b", "\0a", "a\0"])
    func `RFC 9110 section 5-5: NUL in a value is refused`(value: String) {
        #expect(ParserOutcome.of(fields: "Host: a\r\nX: " + value) == [.refusal(.malformedField)])
    }

    @Test(arguments: (1...31).filter { ![9, 10, 13].contains($0) } + [127])
    func `RFC 9110 section 5-5: no control character but the tabulator stands in a value`(code: Int) {
        let character = String(UnicodeScalar(UInt8(code)))
        #expect(ParserOutcome.of(fields: "Host: a\r\nX: y\(character)z") == [.refusal(.malformedField)])
        #expect(ParserOutcome.of(fields: "Host: a\r\nX: \(character)y") == [.refusal(.malformedField)])
    }

    @Test func `RFC 9110 section 5-5: bytes beyond ASCII and tabulators may stand in a value`() {
        #expect(fields("X: ä\tö") == ["X: ä\tö"])
    }

    @Test func `RFC 6585 section 5: too many bytes or lines are too large a head`() {
        let long = "Host: a\r\nX: " + String(repeating: "x", count: Limits().headerBytes)
        let many = "Host: a" + String(repeating: "\r\nX: y", count: Limits().headerLines)
        #expect(ParserOutcome.of(fields: long) == [.refusal(.headTooLarge)])
        #expect(ParserOutcome.of(fields: many) == [.refusal(.headTooLarge)])
        #expect(RequestRejection.headTooLarge.status == .requestHeaderFieldsTooLarge)
    }
}
