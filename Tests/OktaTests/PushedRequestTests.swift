import JSON
import Support
import Testing

@Suite("Okta's pushed authorization requests")
struct PushedRequestTests {
    private static let par = Example.custom + "/par"
    private static let invalid = "The authorize request_uri is invalid."

    private func push(_ browser: inout Browser, _ query: AuthorizeQuery = .auth) async throws -> String {
        let answer = try await browser.post(Self.par, query.items)
        let id = try #require(answer.json["request_uri"]?.string)
        #expect(id.wholeMatch(of: /urn:okta:[A-Za-z0-9_-]{59}/) != nil)
        answer.expect(200, #"{"request_uri":"\#(id)","expires_in":3600}"#)
        return id
    }

    private func named(_ id: String, by client: String = Example.native) -> AuthorizeQuery {
        AuthorizeQuery(items: [("client_id", client), ("request_uri", id)])
    }

    @Test("1.1: a pushed request is good for one answer", arguments: Depth.allCases)
    func once(_ depth: Depth) async throws {
        var browser = Browser(try await World(depth))
        let query = named(try await push(&browser))
        // Nothing else in the query counts.
        try await browser.get(query.with([("state", "other"), ("redirect_uri", "x:/y")]).target()).expectCode()
        try await browser.get(query.target()).expectPage(
            400, "request-uri-invalid", Self.invalid, because: "used up")
    }

    @Test("1.2: a client that must push gets nothing otherwise", arguments: Depth.allCases)
    func required(_ depth: Depth) async throws {
        var browser = Browser(try await World(depth))
        let bank = "http://localhost:3000/bank"
        try await browser.get(AuthorizeQuery.bank.target()).expectRedirect(
            "error=invalid_request&error_description=The+client+must+use+a+pushed+authorization+request.&state=s1",
            "par-required", at: bank, because: "found a plain request; expected a request_uri")
        func signed(for endpoint: String) async throws -> [(String, String)] {
            [
                ("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"),
                (
                    "client_assertion",
                    try await browser.world.mint(
                        "okta/client-assertion", ["client": .string(Example.bank), "endpoint": .string(endpoint)])
                ),
            ]
        }
        let right = try await signed(for: "par")
        let pushed = try await browser.post(Self.par, AuthorizeQuery.bank.items + right)
        pushed.expect(200)
        let id = try #require(pushed.json["request_uri"]?.string)
        try await browser.get(named(id, by: Example.bank).target()).expectCode(at: bank)
        let wrong = try await signed(for: "token")
        try await browser.post(Self.par, AuthorizeQuery.bank.items + wrong).expect(
            401,
            #"{"error":"invalid_client","error_description":"The audience claim for client_assertion must be the endpoint invoked for the request."}"#,
            "assertion-audience")
    }

    @Test(
        "1.3: pushed requests are checked as others are, and belong to client, server and hour",
        arguments: Depth.allCases)
    func refusals(_ depth: Depth) async throws {
        var browser = Browser(try await World(depth))
        try await browser.post(Self.par, AuthorizeQuery.auth.with([("scope", "nope")]).items).expect(
            400,
            #"{"error":"invalid_scope","error_description":"One or more scopes are not configured for the authorization server resource."}"#,
            "scope-unknown")
        let nested = try await browser.post(Self.par, AuthorizeQuery.auth.with([("request_uri", "x")]).items)
        nested.expect(
            400,
            #"{"error":"invalid_request","error_description":"The 'request_uri' parameter must not be present in the request."}"#,
            "par-request-uri-present")
        #expect(nested.reason == "found request_uri; expected the parameters themselves")
        let query = named(try await push(&browser))
        try await browser.get(query.target(Example.org)).expectPage(
            400, "request-uri-server", "The request_uri was issued for another authorization server.",
            because: "the server is org; expected default, where the request was pushed")
        try await browser.get(query.with([("client_id", Example.web)]).target()).expectPage(
            401, "request-uri-client",
            "The 'client_id' parameter does not match the expected value for the provided request_uri.",
            because: "client_id is 0oaunderstudyweb0001; expected 0oaunderstudynative1, who pushed the request")
        try await browser.world.advance("3601s")
        try await browser.get(query.target()).expectPage(
            400, "request-uri-invalid", Self.invalid, because: "expired 2027-01-15T09:00:00.000Z")
        try await browser.get(named("urn:okta:nope").target()).expectPage(
            400, "request-uri-invalid", Self.invalid, because: "found urn:okta:nope; expected")
    }

    @Test("a JSON object can be pushed as well")
    func json() async throws {
        var browser = Browser(try await World())
        let object = JSONObject(AuthorizeQuery.auth.items.map { ($0.0, JSON.string($0.1)) } + [("max_age", 60)])
        let answer = try await browser.world.call(
            .post, Self.par, [("Content-Type", "application/json")], JSON.object(object).text)
        let id = try #require(answer.json["request_uri"]?.string)
        try await browser.get(named(id).target()).expectCode()
    }

    @Test("an error is an answer, too, and a failure that is armed reaches the client")
    func errors() async throws {
        var browser = Browser(try await World())
        let first = named(try await push(&browser, .auth.with([("prompt", "none")])))
        let refused = try await browser.get(first.target())
        #expect(refused.failure == "login-required")
        #expect(refused["location"]?.hasPrefix("com.example.app:/callback?error=login_required&") == true)
        try await browser.get(first.target()).expectPage(400, "request-uri-invalid", Self.invalid, because: "used up")
        let second = named(try await push(&browser))
        try await browser.world.arm("access-denied", at: "authorize")
        let armed = try await browser.get(second.target())
        #expect(armed["location"]?.hasPrefix("com.example.app:/callback?error=access_denied&") == true)
    }

    @Test("switches choose status, lifetime and who must push")
    func switches() async throws {
        var browser = Browser(try await World())
        try await browser.world.set("okta.par-status", "201")
        try await browser.world.set("okta.par-lifetime", "90")
        let answer = try await browser.post(Self.par, AuthorizeQuery.auth.items)
        #expect(answer.status == 201 && answer.json["expires_in"] == 90)
        try await browser.world.set("okta.par-required", "all")
        let refused = try await browser.get(AuthorizeQuery.auth.target())
        #expect(
            refused.failure == "par-required" && refused.reason?.hasSuffix("since switch par-required is all") == true)
    }
}
