import Expectations
import JSON
import Support
import Testing
import Tokens

@Suite("Okta's token endpoint") struct TokenRoutesTests {
    @Test("4, 5: tokens say for whom they are; a second try with the code ends the refresh token too")
    func code() async throws {
        let world = try await World()
        let code = try await world.code()
        let app = AppClient.native(world)
        let answer = try await app.redeem(code)
        answer.expect(200)
        let access = answer.read("access_token")
        expect(access.header?.map(\.name).sorted(), is: ["alg", "kid"])
        expect(access.claims?["scp"], is: ["openid", "profile", "offline_access"])
        #expect(access.claims?["cid"] == .string(Example.native) && access.claims?["uid"] == .string(Example.ada))
        #expect(access.claims?["sub"] == "ada@example.test" && access.claims?["exp"] == 1_800_003_600)
        expect(access.claims?["aud"], is: "api://default")
        let id = answer.read("id_token").claims
        #expect(id?["aud"] == .string(Example.native) && id?["nonce"] == "n1" && id?["sub"] == .string(Example.ada))
        let hash = Base64URL.encode(Digest.sha256(Array(answer.member("access_token").utf8)).prefix(16))
        expect(id?["at_hash"], is: .string(hash))
        expect(try await app.redeem(code).failure, is: "code-invalid")
        expect(try await app.refresh(answer.member("refresh_token")).failure, is: "refresh-token-invalid")
    }

    @Test("a user who is not active gets nothing for the code, until that changes") func suspended() async throws {
        let world = try await World()
        let code = try await world.code()
        let path = "/api/v1/users/\(Example.ada)/lifecycle/"
        try await world.manage(path + "suspend").expect(200)
        let answer = try await AppClient.native(world).redeem(code)
        expect(answer.failure, is: "code-invalid")
        #expect(answer.why.contains("SUSPENDED"), "\(answer.why)")
        try await world.manage(path + "unsuspend").expect(200)
        try await AppClient.native(world).redeem(code).expect(200)
    }
}

@Suite("Okta's refresh tokens") struct RefreshTests {
    @Test("keep the newest of a family when several are replaced in a row") func chain() async throws {
        let world = try await World()
        let app = AppClient.spa(world)
        var tokens = [try await app.browserTokens().member("refresh_token")]
        for _ in 0..<3 { tokens.append(try await app.refresh(tokens.last ?? "").member("refresh_token")) }
        expect(Set(tokens).count, is: 4)
        // Within the leeway each of them yields the newest.
        for token in tokens.dropLast() { expect(try await app.refresh(token).member("refresh_token"), is: tokens.last) }
        #expect(try await app.isActive(tokens[3]))
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
        expect(late.failure, is: "refresh-token-invalid")
        #expect(late.why.contains("2027-04-15T08:00:00.000Z"), "\(late.why)")
        try await world.advance("\(7 * 86_400 - 1)s")
        try await app.refresh(token).expect(200)
        try await world.advance("\(7 * 86_400)s")
        let unused = try await app.refresh(token)
        expect(unused.failure, is: "refresh-token-invalid")
        #expect(unused.why.contains("expected a use within 7 days"), "\(unused.why)")
        // Until then, the org server's token does not need any use.
        let next = try await app.tokens(at: Example.org).member("refresh_token")
        try await world.advance("\(90 * 86_400 - 1)s")
        try await app.refresh(next, at: Example.org).expect(200)
    }

    @Test("a successor ends with the first one") func successors() async throws {
        let world = try await World()
        try await world.set("okta.refresh-rotation", "on")
        let app = AppClient.native(world)
        var token = try await app.tokens(at: Example.org).member("refresh_token")
        try await world.advance("\(89 * 86_400)s")
        token = try await app.refresh(token, at: Example.org).member("refresh_token")
        try await world.advance("86399s")
        #expect(try await app.isActive(token, at: Example.org))
        try await world.advance("1s")
        expect(try await app.refresh(token, at: Example.org).failure, is: "refresh-token-invalid")
    }
}

@Suite("Okta introspects and revokes tokens") struct IntrospectionTests {
    private static let inactive = #"{"active":false}"#

    @Test("a token without jti counts as never revoked, wherever it is used") func unnamed() async throws {
        let world = try await World()
        let token = try await world.mint("okta/access", ["claims": ["jti": nil]])
        let app = AppClient.native(world)
        try await app.userinfo(token).expect(200)
        expect(try await app.introspect(token).json["active"], is: true)
    }

    @Test("everything else is inactive, and the journal says why") func inactive() async throws {
        let world = try await World()
        let app = AppClient.native(world)
        let tokens = try await app.tokens()
        let token = tokens.member("access_token")
        let broken = String(token.dropLast(2)) + (token.hasSuffix("AA") ? "BA" : "AA")
        for (text, check) in [
            ("nope", "refresh-token-active"), ("a.b", "parts"), (broken, "signature"),
            (try await world.mint("okta/access", ["defect": "unknown-kid"]), "key-published"),
            (try await world.mint("okta/access", ["defect": "wrong-issuer"]), "issuer"),
        ] {
            let answer = try await app.introspect(text)
            answer.expect(200, Self.inactive)
            expect(answer.outcome(of: check), is: .noted, "\(check): \(answer.findings)")
        }
        try await app.introspect(tokens.member("refresh_token"), at: Example.org).expect(200, Self.inactive)
        try await world.advance("3600s")
        for name in ["access_token", "id_token"] {
            let answer = try await app.introspect(tokens.text(name))
            answer.expect(200, Self.inactive)
            expect(answer.outcome(of: "expiry"), is: .noted)
        }
    }

    @Test("an access token is revoked by its own client only, a minted one too") func revocation() async throws {
        let world = try await World()
        let app = AppClient.native(world)
        let tokens = try await app.tokens()
        let token = tokens.member("access_token")
        let other = try await AppClient.spa(world).revoke(token)
        other.expect(200, "")
        expect(other.outcome(of: "token-of-client"), is: .noted)
        #expect(try await app.isActive(token))
        try await AppClient.spa(world).revoke(tokens.member("refresh_token")).expect(200, "")
        try await app.revoke(tokens.member("refresh_token"), at: Example.org).expect(200, "")
        #expect(try await app.isActive(tokens.member("refresh_token")))
        for text in ["a.b.c", tokens.member("id_token")] { try await app.revoke(text).expect(200, "") }
        #expect(try await app.isActive(tokens.member("id_token")))
        let minted = try await world.mint("okta/access", ["client": .string(Example.native)])
        for text in [token, minted] {
            #expect(try await app.isActive(text))
            for _ in 1...2 { try await app.revoke(text).expect(200, "") }
            #expect(try await !app.isActive(text))
        }
    }
}

@Suite("Okta's logout") struct LogoutTests {
    @Test("other hints and addresses are refused, and the session goes on") func refusals() async throws {
        var browser = Browser(try await World())
        let code = try await browser.get(Parameters.authorize.target()).expectCode()
        let hint = "\(Example.custom)/logout?id_token_hint="
        for (kind, order, reason) in [
            ("access", [:], "expected an ID token, whose jti begins"),
            ("id", ["server": "org"], "key-published: found"),
        ] as [(String, JSONObject, String)] {
            let token = try await browser.world.mint("okta/" + kind, order)
            try await browser.get(hint + token).expectPage(
                400, "id-token-hint-invalid", "The id token is invalid.", because: reason)
        }
        let own = try await browser.redeem(code).text("id_token")
        let elsewhere = try await browser.get("\(hint)\(own)&post_logout_redirect_uri=https://evil.example/")
        expect(elsewhere.failure, is: "post-logout-uri-illegal")
        try await browser.get(Parameters.authorize.with("prompt", "none").target()).expectCode()
    }
}

@Suite("Okta's pushed authorization requests") struct PushedRequestTests {
    @Test("an error is an answer, too, and a failure that is armed reaches the client") func errors() async throws {
        let world = try await World()
        let first = try await world.pushed(.authorize.with("prompt", "none"))
        #expect(first.last?.1.wholeMatch(of: /urn:okta:[A-Za-z0-9_-]{59}/) != nil)
        let refused = try await world.authorize(first)
        expect(refused.failure, is: "login-required")
        expect(refused["location"]?.hasPrefix("com.example.app:/callback?error=login_required&"), is: true)
        try await world.authorize(first).expectPage(
            400, "request-uri-invalid", "The authorize request_uri is invalid.", because: "has been used")
        let second = try await world.pushed()
        try await world.arm("access-denied", at: "authorize")
        let armed = try await world.authorize(second)
        expect(armed["location"]?.hasPrefix("com.example.app:/callback?error=access_denied&"), is: true)
    }
}
