import JSON
import Support
import Testing
import Tokens

@Suite("Okta's refresh tokens")
struct RefreshTests {
    private static let invalid =
        #"{"error":"invalid_grant","error_description":"The refresh token is invalid or expired."}"#

    @Test("13: give new tokens for the same or fewer scopes, until they are revoked", arguments: Depth.allCases)
    func refresh(_ depth: Depth) async throws {
        let app = AppClient.native(try await World(depth))
        let first = try await app.tokens()
        let token = first.member("refresh_token")
        let second = try await app.refresh(token)
        second.expect(200)
        #expect(second.member("access_token") != first.member("access_token"))
        // A native app's token stays the same; the ID token repeats the nonce and when the user signed in.
        #expect(second.member("refresh_token") == token)
        #expect(second.read("id_token").claims?["nonce"] == "n1")
        #expect(second.read("id_token").claims?["auth_time"] == first.read("id_token").claims?["auth_time"])
        let beyond = try await app.refresh(token, scope: "openid email")
        beyond.expect(
            400,
            #"{"error":"access_denied","error_description":"Some of the scopes requested for the refresh request were "#
                + #"not granted in the original authorize request. Denied scopes: email."}"#, "refresh-scope-denied")
        #expect(beyond.why.contains("found scope openid email; expected some of openid profile offline_access"))
        let fewer = try await app.refresh(token, scope: "openid")
        fewer.expect(200)
        #expect(fewer.json["scope"] == "openid" && fewer.read("access_token").claims?["scp"] == ["openid"])
        #expect(fewer.member("refresh_token") == token)
        #expect(try await app.refresh(token).json["scope"] == "openid profile offline_access")
        try await app.revoke(token).expect(200, "")
        let revoked = try await app.refresh(token)
        revoked.expect(400, Self.invalid, "refresh-token-invalid")
        #expect(revoked.why.contains("revoked"), "\(revoked.why)")
        for answer in [first, second, fewer] { #expect(try await !app.isActive(answer.member("access_token"))) }
    }

    @Test("6.1: rotate; one that was replaced works for its leeway, then ends the family", arguments: Depth.allCases)
    func rotation(_ depth: Depth) async throws {
        let world = try await World(depth)
        let app = AppClient.spa(world)
        let first = try await app.browserTokens().member("refresh_token")
        let answer = try await app.refresh(first)
        let second = answer.member("refresh_token")
        #expect(second != first && !second.isEmpty)
        try await world.advance("20s")
        let again = try await app.refresh(first)
        again.expect(200)
        #expect(again.member("refresh_token") == second)
        try await world.advance("10s")
        #expect(try await app.refresh(first).member("refresh_token") == second)
        try await world.advance("1s")
        let reused = try await app.refresh(first)
        reused.expect(400, Self.invalid, "refresh-token-invalid")
        #expect(reused.why.contains("refresh-token-reused (app.oauth2.as.token.detect_reuse)"), "\(reused.why)")
        #expect(reused.why.contains("replaced 31 s ago; expected at most 30 s"), "\(reused.why)")
        try await app.refresh(second).expect(400, Self.invalid, "refresh-token-invalid")
        try await app.introspect(again.member("access_token")).expect(200, #"{"active":false}"#)
    }

    @Test("keep the newest of a family when several are replaced in a row")
    func chain() async throws {
        let world = try await World()
        let app = AppClient.spa(world)
        var tokens = [try await app.browserTokens().member("refresh_token")]
        for _ in 0..<3 { tokens.append(try await app.refresh(tokens.last ?? "").member("refresh_token")) }
        #expect(Set(tokens).count == 4)
        // Within the leeway each of them yields the newest.
        for token in tokens.dropLast() { #expect(try await app.refresh(token).member("refresh_token") == tokens.last) }
        #expect(try await app.isActive(tokens[3]))
    }

    @Test("belong to a client, a server and a user who is active")
    func owners() async throws {
        let world = try await World()
        let app = AppClient.native(world)
        let token = try await app.tokens().member("refresh_token")
        try await AppClient.spa(world).refresh(token).expect(400, Self.invalid, "refresh-token-invalid")
        let org = try await app.refresh(token, at: Example.org)
        org.expect(400, Self.invalid, "refresh-token-invalid")
        #expect(org.why.contains("found server org; expected default"), "\(org.why)")
        try await app.refresh("nope").expect(400, Self.invalid, "refresh-token-invalid")
        try await app.lifecycle("suspend")
        let asleep = try await app.refresh(token)
        asleep.expect(400, Self.invalid, "refresh-token-invalid")
        #expect(asleep.why.contains("SUSPENDED"), "\(asleep.why)")
        try await app.lifecycle("unsuspend")
        try await app.refresh(token).expect(200)
        try await app.lifecycle("deactivate")
        try await app.refresh(token).expect(400, Self.invalid, "refresh-token-invalid")
    }

    @Test("end after seven days without use at a custom server, after 90 days at the org server")
    func ends() async throws {
        let world = try await World()
        let app = AppClient.native(world)
        let (custom, org) = (try await app.tokens(), try await app.tokens(at: Example.org))
        let (token, orgToken) = (custom.member("refresh_token"), org.member("refresh_token"))
        for _ in 0..<15 {
            try await world.advance("\(6 * 86_400)s")
            try await app.refresh(token).expect(200)
        }
        // 90 days have passed.
        let late = try await app.refresh(orgToken, at: Example.org)
        late.expect(400, Self.invalid, "refresh-token-invalid")
        #expect(late.why.contains("2027-04-15T08:00:00.000Z"), "\(late.why)")
        try await world.advance("\(7 * 86_400 - 1)s")
        try await app.refresh(token).expect(200)
        try await world.advance("\(7 * 86_400)s")
        let unused = try await app.refresh(token)
        unused.expect(400, Self.invalid, "refresh-token-invalid")
        #expect(unused.why.contains("expected a use within 7 days"), "\(unused.why)")
        // Until then, the org server's token does not need any use.
        let next = try await app.tokens(at: Example.org).member("refresh_token")
        try await world.advance("\(90 * 86_400 - 1)s")
        try await app.refresh(next, at: Example.org).expect(200)
    }

    @Test("rotate for all or none where a switch says so")
    func switches() async throws {
        let world = try await World()
        let (native, spa) = (AppClient.native(world), AppClient.spa(world))
        try await world.set("okta.refresh-rotation", "on")
        let first = try await native.tokens().member("refresh_token")
        #expect(try await native.refresh(first).member("refresh_token") != first)
        try await world.set("okta.refresh-rotation", "off")
        let second = try await spa.browserTokens().member("refresh_token")
        #expect(try await spa.refresh(second).member("refresh_token") == second)
    }

    @Test("a successor ends with the first one")
    func successors() async throws {
        let world = try await World()
        try await world.set("okta.refresh-rotation", "on")
        let app = AppClient.native(world)
        var token = try await app.tokens(at: Example.org).member("refresh_token")
        try await world.advance("\(89 * 86_400)s")
        token = try await app.refresh(token, at: Example.org).member("refresh_token")
        try await world.advance("86399s")
        #expect(try await app.isActive(token, at: Example.org))
        try await world.advance("1s")
        try await app.refresh(token, at: Example.org).expect(400, Self.invalid, "refresh-token-invalid")
    }
}
