import Support
import Testing

@testable import IMS

/// The URLs from which keys may be fetched.
@Suite("IMS's key URLs")
struct KeyURLTests {
    private func isAllowed(_ url: String, named: Set<String> = []) -> Bool {
        IMSKeyURL(url).map { $0.obstacle(.documented, named: named) == nil } ?? false
    }

    @Test(
        "this machine and this server are allowed, with and without TLS",
        arguments: [
            "http://127.0.0.1:9000/jwks.json", "http://127.255.1.2/", "https://localhost", "HTTP://LocalHost:80/x?y=z",
            "http://keys.localhost/x", "http://[::1]:80/jwks", "{self}/ims/dev-issuers/uat/jwks.json",
        ])
    func loopback(_ url: String) { #expect(isAllowed(url)) }

    @Test(
        "what only looks like this machine is not",
        arguments: [
            "http://127.0.0.1.example.com/", "http://127.1/", "http://0127.0.0.1/", "http://127.0.0.256/",
            "http://0x7f.0.0.1/", "http://2130706433/", "http://localhost.example.com/", "http://notlocalhost/",
            "http://[::2]/", "http://[::ffff:127.0.0.1]/", "http://0.0.0.0/", "http://169.254.169.254/latest",
            "http://localhost./",
        ])
    func disguises(_ url: String) { #expect(!isAllowed(url)) }

    @Test(
        "what two readers may read differently is no key URL",
        arguments: [
            "", "jwks.json", "ftp://localhost/x", "http:/localhost/", "http://", "http://localhost@example.com/",
            "http://example.com@localhost/", "http://localhost:0/", "http://localhost:99999/", "http://localhost:/x",
            "http://localhost:80:80/", "http://local host/", "http://localhost\\@example.com/", "http://localhost#x",
            "http://localhost/\u{7F}", "http://lücalhost/", "{self}", "{self}x", "{self}@example.com/", "file:///etc",
            "http://[::1/", "http://[]/", "http://[::1]x/", "http://" + String(repeating: "a", count: 2100),
        ])
    func unreadable(_ url: String) { #expect(IMSKeyURL(url) == nil) }

    @Test("a named host is allowed with TLS only, whatever its case")
    func named() {
        #expect(isAllowed("https://Keys.Example.test:8443/x", named: ["keys.example.test"]))
        #expect(!isAllowed("http://keys.example.test/x", named: ["keys.example.test"]))
        #expect(!isAllowed("https://other.example.test/x", named: ["keys.example.test"]))
        #expect(!isAllowed("https://x.keys.example.test/x", named: ["keys.example.test"]))
    }

    @Test("a host that a fixture names may be onboarded, one of a switch that is taken back is asked no more")
    func hosts() async throws {
        let fixtures = try OwnFixtures()
        try fixtures.put(
            "ims/accounts.yaml",
            [("url: \"{self}/ims/dev-issuers/rotating/jwks.json\"", "url: \"https://127.1:1/jwks.json\"")])
        let world = try await World(on: Stage(.init(fixtures: fixtures.store)))
        let body = Example.issuer(
            "new", iss: "https://new.example.test", ["type": "jwks-url", "url": "https://127.1:1/other.json"])
        let created = try await world.call(.post, "/ims/v1/issuers", .operatorKey, body)
        created.expect(201)
        #expect(created.json["warnings"] == ["jwks-unreachable"])
        let other = try await World()
        try await other.set("ims.jwks-allow", "127.1")
        try await other.call(.post, "/ims/v1/issuers", .operatorKey, body).expect(201)
        try await other.set("ims.jwks-allow", "")
        let answer = try await other.me(Forged(.rotating, [("iss", "https://new.example.test")]))
        answer.expectRefusal(503, "keys-unavailable")
        #expect(answer.outcome(of: "keys-fetched") == nil, "nothing was asked for")
        try await other.call(.post, "/ims/v1/issuers/new/refresh", .operatorKey).expectRefusal(
            400, "jwks-url-not-allowed")
    }
}
