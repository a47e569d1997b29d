import Expectations
import JSON
import Support
import Testing

@Suite("Okta's token exchange") struct TokenExchangeTests {
    private static let types = "urn:ietf:params:oauth:token-type:"
    private static let deviceSecret = "urn:x-oath:params:oauth:token-type:device-secret"
    private static let grant = "grant_type=urn:ietf:params:oauth:grant-type:token-exchange"

    private func onBehalf(_ world: World, _ token: String) async throws -> ReceivedAnswer {
        try await world.token(
            "\(Self.grant)&subject_token=\(token)&subject_token_type=\(Self.types)access_token&scope=trips.read"
                + "&audience=api://default", .basic(Example.api, "api-secret-not-real-0123456789abcdef"))
    }

    // MARK: - On behalf of a user

    /// The content of each is that of a contract case with the same failure.
    @Test(
        "a token that its own server would not accept is not exchanged",
        arguments: [
            (["defect": "unknown-kid"], "exchange-subject", "subject-signature"),
            (["defect": "bad-signature"], "exchange-subject", "subject-signature"),
            (["defect": "alg-none"], "exchange-subject", "subject-algorithm"),
            (["defect": "public-key-as-secret"], "exchange-subject", "subject-algorithm"),
            (["claims": ["exp": 1_800_000_000]], "exchange-subject-expired", "subject-expiry"),
            (["defect": "wrong-issuer"], "exchange-not-trusted", "subject-issuer"),
            (["server": "org"], "exchange-not-trusted", "subject-issuer"),
            (["user": .string(Example.ben)], "exchange-subject-expired", "subject-user"),
            (["client": .string(Example.service)], "exchange-subject-expired", "subject-user"),
        ] as [(JSONObject, String, String)])
    func subjects(_ order: JSONObject, _ failure: String, _ check: String) async throws {
        let world = try await World()
        let answer = try await onBehalf(world, try await world.mint("okta/access", order))
        expect(answer.failure, is: failure)
        expect(answer.outcome(of: check), is: .failed)
    }

    @Test("neither a revoked token nor one of another kind is exchanged") func otherTokens() async throws {
        let world = try await World()
        let tokens = try await world.signIn()
        for (name, check) in [("id_token", "subject-kind"), ("refresh_token", "subject-parts")] {
            let answer = try await onBehalf(world, tokens.text(name))
            expect(answer.failure, is: "exchange-subject")
            expect(answer.outcome(of: check), is: .failed)
        }
        let token = try tokens.text("access_token")
        try await world.submit("client_id=\(Example.native)&token=\(token)", to: Example.custom + "/revoke").expect(200)
        let revoked = try await onBehalf(world, token)
        expect(revoked.failure, is: "exchange-subject-expired")
        expect(revoked.outcome(of: "subject-revocation"), is: .failed)
    }

    // MARK: - Between the apps of a device

    private func native(_ world: World, _ idToken: String, _ secret: String) async throws -> ReceivedAnswer {
        try await world.token(
            "\(Self.grant)&client_id=\(Example.tv)&subject_token=\(idToken)&subject_token_type=\(Self.types)id_token"
                + "&actor_token=\(secret)&actor_token_type=\(Self.deviceSecret)&scope=openid+offline_access"
                + "&audience=api://default")
    }

    private func deviceSession(
        _ world: World
    ) async throws -> (idToken: String, secret: String, answer: ReceivedAnswer) {
        let answer = try await world.signIn("openid offline_access device_sso")
        return (try answer.text("id_token"), try answer.text("device_secret"), answer)
    }

    @Test(
        "only these three scopes together bring a device secret",
        arguments: ["openid offline_access", "openid device_sso"])
    func withoutSecret(_ scope: String) async throws {
        let world = try await World()
        let answer = try await world.signIn(scope)
        expect(answer.json["device_secret"], is: nil)
        expect(answer.claims(of: "id_token")["sid"], is: nil)
        expect(answer.claims(of: "id_token")["ds_hash"], is: nil)
    }

    @Test("the ID token may have expired, and a refreshed one still names the session") func oldIDToken() async throws {
        let world = try await World()
        let (idToken, secret, first) = try await deviceSession(world)
        let refreshed = try await world.token(.refresh(first.text("refresh_token")))
        expect(refreshed.json["device_secret"], is: nil)
        expect(refreshed.claims(of: "id_token")["ds_hash"], is: first.claims(of: "id_token")["ds_hash"])
        try await world.advance("2h")
        try await native(world, idToken, secret).expect(200)
        try await native(world, try refreshed.text("id_token"), secret).expect(200)
    }

    @Test("a secret must be known, and of the ID token's session") func otherSecrets() async throws {
        let world = try await World()
        let ((idToken, _, _), (_, other, _)) = (try await deviceSession(world), try await deviceSession(world))
        let unknown = try await native(world, idToken, "nobody-knows-it")
        expect(unknown.failure, is: "exchange-actor")
        expect(unknown.reason, is: "found a device secret that is unknown here; expected one of this sandbox")
        let misfit = try await native(world, idToken, other)
        expect(misfit.failure, is: "exchange-actor")
        expect(misfit.outcome(of: "subject-device-secret"), is: .failed)
        let plain = try await world.signIn().text("id_token")
        expect(try await native(world, plain, other).outcome(of: "subject-device-secret"), is: .failed)
    }

    @Test("a device session ends when all of its user's sessions do") func globalRevocation() async throws {
        let world = try await World()
        let (idToken, secret, _) = try await deviceSession(world)
        try await world.perform("end-sessions", ["user": .string(Example.ada), "tokens": true]).expect(200)
        expect(try await native(world, idToken, secret).failure, is: "exchange-subject-expired")
    }
}
