import Expectations
import JSON
import Support
import Testing

@Suite("Okta's sessions in browsers") struct SessionTests {
    private static let own = "/api/v1/sessions/me"

    @Test("a session ends two hours after its last use") func end() async throws {
        var browser = Browser(try await World())
        let silent = Parameters.authorize.with("prompt", "none")
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
        expect(try await browser.get(silent.target()).failure, is: "login-required")
    }

    @Test(
        "a path of Okta that is not emulated says so, and what does instead",
        arguments: [
            ("/.well-known/okta-organization", "/.well-known/okta-organization belongs to Okta's Identity Engine"),
            ("/oauth2/v1/clients", "/oauth2/v1/clients registers clients at Okta, which is not emulated"),
        ])
    func notEmulated(_ path: String, _ reason: String) async throws {
        let answer = try await World().call(.get, path)
        #expect(answer.status == 404 && answer.failure == "path-not-found")
        expect(answer.reason?.hasPrefix(reason), is: true, "\(answer.reason ?? "")")
    }
}
