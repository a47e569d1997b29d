import Expectations
import JSON
import Support
import Testing
import Tokens

@Suite("Okta's token endpoint") struct TokenRoutesTests {
    private static func grant(_ text: String, _ error: String = "invalid_grant") -> String {
        #"{"error":"\#(error)","error_description":"\#(text)"}"#
    }

    private static let codeInvalid = grant("The authorization code is invalid or has expired.")

    @Test("4, 5: redeems a code once; a second try ends what the first gave") func code() async throws {
        let app = AppClient.native(try await World())
        let code = try await app.code()
        let answer = try await app.redeem(code)
        answer.expect(200)
        expect(
            answer.json.object?.map(\.name),
            is: ["token_type", "expires_in", "access_token", "scope", "refresh_token", "id_token"])
        #expect(answer.json["token_type"] == "Bearer" && answer.json["expires_in"] == 3600)
        expect(answer.json["scope"], is: "openid profile offline_access")
        expect(answer["content-type"], is: "application/json")
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
        #expect(try await app.isActive(answer.member("access_token")))

        let again = try await app.redeem(code)
        again.expect(400, Self.codeInvalid, "code-invalid")
        #expect(again.why.contains("found a code that was used"), "\(again.why)")
        try await app.introspect(answer.member("access_token")).expect(200, #"{"active":false}"#)
        expect(try await app.refresh(answer.member("refresh_token")).failure, is: "refresh-token-invalid")
    }

    @Test("a verifier without a challenge, and a user who is no longer active, get nothing")
    func furtherCodes() async throws {
        let world = try await World()
        let web = AppClient.web(world)
        let uri = "http://localhost:3000/callback"
        let code = try await web.code(
            asking: "client_id=\(Example.web)&redirect_uri=\(uri)&scope=openid", challenge: nil)
        try await web.redeem(code, redirectURI: uri).expect(
            400,
            Self.grant(
                "PKCE code challenge should be specified in the authorize request for code verification.",
                "invalid_request"), "pkce-not-begun")
        let tokens = try await web.redeem(code, verifier: nil, redirectURI: uri)
        tokens.expect(200)
        // Without offline_access there is no refresh token.
        #expect(tokens.json["refresh_token"] == nil && tokens.json["id_token"] != nil)
        let app = AppClient.native(world)
        let suspended = try await app.code()
        try await app.lifecycle("suspend")
        let answer = try await app.redeem(suspended)
        answer.expect(400, Self.codeInvalid, "code-invalid")
        #expect(answer.why.contains("SUSPENDED"), "\(answer.why)")
        try await app.lifecycle("unsuspend")
        try await app.redeem(suspended).expect(200)
    }
}

@Suite("Okta's refresh tokens") struct RefreshTests {
    private static let invalid =
        #"{"error":"invalid_grant","error_description":"The refresh token is invalid or expired."}"#

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
        try await app.refresh(token, at: Example.org).expect(400, Self.invalid, "refresh-token-invalid")
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
        let nothing = try await app.post("introspect", [])
        nothing.expect(
            400, #"{"error":"invalid_request","error_description":"The 'token' parameter is required."}"#,
            "token-parameter-missing")
        expect(nothing["content-type"], is: "application/json")
    }

    @Test("an access token is revoked alone, by its own client only") func revocation() async throws {
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
        for _ in 0..<2 { try await app.revoke(token).expect(200, "") }
        let answer = try await app.introspect(token)
        answer.expect(200, Self.inactive)
        expect(answer.outcome(of: "token-revoked"), is: .noted)
        let userinfo = try await app.userinfo(token)
        userinfo.expect(401, "", "access-token-revoked")
        #expect(userinfo.why.contains("revoked; expected a token that was not revoked"), "\(userinfo.why)")
        try await app.refresh(tokens.member("refresh_token")).expect(200)
        for text in ["nope", "a.b.c", tokens.member("id_token")] { try await app.revoke(text).expect(200, "") }
        #expect(try await app.isActive(tokens.member("id_token")))
        try await app.post("revoke", []).expect(
            400, #"{"error":"invalid_request","error_description":"The 'token' parameter is required."}"#,
            "token-parameter-missing")
    }

    @Test("a minted token can be revoked too") func minted() async throws {
        let world = try await World()
        let app = AppClient.native(world)
        let token = try await world.mint("okta/access", ["client": .string(Example.native)])
        #expect(try await app.isActive(token))
        try await app.revoke(token).expect(200, "")
        #expect(try await !app.isActive(token))
    }
}

@Suite("Okta's logout") struct LogoutTests {
    private static let logout = Example.custom + "/logout"

    private func signedIn() async throws -> (Browser, String) {
        var browser = Browser(try await World())
        let code = try await browser.get(Parameters.authorize.target()).expectCode()
        let tokens = try await browser.redeem(code)
        return (browser, try #require(tokens.json["id_token"]?.string))
    }

    private func target(_ items: [(String, String)]) -> String { "\(Self.logout)?\(items.text)" }

    @Test("other hints and addresses are refused on a page") func refusals() async throws {
        var (browser, token) = try await signedIn()
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
        try await browser.get(Parameters.authorize.with([("prompt", "none")]).target()).expectCode()
    }
}

@Suite("Okta's pushed authorization requests") struct PushedRequestTests {
    private static let par = Example.custom + "/par"
    private static let invalid = "The authorize request_uri is invalid."

    private func push(_ browser: inout Browser, _ query: Parameters = .authorize) async throws -> String {
        let answer = try await browser.post(Self.par, query)
        let id = try #require(answer.json["request_uri"]?.string)
        #expect(id.wholeMatch(of: /urn:okta:[A-Za-z0-9_-]{59}/) != nil)
        answer.expect(200, #"{"request_uri":"\#(id)","expires_in":3600}"#)
        return id
    }

    private func named(_ id: String, by client: String = Example.native) -> Parameters {
        [("client_id", client), ("request_uri", id)]
    }

    @Test("an error is an answer, too, and a failure that is armed reaches the client") func errors() async throws {
        var browser = Browser(try await World())
        let first = named(try await push(&browser, .authorize.with([("prompt", "none")])))
        let refused = try await browser.get(first.target())
        expect(refused.failure, is: "login-required")
        expect(refused["location"]?.hasPrefix("com.example.app:/callback?error=login_required&"), is: true)
        try await browser.get(first.target()).expectPage(
            400, "request-uri-invalid", Self.invalid, because: "has been used")
        let second = named(try await push(&browser))
        try await browser.world.arm("access-denied", at: "authorize")
        let armed = try await browser.get(second.target())
        expect(armed["location"]?.hasPrefix("com.example.app:/callback?error=access_denied&"), is: true)
    }
}
