import Expectations
import Testing
import Wire

@testable import HTTPEngine

/// The first line of a request; each test names its section of RFC 9112, or another source.
@Suite struct RequestLineTests {
    @Test func `Section 2-1: a request is its line, its fields and its content`() {
        let text = "POST /a?b=c HTTP/1.1\r\nHost: x.test:80\r\nContent-Length: 3\r\nX-Y:\t z z \r\n\r\nabc"
        expect(
            ParserOutcome.parse(text),
            is: [
                .request(
                    .init(
                        method: "POST", target: "/a?b=c", authority: "x.test:80",
                        fields: ["Host: x.test:80", "Content-Length: 3", "X-Y: z z"], body: Array("abc".utf8),
                        exceeds: false, version: "HTTP/1.1", persists: true, expectsContinue: false))
            ])
    }

    /// Each line is refused as soon as it ends, if not before.
    private static let broken = BrokenRule.all(
        in: "%",
        [
            .malformedRequestLine: [
                "Section 2-1: an answer is no request": ["HTTP/1.1 200 OK\r\n", "HTTP/1.0 404 Not Found\r\n"],
                "Section 2-2: a second empty line before a request is refused": ["\r\n\r\nGET / HTTP/1.1\r\n"],
                "Section 2-2: nothing but that line may stand before a request": [
                    " GET / HTTP/1.1\r\n", "\tGET / HTTP/1.1\r\n", "\u{0B}GET / HTTP/1.1\r\n",
                    "\u{0C}GET / HTTP/1.1\r\n", "\0GET / HTTP/1.1\r\n", "\u{FEFF}GET / HTTP/1.1\r\n",
                    "\r\n GET / HTTP/1.1\r\n", "\r\n\tGET / HTTP/1.1\r\n",
                ],
                "Section 3: a line of HTTP 0-9 is refused without waiting for more": ["GET /\r\n"],
                "Section 3: what begins as no request is refused at its first byte":
                    ["\u{03}\u{01}", "\0", "{", "\u{80}"],
            ],
            .bareLineFeed: [
                "Section 2-2: LF alone does not end the request line":
                    ["\n", "\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", "GET / HTTP/1.1\n", "GET / HTTP/1.1\nHost: a\n\n"]
            ],
            .bareCarriageReturn: [
                "Section 2-2: CR alone makes the request line invalid, even if no line ends": [
                    "GET / HTTP/1.1\rHost: a\r\r", "\rGET / HTTP/1.1\r\n", "GET\r/ HTTP/1.1\r\n",
                    "GET /a\rb HTTP/1.1\r\n", "GET / HTTP/1.1\r\r\n", "GET /\r HTTP/1.1\nHost: a\n\n",
                    "\r\rGET / HTTP/1.1\r\n",
                ]
            ],
            .unsupportedVersion: [
                "RFC 9110 section 15-6-6: another major version is not supported": [
                    "GET / HTTP/2.0\r\n", "GET / HTTP/3.0\r\n", "GET / HTTP/0.9\r\n", "GET / HTTP/0.0\r\n",
                    "GET / HTTP/9.9\r\n",
                ],
                "RFC 9113 section 3-4: prior knowledge of HTTP 2 is refused as its version, once":
                    ["PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\u{04}\0\0\0\0\0"],
            ],
        ])

    private static let brokenMethods = BrokenRule.all(
        in: "% HTTP/1.1\r\nHost: a\r\n\r\n",
        [
            .malformedRequestLine: [
                "Section 3-1: a method is a token":
                    ["G(T /", "GET/ /", "G@T /", "\"GET\" /", "GET: /", "GET, /", "GÉT /", "G\0T /", "G\u{7F}T /"]
            ],
            .unknownMethod: [
                "Section 3-1: methods differ by case": ["get /", "Get /", "GeT /", "pOST /"],
                "RFC 9110 section 9-1: a method that no handler sees is not implemented":
                    ["TRACE /", "CONNECT a:1", "PROPFIND /", "!# /", "QUERY /"],
                "RFC 9110 section 9-3-6: CONNECT is for proxies, whatever its target": [
                    "CONNECT a:80", "CONNECT [::1]:80", "CONNECT a", "CONNECT http://a/", "CONNECT *", "CONNECT /",
                ],
            ],
        ])

    @Test(arguments: broken + brokenMethods)
    func `A line that breaks a rule is refused`(broken: BrokenRule) { broken.expectRefusals() }

    @Test func `Section 2-2: one empty line before a request is ignored`() {
        let request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
        expect(ParserOutcome.requests("\r\n" + request).count, is: 1)
        expect(ParserOutcome.requests(request + "\r\n" + request).count, is: 2)
    }

    @Test(arguments: [
        (
            "Section 2-3: a version is HTTP, a digit, a dot and a digit",
            [
                "GET / http/1.1", "GET / Http/1.1", "GET / HTTP/1", "GET / HTTP/1.", "GET / HTTP/.1", "GET / HTTP/11",
                "GET / HTTP/1.10", "GET / HTTP/01.1", "GET / HTTP/1,1", "GET / HTTP/a.1", "GET / HTTP/1.a",
                "GET / HTTP/-1.1", "GET / HTTP /1.1", "GET / HTTP/ 1.1", "GET / HTTPS/1.1", "GET / ICAP/1.0",
                "GET / HTTP\\1.1", "GET / HTTP/1.1a",
            ]
        ),
        (
            "Section 3: HTTP 0-9 and other lines without a part are refused",
            ["GET", "GET ", "GET /", "GET / ", "GET /a", "/", "/ HTTP/1.1", "GET  HTTP/1.1", " "]
        ),
        (
            "Section 3: one space and nothing else separates the parts",
            [
                "GET  / HTTP/1.1", "GET /  HTTP/1.1", "GET / HTTP/1.1 ", "GET\t/ HTTP/1.1", "GET /\tHTTP/1.1",
                "GET / HTTP/1.1\t", "GET /\u{0B}HTTP/1.1", "GET\u{0C}/ HTTP/1.1", "GET\u{A0}/ HTTP/1.1",
            ]
        ),
    ])
    func `A line of other parts is refused for itself or for its target`(rule: String, lines: [String]) {
        for line in lines {
            let outcomes = ParserOutcome.of(line: line)
            #expect([[.refusal(.malformedRequestLine)], [.refusal(.malformedTarget)]].contains(outcomes), "\(line)")
        }
    }

    @Test func `Section 3: a line of 8000 bytes is read`() {
        let target = "/" + String(repeating: "a", count: 7986)
        let line = "GET \(target) HTTP/1.1"
        expect(line.utf8.count, is: 8000)
        expect(ParserOutcome.requests("\(line)\r\nHost: a\r\n\r\n").map(\.target), is: [target])
    }

    @Test(arguments: ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
    func `Section 3-1: the methods of RFC 9110 and 5789 pass`(method: String) {
        expect(ParserOutcome.requests("\(method) / HTTP/1.1\r\nHost: a\r\n\r\n").map(\.method), is: [method])
    }

    @Test(arguments: ["HTTP/1.2", "HTTP/1.9"])
    func `RFC 9110 section 2-5: a later minor version is read as the latest known`(version: String) {
        let request = "GET / \(version)\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
        let requests = ParserOutcome.requests(request)
        expect(requests.map(\.version), is: ["HTTP/1.1"])
        expect(requests.map(\.persists), is: [true])
    }
}

/// The target of a request; each test names its section of RFC 9112, or another source.
@Suite struct RequestTargetTests {
    private func targets(_ line: String, at location: SourceLocation = #_sourceLocation) -> [String] {
        ParserOutcome.requests("\(line) HTTP/1.1\r\nHost: h\r\n\r\n", at: location).map(\.target)
    }

    private static let broken = BrokenRule.all(
        in: "% HTTP/1.1\r\nHost: a\r\n\r\n",
        [
            .malformedTarget: [
                "Section 3-2: blanks in a target are not repaired":
                    ["GET /a b", "GET / ", "GET /a\tb", "GET /\u{A0}", "GET /\u{0B}"],
                "Section 3-2: a second version is no part of a target": [
                    "GET / HTTP/1.1 HTTP/1.1", "GET //[ HTTP/1.1",
                ],
                "Section 3-2: control characters, bytes beyond ASCII and fragments make no target": [
                    "GET /\0", "GET /\u{01}", "GET /\u{1B}[0m", "GET /\u{7F}", "GET /ä", "GET /\u{2028}", "GET /#a",
                    "GET /?#", "GET #",
                ],
                "Section 3-2: what is in none of the four forms is refused": [
                    "GET a", "GET ?a", "GET .", "GET ../a", "GET \\", "GET %2F", "GET @a/", "GET a:80", "GET a/b",
                    "GET GET",
                ],
                "Section 3-2-2: absolute form without a valid authority is refused": [
                    "GET http:/a", "GET http:a", "GET http://", "GET http:///a", "GET http://?a", "GET http://:80/",
                    "GET http://a:b/", "GET http://a:65536/", "GET http://a:8:0/", "GET http://a\\b/",
                    "GET http://a,b/",
                    "GET http://%61/", "GET http://[::1/", "GET http://[a]/", "GET http://a]/", "GET ://a/",
                ],
                "RFC 9110 section 4-2: another scheme is none of ours": [
                    "GET ftp://a/", "GET ws://a/", "GET file:///a", "GET httpx://a/", "GET urn:a",
                    "GET javascript://a/",
                ],
                "RFC 9110 section 4-2-4: user information in a target is refused":
                    ["GET http://u@a/", "GET http://u:p@a/", "GET http://@a/", "GET http://a@b:80/"],
                "Section 3-2-3: authority form is for CONNECT only": ["GET a:80", "POST a:80", "OPTIONS a:80"],
                "Section 3-2-4: an asterisk stands alone and with OPTIONS only":
                    ["GET *", "POST *", "HEAD *", "OPTIONS **", "OPTIONS *?a", "OPTIONS */a"],
            ]
        ])

    private static let brokenHosts = BrokenRule.all(
        in: "GET http://a/ HTTP/1.1\r\n%\r\n",
        [
            .invalidHost: [
                "Section 3-2-2: absolute form needs a valid Host all the same":
                    ["", "Host:\r\n", "Host: a\r\nHost: a\r\n", "Host: a b\r\n"]
            ]
        ])

    @Test(arguments: broken + brokenHosts) func `A target that breaks a rule is refused`(broken: BrokenRule) {
        broken.expectRefusals()
    }

    @Test(
        arguments: [
            (
                "Section 3-2-1: origin form comes as it was sent",
                [
                    "/", "//", "//a//b", "/a/../b", "/.", "/%2F%41", "/%2500", "/%00", "/a%00.b?c=%00", "/a;b=c", "/?",
                    "/?a=?/b", "/:@!$&'()*+,;=",
                ]
            ),
            (
                "Section 3-2-1: what real clients leave bare comes as it was sent",
                ["[", "]", "^", "{", "}", "|", "\"", "<", ">", "\\", "`", "%", "%zz"].map { (part: String) -> String in
                    "/a\(part)?b=\(part)"
                }
            ),
        ] as [(String, [String])])
    func `A target comes as it was sent`(rule: String, sent: [String]) {
        for target in sent { expect(targets("GET \(target)"), is: [target], rule) }
    }

    @Test(arguments: [
        ("http://other:81/p?q", "/p?q", "other:81"), ("HTTP://other/", "/", "other"), ("http://other", "/", "other"),
        ("http://other?q", "/?q", "other"), ("http://[::1]:8/", "/", "[::1]:8"), ("http://other//a", "//a", "other"),
        ("http://other/http://third/", "/http://third/", "other"), ("http://other:/", "/", "other:"),
    ])
    func `Section 3-2-2: absolute form is accepted, and its authority beats Host`(
        target: String, origin: String, authority: String
    ) {
        for version in ["1.0", "1.1"] {
            let requests = ParserOutcome.requests("GET \(target) HTTP/\(version)\r\nHost: h\r\n\r\n")
            expect(requests.map(\.target), is: [origin])
            expect(requests.map(\.authority), is: [authority])
        }
    }

    @Test(arguments: ["https://a/", "HTTPS://a"])
    func `RFC 9110 section 7-4: an https target is for secured connections only`(target: String) {
        expect(ParserOutcome.of(line: "GET \(target) HTTP/1.1"), is: [.refusal(.insecureTarget)])
        let connection = Request.Connection(remoteAddress: "127.0.0.1", isSecure: true)
        let text = "GET \(target) HTTP/1.1\r\nHost: h\r\n\r\n"
        let outcomes = ParserOutcome.parse(Array(text.utf8), connection: connection)
        guard case .request(let request) = outcomes.first else {
            Issue.record("\(outcomes)")
            return
        }
        expect(request.target, is: "/")
        expect(request.authority, is: "a")
    }

    @Test
    func `Section 3-2-4: an asterisk asks about the whole server, also as OPTIONS of an absolute form without path`() {
        let requests = ParserOutcome.requests("OPTIONS http://a:80 HTTP/1.1\r\nHost: h\r\n\r\n")
        expect(requests.map(\.target), is: ["*"])
        expect(requests.map(\.authority), is: ["a:80"])
        expect(targets("OPTIONS *"), is: ["*"])
        expect(targets("OPTIONS http://a/"), is: ["/"])
        expect(targets("OPTIONS http://a?q"), is: ["/?q"])
    }
}

/// The host of a request; each test names its section of RFC 9112, or another source.
@Suite struct RequestHostTests {
    @Test(arguments: [
        "a", "a.b-c_d~e", "A.", "xn--bcher-kva.example", "127.0.0.1:8080", "a:", "a:0", "a:65535", "[::1]", "[::]",
        "[1:2:3:4:5:6:7:8]", "[1::8]:80", "[fe80::A]", "[::ffff:1.2.3.4]:65535", "[1:2:3:4:5:6:1.2.3.4]", "[1::]",
        "[::ffff:192.0.2.10]",
    ])
    func `Section 3-2: a host is a name or an address, with or without port`(host: String) {
        expect(ParserOutcome.requests("GET / HTTP/1.1\r\nHost: \(host)\r\n\r\n").map(\.authority), is: [host])
    }

    @Test func `Section 3-2: a client of version 1-0 need not name a host`() {
        let requests = ParserOutcome.requests("GET / HTTP/1.0\r\n\r\n")
        expect(requests.map(\.authority), is: [nil])
        expect(requests.map(\.version), is: ["HTTP/1.0"])
    }

    private static func broken(in version: String) -> [BrokenRule] {
        BrokenRule.all(
            in: "PUT / HTTP/\(version)\r\nHost:%\r\n\r\n",
            [
                .invalidHost: [
                    "Section 3-2: what is no host name is refused": [
                        " a b", " a,b", " a, b", " a/b", " a?b", " a#b", " a\\b", " a\tb", " a%00", " a%41", " ä",
                        " http://a", " a;b", " \"a\"", " <a>",
                    ],
                    "Section 3-2: what is no port is refused": [
                        " :80", " a:b", " a:65536", " a:000080", " a:-1", " a:+1", " a:80:80", " a:8 0", " a:٨", " ::1",
                    ],
                    "Section 3-2: what is no IPv6 address is refused": [
                        " [::1", " ::1]", " []", " [a]", " [::1]a", " [::1]]", " [:::]", " [1::2::3]",
                        " [1:2:3:4:5:6:7]", " [1:2:3:4:5:6:7:8:9]", " [1:2:3:4::5:6:7:8]", " [12345::]", " [::1.2.3]",
                        " [::1.2.3.256]", " [::01.2.3.4]", " [1.2.3.4::]", " [1.2.3.4]", " [::1%25eth0]", " [::1%eth0]",
                        " [v1.a]", " [:1]", " [1:]",
                    ],
                    "RFC 9110 section 4-2-4: user information in Host is refused":
                        [" u@a", " u:p@a", " @a", " a@b:80"],
                    "RFC 9110 section 4-2-1: an empty host is invalid in http": ["", " ", "\t"],
                    "Section 3-2: more than one Host is refused in any version":
                        [" a\r\nHost: a", " a\r\nhOST: b", " a\r\nX: y\r\nHost:"],
                ]
            ])
    }

    private static let missing = BrokenRule.all(
        in: "PUT / HTTP/1.1\r\n%\r\n",
        [.invalidHost: ["Section 3-2: a client of version 1-1 must name a host": ["X: y\r\n", ""]]])

    @Test(arguments: broken(in: "1.0") + broken(in: "1.1") + missing)
    func `A host that breaks a rule is refused`(broken: BrokenRule) { broken.expectRefusals() }

    @Test func `RFC 9110 section 7-2: Host need not come first, and its name has no case`() {
        expect(ParserOutcome.requests("GET / HTTP/1.1\r\nX: y\r\nhOsT:\ta\t\r\n\r\n").map(\.authority), is: ["a"])
    }
}
