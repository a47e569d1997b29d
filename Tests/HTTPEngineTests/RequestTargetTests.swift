import Testing
import Wire

@testable import HTTPEngine

/// The target of a request; each test names its section of RFC 9112, or another source.
@Suite struct RequestTargetTests {
    private func targets(_ line: String, at location: SourceLocation = #_sourceLocation) -> [String] {
        ParserOutcome.requests("\(line) HTTP/1.1\r\nHost: h\r\n\r\n", at: location).map(\.target)
    }

    @Test(arguments: ["/a b", "/ ", "/a\tb", "/\u{A0}", "/\u{0B}"])
    func `Section 3-2: blanks in a target are not repaired`(target: String) {
        #expect(ParserOutcome.of(line: "GET \(target) HTTP/1.1") == [.refusal(.malformedTarget)])
    }

    @Test(arguments: ["/ HTTP/1.1 HTTP/1.1", "//[ HTTP/1.1"])
    func `Section 3-2: a second version is no part of a target`(target: String) {
        #expect(ParserOutcome.of(line: "GET \(target) HTTP/1.1") == [.refusal(.malformedTarget)])
    }

    @Test(arguments: ["/\0", "/\u{01}", "/\u{1B}[0m", "/\u{7F}", "/ä", "/\u{2028}", "/#a", "/?#", "#"])
    func `Section 3-2: control characters, bytes beyond ASCII and fragments make no target`(target: String) {
        #expect(ParserOutcome.of(line: "GET \(target) HTTP/1.1") == [.refusal(.malformedTarget)])
    }

    @Test(arguments: ["a", "?a", ".", "../a", "\\", "%2F", "@a/", "a:80", "a/b", "GET"])
    func `Section 3-2: what is in none of the four forms is refused`(target: String) {
        #expect(ParserOutcome.of(line: "GET \(target) HTTP/1.1") == [.refusal(.malformedTarget)])
    }

    @Test(arguments: [
        "/", "//", "//a//b", "/a/../b", "/.", "/%2F%41", "/%2500", "/%00", "/a%00.b?c=%00", "/a;b=c", "/?", "/?a=?/b",
        "/:@!$&'()*+,;=",
    ])
    func `Section 3-2-1: origin form comes as it was sent`(target: String) {
        #expect(targets("GET \(target)") == [target])
    }

    @Test(arguments: ["[", "]", "^", "{", "}", "|", "\"", "<", ">", "\\", "`", "%", "%zz"])
    func `Section 3-2-1: what real clients leave bare comes as it was sent`(part: String) {
        #expect(targets("GET /a\(part)?b=\(part)") == ["/a\(part)?b=\(part)"])
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
            #expect(requests.map(\.target) == [origin])
            #expect(requests.map(\.authority) == [authority])
        }
    }

    @Test(arguments: ["", "Host:\r\n", "Host: a\r\nHost: a\r\n", "Host: a b\r\n"])
    func `Section 3-2-2: absolute form needs a valid Host all the same`(fields: String) {
        #expect(ParserOutcome.parse("GET http://a/ HTTP/1.1\r\n\(fields)\r\n") == [.refusal(.invalidHost)])
    }

    @Test(arguments: [
        "http:/a", "http:a", "http://", "http:///a", "http://?a", "http://:80/", "http://a:b/", "http://a:65536/",
        "http://a:8:0/", "http://a\\b/", "http://a,b/", "http://%61/", "http://[::1/", "http://[a]/", "http://a]/",
        "://a/",
    ])
    func `Section 3-2-2: absolute form without a valid authority is refused`(target: String) {
        #expect(ParserOutcome.of(line: "GET \(target) HTTP/1.1") == [.refusal(.malformedTarget)])
    }

    @Test(arguments: ["ftp://a/", "ws://a/", "file:///a", "httpx://a/", "urn:a", "javascript://a/"])
    func `RFC 9110 section 4-2: another scheme is none of ours`(target: String) {
        #expect(ParserOutcome.of(line: "GET \(target) HTTP/1.1") == [.refusal(.malformedTarget)])
    }

    @Test(arguments: ["http://u@a/", "http://u:p@a/", "http://@a/", "http://a@b:80/"])
    func `RFC 9110 section 4-2-4: user information in a target is refused`(target: String) {
        #expect(ParserOutcome.of(line: "GET \(target) HTTP/1.1") == [.refusal(.malformedTarget)])
    }

    @Test(arguments: ["https://a/", "HTTPS://a"])
    func `RFC 9110 section 7-4: an https target is for secured connections only`(target: String) {
        #expect(ParserOutcome.of(line: "GET \(target) HTTP/1.1") == [.refusal(.insecureTarget)])
        let connection = Request.Connection(remoteAddress: "127.0.0.1", isSecure: true)
        let text = "GET \(target) HTTP/1.1\r\nHost: h\r\n\r\n"
        let outcomes = ParserOutcome.parse(Array(text.utf8), connection: connection)
        guard case .request(let request) = outcomes.first else {
            Issue.record("\(outcomes)")
            return
        }
        #expect(request.target == "/")
        #expect(request.authority == "a")
    }

    @Test(arguments: ["GET", "POST", "OPTIONS"])
    func `Section 3-2-3: authority form is for CONNECT only`(method: String) {
        #expect(ParserOutcome.of(line: "\(method) a:80 HTTP/1.1") == [.refusal(.malformedTarget)])
    }

    @Test(arguments: ["a:80", "[::1]:80", "a", "http://a/", "*", "/"])
    func `RFC 9110 section 9-3-6: CONNECT is for proxies, whatever its target`(target: String) {
        #expect(ParserOutcome.of(line: "CONNECT \(target) HTTP/1.1") == [.refusal(.unknownMethod)])
    }

    @Test func `Section 3-2-4: an asterisk asks about the whole server`() {
        #expect(targets("OPTIONS *") == ["*"])
    }

    @Test func `Section 3-2-4: OPTIONS of an absolute form without path is the asterisk that a proxy makes of it`() {
        let requests = ParserOutcome.requests("OPTIONS http://a:80 HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(requests.map(\.target) == ["*"])
        #expect(requests.map(\.authority) == ["a:80"])
        #expect(targets("OPTIONS http://a/") == ["/"])
        #expect(targets("OPTIONS http://a?q") == ["/?q"])
    }

    @Test(arguments: ["GET *", "POST *", "HEAD *", "OPTIONS **", "OPTIONS *?a", "OPTIONS */a"])
    func `Section 3-2-4: an asterisk stands alone and with OPTIONS only`(line: String) {
        #expect(ParserOutcome.of(line: line + " HTTP/1.1") == [.refusal(.malformedTarget)])
    }
}
