import Expectations
import Testing

@testable import HTTPEngine

/// Chunked content; each test names its section of RFC 9112, or another source.
@Suite struct FramingCodingTests {
    private func bodies(_ chunks: String, at location: SourceLocation = #_sourceLocation) -> [String] {
        let text = "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n\(chunks)"
        return ParserOutcome.requests(text + "GET /next HTTP/1.1\r\nHost: a\r\n\r\n", at: location).map {
            String(decoding: $0.body, as: UTF8.self)
        }
    }

    @Test(
        arguments: brokenCodings + brokenOldCodings + brokenVersions("1.0") + brokenVersions("1.1") + brokenChunks)
    func `What breaks a rule is refused`(broken: BrokenRule) { broken.expectRefusals() }

    // MARK: - Transfer-Encoding

    private static let brokenCodings = BrokenRule.all(
        in: "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: %\r\n\r\n0\r\n\r\n",
        [
            .unknownTransferCoding: [
                "Section 6-1: a coding that is not known below chunked is not implemented":
                    ["gzip, chunked", "deflate,chunked", "identity, chunked", "x, Chunked", "gzip;a=b, chunked"]
            ],
            .invalidTransferEncoding: [
                "Section 6-3: a request whose last coding is not chunked has no known end": [
                    "identity", "gzip", "x", "chunked, gzip", "chunked, identity", "xchunked", "chunkedx", "chunke",
                    "c",
                ],
                "Section 6-1: chunked is not applied twice":
                    ["chunked, chunked", "chunked,chunked", "gzip, chunked, chunked", "chunked, gzip, chunked"],
                "Section 6-1: two codings in two lines are refused": [
                    "chunked\r\nTransfer-Encoding: chunked", "identity\r\nTransfer-Encoding: chunked",
                    "chunked\r\nTransfer-Encoding: identity", "chunked\r\nX: y\r\ntransfer-encoding:",
                    "chunked\r\nTransfer-Encoding: x", "gzip\r\nTransfer-Encoding: chunked",
                ],
                "Section 6-1: an empty or torn coding is refused":
                    ["", " ", ",", ", chunked", "chunked,", "chunked ,", ",chunked,", "chunk ed", "chunked chunked"],
                "Section 6-1: a coding that only looks like chunked is refused": [
                    "\"chunked\"", "'chunked'", "chunked\u{A0}", "=chunked", "chünked", "cһunked", "chun\u{212A}ed",
                    "%63hunked",
                ],
                "Section 7-1: chunked has no parameters": ["chunked;a=b", "chunked; q=1", "chunked;"],
            ],
            .malformedField: [
                "Section 6-1: a coding with a control character is refused":
                    ["\u{0B}chunked", "chunked\u{0B}", "\u{0C}chunked", "\0chunked", "chunked\0", "chun\u{08}ked"]
            ],
        ])

    @Test(arguments: ["chunked", "Chunked", "CHUNKED", "\tchunked\t"])
    func `Section 7: chunked is known by its name in any case`(coding: String) {
        let text = "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \(coding)\r\n\r\n1\r\na\r\n0\r\n\r\n"
        expect(ParserOutcome.requests(text).map(\.body), is: [[0x61]])
    }

    private static func brokenVersions(_ version: String) -> [BrokenRule] {
        BrokenRule.all(
            in: "PUT / HTTP/\(version)\r\nHost: a\r\n%\r\n\r\n0\r\n\r\n",
            [
                .invalidTransferEncoding: [
                    "Section 6-1: a coding beside a length is refused, in either order": [
                        "Content-Length: 5\r\nTransfer-Encoding: chunked",
                        "Transfer-Encoding: chunked\r\nContent-Length: 0",
                    ]
                ]
            ])
    }

    private static let brokenOldCodings = BrokenRule.all(
        in: "PUT / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: %\r\n\r\n0\r\n\r\n",
        [
            .invalidTransferEncoding: [
                "Section 6-1: version 1-0 knows no transfer coding":
                    ["chunked", "identity", "chunked\r\nConnection: keep-alive"]
            ]
        ])

    @Test(arguments: [
        "Transfer_Encoding: chunked", "TransferEncoding: chunked", "X-Transfer-Encoding: chunked", "TE: chunked",
        "Transfer-Encoding-: chunked", "Content_Length: 3", "ContentLength: 3", "X-Content-Length: 3",
        "Content-Length-: 3",
    ])
    func `RFC 9110 sections 5-1 and 10-1-4: a field that only looks like a coding or a length is none`(field: String) {
        let requests = ParserOutcome.requests("PUT / HTTP/1.1\r\nHost: a\r\n\(field)\r\n\r\n")
        expect(requests.map(\.body), is: [[]])
    }

    // MARK: - Chunks

    private static let brokenChunks = BrokenRule.all(
        in: "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n%",
        [
            .malformedChunk: [
                "Section 7-1: a size that is not hexadecimal digits alone is refused": [
                    "\r\n", "g\r\n", "-1\r\n", "+1\r\n", "0x1\r\n", "0X0\r\n", " 1\r\n", "\t1\r\n", "1 \r\n", "1\t\r\n",
                    "1 1\r\n", "1.0\r\n", "1h\r\n", "１\r\n", "1\0\r\n", "1_0\r\n", "1,\r\n", "\"1\"\r\n", ";a\r\n",
                    "1\u{0B}\r\n",
                ],
                "Section 7-1: what begins as no size is refused at its first byte":
                    ["x", "-", " ", "\r", "\n", "G", "\0"],
                "Section 7-1: a size with more digits than a number holds does not wrap around": [
                    "1000000000000000\r\na\r\n0\r\n\r\n", "ffffffffffffffff\r\na\r\n0\r\n\r\n",
                    "10000000000000001\r\na\r\n0\r\n\r\n", "100000000000000001\r\na\r\n0\r\n\r\n",
                    "FFFFFFFFFFFFFFFF0\r\na\r\n0\r\n\r\n", "0000000000000000000000001\r\na\r\n0\r\n\r\n",
                ],
                "Section 7-1: LF alone ends nothing in chunks":
                    ["1\n", "1\na\r\n0\r\n\r\n", "1\r\na\n", "1\r\na\r\n0\n", "0\r\n\n", "0\r\nX: y\n\r\n"],
                "Section 7-1: CR alone ends nothing in chunks": [
                    "1\ra", "1\ra\r\n", "1\r\na\r\r", "1\r\na\ra", "1\r\r\n", "0\r\n\r0", "0\r\nX: a\rb\r\n",
                    "0\r0\r\n",
                ],
                "Section 7-1: the data of a chunk ends where its size says":
                    ["1\r\nab\r\n", "1\r\na0\r\n", "1\r\na \r\n", "2\r\na\r\n0\r\n", "1\r\n\r\n0\r\n"],
                "Section 7-1-1: what breaks the grammar of extensions is refused": [
                    "1;\r\n", "1;;a\r\n", "1;=a\r\n", "1;a=\r\n", "1;a==b\r\n", "1;a=b=c\r\n", "1;a b\r\n",
                    "1;a=b c\r\n", "1;a,b\r\n", "1;a=\"b\r\n", "1;a=\"b\\\"\r\n", "1;a=\"b\"c\r\n", "1;\0\r\n",
                    "1;a\0\r\n", "1;a=\"\0\"\r\n", "1;a=\u{7F}\r\n", "1;ä\r\n", "1 a\r\n", "1a;b c\r\n", "1;a \r\n",
                    "1;\u{0B}a\r\n", "1;a=(b)\r\n",
                ],
                "Section 7-1-1: extensions end at their line": [
                    "1;a\na\r\n", "1;a\rb\r\na\r\n", "1;\na\r\n", "1;a=\"\r\n\"a\r\n", "1;a=\"\n\"\r\na\r\n",
                    "1;\ra\r\na\r\n", "1;a\r\r\na\r\n",
                ],
            ],
            .malformedField: [
                "Section 7-1-2: a trailer is a field line too": [
                    "0\r\na\r\n\r\n", "0\r\na : b\r\n\r\n", "0\r\n a: b\r\n\r\n", "0\r\na: b\r\n c\r\n\r\n",
                    "0\r\n: b\r\n\r\n", "0\r\na: \0\r\n\r\n", "0\r\na\0: b\r\n\r\n", "0\r\nGET / HTTP/1.1\r\n\r\n",
                    "0\r\na: \u{0B}\r\n\r\n",
                ]
            ],
        ])

    private static let contents: [(rule: String, chunks: [String], body: String)] = [
        (
            "Section 7-1: the chunks are the content",
            [
                "3\r\nabc\r\n0\r\n\r\n", "1\r\na\r\n2\r\nbc\r\n0\r\n\r\n", "03\r\nabc\r\n000\r\n\r\n",
                "00000000003\r\nabc\r\n0\r\n\r\n",
            ], "abc"
        ),
        (
            "Section 7-1: a size is hexadecimal in either case",
            ["a\r\n0123456789\r\nA\r\n0123456789\r\n0\r\n\r\n"], "01234567890123456789"
        ),
        (
            "Section 7-1-1: extensions are ignored",
            [
                "3;a\r\nabc\r\n0\r\n\r\n", "3;a=b\r\nabc\r\n0;c\r\n\r\n",
                "3;a=\"b;\\\" c\"\r\nabc\r\n0;b=c;d=\"\"\r\n\r\n", "3 ;\ta = b\r\nabc\r\n0\r\n\r\n",
                "3;a;a=b;a\r\nabc\r\n0\r\n\r\n",
            ], "abc"
        ),
        (
            "Section 7-1-3: what follows the empty line behind the trailers is the next request",
            ["0\r\nX: y\r\n\r\n"], ""
        ),
    ]

    @Test(arguments: contents)
    func `Chunks are read as their rule says`(rule: String, chunks: [String], body: String) {
        for text in chunks { expect(bodies(text), is: [body, ""], "\(rule): \(text)") }
    }

    @Test(arguments: ["1\r\na\r\n0\r\n", "1\r\na\r\n", "1\r\n", "1", "5\r\nabc", "0\r\n", "0\r\nX: y\r\n"])
    func `Section 8: a content without its last chunk and empty line is incomplete`(chunks: String) {
        expectEmpty(ParserOutcome.of(chunks: chunks))
    }

    // MARK: - Extensions

    @Test func `Section 7-1-1: extensions have a limit in all`() {
        let chunk = "1;\(String(repeating: "e", count: 4000))\r\na\r\n"
        let chunks = String(repeating: chunk, count: Limits().headerBytes / 4000 + 1)
        expect(ParserOutcome.of(chunks: chunks), is: [.refusal(.malformedChunk)])
        let endless = "1;" + String(repeating: "e", count: Limits().headerBytes + 100)
        expect(ParserOutcome.of(chunks: endless), is: [.refusal(.malformedChunk)])
    }

    // MARK: - Trailers

    @Test(arguments: [
        "Trailer: x", "Content-Length: 9", "Transfer-Encoding: chunked", "Host: b", "Connection: close", "Expect: x",
        "Authorization: x\r\nX-Understudy-Sandbox: b",
    ])
    func `Section 7-1-2: trailers are dropped and change nothing`(trailers: String) {
        let text = "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\(trailers)\r\n\r\n"
        let requests = ParserOutcome.requests(text + "GET /next HTTP/1.1\r\nHost: a\r\n\r\n")
        expect(requests.map(\.target), is: ["/", "/next"])
        expect(requests.first?.fields, is: ["Host: a", "Transfer-Encoding: chunked"])
        expect(requests.first?.persists, is: true)
        expect(requests.first?.authority, is: "a")
    }

    @Test func `RFC 9110 section 6-5: trailers have a limit in bytes and in lines`() {
        let long = "X: " + String(repeating: "x", count: Limits().headerBytes)
        expect(ParserOutcome.of(chunks: "0\r\n\(long)\r\n\r\n"), is: [.refusal(.headTooLarge)])
        let many = String(repeating: "X: y\r\n", count: Limits().headerLines + 1)
        expect(ParserOutcome.of(chunks: "0\r\n\(many)\r\n"), is: [.refusal(.headTooLarge)])
    }
}

/// Content with a length; each test names its section of RFC 9112, or another source.
@Suite struct FramingLengthTests {
    private let next = "GET /next HTTP/1.1\r\nHost: a\r\n\r\n"

    private func bodies(_ length: String, _ rest: String, at location: SourceLocation = #_sourceLocation) -> [String] {
        let text = "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: \(length)\r\n\r\n\(rest)"
        return ParserOutcome.requests(text, at: location).map { String(decoding: $0.body, as: UTF8.self) }
    }

    @Test(arguments: ["1.0", "1.1"])
    func `Section 6-3: without length and coding there is no content`(version: String) {
        let text = "POST / HTTP/\(version)\r\nHost: a\r\nConnection: keep-alive\r\n\r\n"
        let requests = ParserOutcome.requests(text + next)
        expect(requests.map(\.target), is: ["/", "/next"])
        expect(requests.map(\.body), is: [[], []])
    }

    @Test(
        arguments: [
            ("Section 6-2: a length is a decimal number", ["3", "03", "000000000000000000000003", "\t3 "], "abc"),
            ("Section 6-2: a length of zero is no content", ["0", "00", "0000000000000000000000000"], ""),
        ] as [(String, [String], String)])
    func `Lengths are read as their rule says`(rule: String, values: [String], body: String) {
        for value in values { expect(bodies(value, body + next), is: [body, ""], "\(rule): \(value)") }
    }

    @Test func `Section 6-3: a request whose content has not all arrived is none`() {
        expectEmpty(ParserOutcome.of(fields: "Host: a\r\nContent-Length: 4", content: "abc"))
        expectEmpty(ParserOutcome.of(fields: "Host: a\r\nContent-Length: 4"))
    }

    private static func broken(in version: String) -> [BrokenRule] {
        BrokenRule.all(
            in: "PUT / HTTP/\(version)\r\nHost: a\r\nContent-Length: %\r\n\r\n",
            [
                .invalidContentLength: [
                    "Section 6-3: a length that is not digits alone is refused": [
                        "+1", "-1", "-0", "0x1", "1x", "x", "1 1", "1\t1", "1.0", "1e1", "", " ", "1;", "1,", ",1",
                        "\"1\"", "'1'", "0b1", "1_000", "1,000", "١", "１", "¹", "1\u{A0}", "NaN", "1%30", "(1)",
                    ],
                    "Section 6-3: a list of lengths is refused, equal or not": ["1, 1", "1,1", "1, 2", "0, 0"],
                    "RFC 9110 section 8-6: two lengths are refused, equal or not": [
                        "1\r\nContent-Length: 1", "1\r\nContent-Length: 2", "0\r\ncontent-length: 0",
                        "1\r\nX: y\r\nCONTENT-LENGTH: 1", "1\r\nContent-Length:",
                    ],
                ],
                .malformedField: [
                    "Section 6-3: a length with a control character is refused":
                        ["1\u{0B}", "\u{0B}1", "1\0", "\0", "1\u{0C}", "\u{01}1"]
                ],
                .contentTooLarge: [
                    "RFC 9110 section 8-6: a length beyond all numbers does not wrap around": [
                        "9223372036854775808", "18446744073709551616", "18446744073709551619", "4294967296000000000",
                        "99999999999999999999", "340282366920938463463374607431768211459",
                    ]
                ],
            ])
    }

    @Test(arguments: broken(in: "1.0") + broken(in: "1.1"))
    func `A length that breaks a rule is refused`(broken: BrokenRule) { broken.expectRefusals() }

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
        expect(first.exceeds, is: exceeds)
        expect(first.body.count, is: (exceeds ? 0 : 10))
        expect(first.persists, is: !exceeds)
        expect(requests.count, is: (exceeds ? 1 : 2))
    }
}
