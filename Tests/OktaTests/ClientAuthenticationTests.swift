import Expectations
import JSON
import Support
import Testing
import Tokens

@Suite("Okta authenticates clients") struct ClientAuthenticationTests {
    private static func ask(
        _ world: World, _ items: Parameters, _ fields: World.Fields = []
    ) async throws -> ReceivedAnswer {
        try await AppClient(world: world, credentials: items, fields: fields).post("token", .service())
    }

    private static func ask(_ world: World, _ assertion: Assertion) async throws -> ReceivedAnswer {
        try await ask(world, try assertion.items)
    }

    @Test("a public one by its id alone in Basic, as okta-auth-js signs out", arguments: ["", ":"])
    func idAlone(_ ending: String) async throws {
        let world = try await World()
        let app = AppClient(world: world, credentials: [], fields: .basic(Example.native + ending))
        let tokens = try await AppClient.native(world).tokens()
        let access = tokens.member("access_token")
        expect(try await app.post("introspect", [("token", access)]).json["active"], is: true)
        let out = try await app.post("revoke", [("token_type_hint", "access_token"), ("token", access)])
        out.expect(200, "")
        expect(out.outcome(of: "client-method"), is: .passed)
        try await app.userinfo(access).expect(401, "", "access-token-revoked")
        try await app.refresh(tokens.member("refresh_token")).expect(200)
        let tv = AppClient(world: world, credentials: [], fields: .basic(Example.tv + ending))
        try await tv.post("device/authorize", [("scope", "openid")]).expect(200)
    }

    @Test("an assertion's jti counts for each client alone, and until it expires") func reuse() async throws {
        let world = try await World()
        try await Self.ask(world, Assertion()).expect(200)
        // A refused one uses nothing up.
        let expired = Assertion(id: "a9").changed { $0.claims["exp"] = JSON(World.exampleMoment) }
        expect(try await Self.ask(world, expired).failure, is: "assertion-expired")
        try await Self.ask(world, Assertion(id: "a9")).expect(200)
        for _ in 1...2 { try await Self.ask(world, Assertion(id: nil)).expect(200) }
        try await world.advance("301s")
        let later = Assertion().changed { $0.claims["exp"] = JSON(World.exampleMoment + 600) }
        try await Self.ask(world, later).expect(200)
        let long = Assertion(id: String(repeating: "j", count: 2000)).changed {
            $0.claims["exp"] = JSON(World.exampleMoment + 600)
        }
        try await Self.ask(world, long).expect(200)
        expect(try await Self.ask(world, long).failure, is: "assertion-replayed")
    }

    @Test("by a secret as key, and in every form of the endpoint's address") func forms() async throws {
        let world = try await World()
        for algorithm in [Algorithm.hs256, .hs384, .hs512] {
            try await Self.ask(world, try Assertion(id: nil).signed(algorithm)).expect(200)
        }
        for address in [
            "http://localhost:8080", "http://localhost:8080/~\(world.name)", "http://\(world.name).localhost:8080",
        ] {
            let audience = address + Example.custom + "/token"
            try await Self.ask(world, Assertion(id: nil).changed { $0.claims["aud"] = .string(audience) }).expect(200)
            let list: JSON = .array(["x", .string(audience)])
            try await Self.ask(world, Assertion(id: nil).changed { $0.claims["aud"] = list }).expect(200)
        }
        try await Self.ask(world, Assertion(id: nil).changed { $0.header["kid"] = nil }).expect(200)
        try await Self.ask(world, [("client_id", Example.service)] + (try Assertion(id: nil).items)).expect(200)
        let foreign = try await Self.ask(
            world, Assertion(id: nil).changed { $0.claims["aud"] = "http://127.0.0.1:1/oauth2/default/v1/token" })
        expect(foreign.failure, is: "assertion-audience")
        #expect(foreign.why.contains("--public-base"), "\(foreign.why)")
    }

    @Test("by a secret that is long enough for its algorithm") func shortSecret() async throws {
        let fixtures = try OwnFixtures()
        try fixtures.put("okta/accounts.yaml", [(Example.serviceSecret, "short-secret-not-real")])
        let world = try await World(on: Stage(fixtures.emulator(of: "okta")))
        let answer = try await Self.ask(world, try Assertion().signed(bySecret: "short-secret-not-real"))
        #expect(answer.failure == "assertion-secret-short" && answer.outcome(of: "secret-length") == .failed)
    }

    /// The content of each is that of a contract case with the same failure.
    @Test("and says what is wrong, to the client and in the journal") func refuses() async throws {
        let service = World.Fields.basic(Example.service, Example.serviceSecret)
        let ofAnother = try Assertion().signed().changed { $0.claims["iss"] = .string(Example.ops) }
        // It names no key, so that no key of the client's is named.
        let unnamed = Assertion().changed { $0.header["kid"] = 7 }
        let (secret, several) = (Example.serviceSecret, "client-credentials-multiple")
        let cases: [(Parameters, World.Fields, String, String)] = [
            ([], .basic("nope", "x"), "client-unknown", "client-known"),
            ([], .basic("nope"), "client-unknown", "client-known"),
            ([("client_id", Example.service), ("client_secret", secret)], [], "client-method-wrong", "client-method"),
            (try ofAnother.items, [], "client-method-wrong", "client-method"),
            ([], .basic(Example.native, "x"), "client-method-wrong", "client-method"),
            ([("client_id", Example.web)], service, several, "credentials-once"),
            ([("client_secret", "x")], .basic(Example.native), several, "credentials-once"),
            (try Assertion().items, service, several, "credentials-once"),
            ([], [("authorization", "Basic not-base64")], "client-credentials-unreadable", "authorization-readable"),
            ([("client_secret", "x")], [], "client-credentials-missing", "credentials-present"),
            ([Parameters.assertion("")[0]], [], "assertion-malformed", "parts"),
            (try unnamed.items, [], "assertion-key", "assertion-key"),
        ]
        for (items, fields, failure, check) in cases {
            let answer = try await Self.ask(World(), items, fields)
            #expect(answer.status == 401 && answer.failure == failure, "\(items) \(fields) \(answer.why)")
            expect(answer.outcome(of: check), is: .failed, "\(answer.why)")
        }
    }
}
