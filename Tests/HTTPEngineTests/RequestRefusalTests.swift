import Expectations
import HTTPTypes
import Testing

@testable import HTTPEngine

/// What a refused client receives: each complete refusal over a socket, then the end of the connection.
@Suite(.timeLimit(.minutes(15))) struct RequestRefusalTests {
    /// The shortest request that triggers each refusal; the limits of these tests are small enough for all of them.
    private static func text(for refusal: RequestRejection) -> String {
        switch refusal {
        case .malformedRequestLine: "GET /\r\n"
        case .malformedTarget: "GET /# HTTP/1.1\r\n"
        case .insecureTarget: "GET https://a/ HTTP/1.1\r\n"
        case .targetTooLong: "GET /" + String(repeating: "a", count: 1000)
        case .unknownMethod: "TRACE / HTTP/1.1\r\n"
        case .unsupportedVersion: "GET / HTTP/2.0\r\n"
        case .bareLineFeed: "GET / HTTP/1.1\n"
        case .bareCarriageReturn: "GET / HTTP/1.1\rH"
        case .malformedField: "GET / HTTP/1.1\r\nHost : a\r\n"
        case .headTooLarge: "GET / HTTP/1.1\r\nHost: a\r\nX: " + String(repeating: "a", count: 1000)
        case .invalidHost: "GET / HTTP/1.1\r\n\r\n"
        case .invalidContentLength: "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n"
        case .contentTooLarge: "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 9999999999999999999\r\n"
        case .invalidTransferEncoding: "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, gzip\r\n"
        case .unknownTransferCoding: "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n"
        case .unknownExpectation: "PUT / HTTP/1.1\r\nHost: a\r\nExpect: x\r\n"
        case .malformedChunk: "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nx"
        case .incompleteRequest, .timedOut, .overfull: "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000\r\n\r\n"
        case .notTLS: "GET / HTTP/1.1\r\n"
        case .unexpectedTLS: "\u{16}\u{03}\u{01}"
        }
    }

    private let limits = Limits.with { $0.headerBytes = 1000 }

    /// Everything a client receives that sends the text and reads to the end, without ending its own direction.
    private func exchange(_ text: String, _ limits: Limits, at way: Way = .clear) async throws -> String {
        try await answers(to: text, StubHandler(limit: { _ in .max }), limits: limits, over: way, client: .clear)
    }

    /// The listener that refuses this way; the client sends without TLS to either.
    private func listener(for refusal: RequestRejection) -> Way { refusal == .notTLS ? .secure : .clear }

    private func expectWhole(
        _ answer: String, _ refusal: RequestRejection, at location: SourceLocation = #_sourceLocation
    ) {
        var lines = answer.split(separator: "\r\n", omittingEmptySubsequences: false)[...]
        expect(
            lines.suffix(2), is: ["", ""], "an empty line ends the head, and nothing follows", sourceLocation: location)
        let status = refusal.status
        expect(lines.removeFirst(), is: "HTTP/1.1 \(status.code) \(status.reasonPhrase)", sourceLocation: location)
        let fields = lines.dropLast(2)
        expect(fields.filter { $0 == "Connection: close" }.count, is: 1, sourceLocation: location)
        expect(fields.filter { $0 == "Content-Length: 0" }.count, is: 1, sourceLocation: location)
        expect(fields.filter { $0.hasPrefix("Date: ") && $0.hasSuffix(" GMT") }.count, is: 1, sourceLocation: location)
        expect(fields.count, is: 3, sourceLocation: location)
    }

    private let next = "GET /next HTTP/1.1\r\nHost: a\r\n\r\n"

    /// What comes behind the answer to ``next``.
    private func behindFirst(_ answers: String) throws -> String {
        let first = try #require(answers.firstRange(of: "GET /next []"))
        return String(answers[first.upperBound...])
    }

    @Test(arguments: RequestRejection.ofBytes)
    func `RFC 9110 section 15-5-1: a refusal is a complete answer and the end of the connection`(
        refusal: RequestRejection
    ) async throws {
        expectWhole(try await exchange(Self.text(for: refusal), limits, at: listener(for: refusal)), refusal)
    }

    @Test func `RFC 9110 section 15-5-9: a client that is late gets a complete answer too`() async throws {
        var limits = limits
        limits.body = .milliseconds(30)
        expectWhole(try await exchange(Self.text(for: .timedOut), limits), .timedOut)
    }

    @Test(arguments: RequestRejection.ofBytes)
    func `Section 9-6: a client that has megabytes unsent behind the fault gets the answer`(refusal: RequestRejection)
        async throws
    {
        let rest = String(repeating: "x", count: 3_000_000)
        expectWhole(try await exchange(Self.text(for: refusal) + rest, limits, at: listener(for: refusal)), refusal)
    }

    @Test(arguments: RequestRejection.ofBytes.filter { $0 != .notTLS })
    func `Section 9-6: what stands before a fault is answered, what stands behind it is not`(refusal: RequestRejection)
        async throws
    {
        let text = next + Self.text(for: refusal) + "\r\n\r\n" + next + next
        expectWhole(try behindFirst(try await exchange(text, limits)), refusal)
    }

    @Test func `RFC 9110 sections 15-5 and 15-6: every refusal has its status`() {
        let others: [RequestRejection: Int] = [
            .timedOut: 408, .contentTooLarge: 413, .targetTooLong: 414, .unknownExpectation: 417, .headTooLarge: 431,
            .unknownMethod: 501, .unknownTransferCoding: 501, .overfull: 503, .unsupportedVersion: 505,
        ]
        for refusal in RequestRejection.allCases {
            expect(refusal.status.code, is: others[refusal] ?? 400, "\(refusal)")
        }
    }

    @Test(arguments: [
        "G", "GET / HT", "GET / HTTP/1.1\r\n", "GET / HTTP/1.1\r\nHost: a\r\n",
        "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n",
        "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\na",
        "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n",
        "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n",
    ])
    func `Sections 6-3 and 8: a request whose end its client does not send is refused and not processed`(
        text: String
    ) async throws {
        expectWhole(try await answers(to: text, isFinished: true), .incompleteRequest)
        expectWhole(try behindFirst(try await answers(to: next + text, isFinished: true)), .incompleteRequest)
    }
}

extension RequestRejection {
    /// The refusals that bytes alone can cause.
    fileprivate static let ofBytes = allCases.filter { ![.timedOut, .incompleteRequest, .overfull].contains($0) }
}

/// Whether and how a connection continues; each test names its section of RFC 9112, or another source.
@Suite struct RequestPersistenceTests {
    private func persists(_ version: String, _ lines: String, at location: SourceLocation = #_sourceLocation) -> [Bool]
    {
        ParserOutcome.requests("GET / HTTP/\(version)\r\nHost: a\r\n\(lines)\r\n", at: location).map(\.persists)
    }

    private static let rules: [(rule: String, version: String, lines: [String], persists: Bool)] = [
        (
            "Section 9-3: version 1-1 goes on unless it is told to close", "1.1",
            ["", "Connection: keep-alive", "Connection:", "Connection: closed, x-close", "Close: close"], true
        ),
        (
            "Section 9-3: version 1-0 ends unless it asks for more", "1.0",
            ["", "Connection: TE", "Keep-Alive: timeout=5", "Connection: keep-alives", "Connection:"], false
        ),
        (
            "Section 9-3: version 1-0 may ask for more", "1.0",
            [
                "Connection: keep-alive", "Connection: Keep-Alive", "Connection: TE, KEEP-ALIVE",
                "Connection: ,keep-alive", "Connection: TE\r\nConnection: keep-alive",
            ], true
        ),
        ("Section 9-6: close wins wherever it stands in Connection", "1.0", closing, false),
        ("Section 9-6: close wins wherever it stands in Connection", "1.1", closing, false),
    ]

    private static let closing: [String] = [
        "Connection: close", "Connection: Close", "Connection: CLOSE", "Connection: close, keep-alive",
        "Connection: keep-alive, close", "Connection: TE ,\tclose ", "Connection: ,close", "Connection: close,",
        "Connection: ,,close,,", "Connection: keep-alive\r\nConnection: close",
        "Connection: close\r\nConnection: keep-alive", "Connection: TE\r\nX: y\r\nconnection: , close",
    ]

    @Test(arguments: rules)
    func `A connection goes on as its rule says`(rule: String, version: String, lines: [String], persists: Bool) {
        for line in lines {
            expect(self.persists(version, line.isEmpty ? "" : line + "\r\n"), is: [persists], "\(rule): \(line)")
        }
    }

    @Test func `Section 9-3: nothing of one request is left for the next`() {
        let first =
            "PUT / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\na"
        let requests = ParserOutcome.requests(first + "GET / HTTP/1.1\r\nHost: b\r\n\r\n")
        expect(requests.map(\.persists), is: [false, true])
        expect(requests.map(\.expectsContinue), is: [true, false])
        expect(requests.map(\.authority), is: ["a", "b"])
        expect(requests.map(\.body.count), is: [1, 0])
    }

    @Test(arguments: ["Host", "Content-Length", "Transfer-Encoding", "close, Content-Length"])
    func `RFC 9110 section 7-6-1: Connection takes no field away from the last recipient`(option: String) {
        let length = ParserOutcome.requests(
            "PUT / HTTP/1.1\r\nHost: a\r\nConnection: \(option)\r\nContent-Length: 3\r\n\r\nabc")
        expect(length.map(\.body), is: [Array("abc".utf8)])
        let chunks = ParserOutcome.requests(
            "PUT / HTTP/1.1\r\nHost: a\r\nConnection: \(option)\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
        )
        expect(chunks.map(\.body), is: [Array("abc".utf8)])
        expect(chunks.map(\.authority), is: ["a"])
    }

    @Test(arguments: ["h2c", "HTTP/2.0", "TLS/1.0", "foo, bar"])
    func `RFC 9110 section 7-8: a switch to another protocol is passed over`(name: String) {
        let upgrade =
            "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: \(name)\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n"
        let text = "GET / HTTP/1.1\r\nHost: a\r\n\(upgrade)\r\n"
        expect(ParserOutcome.requests(text + text).map(\.persists), is: [true, true])
        expect(persists("1.0", upgrade), is: [false])
    }

    @Test(
        arguments: [
            (
                "a client may wait for the interim answer",
                ["100-continue", "100-Continue", " 100-CONTINUE "].map { (value: String) -> String in
                    "PUT / HTTP/1.1\r\nHost: a\r\nExpect: \(value)\r\nContent-Length: 1\r\n\r\na"
                }, true
            ),
            (
                "a client of version 1-0 waits for no interim answer",
                ["PUT / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\na"], false
            ),
            (
                "without content there is nothing to wait for",
                [
                    "GET / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n\r\n",
                    "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nExpect: 100-continue\r\n\r\n",
                ], false
            ),
        ] as [(String, [String], Bool)])
    func `RFC 9110 section 10-1-1: who waits for the interim answer`(rule: String, texts: [String], expects: Bool) {
        for text in texts { expect(ParserOutcome.requests(text).map(\.expectsContinue), is: [expects], rule) }
    }

    @Test(arguments: ["200-ok", "100-continue, 100-continue", "", "100-continue;a", "y 100-continue", "100 continue"])
    func `RFC 9110 section 15-5-18: another expectation fails`(value: String) {
        expect(ParserOutcome.of(fields: "Host: a\r\nExpect: \(value)"), is: [.refusal(.unknownExpectation)])
    }
}
