import Expectations
import JSON
import Support
import Testing

@testable import Okta

@Suite("Okta's sessions in browsers") struct SessionTests {
    private static let own = "/api/v1/sessions/me"
    private static let page: World.Fields = [("Origin", "http://localhost:3000")]
    private static let loginRequired =
        "error=login_required&error_description="
        + "The+client+specified+not+to+prompt%2C+but+the+user+is+not+logged+in.&state=s1"

    @Test("a page on a trusted origin sees, extends and ends the session of its browser") func page() async throws {
        var browser = Browser(try await World())
        try await browser.get(Parameters.authorize.target()).expectCode()
        let asked = try await browser.get(Self.own, Self.page)
        asked.expect(200)
        #expect(asked.json["login"] == "ada@example.test" && asked.json["mfaActive"] == true)
        expect(asked.json["expiresAt"], is: "2027-01-15T10:00:00.000Z")
        expect(asked["Access-Control-Allow-Origin"], is: "http://localhost:3000")
        expect(asked["Access-Control-Allow-Credentials"], is: "true")
        expect(try await browser.get("/api/v1/users/me", Self.page).json["id"], is: .string(Example.ada))
        try await browser.world.advance("3600s")
        let refreshed = try await browser.post(Self.own + "/lifecycle/refresh", [], Self.page)
        expect(refreshed.json["expiresAt"], is: "2027-01-15T11:00:00.000Z")
        let ended = try await browser.delete(Self.own, Self.page)
        ended.expect(204)
        expect(browser.cookies["sid"], is: nil)
        let gone = try await browser.get(Self.own, Self.page)
        #expect(gone.status == 404 && gone.failure == "session-not-found")
        expect(gone.reason, is: "there is no cookie sid; expected one that is open")
    }

    @Test("a session ends two hours after its last use") func end() async throws {
        var browser = Browser(try await World())
        let silent = Parameters.authorize.with([("prompt", "none")])
        try await browser.get(Parameters.authorize.target()).expectCode()
        try await browser.world.advance("7199s")
        try await browser.get(silent.target()).expectCode()
        try await browser.world.advance("7199s")
        expect(try await browser.get(Self.own).status, is: 200)
        try await browser.world.advance("1s")
        let over = try await browser.get(Self.own)
        expect(over.status, is: 404)
        expect(over.reason, is: "the cookie sid names no session; expected one that is open")
        expect(try await browser.get("/api/v1/users/me").failure, is: "session-invalid")
        try await browser.get(silent.target()).expectRedirect(
            Self.loginRequired, "login-required", because: "the cookie sid names no session")
    }

    @Test("a session token takes the browser to a trusted origin with a cookie, or without one if it is bad")
    func redirect() async throws {
        var browser = Browser(try await World())
        let target = "/login/sessionCookieRedirect?redirectUrl=http://localhost:3000/home&token="
        let token = try await browser.world.sessionToken()
        expect(try await browser.get(target + token)["Location"], is: "http://localhost:3000/home")
        expect(try await browser.get(Self.own).status, is: 200)
        browser.forget("sid")
        let again = try await browser.get(target + token)
        #expect(again.status == 302 && browser.cookies["sid"] == nil)
        let elsewhere = try await browser.get("/login/sessionCookieRedirect?redirectUrl=https://evil.test/&token=x")
        #expect(elsewhere.status == 400 && elsewhere.failure == "body-invalid")
        expect(elsewhere.reason, is: "redirectUrl is https://evil.test/; expected an address at a trusted origin")
    }

    @Test(
        "a path of Okta that is not emulated says so, and what does instead",
        arguments: [
            (
                "/idp/idx/introspect",
                "/idp belongs to Okta's Identity Engine, which is not emulated; expected a sign-in"
            ),
            ("/.well-known/okta-organization", "/.well-known/okta-organization belongs to Okta's Identity Engine"),
            ("/oauth2/v1/clients", "/oauth2/v1/clients registers clients at Okta, which is not emulated"),
            ("/api/v1/apps/0oa1/users", "/api/v1/apps belongs to Okta's management API"),
        ])
    func notEmulated(_ path: String, _ reason: String) async throws {
        let answer = try await World().call(.get, path)
        #expect(answer.status == 404 && answer.failure == "path-not-found")
        expect(answer.reason?.hasPrefix(reason), is: true, "\(answer.reason ?? "")")
    }
}

extension World {
    func sessionToken() async throws -> String {
        let body = #"{"username":"ada@example.test","password":"not-a-secret-1"}"#
        return try await call(.post, "/api/v1/authn", .jsonContent, body).json["sessionToken"]?.string ?? ""
    }
}
