import Expectations
import Testing
import Wire

@testable import HTTPEngine

/// The field lines of a request; each test names its section of RFC 9112, or another source.
@Suite struct RequestFieldTests {
    private func fields(_ lines: String, at location: SourceLocation = #_sourceLocation) -> [String] {
        ParserOutcome.requests("GET / HTTP/1.1\r\nHost: a\r\n\(lines)\r\n\r\n", at: location).flatMap {
            $0.fields.dropFirst()
        }
    }

    private static let broken = BrokenRule.all(
        in: "GET / HTTP/1.1\r\n%\r\n\r\n",
        [
            .bareLineFeed: [
                "Section 2-2: LF alone ends no field line":
                    ["Host: a\n", "Host: a\r\n\n", "Host: a\r\nX: y\nZ: z", "Host: a\n\n"]
            ],
            .bareCarriageReturn: [
                "Section 2-2: CR alone makes a head invalid": [
                    "Host: a\r\nX: a\rb", "Host: a\rX: b", "Host: a\r\n\rX: b", "Host: a\r", "Host: a\r\n\r",
                    "Host: a\r\nX\r: b", "Host: a\rX: b\n\n", "Host: a\r\n\rGET /b HTTP/1.1",
                ]
            ],
            .malformedField: [
                "Section 2-2: blanks between the request line and the first field are refused":
                    [" Host: a", "\tHost: a", " \r\nHost: a", " X: y\r\nHost: a"],
                "Section 5: a line without a colon is no field": [
                    "Host: a\r\nHost", "Host: a\r\nHost a", "Host: a\r\nX", "Host: a\r\nGET /b HTTP/1.1",
                    "Host: a\r\nHost= a", "Host: a\r\n,",
                ],
                "Section 5-1: a blank between name and colon is refused": [
                    "Host : a", "Host\t: a", "Host: a\r\nX : y", "Host: a\r\nContent-Length : 1",
                    "Host: a\r\nX\u{0B}: y",
                ],
                "Section 5-2: a line that goes on in the next one is refused": [
                    "Host: a\r\n b", "Host: a\r\n\tb", "Host: a\r\nX: y\r\n z", "Host: a\r\nX: y\r\n ",
                    "Host: a\r\nX:\r\n y", "Host: a\r\n Content-Length: 1",
                ],
                "RFC 9110 section 5-1: a name is a token": [
                    "Host: a\r\n: a", "Host: a\r\nHo st: a", "Host: a\r\nX(: a", "Host: a\r\nX/Y: a",
                    "Host: a\r\nX@: a", "Host: a\r\n\"X\": a", "Host: a\r\nX\u{E4}: a", "Host: a\r\nX\0: a",
                    "Host: a\r\nX\u{7F}: a", "Host: a\r\n{X}: a", "Host: a\r\nX;: a", "Host: a\r\nContent Length: 3",
                ],
                "RFC 9110 section 5-5: NUL in a value is refused":
                    ["Host: a\r\nX: \0", "Host: a\r\nX: a\0b", "Host: a\r\nX: \0a", "Host: a\r\nX: a\0"],
            ],
        ])

    @Test(arguments: broken) func `A field that breaks a rule is refused`(broken: BrokenRule) {
        broken.expectRefusals()
    }

    @Test(
        arguments: [
            (
                "Section 5-1: blanks around a value are no part of it",
                "X:y\r\nX: y\r\nX: \t y z \t\r\nX:\r\nX: \t", ["X: y", "X: y", "X: y z", "X: ", "X: "]
            ),
            (
                "RFC 9110 section 5-1: every character of a token may stand in a name", "!#$%&'*+-.^_`|~09AZaz: y",
                ["!#$%&'*+-.^_`|~09AZaz: y"]
            ),
            (
                "RFC 9110 section 5-3: lines of one name stay apart and in order", "X: 1\r\nY: 2\r\nx: 3",
                ["X: 1", "Y: 2", "x: 3"]
            ),
            (
                "RFC 9110 section 5-5: bytes beyond ASCII and tabulators may stand in a value", "X: ä\tö", ["X: ä\tö"]
            ),
        ] as [(String, String, [String])])
    func `Fields are read as their rule says`(rule: String, lines: String, expected: [String]) {
        expect(fields(lines), is: expected, rule)
    }

    @Test(arguments: (1...31).filter { ![9, 10, 13].contains($0) } + [127])
    func `RFC 9110 section 5-5: no control character but the tabulator stands in a value`(code: Int) {
        let character = String(UnicodeScalar(UInt8(code)))
        expect(ParserOutcome.of(fields: "Host: a\r\nX: y\(character)z"), is: [.refusal(.malformedField)])
        expect(ParserOutcome.of(fields: "Host: a\r\nX: \(character)y"), is: [.refusal(.malformedField)])
    }

    @Test func `RFC 6585 section 5: too many bytes or lines are too large a head`() {
        let long = "Host: a\r\nX: " + String(repeating: "x", count: Limits().headerBytes)
        let many = "Host: a" + String(repeating: "\r\nX: y", count: Limits().headerLines)
        expect(ParserOutcome.of(fields: long), is: [.refusal(.headTooLarge)])
        expect(ParserOutcome.of(fields: many), is: [.refusal(.headTooLarge)])
    }
}

/// Requests that exceed limits; each test names its section of RFC 9112, or another source.
@Suite struct RequestLimitTests {
    /// A head of exactly `count` bytes.
    private func head(of count: Int) -> String {
        let frame = "GET / HTTP/1.1\r\nHost: a\r\nX: \r\n\r\n"
        return frame.replacing("X: ", with: "X: " + String(repeating: "x", count: count - frame.utf8.count))
    }

    private let limits = Limits.with { ($0.headerBytes, $0.headerLines) = (100, 3) }

    @Test func `RFC 6585 section 5: a head may be as long as the limit, and not a byte longer`() {
        expect(head(of: 100).utf8.count, is: 100)
        for portions in [[100_000], [1], [7]] {
            let fits = ParserOutcome.parse(Array(head(of: 100).utf8), portions: portions, limits: limits)
            let tooLong = ParserOutcome.parse(Array(head(of: 101).utf8), portions: portions, limits: limits)
            expect(fits.count, is: 1)
            expectEmpty(fits.filter { $0 == .refusal(.headTooLarge) })
            expect(tooLong, is: [.refusal(.headTooLarge)])
        }
    }

    @Test func `Section 3: a request line over the limit is a target that is too long`() {
        let line = "GET /" + String(repeating: "a", count: 100)
        expect(ParserOutcome.parse(line, limits: limits), is: [.refusal(.targetTooLong)])
    }

    @Test func `Section 3: a method over the limit is none that is implemented`() {
        let method = String(repeating: "A", count: 101)
        for line in [method, method + " / HTTP/1.1\r\nHost: a\r\n\r\n"] {
            expect(ParserOutcome.parse(line, limits: limits), is: [.refusal(.unknownMethod)])
        }
        let other = String(repeating: "A", count: 50) + "\t" + String(repeating: "/", count: 50)
        expect(ParserOutcome.parse(other, limits: limits), is: [.refusal(.malformedRequestLine)])
    }

    @Test func `RFC 6585 section 5: a head may have as many lines as the limit, and not one more`() {
        let three = "GET / HTTP/1.1\r\nHost: a\r\na: b\r\na: b\r\n"
        let fits = ParserOutcome.parse(three + "\r\n", limits: limits)
        expect(fits.count, is: 1)
        expectEmpty(fits.filter { $0 == .refusal(.headTooLarge) })
        expect(ParserOutcome.parse(three + "a: b\r\n\r\n", limits: limits), is: [.refusal(.headTooLarge)])
    }

    @Test func `Section 7-1-1: chunk extensions and trailers share one budget`() {
        let head = "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        let name = String(repeating: "e", count: 39)
        let chunk = "1;\(name)\r\na\r\n"
        expect(ParserOutcome.requests(head + chunk + chunk + "0\r\n\r\n").map(\.body.count), is: [2])
        let three = ParserOutcome.parse(head + chunk + chunk + chunk, limits: limits)
        expect(three, is: [.refusal(.malformedChunk)])
        let trailers = ParserOutcome.parse(head + chunk + chunk + "0\r\n\(name): b\r\n\r\n", limits: limits)
        expect(trailers, is: [.refusal(.headTooLarge)])
    }

    @Test func `Section 6-3: a client that announces much and sends nothing costs no memory for it`() {
        let text = "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000000000000\r\n\r\n"
        expectEmpty(ParserOutcome.parse(text, bodyLimit: .max))
    }
}

/// How requests affect their connection; each test names its section of RFC 9112, or another source.
@Suite(.timeLimit(.minutes(15))) struct RequestConnectionTests {
    private let next = "GET /next HTTP/1.1\r\nHost: a\r\n\r\n"

    @Test(arguments: [
        "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, TE, close\r\n\r\n", "GET / HTTP/1.0\r\n\r\n",
        "GET / HTTP/1.0\r\nConnection: keep-alive\r\nConnection: close\r\n\r\n",
    ])
    func `Section 9-6: the last request gets its answer, and none behind it is processed`(text: String) async throws {
        let received = try await answers(to: text + next + next)
        expect(contents(received), is: ["GET / []"])
        expect(received, contains: "\r\nConnection: close\r\n")
    }

    @Test func `Section 9-3: version 1-0 that asks for more is told that it gets it`() async throws {
        let kept = "GET /kept HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"
        let received = try await answers(to: kept + "GET /last HTTP/1.0\r\n\r\n")
        expect(contents(received), is: ["GET /kept []", "GET /last []"])
        expect(received, contains: "Connection: keep-alive\r\n")
    }

    @Test(arguments: [
        ("1.0", "Expect: 100-continue\r\nContent-Length: 3\r\n\r\nabc", "abc"),
        ("1.1", "Expect: 100-continue\r\n\r\n", ""), ("1.1", "Expect: 100-continue\r\nContent-Length: 0\r\n\r\n", ""),
        ("1.1", "Content-Length: 3\r\n\r\nabc", "abc"),
        ("1.1", "Expect: 100-continue\r\nContent-Length: 2000\r\n\r\n", "too much"),
    ])
    func `RFC 9110 section 10-1-1: who does not wait, need not or must not send gets no interim answer`(
        version: String, rest: String, content: String
    ) async throws {
        let received = try await answers(to: "PUT / HTTP/\(version)\r\nHost: a\r\nConnection: close\r\n\(rest)")
        expect(received, begins: "HTTP/1.1 200 OK\r\n")
        expect(contents(received), is: ["PUT / [\(content)]"])
    }
}
