import JSON
import Support
import Testing

/// Whatever is sent to the routes of browsers, the answer is a page, a redirect to a registered address, or a refusal.
@Suite("Okta's routes of browsers take anything")
struct AuthorizePropertyTests {
    private static let names =
        AuthorizeQuery.auth.items.map(\.0) + [
            "prompt", "max_age", "acr_values", "login_hint", "sessionToken", "request_uri", "request", "response_mode",
            "tx", "csrf", "user", "username", "password", "subject", "id_claims", "access_claims", "action", "error",
            "factor", "passcode", "id_token_hint", "post_logout_redirect_uri", "user_code",
        ]
    private static let values = [
        "", " ", "a", "none", "login consent", "0", "-1", "99999999999999999999", "form_post", "okta_post_message",
        "fragment", "é\u{301}😀", "\0", "\r\nx: y", "<script>", "{}", "[", "urn:okta:loa:2fa:any",
        "com.example.app:/callback",
        "http://localhost:3000/spa", Example.spa, Example.web, Example.bank, "openid trips.share", "refuse", "allow",
        "verify", "send", "sign-in", "ada@example.test", "cleo@example.test", "%", "a.b.c",
        String(repeating: "x", count: 2000),
    ]

    @Test("no input yields a 5xx or leads elsewhere", arguments: 1...12)
    func anything(_ seed: Int) async throws {
        var generator = Generator(state: UInt64(seed))
        var browser = Browser(try await World())
        if seed.isMultiple(of: 2) { try await browser.world.set("okta.login-mode", "page") }
        var page: [(String, String)] = []
        for _ in 1...60 {
            var query = AuthorizeQuery.auth
            for _ in 0..<Int.random(in: 0...5, using: &generator) {
                guard let name = Self.names.randomElement(using: &generator),
                    let value = Self.values.randomElement(using: &generator)
                else { continue }
                query = Bool.random(using: &generator) ? query.with([(name, value)]) : query.adding(name, value)
            }
            let path = ["/authorize", "/logout", "/par"].randomElement(using: &generator) ?? ""
            let isForPage = Int.random(in: 0...2, using: &generator) == 0
            let target =
                isForPage
                ? ["/login/login.htm", "/activate"][Int.random(in: 0...1, using: &generator)] : Example.custom + path
            let items = (isForPage ? page : []) + query.items
            let fields = Bool.random(using: &generator) ? [Browser.json] : []
            let answer =
                Bool.random(using: &generator)
                ? try await browser.post(target, items, fields)
                : try await browser.get("\(target)?\(Browser.form(items))", fields)
            #expect(answer.status < 500, "\(target) \(items)")
            if let location = answer["location"] {
                let known = ["com.example.app:/callback", "http://localhost:3000/", "/login/login.htm"]
                #expect(known.contains(where: location.hasPrefix), "\(location)")
                if location.hasPrefix("/login") {
                    let shown = try await browser.get(location, [Browser.json])
                    page = ["tx", "csrf"].compactMap { name in shown.json[name]?.string.map { (name, $0) } }
                }
            }
            #expect(answer.failure == nil || answer.reason != nil, "\(answer.failure ?? "") has no reason")
        }
    }

    /// Steele, Lea and Flood's generator, so that a failure can be repeated.
    private struct Generator: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
            return mixed ^ mixed >> 31
        }
    }
}

extension AuthorizeQuery {
    /// The same with a further member, even of a name that it has.
    fileprivate func adding(_ name: String, _ value: String) -> AuthorizeQuery {
        AuthorizeQuery(items: items + [(name, value)])
    }
}
