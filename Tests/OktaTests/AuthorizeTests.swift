import JSON
import Support
import Testing

@Suite("Okta's authorization endpoint")
struct AuthorizeTests {
    private static let denied =
        "error=access_denied&error_description=The+resource+owner+or+authorization+server+denied+the+request.&state=s1"
    private static let loginRequired =
        "error=login_required&error_description="
        + "The+client+specified+not+to+prompt%2C+but+the+user+is+not+logged+in.&state=s1"

    // MARK: - The example requests

    @Test("3: a request of a native app gets a code at once", arguments: Depth.allCases)
    func code(_ depth: Depth) async throws {
        var browser = Browser(try await World(depth))
        let answer = try await browser.get(AuthorizeQuery.auth.target())
        answer.expectCode()
        #expect(answer["set-cookie"]?.hasSuffix("; Path=/; HttpOnly; SameSite=Lax") == true)
        // As POST, and with the session that there is now.
        let again = try await browser.post(Example.custom + "/authorize", AuthorizeQuery.auth.items)
        again.expectCode()
        #expect(again["set-cookie"] == nil)
        let plus = AuthorizeQuery.auth.target().replacing("openid%20profile", with: "openid+profile")
        try await browser.get(plus).expectCode()
    }

    /// What is wrong with a request, what the client gets, and what the journal says.
    struct Mistake: Sendable {
        let change: [(String, String?)]
        let query: String
        let failure: String
        let reason: String
    }

    static let table = [
        Mistake(
            change: [("code_challenge", nil)],
            query:
                "error=invalid_request&error_description=PKCE+code+challenge+is+required+by+the+application.&state=s1",
            failure: "pkce-challenge-missing", reason: "client 0oaunderstudynative1 must use PKCE"),
        Mistake(
            change: [("code_challenge_method", "plain")],
            query: "error=invalid_request&error_description="
                + "PKCE+code+challenge+method+is+not+supported.+Valid+values%3A+%5BS256%5D&state=s1",
            failure: "pkce-method-unsupported", reason: "is plain; expected S256"),
        Mistake(
            change: [("state", nil)],
            query:
                "error=invalid_request&error_description=The+authentication+request+has+an+invalid+%27state%27+parameter.",
            failure: "state-invalid", reason: "there is no state; expected 1 to 1000 characters"),
        Mistake(
            change: [("state", String(repeating: "s", count: 1001))],
            query:
                "error=invalid_request&error_description=The+authentication+request+has+an+invalid+%27state%27+parameter.",
            failure: "state-invalid", reason: "state has 1001 characters; expected at most 1000"),
        Mistake(
            change: [("scope", "nope")],
            query: "error=invalid_scope&error_description="
                + "One+or+more+scopes+are+not+configured+for+the+authorization+server+resource.&state=s1",
            failure: "scope-unknown", reason: "found scope nope, which server default has not; expected"),
        Mistake(
            change: [("scope", nil)],
            query: "error=invalid_scope&error_description=No+scopes+were+requested.&state=s1", failure: "scope-missing",
            reason: "found no scope; expected one or more"),
        Mistake(
            change: [("scope", "profile")],
            query: "error=invalid_scope&error_description="
                + "Requests+for+ID+tokens+or+access+tokens+with+OpenID+scopes+require+the+%27openid%27+scope.&state=s1",
            failure: "scope-openid-required", reason: "found scope profile without openid; expected both"),
        Mistake(
            change: [("response_type", "token")],
            query: "error=unsupported_response_type&error_description="
                + "The+response+type+is+not+supported+by+the+authorization+server.+Configured+response+types%3A+%5Bcode%5D."
                + "&state=s1", failure: "response-type-unsupported", reason: "response_type is token; expected code"),
        Mistake(
            change: [("response_mode", "web_message")],
            query: "error=unsupported_response_mode&error_description="
                + "The+response+mode+is+not+supported+by+the+authorization+server.+Valid+response+modes%3A+"
                + "%5Bquery%2C+fragment%2C+form_post%2C+okta_post_message%5D.&state=s1",
            failure: "response-mode-unsupported", reason: "found web_message; expected query or fragment"),
        Mistake(
            change: [("prompt", "none login")],
            query: "error=invalid_request&error_description="
                + "Invalid+value+for+%27prompt%27+parameter.+Supported+values%3A+%5Bnone%2C+login%2C+consent%5D&state=s1",
            failure: "prompt-invalid", reason: "found none login; expected"),
        Mistake(
            change: [("prompt", "none")], query: loginRequired, failure: "login-required",
            reason: "there is no cookie sid, and prompt is none"),
        Mistake(
            change: [("max_age", "-1")],
            query: "error=invalid_request&error_description="
                + "Invalid+value+for+%27max_age%27+parameter.+It+should+be+within+range+0+-+2%5E31-1.&state=s1",
            failure: "max-age-invalid", reason: "max_age is -1; expected 0 to 2147483647"),
        Mistake(
            change: [("prompt", "none"), ("max_age", "0")],
            query: "error=invalid_request&error_description="
                + "%27prompt%27+parameter+must+not+have+the+value+%27none%27+for+request+with+%27zero%27+as+max_age.&state=s1",
            failure: "max-age-none", reason: "expected another prompt than none"),
        Mistake(
            change: [("acr_values", "phr")],
            query: "error=unmet_authentication_requirements&error_description="
                + "Unable+to+meet+the+authentication+requirements+imposed+by+%27acr_values%27+parameter.&state=s1",
            failure: "acr-unmet", reason: "which no factor here can meet"),
        Mistake(
            change: [("acr_values", "urn:okta:loa:2fa:any"), ("login_hint", "cleo@example.test")],
            query: "error=unmet_authentication_requirements&error_description="
                + "Unable+to+meet+the+authentication+requirements+imposed+by+%27acr_values%27+parameter.&state=s1",
            failure: "acr-unmet", reason: "the user has no active TOTP factor"),
        Mistake(
            change: [("login_hint", "ben@example.test")], query: denied, failure: "access-denied",
            reason: "ben@example.test is SUSPENDED; expected ACTIVE"),
        Mistake(
            change: [("login_hint", "nobody@example.test")], query: denied, failure: "access-denied",
            reason: "no user has the login or id nobody@example.test"),
        Mistake(
            change: [("sessionToken", "nope")], query: loginRequired, failure: "login-required",
            reason: "sessionToken is unknown, used or expired; expected"),
    ]

    @Test("7: the client is told what is wrong with its request", arguments: Depth.allCases, table)
    func mistakes(_ depth: Depth, _ mistake: Mistake) async throws {
        var browser = Browser(try await World(depth))
        try await browser.get(AuthorizeQuery.auth.with(mistake.change).target()).expectRedirect(
            mistake.query, mistake.failure, because: mistake.reason)
    }

    @Test("a parameter twice is told to the client, without a state that stands there twice")
    func duplicates() async throws {
        var browser = Browser(try await World())
        let text =
            "error=invalid_request&error_description="
            + "The+request+contained+multiple+parameters+with+the+same+name."
        try await browser.get(AuthorizeQuery.auth.target() + "&nonce=n2").expectRedirect(
            text + "&state=s1", "parameter-duplicate", because: "found nonce more than once")
        try await browser.get(AuthorizeQuery.auth.target() + "&state=s2").expectRedirect(
            text, "parameter-duplicate", because: "found state more than once")
    }

    @Test("8: without a client or redirect URI that can be trusted, the user gets a page", arguments: Depth.allCases)
    func pages(_ depth: Depth) async throws {
        var browser = Browser(try await World(depth))
        let evil = AuthorizeQuery.auth.with([("redirect_uri", "com.example.app:/evil")]).target()
        try await browser.get(evil, [Browser.html]).expectPage(
            400, "redirect-uri-illegal",
            "The 'redirect_uri' parameter must be a Login redirect URI in the client app settings.",
            because: "redirect-uri: found com.example.app:/evil; expected com.example.app:/callback")
        let stranger = AuthorizeQuery.auth.with([("client_id", "nope")]).target()
        try await browser.get(stranger, [Browser.json]).expect(
            400, #"{"error":"invalid_client","error_description":"Invalid value for 'client_id' parameter."}"#,
            "client-unknown")
        try await browser.get(AuthorizeQuery.auth.with([("redirect_uri", nil)]).target()).expectPage(
            400, "redirect-uri-missing", "redirect_uri is missing.",
            because: "redirect-uri: found nothing; expected com.example.app:/callback")
        try await browser.get(AuthorizeQuery.auth.with([("request", "x.y.z")]).target()).expectPage(
            400, "request-object-unsupported", "The authorize request object is not supported by this client.",
            because: "expected plain parameters")
        let server = try await browser.get(AuthorizeQuery.auth.target("/oauth2/nope/v1"))
        #expect(server.status == 404 && server.failure == "as-not-found")
        let content = try await browser.world.call(.post, Example.custom + "/authorize", [], "{}")
        #expect(content.status == 400 && content.failure == "media-type")
    }

    @Test("9: a session token signs its user in once", arguments: Depth.allCases)
    func sessionTokens(_ depth: Depth) async throws {
        var browser = Browser(try await World(depth))
        let world = browser.world
        let json = ("Content-Type", "application/json")
        let body = #"{"username":"ada@example.test","password":"not-a-secret-1"}"#
        let answer = try await world.call(.post, "/api/v1/authn", [json], body)
        let token = try #require(answer.json["sessionToken"]?.string)
        answer.expect(
            200,
            #"{"expiresAt":"2027-01-15T08:05:00.000Z","status":"SUCCESS","sessionToken":"\#(token)","#
                + #""_embedded":{"user":{"id":"00uunderstudyada0001","passwordChanged":"2027-01-01T00:00:00.000Z","#
                + #""profile":{"login":"ada@example.test","firstName":"Ada","lastName":"L","locale":"en_US","#
                + #""timeZone":"UTC"}}}}"#)
        let query = AuthorizeQuery.auth.with([("sessionToken", token), ("prompt", "none")])
        try await browser.get(query.target()).expectCode()
        browser.forget("sid")
        try await browser.get(query.target()).expectRedirect(
            Self.loginRequired, "login-required", because: "used or expired")
        let error = #"{"errorCode":"E0000004","errorSummary":"Authentication failed","errorLink":"E0000004""#
        for (login, password, reason) in [
            ("ben@example.test", "not-a-secret-3", "ben@example.test is SUSPENDED; expected ACTIVE"),
            ("ada@example.test", "nope", "the password is not that of ada@example.test; expected the user's own"),
            ("nobody", "x", "no user has the login or id nobody; expected one that exists"),
        ] {
            let refused = try await world.call(
                .post, "/api/v1/authn", [json], #"{"username":"\#(login)","password":"\#(password)"}"#)
            #expect(refused.status == 401 && refused.failure == "authn-failed" && refused.text.hasPrefix(error))
            #expect(refused.reason == reason)
        }
        let late = try await world.call(.post, "/api/v1/authn", [json], body).json["sessionToken"]?.string
        try await world.advance("300s")
        try await browser.get(AuthorizeQuery.auth.with([("sessionToken", late)]).target()).expectRedirect(
            Self.loginRequired, "login-required", because: "used or expired")
    }

    // MARK: - Sessions, age and assurance

    @Test("a session signs in silently, until it is too old or a new sign-in is wanted")
    func sessions() async throws {
        var browser = Browser(try await World())
        let silent = AuthorizeQuery.auth.with([("prompt", "none")])
        try await browser.get(AuthorizeQuery.auth.target()).expectCode()
        let first = browser.cookies["sid"]
        try await browser.get(silent.target()).expectCode()
        #expect(browser.cookies["sid"] == first)
        try await browser.world.advance("61s")
        try await browser.get(silent.with([("max_age", "61")]).target()).expectCode()
        try await browser.get(silent.with([("max_age", "60")]).target()).expectRedirect(
            "error=login_required&error_description=The+client+specified+not+to+prompt%2C+but+the+client+app+requires+"
                + "re-authentication+or+MFA.&state=s1", "reauthentication-required",
            because: "expected at most 60 s ago")
        try await browser.get(AuthorizeQuery.auth.with([("max_age", "60")]).target()).expectCode()
        #expect(browser.cookies["sid"] != first)
        let second = browser.cookies["sid"]
        try await browser.get(AuthorizeQuery.auth.with([("prompt", "login")]).target()).expectCode()
        #expect(browser.cookies["sid"] != second)
    }

    @Test("6.3: a second factor is met by the user's TOTP", arguments: Depth.allCases)
    func assurance(_ depth: Depth) async throws {
        var browser = Browser(try await World(depth))
        let query = AuthorizeQuery.auth.with([("acr_values", "x urn:okta:loa:2fa:any")])
        let code = try await browser.get(query.target()).expectCode()
        let tokens = try await browser.redeem(code)
        let claims = tokens.claims(of: "id_token")
        #expect(claims["acr"] == "urn:okta:loa:2fa:any")
        #expect(claims["amr"] == ["mfa", "otp", "pwd"])
        // The session is strong now; one of a single factor is not, when nobody may be asked.
        try await browser.get(query.with([("prompt", "none")]).target()).expectCode()
        var other = Browser(browser.world)
        try await other.get(AuthorizeQuery.auth.target()).expectCode()
        let weak = try await other.get(query.with([("prompt", "none")]).target())
        #expect(weak.failure == "reauthentication-required")
        let ifPossible = AuthorizeQuery.auth.with([
            ("acr_values", "urn:okta:loa:2fa:any:ifpossible"), ("login_hint", "cleo@example.test"),
        ])
        var third = Browser(browser.world)
        let weakCode = try await third.get(ifPossible.target()).expectCode()
        let redeemed = try await third.redeem(weakCode)
        #expect(redeemed.claims(of: "id_token")["amr"] == ["pwd"])
    }

    @Test("6.4: consent is not asked when nobody may be, and holds once it was given", arguments: Depth.allCases)
    func consent(_ depth: Depth) async throws {
        var browser = Browser(try await World(depth))
        let spa = "http://localhost:3000/spa"
        try await browser.get(AuthorizeQuery.auth.target()).expectCode()
        let silent = AuthorizeQuery.spa.with([("prompt", "none")])
        let refused =
            "error=consent_required&error_description="
            + "The+following+scopes+require+user+consent%3A+%5Btrips.share%5D.&state=s1"
        try await browser.get(silent.target()).expectRedirect(
            refused, "consent-required", at: spa, because: "has not consented to trips.share, and prompt is none")
        try await browser.get(AuthorizeQuery.spa.target()).expectCode(at: spa)
        try await browser.get(silent.target()).expectCode(at: spa)
    }

    // MARK: - Ways back to the client

    @Test("answers come in the response mode that the client asked for", arguments: Depth.allCases)
    func modes(_ depth: Depth) async throws {
        var browser = Browser(try await World(depth))
        let fragment = try await browser.get(AuthorizeQuery.auth.with([("response_mode", "fragment")]).target())
        fragment.expect(302, "")
        #expect(fragment["location"]?.hasPrefix("com.example.app:/callback#code=") == true)
        let spa = AuthorizeQuery.spa.with([("scope", "openid"), ("state", "<\"&'")])
        let post = try await browser.get(spa.with([("response_mode", "form_post")]).target())
        post.expect(200)
        #expect(post.text.contains("<form method=\"post\" action=\"http://localhost:3000/spa\">"))
        #expect(post.text.contains("<input type=\"hidden\" name=\"state\" value=\"&lt;&quot;&amp;&#39;\">"))
        let message = try await browser.get(
            spa.with([("response_mode", "okta_post_message"), ("response_type", "token")]).target(), [Browser.json])
        #expect(message.failure == "response-type-unsupported")
        #expect(message.json["origin"] == "http://localhost:3000")
        #expect(message.json["message"]?["error"] == "unsupported_response_type")
        #expect(message.json["message"]?["state"] == "<\"&'")
    }

    @Test("the port of a loopback address is free for native apps only")
    func loopback() async throws {
        var browser = Browser(try await World())
        for (uri, isAllowed) in [
            ("http://localhost:3000/callback", true), ("http://localhost:3001/callback", false),
            ("http://localhost/callback", false), ("http://localhost:3000/callback/", false),
        ] {
            let query = AuthorizeQuery.auth.with([("client_id", Example.web), ("redirect_uri", uri)])
            let answer = try await browser.get(query.target())
            #expect(answer.failure == (isAllowed ? nil : "redirect-uri-illegal"), "\(uri)")
        }
    }

    // MARK: - Armed failures

    @Test("a failure that a test arms reaches the client as a real one would", arguments: Depth.allCases)
    func armed(_ depth: Depth) async throws {
        var browser = Browser(try await World(depth))
        try await browser.world.arm("server-error", at: "authorize")
        let answer = try await browser.get(AuthorizeQuery.auth.target())
        answer.expect(302, "", "server-error")
        #expect(
            answer["location"] == "com.example.app:/callback?error=server_error&error_description="
                + "The+authorization+server+encountered+an+unexpected+condition.&state=s1")
        try await browser.world.arm("access-denied", at: "authorize")
        try await browser.get(AuthorizeQuery.auth.with([("redirect_uri", "https://evil.example/")]).target())
            .expectPage(
                400, "access-denied", "The resource owner or authorization server denied the request.")
        try await browser.world.arm("rate-limited", at: "authorize")
        let limited = try await browser.get(AuthorizeQuery.auth.target())
        #expect(limited.status == 429 && limited.json["errorCode"] == "E0000047")
    }

    @Test("switch pkce decides who needs a challenge")
    func pkce() async throws {
        var browser = Browser(try await World())
        let bare = AuthorizeQuery.auth.with([("code_challenge", nil), ("code_challenge_method", nil)])
        let web = bare.with([("client_id", Example.web), ("redirect_uri", "http://localhost:3000/callback")])
        try await browser.get(web.target()).expectCode(at: "http://localhost:3000/callback")
        try await browser.world.set("okta.pkce", "always")
        let refused = try await browser.get(web.target())
        #expect(refused.failure == "pkce-challenge-missing")
        #expect(refused.reason?.hasSuffix("since switch pkce is always") == true)
        try await browser.world.set("okta.pkce", "never")
        try await browser.get(bare.target()).expectCode()
    }
}

extension Browser {
    /// Redeems a code of the native app.
    func redeem(_ code: String) async throws -> ReceivedAnswer {
        let answer = try await world.token(
            Self.form([
                ("grant_type", "authorization_code"), ("client_id", Example.native), ("code", code),
                ("redirect_uri", "com.example.app:/callback"), ("code_verifier", Example.verifier),
            ]))
        answer.expect(200)
        return answer
    }
}
