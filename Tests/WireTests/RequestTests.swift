import HTTPTypes
import JSON
import Testing
import Wire

@Suite struct RequestTests {
    @Test(arguments: [
        ("/a/b", "/a/b", nil), ("/a?b=c", "/a", "b=c"), ("/a?", "/a", ""), ("/?a?b", "/", "a?b"),
        ("/%3F?%3f", "/%3F", "%3f"), ("/a?\u{301}b", "/a", "\u{301}b"),
    ])
    func `The first question mark parts path and query`(target: String, path: String, query: String?) {
        let request = Request(method: .get, target: target)
        #expect(request.path.unicodeScalars.elementsEqual(path.unicodeScalars))
        #expect(request.query.map { Array($0.utf8) } == query.map { Array($0.utf8) })
    }

    @Test func `A response with JSON carries its bytes and says so`() {
        let response = Response.json(["a": 1], status: .created)
        #expect(response.status == .created)
        #expect(response.fields[.contentType] == "application/json; charset=utf-8")
        #expect(String(decoding: response.body, as: UTF8.self) == #"{"a":1}"#)
    }

    @Test func `A response with text carries its bytes and says so`() {
        let response = Response.text("ä")
        #expect(response.status == .ok)
        #expect(response.fields[.contentType] == "text/plain; charset=utf-8")
        #expect(response.body == [0xC3, 0xA4])
    }

    @Test func `An empty response has neither content nor fields`() {
        let response = Response.empty()
        #expect(response.status == .noContent)
        #expect(response.fields.isEmpty)
        #expect(response.body.isEmpty)
    }

    @Test(arguments: [
        ("/~a/b", true), ("/~", true), ("/", false), ("/a~", false), ("~/", false), ("", false), ("/\u{334}~", false),
    ])
    func `A target begins with a text byte by byte`(target: String, begins: Bool) {
        #expect(Request(method: .get, target: target).targetBegins(with: "/~") == begins)
    }
}

@Suite struct FieldLinesTests {
    @Test func `A field is found whatever the case of its letters`() {
        let fields: FieldLines = ["CONTENT-type": "text/plain"]
        #expect(fields[.contentType] == "text/plain")
        #expect(fields[.contentLength] == nil)
    }

    @Test func `Lines of one name are joined by comma and blank, and can be read one by one`() {
        let fields: FieldLines = ["Accept": "a", "From": "f", "accept": "b"]
        #expect(fields[.accept] == "a, b")
        #expect(fields.bytes(of: .accept).map { Array($0) } == Array("a, b".utf8))
        #expect(fields.bytes(of: .from).map { Array($0) } == Array("f".utf8))
        #expect(fields.bytes(of: .cookie) == nil)
        #expect(fields.values(of: .accept) == ["a", "b"])
        #expect(fields.count(of: .accept) == 2)
        #expect(fields.count(of: .from) == 1)
        #expect(fields.count(of: .cookie) == 0)
    }

    @Test func `Lines keep their order and their spelling`() {
        let fields: FieldLines = ["B": "1", "a": "2"]
        #expect(fields.map(\.name) == ["B", "a"])
        #expect(fields.map(\.value) == ["1", "2"])
    }

    @Test func `A name that only begins like the one asked for is another name`() {
        let fields: FieldLines = ["Accept-Language": "de", "Accep": "x"]
        #expect(fields[.accept] == nil)
    }

    @Test func `Lines lie in a buffer that holds more than them`() {
        let bytes = Array("GET / HTTP/1.1\r\nFrom:  a \r\n".utf8)
        let fields = FieldLines(bytes: bytes, lines: [FieldLines.Line(name: 16..<20, value: 23..<24)])
        #expect(fields[.from] == "a")
    }

    @Test func `An empty value is there`() {
        let fields: FieldLines = ["From": ""]
        #expect(fields[.from]?.isEmpty == true)
    }
}

@Suite("Answers and web pages") struct PageTests {
    private func lines(_ response: Response) -> [String] { response.fields.map { "\($0.name.rawName): \($0.value)" } }

    private static let closed = [
        "X-Content-Type-Options: nosniff", "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'",
        "X-Frame-Options: DENY", "Cross-Origin-Resource-Policy: same-origin",
    ]

    @Test(
        "an answer that is closed to pages keeps what it had",
        arguments: [
            (Response.json([:]), ["Content-Type: application/json; charset=utf-8"]),
            (.json([:], status: .notFound), ["Content-Type: application/json; charset=utf-8"]),
            (.text("x"), ["Content-Type: text/plain; charset=utf-8"]), (.empty(), []),
            (Response(status: .ok, fields: [.allow: "GET"]), ["Allow: GET"]),
        ])
    func closed(_ response: Response, _ before: [String]) {
        var closed = response
        closed.closeToPages()
        #expect(lines(closed) == before + Self.closed)
        #expect(closed.status == response.status)
        #expect(closed.body == response.body)
        closed.closeToPages()
        #expect(lines(closed) == before + Self.closed, "once is enough")
    }

    @Test("a page that is meant to be one keeps its own policy") func ownPolicy() {
        var page = Response(status: .ok, fields: [.contentSecurityPolicy: "default-src 'self'"])
        page.closeToPages()
        #expect(page.fields[.contentSecurityPolicy] == "default-src 'self'")
        page.refuseFrames()
        #expect(page.fields[.contentSecurityPolicy] == "default-src 'self'")
        #expect(lines(page).contains("X-Frame-Options: DENY"))
    }
}
