import JSON
import Support
import Testing
import Tokens

/// The shipped scenarios, each played as an app would experience it.
@Suite("Okta's scenarios")
struct ScenarioTests {
    private func world(_ scenario: String, _ depth: Depth = .pipeline) async throws -> World {
        let world = try await World(depth)
        let answer = try await world.control(.put, "scenarios", #"{"scenario":"okta-\#(scenario)"}"#)
        #expect(answer.status == 200, "\(answer.text)")
        return world
    }

    @Test("keys rotate under a signed-in app: tokens of the old key work until it leaves", arguments: Depth.allCases)
    func rotation(_ depth: Depth) async throws {
        let world = try await world("keys-rotate-mid-session", depth)
        let app = AppClient.native(world)
        let first = try await app.tokens()
        let refreshToken = first.member("refresh_token")
        var kids: [JSON?] = []
        for _ in 1...4 {
            try await app.userinfo(first.member("access_token")).expect(200)
            kids.append(try await app.refresh(refreshToken).read("access_token").header?["kid"])
        }
        #expect(kids[0] == first.read("access_token").header?["kid"] && kids[1] != kids[0])
        #expect(kids[2] == kids[1] && kids[3] == kids[1])
        #expect(try await app.userinfo(first.member("access_token")).failure == "access-token-invalid")
        let rotating = world.sandbox.journal.entries().filter { $0.record.intervention != nil }
        #expect(
            rotating.map(\.record.intervention) == [
                "scenario okta-keys-rotate-mid-session in old at call 2, to both: do drill-keys; waits for call 2 of "
                    + "token.create whose form grant_type fits",
                "scenario okta-keys-rotate-mid-session in both at call 2, to new: do drill-keys",
            ])
    }

    @Test("the key endpoint is down while tokens arrive, and comes back", arguments: Depth.allCases)
    func keysDown(_ depth: Depth) async throws {
        let world = try await world("keys-endpoint-down", depth)
        let app = AppClient.native(world)
        try await app.userinfo(try await app.tokens().member("access_token")).expect(200)
        for _ in 1...3 {
            let answer = try await world.call(.get, Example.custom + "/keys")
            #expect(answer.status == 500 && answer.failure == "internal-error")
        }
        try await world.call(.get, Example.custom + "/keys").expect(200)
    }

    @Test("a lost refresh answer: a second try within the leeway works, a later one ends all tokens")
    func refreshLost() async throws {
        let world = try await world("refresh-answer-lost")
        let app = AppClient.spa(world)
        let first = try await app.browserTokens()
        let old = first.member("refresh_token")
        let lost = try await app.refresh(old)
        #expect(lost.entry?.record.intervention?.contains("fault empty reply") == true)
        try await world.advance("20s")
        let second = try await app.refresh(old)
        second.expect(200)
        #expect(second.member("refresh_token") != old)
        try await world.advance("11s")
        let reused = try await app.refresh(old)
        reused.expect(
            400, #"{"error":"invalid_grant","error_description":"The refresh token is invalid or expired."}"#,
            "refresh-token-invalid")
        #expect(reused.entry?.explanation?.contains("refresh-token-reused") == true)
        #expect(try await app.refresh(second.member("refresh_token")).failure == "refresh-token-invalid")
        #expect(try await app.isActive(second.member("access_token")) == false)
    }

    @Test("consent refused once: the app is told, and may ask again", arguments: Depth.allCases)
    func consentRefused(_ depth: Depth) async throws {
        let world = try await world("consent-refused", depth)
        let target =
            "\(Example.custom)/authorize?client_id=\(Example.native)&redirect_uri=com.example.app:/callback"
            + "&response_type=code&scope=openid&state=s1&code_challenge=\(Example.challenge)&code_challenge_method=S256"
        let refused = try await world.call(.get, target)
        #expect(refused.status == 302 && refused.failure == "access-denied")
        #expect(
            refused["location"]
                == "com.example.app:/callback?error=access_denied&error_description=The+resource+owner+or+authorization+server+denied+the+request.&state=s1"
        )
        let allowed = try await world.call(.get, target)
        #expect(allowed.status == 302 && allowed["location"]?.contains("code=") == true)
    }

    static func signIn(_ app: AppClient) async throws -> ReceivedAnswer {
        try await app.post(
            "token",
            [
                ("grant_type", "password"), ("username", "ada@example.test"), ("password", "not-a-secret-1"),
                ("scope", "openid"),
            ])
    }

    @Test("an expired password: sign-in is refused until there is a new one", arguments: Depth.allCases)
    func passwordExpired(_ depth: Depth) async throws {
        let world = try await world("password-expired", depth)
        let app = AppClient.web(world)
        for _ in 1...2 {
            try await Self.signIn(app).expect(
                400, #"{"error":"invalid_grant","error_description":"Password has expired."}"#, "password-expired")
        }
        let order = #"{"user":"ada@example.test","password":"not-a-secret-1"}"#
        try await world.control(.post, "state/okta/set-password", order).expect(200)
        try await Self.signIn(app).expect(200)
    }

    @Test("a policy that demands a second factor: the app learns it from the refusal", arguments: Depth.allCases)
    func factorRequired(_ depth: Depth) async throws {
        let world = try await world("mfa-required", depth)
        try await Self.signIn(AppClient.web(world)).expect(
            403,
            #"{"error":"mfa_required","error_description":"Verify with an additional authenticator to complete the "#
                + #"sign-in process.","mfa_token":"understudy-mfa-token"}"#, "mfa-required")
    }
}

extension ScenarioPlay {
    private static func signIn(_ world: World, _: String) async throws -> ReceivedAnswer {
        try await ScenarioTests.signIn(.web(world))
    }

    static let all = [
        ScenarioPlay("okta-consent-refused") { world, _ in
            try await world.call(
                .get,
                "\(Example.custom)/authorize?client_id=\(Example.native)&redirect_uri=com.example.app:/callback"
                    + "&response_type=code&scope=openid&state=s1&code_challenge=\(Example.challenge)"
                    + "&code_challenge_method=S256")
        },
        ScenarioPlay("okta-keys-endpoint-down", calls: 4) { world, _ in
            try await world.call(.get, Example.custom + "/keys")
        },
        ScenarioPlay(
            "okta-keys-rotate-mid-session", calls: 5,
            signIn: { try await AppClient.native($0).tokens().member("refresh_token") },
            call: { try await AppClient.native($0).refresh($1) }),
        ScenarioPlay("okta-mfa-required", ending: "mfa-required", call: signIn),
        ScenarioPlay("okta-password-expired", ending: "password-expired", call: signIn),
        ScenarioPlay(
            "okta-refresh-answer-lost", calls: 1,
            signIn: { try await AppClient.spa($0).browserTokens().member("refresh_token") },
            call: { try await AppClient.spa($0).refresh($1) }),
    ]
}
