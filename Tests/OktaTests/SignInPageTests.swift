import Expectations
import JSON
import Support
import Testing

@Suite("Okta's sign-in page") struct SignInPageTests {
    private struct Opened {
        var browser: Browser
        let target: String
        let page: World.Page

        mutating func send(_ items: Parameters) async throws -> ReceivedAnswer {
            try await browser.post(target, page.form(items))
        }
    }

    private func begin(_ query: Parameters = .authorize) async throws -> Opened {
        var browser = Browser(try await World())
        try await browser.world.set("okta.login-mode", "page")
        let answer = try await browser.get(query.target())
        answer.expect(302, "")
        let target = try #require(answer["location"])
        #expect(target.wholeMatch(of: /\/login\/login\.htm\?tx=[A-Za-z0-9_-]{32}/) != nil)
        let page = try await browser.get(target, [Browser.json])
        page.expect(200)
        expect(page["cache-control"], is: "no-store")
        return Opened(browser: browser, target: target, page: World.Page(page))
    }

    // MARK: - Signing in

    @Test("sign-ins are unknown after an hour, and without a page nobody is asked") func ends() async throws {
        var opened = try await begin()
        try await opened.browser.world.advance("1h")
        try await opened.browser.get(opened.target).expectPage(
            400, "login-unknown", "This sign-in is unknown, finished or too old.",
            because: "the sign-in began 2027-01-15T08:00:00.000Z")
        let silent = try await opened.browser.get(Parameters.authorize.with("prompt", "none").target())
        expect(silent.failure, is: "login-required")
    }

    @Test("nothing that the page's own form sends is called unread") func unread() async throws {
        var opened = try await begin()
        let plain = try await opened.send([("user", "ada@example.test")])
        expect(plain.entry?.record.route, is: "login.submit")
        expect(opened.browser.world.masked(try #require(plain.entry))["note"], is: nil)
        var other = try await begin()
        let noted = try await other.send([("user", "ada@example.test"), ("usr", "x")])
        expect(other.browser.world.masked(try #require(noted.entry))["note"], is: #"unread: "usr" is read by nobody"#)
    }

    // MARK: - Second factor and consent

    @Test("a push is waited for, and an approval signs in with it") func push() async throws {
        var opened = try await begin(.authorize.with("acr_values", "urn:okta:loa:2fa:any"))
        _ = try await opened.send([("user", "ada@example.test")])
        let waiting = try await opened.send([("factor", Example.push), ("action", "send")])
        waiting.expect(200)
        #expect(waiting["refresh"] == "5" && waiting.text.contains("data-waiting=\"push\""))
        let still = try await opened.browser.get(opened.target)
        #expect(still.status == 200 && still["refresh"] == "5")
        try await opened.browser.world.perform("answer-push", ["user": "ada@example.test"]).expect(200)
        let code = try await opened.browser.get(opened.target).expectCode()
        expect(try await opened.browser.redeem(code).claims(of: "id_token")["amr"], is: ["mfa", "pwd", "swk"])
    }

    @Test("a user who gives up at the second factor, or has none, is refused") func noFactor() async throws {
        let query = Parameters.authorize.with("acr_values", "urn:okta:loa:2fa:any")
        var opened = try await begin(query)
        _ = try await opened.send([("user", "ada@example.test")])
        let cancelled = try await opened.send([("action", "cancel")])
        #expect(
            cancelled.failure == "access-denied"
                && cancelled.reason?.hasPrefix("the user gave up at the second factor") == true)
        var other = try await begin(query)
        let unmet = try await other.send([("user", "cleo@example.test")])
        #expect(unmet.failure == "acr-unmet" && unmet.reason?.contains("the user has no active factor") == true)
        expect(unmet["location"]?.contains("error=unmet_authentication_requirements"), is: true)
    }

    @Test("pages of a sandbox that the path names lead back to it") func prefix() async throws {
        let world = try await World()
        try await world.set("okta.login-mode", "page")
        let answer = try await world.bare(.get, "/~\(world.name)" + Parameters.authorize.target())
        expect(answer["location"]?.hasPrefix("/~\(world.name)/login/login.htm?tx="), is: true)
        // A client's own mode beats the switch only if it has one.
        let page = try await world.bare(.get, answer["location"] ?? "")
        expect(page.status, is: 200)
    }
}
