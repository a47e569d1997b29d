import JSON
import Support
import Testing

@Suite("Okta's sign-in page")
struct SignInPageTests {
    /// A page that a browser has open.
    private struct Opened {
        var browser: Browser
        let target: String
        let page: JSON

        /// What the page's form sends besides the user's choice.
        var hidden: [(String, String)] { ["tx", "csrf"].map { ($0, page[$0]?.string ?? "") } }

        mutating func send(
            _ items: [(String, String)], _ fields: World.Fields = []
        ) async throws -> ReceivedAnswer {
            try await browser.post(target, hidden + items, fields)
        }
    }

    /// A sign-in that has begun, with its first page.
    private func begin(
        _ depth: Depth = .pipeline, _ query: AuthorizeQuery = .auth, in browser: Browser? = nil
    ) async throws -> Opened {
        var browser = if let browser { browser } else { Browser(try await World(depth)) }
        try await browser.world.set("okta.login-mode", "page")
        let answer = try await browser.get(query.target())
        answer.expect(302, "")
        let target = try #require(answer["location"])
        #expect(target.wholeMatch(of: /\/login\/login\.htm\?tx=[A-Za-z0-9_-]{32}/) != nil)
        let page = try await browser.get(target, [Browser.json])
        page.expect(200)
        #expect(page["cache-control"] == "no-store")
        return Opened(browser: browser, target: target, page: page.json)
    }

    // MARK: - Signing in

    @Test("7.1: a user signs in with one button", arguments: Depth.allCases)
    func button(_ depth: Depth) async throws {
        var opened = try await begin(depth)
        #expect(opened.page["page"] == "sign-in")
        #expect(opened.page["users"]?.array?.count == 3)
        #expect(
            opened.page["users"]?.array?.first == [
                "login": "ada@example.test", "name": "Ada L", "status": "ACTIVE",
                "factors": ["push", "token:software:totp", "sms"],
            ])
        #expect(opened.page["client"] == ["id": .string(Example.native), "name": "Native app"])
        #expect(opened.page["request"]?["redirect_uri"] == "com.example.app:/callback")
        try await opened.send([("user", "ada@example.test")]).expectCode()
        // The session makes the next sign-in silent; the finished one cannot go on.
        try await opened.browser.get(AuthorizeQuery.auth.target()).expectCode()
        try await opened.send([("user", "ada@example.test")], [Browser.html]).expectPage(
            400, "login-unknown", "This sign-in is unknown, finished or too old.", because: "is finished; expected one")
    }

    @Test("login and password sign in, and a program gets the address", arguments: Depth.allCases)
    func password(_ depth: Depth) async throws {
        var opened = try await begin(depth, .auth.with([("login_hint", "cleo@example.test")]))
        let html = try await opened.browser.get(opened.target, [Browser.html])
        #expect(html.text.contains("value=\"cleo@example.test\""))
        let wrong = try await opened.send([("username", "Cleo@example.test"), ("password", "x"), ("action", "sign-in")])
        #expect(wrong.status == 200 && wrong.failure == "login-wrong")
        #expect(wrong.reason == "the password is not that of cleo@example.test; expected the user's own")
        #expect(wrong.text.contains("data-failure=\"login-wrong\">Unable to sign in</p>"))
        #expect(wrong.text.contains("value=\"Cleo@example.test\""))
        let right = try await opened.send(
            [("username", "Cleo@example.test"), ("password", "not-a-secret-2")], [Browser.json])
        right.expect(200)
        #expect(right.json["location"]?.string?.hasPrefix("com.example.app:/callback?code=") == true)
    }

    @Test("7.2: forged forms are refused, and users can refuse", arguments: Depth.allCases)
    func refusals(_ depth: Depth) async throws {
        var opened = try await begin(depth)
        let text = "This form does not belong to the sign-in that was begun in this browser."
        var stranger = opened
        stranger.browser.forget("understudy_tx")
        try await stranger.send([("user", "ada@example.test")]).expectPage(
            403, "login-forged", text, because: "found no cookie understudy_tx; expected")
        try await opened.send([("user", "ada@example.test")], [("Origin", "http://evil.example")]).expectPage(
            403, "login-forged", text, because: "found a form from http://evil.example; expected http://localhost:8080")
        try await opened.browser.post(
            opened.target, [opened.hidden[0], ("csrf", "x"), ("user", "ada@example.test")]
        ).expectPage(403, "login-forged", text, because: "found a csrf that does not fit")
        let ben = try await opened.send([("user", "ben@example.test")])
        #expect(ben.status == 200 && ben.failure == "login-wrong")
        #expect(ben.reason == "ben@example.test is SUSPENDED; expected ACTIVE")
        #expect(ben.text.contains("data-failure=\"login-wrong\""))
        try await opened.send([("user", "ben@example.test")], [Browser.json]).expect(
            400, #"{"failure":"login-wrong"}"#, "login-wrong")
        try await opened.send(
            [("action", "refuse"), ("error", "access_denied")], [("Origin", "null"), ("Sec-Fetch-Site", "same-origin")]
        ).expectRedirect(
            "error=access_denied&error_description=The+resource+owner+or+authorization+server+denied+the+request.&state=s1",
            "access-denied", because: "the user chose access_denied on the sign-in page")
        let over = try await opened.browser.get(opened.target)
        #expect(over.failure == "login-unknown")
    }

    @Test(
        "each error of the list reaches the client",
        arguments: ["login_required", "server_error", "temporarily_unavailable"])
    func errors(_ error: String) async throws {
        var opened = try await begin()
        let answer = try await opened.send([("action", "refuse"), ("error", error)])
        #expect(answer["location"]?.hasPrefix("com.example.app:/callback?error=\(error)&error_description=") == true)
        var other = try await begin()
        let unknown = try await other.send([("action", "refuse"), ("error", "nope")])
        #expect(unknown.status == 400 && unknown.failure == "body-invalid")
    }

    @Test("7.3: guests have the subject and claims that were typed, for one code", arguments: Depth.allCases)
    func guests(_ depth: Depth) async throws {
        var opened = try await begin(depth)
        let world = opened.browser.world
        let code = try await opened.send([("subject", "guest-7"), ("id_claims", #"{"role":"admin"}"#)]).expectCode()
        let first = try await opened.browser.redeem(code).claims(of: "id_token")
        #expect(first["sub"] == "guest-7" && first["role"] == "admin")
        var again = try await begin(in: Browser(world))
        let next = try await again.send([("subject", "guest-7")]).expectCode()
        let second = try await again.browser.redeem(next)
        #expect(second.claims(of: "id_token")["role"] == nil)
        var wrong = try await begin(in: Browser(world))
        for (claims, reason) in [
            ("[1]", "id_claims is a JSON array; expected"), ("{", "id_claims is not JSON"),
            (#"{"a":1,"a":2}"#, "has a member twice"),
        ] {
            let answer = try await wrong.send([("subject", "guest-7"), ("id_claims", claims)])
            #expect(answer.status == 200 && answer.failure == "login-claims-invalid")
            #expect(answer.text.contains("data-failure=\"login-claims-invalid\""))
            #expect(answer.reason?.contains(reason) == true, "\(answer.reason ?? "")")
        }
    }

    @Test("sign-ins are unknown after an hour, and without a page nobody is asked")
    func ends() async throws {
        var opened = try await begin()
        try await opened.browser.world.advance("1h")
        try await opened.browser.get(opened.target).expectPage(
            400, "login-unknown", "This sign-in is unknown, finished or too old.",
            because: "the sign-in began 2027-01-15T08:00:00.000Z")
        let silent = try await opened.browser.get(AuthorizeQuery.auth.with([("prompt", "none")]).target())
        #expect(silent.failure == "login-required")
        let nowhere = try await opened.browser.get("/login/login.htm")
        nowhere.expect(200)
        let style = try await opened.browser.get("/login/page.css")
        style.expect(200)
        #expect(style["content-type"] == "text/css; charset=utf-8")
    }

    // MARK: - Second factor and consent

    @Test("a second factor is asked for when acr_values wants one", arguments: Depth.allCases)
    func secondFactor(_ depth: Depth) async throws {
        var opened = try await begin(depth, .auth.with([("acr_values", "urn:okta:loa:2fa:any")]))
        let page = try await opened.send([("user", "ada@example.test")], [Browser.json])
        page.expect(200)
        #expect(page.json["page"] == "second-factor" && page.json["user"] == "ada@example.test")
        #expect(
            page.json["factors"]?.array?.compactMap { $0["type"]?.string } == ["push", "token:software:totp", "sms"])
        let totp = ("factor", "ostunderstudyada0001")
        let wrong = try await opened.send([totp, ("passcode", "000000"), ("action", "verify")])
        #expect(wrong.status == 200 && wrong.failure == "factor-code-wrong")
        #expect(wrong.text.contains("data-failure=\"factor-code-wrong\">Invalid Passcode/Answer</p>"))
        #expect(wrong.reason?.hasPrefix("the passcode is not that of ostunderstudyada0001; expected") == true)
        let code = try await opened.send([totp, ("passcode", "309848"), ("action", "verify")]).expectCode()
        let claims = try await opened.browser.redeem(code).claims(of: "id_token")
        #expect(claims["amr"] == ["mfa", "otp", "pwd"] && claims["acr"] == "urn:okta:loa:2fa:any")
    }

    @Test("a push is waited for, and its answer decides", arguments: ["APPROVE", "DENY"])
    func push(_ result: String) async throws {
        var opened = try await begin(.pipeline, .auth.with([("acr_values", "urn:okta:loa:2fa:any")]))
        _ = try await opened.send([("user", "ada@example.test")])
        let waiting = try await opened.send([("factor", Example.push), ("action", "send")])
        waiting.expect(200)
        #expect(waiting["refresh"] == "5" && waiting.text.contains("data-waiting=\"push\""))
        let still = try await opened.browser.get(opened.target)
        #expect(still.status == 200 && still["refresh"] == "5")
        let answered = try await opened.browser.world.perform(
            "answer-push", ["user": "ada@example.test", "result": .string(result)])
        #expect(answered.status == 200, "\(answered.text)")
        let next = try await opened.browser.get(opened.target)
        if result == "APPROVE" {
            let claims = try await opened.browser.redeem(next.expectCode()).claims(of: "id_token")
            #expect(claims["amr"] == ["mfa", "pwd", "swk"])
        } else {
            #expect(next.status == 200 && next["refresh"] == nil)
            #expect(next.text.contains("data-failure=\"direct-oob-rejected\""))
        }
    }

    @Test("a user who gives up at the second factor, or has none, is refused")
    func noFactor() async throws {
        let query = AuthorizeQuery.auth.with([("acr_values", "urn:okta:loa:2fa:any")])
        var opened = try await begin(.pipeline, query)
        _ = try await opened.send([("user", "ada@example.test")])
        let cancelled = try await opened.send([("action", "cancel")])
        #expect(
            cancelled.failure == "access-denied"
                && cancelled.reason?.hasPrefix("the user gave up at the second factor") == true)
        var other = try await begin(.pipeline, query)
        let unmet = try await other.send([("user", "cleo@example.test")])
        #expect(unmet.failure == "acr-unmet" && unmet.reason?.contains("the user has no active factor") == true)
        #expect(unmet["location"]?.contains("error=unmet_authentication_requirements") == true)
    }

    @Test("consent is asked once, and can be refused", arguments: Depth.allCases)
    func consent(_ depth: Depth) async throws {
        let spa = "http://localhost:3000/spa"
        var opened = try await begin(depth, .spa)
        let page = try await opened.send([("user", "ada@example.test")], [Browser.json])
        #expect(page.json["page"] == "consent")
        #expect(
            page.json["scopes"] == [["name": "trips.share", "text": "Share your trips with others", "required": true]])
        var denied = try await begin(depth, .spa)
        _ = try await denied.send([("user", "ada@example.test")])
        try await denied.send([("action", "deny")]).expectRedirect(
            "error=access_denied&error_description=The+resource+owner+or+authorization+server+denied+the+request.&state=s1",
            "access-denied", at: spa, because: "the user did not consent")
        try await opened.send([("action", "allow")]).expectCode(at: spa)
        try await opened.browser.get(AuthorizeQuery.spa.with([("prompt", "none")]).target()).expectCode(at: spa)
        let asked = try await opened.browser.get(AuthorizeQuery.spa.with([("prompt", "consent")]).target())
        #expect(asked["location"]?.hasPrefix("/login/login.htm?tx=") == true)
    }

    @Test("a device's user signs in on the page, too", arguments: [true, false])
    func device(_ isAllowed: Bool) async throws {
        var browser = Browser(try await World())
        try await browser.world.set("okta.login-mode", "page")
        let device = try await browser.post(
            Example.custom + "/device/authorize", [("client_id", Example.tv), ("scope", "openid")])
        let userCode = try #require(device.json["user_code"]?.string)
        let start = try await browser.get("/activate", [Browser.json])
        let hidden = ["tx", "csrf"].map { ($0, start.json[$0]?.string ?? "") }
        let sent = try await browser.post("/activate", hidden + [("user_code", userCode)])
        let target = try #require(sent["location"], "\(sent.text)")
        let page = try await browser.get(target, [Browser.json])
        #expect(page.json["request"]?["redirect_uri"] == JSON.null)
        var opened = Opened(browser: browser, target: target, page: page.json)
        let choice = isAllowed ? [("user", "cleo@example.test")] : [("action", "refuse"), ("error", "access_denied")]
        let done = try await opened.send(choice)
        #expect(done.status == 200)
        #expect(done.text.contains(isAllowed ? "Device activated" : "Device not activated"))
        let poll = try await browser.world.token(
            "grant_type=urn:ietf:params:oauth:grant-type:device_code&client_id=\(Example.tv)&device_code="
                + (device.json["device_code"]?.string ?? ""))
        #expect(poll.failure == (isAllowed ? nil : "device-denied"))
        if isAllowed { #expect(poll.claims(of: "id_token")["sub"] == .string(Example.cleo)) }
    }

    @Test("pages of a sandbox that the path names lead back to it")
    func prefix() async throws {
        let world = try await World()
        try await world.set("okta.login-mode", "page")
        let answer = try await world.bare(.get, "/~\(world.name)" + AuthorizeQuery.auth.target())
        #expect(answer["location"]?.hasPrefix("/~\(world.name)/login/login.htm?tx=") == true)
        // A client's own mode beats the switch only if it has one.
        let page = try await world.bare(.get, answer["location"] ?? "")
        #expect(page.status == 200)
    }
}
