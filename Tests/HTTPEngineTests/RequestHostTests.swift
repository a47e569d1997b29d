import Testing

@testable import HTTPEngine

/// The host of a request; each test names its section of RFC 9112, or another source.
@Suite struct RequestHostTests {
    @Test(arguments: [
        "a", "a.b-c_d~e", "A.", "xn--bcher-kva.example", "127.0.0.1:8080", "a:", "a:0", "a:65535", "[::1]", "[::]",
        "[1:2:3:4:5:6:7:8]", "[1::8]:80", "[fe80::A]", "[::ffff:1.2.3.4]:65535", "[1:2:3:4:5:6:1.2.3.4]", "[1::]",
        "[::ffff:192.0.2.10]",
    ])
    func `Section 3-2: a host is a name or an address, with or without port`(host: String) {
        #expect(ParserOutcome.requests("GET / HTTP/1.1\r\nHost: \(host)\r\n\r\n").map(\.authority) == [host])
    }

    @Test func `Section 3-2: a client of version 1-1 must name a host`() {
        #expect(ParserOutcome.of(fields: "X: y") == [.refusal(.invalidHost)])
        #expect(ParserOutcome.parse("GET / HTTP/1.1\r\n\r\n") == [.refusal(.invalidHost)])
    }

    @Test func `Section 3-2: a client of version 1-0 need not name a host`() {
        let requests = ParserOutcome.requests("GET / HTTP/1.0\r\n\r\n")
        #expect(requests.map(\.authority) == [nil])
        #expect(requests.map(\.version) == ["HTTP/1.0"])
    }

    @Test(arguments: ["1.0", "1.1"], ["Host: a\r\nHost: a", "Host: a\r\nhOST: b", "Host: a\r\nX: y\r\nHost:"])
    func `Section 3-2: more than one Host is refused in any version`(version: String, fields: String) {
        #expect(ParserOutcome.of(fields: fields, version: version) == [.refusal(.invalidHost)])
    }

    @Test(arguments: [
        "a b", "a,b", "a, b", "a/b", "a?b", "a#b", "a\\b", "a\tb", "a%00", "a%41", "ä", "http://a", "a;b", "\"a\"",
        "<a>",
    ])
    func `Section 3-2: what is no host name is refused`(host: String) {
        #expect(ParserOutcome.of(fields: "Host: \(host)") == [.refusal(.invalidHost)])
        #expect(ParserOutcome.of(fields: "Host: \(host)", version: "1.0") == [.refusal(.invalidHost)])
    }

    @Test(arguments: [":80", "a:b", "a:65536", "a:000080", "a:-1", "a:+1", "a:80:80", "a:8 0", "a:٨", "::1"])
    func `Section 3-2: what is no port is refused`(host: String) {
        #expect(ParserOutcome.of(fields: "Host: \(host)") == [.refusal(.invalidHost)])
    }

    @Test(arguments: [
        "[::1", "::1]", "[]", "[a]", "[::1]a", "[::1]]", "[:::]", "[1::2::3]", "[1:2:3:4:5:6:7]", "[1:2:3:4:5:6:7:8:9]",
        "[1:2:3:4::5:6:7:8]", "[12345::]", "[::1.2.3]", "[::1.2.3.256]", "[::01.2.3.4]", "[1.2.3.4::]", "[1.2.3.4]",
        "[::1%25eth0]", "[::1%eth0]", "[v1.a]", "[:1]", "[1:]",
    ])
    func `Section 3-2: what is no IPv6 address is refused`(host: String) {
        #expect(ParserOutcome.of(fields: "Host: \(host)") == [.refusal(.invalidHost)])
    }

    @Test(arguments: ["u@a", "u:p@a", "@a", "a@b:80"])
    func `RFC 9110 section 4-2-4: user information in Host is refused`(host: String) {
        #expect(ParserOutcome.of(fields: "Host: \(host)") == [.refusal(.invalidHost)])
    }

    @Test(arguments: ["Host:", "Host: ", "Host:\t"])
    func `RFC 9110 section 4-2-1: an empty host is invalid in http`(fields: String) {
        #expect(ParserOutcome.of(fields: fields) == [.refusal(.invalidHost)])
    }

    @Test func `RFC 9110 section 7-2: Host need not come first, and its name has no case`() {
        #expect(ParserOutcome.requests("GET / HTTP/1.1\r\nX: y\r\nhOsT:\ta\t\r\n\r\n").map(\.authority) == ["a"])
    }
}
