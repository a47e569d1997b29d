import Expectations
import JSON
import Mutations
import Support
import Testing
import Wire

@testable import Okta

@Suite("Okta's authorization endpoint") struct AuthorizeTests {
    private static let denied =
        "error=access_denied&error_description=The+resource+owner+or+authorization+server+denied+the+request.&state=s1"

    struct Mistake: Sendable, CustomStringConvertible {
        let description: String
        let query: Parameters
        let location: String
        let failure: String

        init(_ query: Parameters, _ location: String, _ failure: String, because reason: String) {
            (self.query, self.location, self.failure, description) = (query, location, failure, reason)
        }
    }

    static let table = [
        Mistake(
            .authorize.with("state", String(repeating: "s", count: 1001)),
            "error=invalid_request&error_description=The+authentication+request+has+an+invalid+%27state%27+parameter.",
            "state-invalid", because: "state has 1001 characters; expected at most 1000"),
        // It is not sent back.
        Mistake(
            Parameters.authorize + [("state", "s2")],
            "error=invalid_request&error_description=The+request+contained+multiple+parameters+with+the+same+name.",
            "parameter-duplicate", because: "found state more than once"),
        Mistake(
            .authorize.with("prompt", "none login"),
            "error=invalid_request&error_description=Invalid+value+for+%27prompt%27+parameter.+"
                + "Supported+values%3A+%5Bnone%2C+login%2C+consent%5D&state=s1",
            "prompt-invalid", because: "found none login; expected"),
        Mistake(
            .authorize.with([("acr_values", "urn:okta:loa:2fa:any"), ("login_hint", "cleo@example.test")]),
            "error=unmet_authentication_requirements&error_description=Unable+to+meet+the+authentication+requirements+"
                + "imposed+by+%27acr_values%27+parameter.&state=s1",
            "acr-unmet", because: "the user has no active TOTP factor"),
        Mistake(
            .authorize.with("login_hint", "ada@example.tets"), denied, "access-denied",
            because: "the login or id of a user; did you mean “ada@example.test”?"),
        Mistake(
            .authorize.with("login_hint", "nobody@example.test"), denied, "access-denied",
            because: "found login_hint nobody@example.test; expected the login or id of a user"),
    ]

    @Test("7: the client is told what is wrong with its request", arguments: table)
    func mistakes(_ mistake: Mistake) async throws {
        try await World().authorize(mistake.query).expectRedirect(
            mistake.location, mistake.failure, because: mistake.description)
    }

    // MARK: - Sessions, age and assurance

    @Test("a sandbox that the path selects has cookies of its own, and those over TLS never leave it")
    func cookies() async throws {
        let world = try await World()
        let answer = try await world.bare(.get, "/~\(world.name)" + Parameters.authorize.target())
        expect(answer["set-cookie"]?.hasSuffix("; Path=/~\(world.name)/; HttpOnly; SameSite=Lax"), is: true)
        let request = Request(
            method: .get, target: "/", authority: "localhost", fields: FieldLines([]),
            connection: Request.Connection(remoteAddress: "127.0.0.1", isSecure: true))
        expect(
            OktaPageSeal.attributes(of: request, at: "https://localhost:8443"),
            is: "; Path=/; HttpOnly; SameSite=Lax; Secure")
    }

    @Test("a session signs in silently, until it is too old or a new sign-in is wanted") func sessions() async throws {
        var browser = Browser(try await World())
        let silent = Parameters.authorize.with("prompt", "none")
        let answer = try await browser.get(Parameters.authorize.target())
        answer.expectCode()
        expect(answer["set-cookie"]?.hasSuffix("; Path=/; HttpOnly; SameSite=Lax"), is: true)
        let first = browser.cookies["sid"]
        try await browser.get(silent.target()).expectCode()
        expect(browser.cookies["sid"], is: first)
        try await browser.world.advance("61s")
        try await browser.get(silent.with("max_age", "61").target()).expectCode()
        try await browser.get(Parameters.authorize.with("max_age", "60").target()).expectCode()
        #expect(browser.cookies["sid"] != first)
        let second = browser.cookies["sid"]
        try await browser.get(Parameters.authorize.with("prompt", "login").target()).expectCode()
        #expect(browser.cookies["sid"] != second)
    }

    @Test("6.3: a second factor is met by the user's TOTP") func assurance() async throws {
        var browser = Browser(try await World())
        let query = Parameters.authorize.with("acr_values", "x urn:okta:loa:2fa:any")
        let code = try await browser.get(query.target()).expectCode()
        let claims = try await browser.redeem(code).claims(of: "id_token")
        expect(claims["acr"], is: "urn:okta:loa:2fa:any")
        expect(claims["amr"], is: ["mfa", "otp", "pwd"])
        // The session is strong now; one of a single factor is not, when nobody may be asked.
        try await browser.get(query.with("prompt", "none").target()).expectCode()
        var other = Browser(browser.world)
        try await other.get(Parameters.authorize.target()).expectCode()
        let weak = try await other.get(query.with("prompt", "none").target())
        expect(weak.failure, is: "reauthentication-required")
        let ifPossible = Parameters.authorize.with([
            ("acr_values", "urn:okta:loa:2fa:any:ifpossible"), ("login_hint", "cleo@example.test"),
        ])
        let redeemed = try await other.world.token(.redeem(other.world.code(ifPossible)))
        expect(redeemed.claims(of: "id_token")["amr"], is: ["pwd"])
    }

    // MARK: - Ways back to the client

    @Test("an error comes in the response mode that the client asked for") func modes() async throws {
        let query = Parameters.authorizing(Example.spa, "http://localhost:3000/spa").with([
            ("state", "<\"&'"), ("response_mode", "okta_post_message"), ("response_type", "token"),
        ])
        let message = try await World().authorize(query, .json)
        expect(message.failure, is: "response-type-unsupported")
        expect(message.json["origin"], is: "http://localhost:3000")
        expect(message.json["message"]?["error"], is: "unsupported_response_type")
        expect(message.json["message"]?["state"], is: "<\"&'")
    }

    @Test("the port of a loopback address is free for native apps only") func loopback() async throws {
        let world = try await World()
        for (uri, isAllowed) in [
            ("http://localhost:3000/callback", true), ("http://localhost:3001/callback", false),
            ("http://localhost/callback", false), ("http://localhost:3000/callback/", false),
        ] {
            let answer = try await world.authorize(.authorizing(Example.web, uri))
            expect(answer.failure, is: (isAllowed ? nil : "redirect-uri-illegal"), "\(uri)")
        }
    }

    @Test("who needs a challenge by switch pkce alone is told so") func pkce() async throws {
        let world = try await World()
        try await world.set("okta.pkce", "always")
        let query = Parameters.authorizing(Example.web, "http://localhost:3000/callback").withoutPKCE
        let refused = try await world.authorize(query)
        expect(refused.failure, is: "pkce-challenge-missing")
        expect(refused.reason?.hasSuffix("since switch pkce is always"), is: true)
    }
}

extension Browser {
    func redeem(_ code: String) async throws -> ReceivedAnswer {
        let answer = try await world.token(.redeem(code))
        answer.expect(200)
        return answer
    }
}

/// Whatever is sent to the routes of browsers, the answer is a page, a redirect to a registered address, or a refusal.
@Suite("Okta's routes of browsers take anything") struct AuthorizePropertyTests {
    private static let names =
        Parameters.authorize.map(\.0) + [
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

    @Test("no input yields a 5xx or leads elsewhere", arguments: 1...12) func anything(_ seed: Int) async throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        var browser = Browser(try await World())
        if seed.isMultiple(of: 2) { try await browser.world.set("okta.login-mode", "page") }
        var page: [(String, String)] = []
        for _ in 1...60 {
            var query = Parameters.authorize
            for _ in 0..<Int.random(in: 0...5, using: &generator) {
                guard let name = Self.names.randomElement(using: &generator),
                    let value = Self.values.randomElement(using: &generator)
                else { continue }
                query = Bool.random(using: &generator) ? query.with([(name, value)]) : query + [(name, value)]
            }
            let path = ["/authorize", "/logout", "/par"].randomElement(using: &generator) ?? ""
            let isForPage = Int.random(in: 0...2, using: &generator) == 0
            let target =
                isForPage
                ? ["/login/login.htm", "/activate"][Int.random(in: 0...1, using: &generator)] : Example.custom + path
            let items = (isForPage ? page : []) + query
            let fields = Bool.random(using: &generator) ? [Browser.json] : []
            let answer =
                Bool.random(using: &generator)
                ? try await browser.post(target, items, fields)
                : try await browser.get("\(target)?\(items.text)", fields)
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
}
