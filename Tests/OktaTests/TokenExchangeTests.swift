import Expectations
import Foundation
import JSON
import Support
import Testing
import Tokens

@Suite("Okta's token exchange") struct TokenExchangeTests {
    private static let types = "urn:ietf:params:oauth:token-type:"
    private static let deviceSecret = "urn:x-oath:params:oauth:token-type:device-secret"
    private static let grant = "grant_type=urn:ietf:params:oauth:grant-type:token-exchange"

    private static let service: World.Fields = [
        (
            "authorization",
            "Basic " + Data("\(Example.api):api-secret-not-real-0123456789abcdef".utf8).base64EncodedString()
        )
    ]

    private static func body(_ error: String, _ description: String) -> String {
        #"{"error":"\#(error)","error_description":"\#(description)"}"#
    }

    private static let gone = body(
        "invalid_grant", "The 'subject_token' either expired or the session associated with it was terminated.")

    private func onBehalf(
        _ world: World, _ token: String, scope: String = "trips.read", audience: String = "api://default",
        _ rest: String = "", as fields: World.Fields = service, at endpoints: String = Example.custom
    ) async throws -> ReceivedAnswer {
        try await world.token(
            "\(Self.grant)&subject_token=\(token)&subject_token_type=\(Self.types)access_token&scope=\(scope)"
                + "&audience=\(audience)\(rest)", fields, at: endpoints)
    }

    // MARK: - On behalf of a user

    @Test(
        "a token that its own server would not accept is not exchanged",
        arguments: [
            (["defect": "unknown-kid"], "exchange-subject", "subject-signature"),
            (["claims": ["exp": 1_800_000_000]], "exchange-subject-expired", "subject-expiry"),
            (["defect": "wrong-issuer"], "exchange-not-trusted", "subject-issuer"),
            (["server": "org"], "exchange-not-trusted", "subject-issuer"),
            (["user": .string(Example.ben)], "exchange-subject-expired", "subject-user"),
            (["client": .string(Example.service)], "exchange-subject-expired", "subject-user"),
        ] as [(JSONObject, String, String)])
    func subjects(_ order: JSONObject, _ failure: String, _ check: String) async throws {
        let world = try await World()
        let answer = try await onBehalf(world, try await world.mint("okta/access", order))
        let expected = [
            "exchange-subject": (400, Self.body("invalid_request", "'subject_token' is invalid.")),
            "exchange-subject-expired": (400, Self.gone),
            "exchange-not-trusted": (
                403, Self.body("access_denied", "The 'subject_token' issuer isn't a trusted authorization server.")
            ),
        ][failure]
        let (status, body) = try #require(expected)
        answer.expect(status, body, failure)
        expect(answer.outcome(of: check), is: .failed)
    }

    /// The same token with another header, or with another signature.
    private static func forged(_ token: String, header: JSON? = nil) -> String {
        var parts = token.split(separator: ".").map(String.init)
        if let header {
            parts[0] = Base64URL.encode(header.bytes)
        } else {
            parts[2] = (parts[2].hasPrefix("A") ? "B" : "A") + parts[2].dropFirst()
        }
        return parts.joined(separator: ".")
    }

    @Test("a forged token is not exchanged", arguments: [nil, ["alg": "none"], ["alg": "HS256"]] as [JSON?])
    func forgedSubjects(_ header: JSON?) async throws {
        let world = try await World()
        let token = try await world.signIn().text("access_token")
        let answer = try await onBehalf(world, Self.forged(token, header: header))
        answer.expect(400, Self.body("invalid_request", "'subject_token' is invalid."), "exchange-subject")
        expect(answer.outcome(of: header == nil ? "subject-signature" : "subject-algorithm"), is: .failed)
    }

    @Test("neither a revoked token nor one of another kind is exchanged") func otherTokens() async throws {
        let world = try await World()
        let tokens = try await world.signIn()
        let idToken = try await onBehalf(world, tokens.text("id_token"))
        idToken.expect(400, Self.body("invalid_request", "'subject_token' is invalid."), "exchange-subject")
        expect(idToken.outcome(of: "subject-kind"), is: .failed)
        let refreshToken = try await onBehalf(world, tokens.text("refresh_token"))
        expect(refreshToken.failure, is: "exchange-subject")
        expect(refreshToken.outcome(of: "subject-parts"), is: .failed)
        let token = try tokens.text("access_token")
        try await world.submit("client_id=\(Example.native)&token=\(token)", to: Example.custom + "/revoke").expect(200)
        let revoked = try await onBehalf(world, token)
        revoked.expect(400, Self.gone, "exchange-subject-expired")
        expect(revoked.outcome(of: "subject-revocation"), is: .failed)
    }

    // MARK: - Between the apps of a device

    private func native(_ world: World, _ idToken: String, _ secret: String) async throws -> ReceivedAnswer {
        try await world.token(
            "\(Self.grant)&client_id=\(Example.tv)&subject_token=\(idToken)&subject_token_type=\(Self.types)id_token"
                + "&actor_token=\(secret)&actor_token_type=\(Self.deviceSecret)&scope=openid+offline_access"
                + "&audience=api://default")
    }

    private func deviceSession(_ world: World) async throws -> (idToken: String, secret: String, answer: ReceivedAnswer)
    {
        let answer = try await world.signIn("openid offline_access device_sso")
        return (try answer.text("id_token"), try answer.text("device_secret"), answer)
    }

    private func refresh(_ world: World, _ answer: ReceivedAnswer, as client: String) async throws -> ReceivedAnswer {
        try await world.token(
            "grant_type=refresh_token&client_id=\(client)&refresh_token=\(try answer.text("refresh_token"))")
    }

    @Test(
        "only these three scopes together bring a device secret",
        arguments: ["openid+offline_access", "openid+device_sso"])
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
        let refreshed = try await refresh(world, first, as: Example.native)
        expect(refreshed.json["device_secret"], is: nil)
        expect(refreshed.claims(of: "id_token")["ds_hash"], is: first.claims(of: "id_token")["ds_hash"])
        try await world.advance("2h")
        try await native(world, idToken, secret).expect(200)
        try await native(world, try refreshed.text("id_token"), secret).expect(200)
    }

    @Test("a secret must be known, and of the ID token's session") func otherSecrets() async throws {
        let world = try await World()
        let ((idToken, _, _), (_, other, _)) = (try await deviceSession(world), try await deviceSession(world))
        let invalid = Self.body("invalid_request", "'actor_token' is invalid.")
        let unknown = try await native(world, idToken, "nobody-knows-it")
        unknown.expect(400, invalid, "exchange-actor")
        expect(unknown.reason, is: "found a device secret that is unknown here; expected one of this sandbox")
        let misfit = try await native(world, idToken, other)
        misfit.expect(400, invalid, "exchange-actor")
        expect(misfit.outcome(of: "subject-device-secret"), is: .failed)
        let plain = try await world.signIn().text("id_token")
        expect(try await native(world, plain, other).outcome(of: "subject-device-secret"), is: .failed)
    }

    @Test("a device session ends when all of its user's sessions do") func globalRevocation() async throws {
        let world = try await World()
        let (idToken, secret, _) = try await deviceSession(world)
        try await world.perform("end-sessions", ["user": .string(Example.ada), "tokens": true]).expect(200)
        try await native(world, idToken, secret).expect(400, Self.gone, "exchange-subject-expired")
    }
}
