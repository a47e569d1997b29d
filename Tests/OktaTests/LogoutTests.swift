import JSON
import Support
import Testing

@Suite("Okta's logout")
struct LogoutTests {
    private static let logout = Example.custom + "/logout"

    /// A browser with a session, and the ID token of its user.
    private func signedIn(_ depth: Depth = .pipeline) async throws -> (Browser, String) {
        var browser = Browser(try await World(depth))
        let code = try await browser.get(AuthorizeQuery.auth.target()).expectCode()
        let tokens = try await browser.redeem(code)
        return (browser, try #require(tokens.json["id_token"]?.string))
    }

    private func target(_ items: [(String, String)]) -> String { "\(Self.logout)?\(Browser.form(items))" }

    @Test("16: an expired hint still ends the session and leads to the client", arguments: Depth.allCases)
    func hint(_ depth: Depth) async throws {
        var (browser, token) = try await signedIn(depth)
        let silent = AuthorizeQuery.auth.with([("prompt", "none")]).target()
        try await browser.get(silent).expectCode()
        try await browser.world.advance("2h")
        let sid = browser.cookies["sid"]
        let answer = try await browser.get(
            target([
                ("id_token_hint", token), ("post_logout_redirect_uri", "com.example.app:/logout"), ("state", "s2"),
            ]))
        answer.expect(302, "")
        #expect(answer["location"] == "com.example.app:/logout?state=s2")
        #expect(browser.cookies["sid"] == nil && sid != nil)
        let old = try await browser.get(silent, [("Cookie", "sid=\(sid ?? "")")])
        #expect(
            old.reason == "the cookie sid names no session, and prompt is none; expected a session or another prompt")
        let broken = String(token.dropLast(8)) + "AAAAAAAA"
        try await browser.get(target([("id_token_hint", broken)])).expectPage(
            400, "id-token-hint-invalid", "The id token is invalid.", because: "signature: found")
    }

    @Test("without an address the browser stays here; as POST as well")
    func page() async throws {
        var (browser, token) = try await signedIn()
        let answer = try await browser.post(Self.logout, [("id_token_hint", token)])
        answer.expect(302, "")
        #expect(answer["location"] == "/login/login.htm")
    }

    @Test("other hints and addresses are refused on a page", arguments: Depth.allCases)
    func refusals(_ depth: Depth) async throws {
        var (browser, token) = try await signedIn(depth)
        try await browser.get(Self.logout).expectPage(
            400, "id-token-hint-missing", "The required parameter 'id_token_hint' is missing.",
            because: "there is no id_token_hint")
        try await browser.get(target([("id_token_hint", "x.y")])).expectPage(
            400, "id-token-hint-invalid", "The id token is invalid.", because: "found")
        let access = try await browser.world.mint("okta/access", ["client": .string(Example.native)])
        try await browser.get(target([("id_token_hint", access)])).expectPage(
            400, "id-token-hint-invalid", "The id token is invalid.", because: "expected an ID token, whose jti begins")
        let org = try await browser.world.mint("okta/id", ["client": .string(Example.native), "server": "org"])
        try await browser.get(target([("id_token_hint", org)])).expectPage(
            400, "id-token-hint-invalid", "The id token is invalid.", because: "key-published: found")
        try await browser.get(
            target([("id_token_hint", token), ("post_logout_redirect_uri", "https://evil.example/")])
        ).expectPage(
            400, "post-logout-uri-illegal",
            "The 'post_logout_redirect_uri' parameter must be a Logout redirect URI in the client app settings.",
            because: "found https://evil.example/; expected com.example.app:/logout")
        // Nothing has changed.
        try await browser.get(AuthorizeQuery.auth.with([("prompt", "none")]).target()).expectCode()
    }
}
