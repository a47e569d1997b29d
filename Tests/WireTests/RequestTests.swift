import Expectations
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
        expect(Array(request.path.unicodeScalars), is: Array(path.unicodeScalars))
        expect(request.query.map { Array($0.utf8) }, is: query.map { Array($0.utf8) })
    }

    @Test(
        arguments: [
            (.json(["a": 1], status: .created), 201, [.contentType: "application/json; charset=utf-8"], #"{"a":1}"#),
            (.text("ä"), 200, [.contentType: "text/plain; charset=utf-8"], "ä"), (.empty(), 204, [:], ""),
        ] as [(Response, Int, HTTPFields, String)])
    func `A response carries its bytes and says what they are, and an empty one has no fields`(
        response: Response, status: Int, fields: HTTPFields, body: String
    ) {
        expect(response.status.code, is: status)
        expect(response.fields, is: fields)
        expect(response.body, is: Array(body.utf8))
    }

    @Test(arguments: [
        ("/~a/b", true), ("/~", true), ("/", false), ("/a~", false), ("~/", false), ("", false), ("/\u{334}~", false),
    ])
    func `A target begins with a text byte by byte`(target: String, begins: Bool) {
        expect(Request(method: .get, target: target).targetBegins(with: "/~"), is: begins)
    }
}

@Suite struct FieldLinesTests {
    @Test func `A field is found whatever the case of its letters`() {
        let fields: FieldLines = ["CONTENT-type": "text/plain"]
        expect(fields[.contentType], is: "text/plain")
        expect(fields[.contentLength], is: nil)
    }

    @Test func `Lines of one name are joined by comma and blank, and can be read one by one`() {
        let fields: FieldLines = ["Accept": "a", "From": "f", "accept": "b"]
        expect(fields[.accept], is: "a, b")
        expect(fields.bytes(of: .accept).map { Array($0) }, is: Array("a, b".utf8))
        expect(fields.bytes(of: .from).map { Array($0) }, is: Array("f".utf8))
        expect(fields.bytes(of: .cookie), is: nil)
        expect(fields.values(of: .accept), is: ["a", "b"])
        expect(fields.count(of: .accept), is: 2)
        expect(fields.count(of: .from), is: 1)
        expect(fields.count(of: .cookie), is: 0)
    }

    @Test func `Lines keep their order and their spelling`() {
        let fields: FieldLines = ["B": "1", "a": "2"]
        expect(fields.map(\.name), is: ["B", "a"])
        expect(fields.map(\.value), is: ["1", "2"])
    }

    @Test func `A name that only begins like the one asked for is another name`() {
        let fields: FieldLines = ["Accept-Language": "de", "Accep": "x"]
        expect(fields[.accept], is: nil)
    }

    @Test func `Lines lie in a buffer that holds more than them`() {
        let bytes = Array("GET / HTTP/1.1\r\nFrom:  a \r\n".utf8)
        let fields = FieldLines(bytes: bytes, lines: [FieldLines.Line(name: 16..<20, value: 23..<24)])
        expect(fields[.from], is: "a")
    }

    @Test func `An empty value is there`() {
        let fields: FieldLines = ["From": ""]
        expect(fields[.from]?.isEmpty, is: true)
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
        expect(lines(closed), is: before + Self.closed)
        expect(closed.status, is: response.status)
        expect(closed.body, is: response.body)
        closed.closeToPages()
        expect(lines(closed), is: before + Self.closed, "once is enough")
    }

    @Test("a page that is meant to be one keeps its own policy") func ownPolicy() {
        var page = Response(status: .ok, fields: [.contentSecurityPolicy: "default-src 'self'"])
        page.closeToPages()
        expect(page.fields[.contentSecurityPolicy], is: "default-src 'self'")
        page.refuseFrames()
        expect(page.fields[.contentSecurityPolicy], is: "default-src 'self'")
        expect(lines(page), contains: "X-Frame-Options: DENY")
    }
}
