import HTTPTypes
import Testing
import Wire

/// What an answer tells a browser.
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

    @Test("a page that is meant to be one keeps its own policy")
    func ownPolicy() {
        var page = Response(status: .ok, fields: [.contentSecurityPolicy: "default-src 'self'"])
        page.closeToPages()
        #expect(page.fields[.contentSecurityPolicy] == "default-src 'self'")
        page.refuseFrames()
        #expect(page.fields[.contentSecurityPolicy] == "default-src 'self'")
        #expect(lines(page).contains("X-Frame-Options: DENY"))
    }
}
