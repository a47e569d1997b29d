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
