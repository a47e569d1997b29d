import JSON
import Support
import Testing

/// Every kind of event in an organization, and states that are invalid.
enum OktaLife {
    /// What a client keeps for itself.
    struct Keeper: Sendable {
        let access: String
        let refresh: String
        let session: String
        let secret: String
        let nonce: String
    }

    /// Performs every kind of change.
    static func live(_ world: World) async throws -> Keeper {
        let dora =
            #"{"profile":{"firstName":"D","lastName":"E","email":"d@example.test","login":"d@example.test"},"#
            + #""credentials":{"password":{"value":"not-a-secret-4"}}}"#
        try await world.manage("/api/v1/users", dora).expect(200)
        try await world.perform("set-groups", ["user": .string(Example.cleo), "groups": []])
        try await world.perform("remove-user", ["user": .string(Example.ben)]).expect(200)
        try await world.perform("trusted-origin", ["origin": "http://new.example", "cors": true]).expect(200)
        try await world.perform(
            "consent", ["user": .string(Example.ada), "client": .string(Example.spa), "scopes": ["trips.share"]]
        ).expect(200)
        let authorized = try await world.authorize()
        let session = try #require(authorized.cookie("sid"))
        let tokens = try await world.tokens(.authorize.with("scope", "openid profile offline_access device_sso"))
        let access = try #require(tokens["access_token"]?.string)
        let other = try await world.issue("access_token")
        try await world.submit(
            [("client_id", Example.native), ("token", other)], to: Example.custom + "/revoke"
        ).expect(200)
        _ = try await world.pushed()
        _ = try await world.startDevice()
        _ = try await world.mfaToken()
        try await world.token(.service() + world.assertion()).expect(200)
        try await world.challengeDevice()
        try await world.answerChallenge([:]).expect(200)
        try await world.challengeDevice()
        let code = try await world.bankCode()
        let proof = try await world.mint("okta/dpop-proof")
        let refused = try await world.token(
            [("grant_type", "authorization_code"), ("code", code), ("redirect_uri", "http://localhost:3000/bank")]
                + world.assertion(["client": .string(Example.bank)]), [("DPoP", proof)])
        let nonce = try #require(refused["dpop-nonce"])
        try await world.control(.post, "keys/okta/default/overlap").expect(200)
        try await world.set("okta.par-required", "per-client")
        return Keeper(
            access: access, refresh: try #require(tokens["refresh_token"]?.string), session: session,
            secret: tokens["device_secret"]?.string ?? "", nonce: nonce)
    }

    /// Everything that a client can see of the result.
    static func seen(_ world: World) async throws -> [String] {
        var texts: [String] = []
        for path in ["/api/v1/users", "/api/v1/users/\(Example.ada)/factors", transactions, transactions + "/tx-1"] {
            let answer = try await world.call(.get, path, .apiToken)
            texts.append(
                answer.text.replacing(/"lastLogin":"[^"]*"/, with: "").replacing(/"id":"00u[^"]*"/, with: "")
                    // Passwords are secrets: who is imported elsewhere has none.
                    .replacing(#""password":{},"#, with: ""))
        }
        texts.append(try await world.call(.get, "/api/v1/users/\(Example.ben)", .apiToken).failure ?? "there")
        texts.append(try await world.call(.get, Example.custom + "/keys").text)
        let origin: World.Fields = [("origin", "http://new.example"), ("access-control-request-method", "POST")]
        let preflight = try await world.call(.options, Example.custom + "/revoke", origin)
        texts.append(preflight["access-control-allow-origin"] ?? "not allowed")
        return texts
    }

    private static let transactions = "/api/v1/users/\(Example.ada)/factors/\(Example.push)/transactions"

    /// What only those see who keep tokens and cookies.
    static func kept(_ world: World, by keeper: Keeper) async throws -> [String] {
        var texts: [String] = []
        texts.append(
            try await world.submit(
                [("client_id", Example.native), ("token", keeper.access)], to: Example.custom + "/introspect"
            ).text)
        texts.append(
            try await world.submit(
                [("client_id", Example.native), ("token", keeper.secret)], to: Example.custom + "/introspect"
            ).text)
        texts.append(try await world.token(.refresh(keeper.refresh)).failure ?? "refreshed")
        let silent = try await world.authorize(
            .authorize.with("prompt", "none"), [("cookie", "sid=" + keeper.session)])
        texts.append(silent.failure ?? "signed in")
        return texts
    }

    /// Later events.
    @Sendable static func goOn(_ world: World) async throws {
        try await world.manage("/api/v1/users/\(Example.cleo)/lifecycle/suspend").expect(200)
        _ = try await world.tokens(.authorize)
        try await world.control(.post, "keys/okta/org/overlap").expect(200)
    }

    static let wrongStates = [
        WrongState("{}", complaint: "member “users” is missing"),
        WrongState(#"{"users":{},"factors":[]}"#, complaint: "users: found a mapping; expected a list"),
        WrongState(
            #"{"users":[],"factors":[],"trusted_origins":[],"user":1}"#,
            complaint: "user: unknown member “user”; did you mean “users”?"),
    ]

    static let wrongAccounts = [
        WrongAccounts("default_user: \"00uunderstudyada0001\"", to: "default_user: \"nobody\"", complaint: "nobody"),
        WrongAccounts("keys/o1.pem", to: "keys/o9.pem", complaint: "no such file"),
        WrongAccounts("keys/o1.pem", to: "failures.yaml", complaint: "is not a private key in PEM"),
        WrongAccounts("trusted_origins:", to: "trusted_orgins:", complaint: "did you mean “trusted_origins”?"),
    ]
}
