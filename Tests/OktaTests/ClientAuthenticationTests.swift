import JSON
import Support
import Testing
import Tokens

@Suite("Okta authenticates clients")
struct ClientAuthenticationTests {
    private static func invalidClient(_ text: String) -> String {
        #"{"error":"invalid_client","error_description":"\#(text)"}"#
    }

    private static func invalidRequest(_ text: String) -> String {
        #"{"error":"invalid_request","error_description":"\#(text)"}"#
    }

    private static let several = invalidRequest(
        "Cannot supply multiple client credentials. Use one of the following: credentials in the Authorization header, "
            + "credentials in the post body, or a client_assertion in the post body.")

    private static let grant: AppClient.Items = [("grant_type", "client_credentials"), ("scope", "trips.read")]

    private static func ask(
        _ world: World, _ items: AppClient.Items, _ fields: World.Fields = []
    ) async throws -> ReceivedAnswer {
        try await AppClient(world: world, credentials: items, fields: fields).post("token", grant)
    }

    private static func ask(_ world: World, _ assertion: Assertion) async throws -> ReceivedAnswer {
        try await ask(world, try assertion.items)
    }

    @Test("10: by id and secret, once, in one way", arguments: Depth.allCases)
    func secrets(_ depth: Depth) async throws {
        let world = try await World(depth)
        let none = try await Self.ask(world, [])
        none.expect(401, Self.invalidClient("No client credentials found."), "client-credentials-missing")
        #expect(none.outcome(of: "credentials-present") == .failed)
        let wrong = try await Self.ask(world, [], AppClient.basic(Example.web, "wrong"))
        wrong.expect(
            401, Self.invalidClient("The client secret supplied for a confidential client is invalid."),
            "client-secret-wrong")
        #expect(wrong.why.contains("found another secret; expected the client's secret"), "\(wrong.why)")
        let both = try await Self.ask(
            world, [("client_id", Example.web), ("client_secret", "web-secret-not-real-0123456789abcdef")],
            AppClient.basic(Example.web, "web-secret-not-real-0123456789abcdef"))
        both.expect(401, Self.several, "client-credentials-multiple")
        #expect(both.why.contains("client_secret_basic and client_secret_post"), "\(both.why)")
        let magic = try await AppClient.web(world).post("token", [("grant_type", "magic")])
        #expect(magic.status == 400)
        #expect(magic.failure == "grant-type-unsupported")
        #expect(magic.json["error"] == "unsupported_grant_type")
        #expect(magic["cache-control"] == "no-cache, no-store")
    }

    @Test("a public one by its id alone in Basic, as okta-auth-js signs out", arguments: Depth.allCases, ["", ":"])
    func idAlone(_ depth: Depth, _ ending: String) async throws {
        let world = try await World(depth)
        let app = AppClient(world: world, credentials: [], fields: AppClient.basic(Example.native + ending))
        let tokens = try await AppClient.native(world).tokens()
        let access = tokens.member("access_token")
        #expect(try await app.post("introspect", [("token", access)]).json["active"] == true)
        let out = try await app.post("revoke", [("token_type_hint", "access_token"), ("token", access)])
        out.expect(200, "")
        #expect(out.outcome(of: "client-method") == .passed)
        try await app.userinfo(access).expect(401, "", "access-token-revoked")
        try await app.post(
            "token", [("grant_type", "refresh_token"), ("refresh_token", tokens.member("refresh_token"))]
        ).expect(200)
        let tv = AppClient(world: world, credentials: [], fields: AppClient.basic(Example.tv + ending))
        try await tv.post("device/authorize", [("scope", "openid")]).expect(200)
    }

    @Test("one with a secret not by its id alone", arguments: Depth.allCases, ["", ":"])
    func secretLeftOut(_ depth: Depth, _ ending: String) async throws {
        let world = try await World(depth)
        for path in ["token", "introspect", "revoke", "par"] {
            let app = AppClient(world: world, credentials: [], fields: AppClient.basic(Example.web + ending))
            let answer = try await app.post(path, [("token", "x")])
            answer.expect(
                401, Self.invalidClient("The client secret supplied for a confidential client is invalid."),
                "client-secret-wrong")
            let reason =
                "found no secret; expected the client's secret. Only a client with the method none has none; Basic is "
                + "base64 of ID:SECRET."
            #expect(answer.why.contains(reason), "\(answer.why)")
        }
    }

    @Test("12: by an assertion, once", arguments: Depth.allCases)
    func assertions(_ depth: Depth) async throws {
        let world = try await World(depth)
        try await Self.ask(world, Assertion()).expect(200)
        let again = try await Self.ask(world, Assertion())
        again.expect(
            401, Self.invalidClient("The client_assertion token has already been used."), "assertion-replayed")
        #expect(again.why.contains("expected a jti that was not used before"), "\(again.why)")
        let far = try await Self.ask(
            world, Assertion(id: "a2").changed { $0.claims["exp"] = JSON(World.exampleMoment + 3601) })
        far.expect(
            401, Self.invalidClient("The client_assertion token has an expiration too far into the future."),
            "assertion-too-far")
        #expect(far.why.contains("found 3601 s; expected 3600 s"), "\(far.why)")
        let base = try await Self.ask(world, Assertion(id: "a3").changed { $0.claims["aud"] = .string(Example.base) })
        base.expect(
            401,
            Self.invalidClient("The audience claim for client_assertion must be the endpoint invoked for the request."),
            "assertion-audience")
        #expect(base.why.contains("not that of the server"), "\(base.why)")
    }

    @Test("an assertion's jti counts for each client alone, and until it expires")
    func reuse() async throws {
        let world = try await World()
        try await Self.ask(world, Assertion()).expect(200)
        // A refused one uses nothing up.
        let expired = Assertion(id: "a9").changed { $0.claims["exp"] = JSON(World.exampleMoment) }
        #expect(try await Self.ask(world, expired).failure == "assertion-expired")
        try await Self.ask(world, Assertion(id: "a9")).expect(200)
        try await Self.ask(world, Assertion(id: nil)).expect(200)
        try await Self.ask(world, Assertion(id: nil)).expect(200)
        try await world.advance("301s")
        let later = Assertion().changed { $0.claims["exp"] = JSON(World.exampleMoment + 600) }
        try await Self.ask(world, later).expect(200)
        let long = Assertion(id: String(repeating: "j", count: 2000)).changed {
            $0.claims["exp"] = JSON(World.exampleMoment + 600)
        }
        try await Self.ask(world, long).expect(200)
        #expect(try await Self.ask(world, long).failure == "assertion-replayed")
    }

    @Test("by a secret as key, and in every form of the endpoint's address")
    func forms() async throws {
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
        #expect(foreign.failure == "assertion-audience")
        #expect(foreign.why.contains("--public-base"), "\(foreign.why)")
    }

    /// A request that fails, and how.
    struct Case: CustomTestStringConvertible, Sendable {
        let failure: String
        let status: Int
        let text: String
        let check: String
        let send: @Sendable (World) async throws -> ReceivedAnswer

        var testDescription: String { "\(failure), \(check)" }

        init(
            _ failure: String, _ text: String, by check: String, status: Int = 401,
            _ send: @escaping @Sendable (World) async throws -> ReceivedAnswer
        ) {
            (self.failure, self.status, self.text, self.check, self.send) = (failure, status, text, check, send)
        }

        /// A change to a good assertion.
        static func assertion(
            _ failure: String, _ text: String, by check: String,
            _ change: @escaping @Sendable (inout Assertion) throws -> Void
        ) -> Case {
            Case(failure, invalidClient(text), by: check) { try await ask($0, try Assertion().changed(change)) }
        }
    }

    static let requests: [Case] = [
        Case(
            "client-unknown", invalidClient("Invalid value for 'client_id' parameter."), by: "client-known"
        ) { try await ask($0, [("client_id", "nope")]) },
        Case(
            "client-unknown", invalidClient("Invalid value for 'client_id' parameter."), by: "client-known"
        ) { try await ask($0, [], AppClient.basic("nope", "x")) },
        Case(
            "client-method-wrong",
            invalidClient("Client authentication failed. Either the client or the client credentials are invalid."),
            by: "client-method"
        ) { try await ask($0, [("client_id", Example.web)]) },
        Case(
            "client-method-wrong",
            invalidClient("Client authentication failed. Either the client or the client credentials are invalid."),
            by: "client-method"
        ) { try await ask($0, [("client_id", Example.service), ("client_secret", AppClient.serviceSecret)]) },
        Case(
            "client-method-wrong",
            invalidClient("Client authentication failed. Either the client or the client credentials are invalid."),
            by: "client-method"
        ) { world in
            try await ask(
                world,
                try Assertion().signed().changed { $0.claims["iss"] = .string(Example.ops) })
        },
        Case(
            "client-credentials-in-query",
            invalidRequest("Client credentials cannot be supplied via query parameters."),
            by: "credentials-in-query", status: 400
        ) { world in
            try await world.call(
                .post, Example.custom + "/token?client_secret=x", [AppClient.form], "client_id=\(Example.web)")
        },
        Case(
            "parameter-duplicate", invalidRequest("The request contained multiple parameters with the same name."),
            by: "parameters-once", status: 400
        ) { try await ask($0, [("client_id", Example.native), ("scope", "openid")]) },
        Case("client-credentials-multiple", several, by: "credentials-once") {
            try await ask($0, [("client_id", Example.web)], AppClient.basic(Example.service, AppClient.serviceSecret))
        },
        Case("client-credentials-multiple", several, by: "credentials-once") {
            try await ask($0, [("client_secret", "x")], AppClient.basic(Example.native))
        },
        Case("client-unknown", invalidClient("Invalid value for 'client_id' parameter."), by: "client-known") {
            try await ask($0, [], AppClient.basic("nope"))
        },
        Case(
            "client-method-wrong",
            invalidClient("Client authentication failed. Either the client or the client credentials are invalid."),
            by: "client-method"
        ) { try await ask($0, [], AppClient.basic(Example.native, "x")) },
        Case("client-credentials-multiple", several, by: "credentials-once") {
            try await ask($0, try Assertion().items, AppClient.basic(Example.service, AppClient.serviceSecret))
        },
        Case(
            "client-credentials-missing", invalidClient("No client credentials found."), by: "credentials-present"
        ) { try await ask($0, [], [("authorization", "Basic not-base64-of-a-pair")]) },
        Case(
            "client-credentials-missing", invalidClient("No client credentials found."), by: "credentials-present"
        ) { try await ask($0, [("client_secret", "x")]) },
        Case(
            "assertion-type-invalid", invalidRequest("The client_assertion_type is invalid."), by: "assertion-type",
            status: 400
        ) { try await ask($0, [("client_assertion_type", "x"), ("client_assertion", try Assertion().text)]) },
        Case(
            "assertion-malformed", invalidClient("The parsing of the client_assertion failed."), by: "parts"
        ) { try await ask($0, [("client_assertion_type", Assertion.type), ("client_assertion", "a.b")]) },
        Case(
            "assertion-malformed", invalidClient("The parsing of the client_assertion failed."), by: "parts"
        ) { try await ask($0, [("client_assertion_type", Assertion.type)]) },
    ]

    static let assertions: [Case] = [
        .assertion("assertion-algorithm", "The client_assertion JWT signature algorithm is invalid.", by: "algorithm") {
            ($0.algorithm, $0.header["alg"]) = (.ps256, "PS256")
        },
        .assertion(
            "assertion-issuer", "The issuer claim for client_assertion is not a valid client_id.", by: "issuer"
        ) { $0.claims["iss"] = "nope" },
        .assertion(
            "assertion-subject", "The subject claim for client_assertion is not a valid client_id.", by: "subject"
        ) { $0.claims["sub"] = .string(Example.web) },
        .assertion("assertion-key", "The client_assertion JWT kid is invalid.", by: "assertion-key") {
            $0.header["kid"] = "other"
        },
        // It names no key, so that no key of the client's is named.
        .assertion("assertion-key", "The client_assertion JWT kid is invalid.", by: "assertion-key") {
            $0.header["kid"] = 7
        },
        .assertion("assertion-signature", "The client_assertion signature is invalid.", by: "signature") {
            $0.header["kid"] = nil
            $0 = try $0.signed(bySecret: "another-secret-not-real-0123456789abcdef")
        },
        .assertion(
            "assertion-no-expiry", "The client_assertion must contain the 'exp' claim as seconds since epoch.",
            by: "claim-exp-present"
        ) { $0.claims["exp"] = "1800000300" },
        .assertion("assertion-expired", "The client_assertion token is expired.", by: "expiry") {
            $0.claims["exp"] = JSON(World.exampleMoment)
        },
        .assertion(
            "assertion-iat-future", "The client_assertion token must be issued before the current time.",
            by: "issued-at"
        ) { $0.claims["iat"] = JSON(World.exampleMoment + 1) },
    ]

    private static let refusals: [Case] = requests + assertions

    @Test("and says what is wrong, to the client and in the journal", arguments: refusals)
    func refuses(_ refused: Case) async throws {
        let answer = try await refused.send(try await World())
        answer.expect(refused.status, refused.text, refused.failure)
        #expect(answer.outcome(of: refused.check) == .failed, "\(answer.why)")
        #expect(ReasonForm.faults(in: answer.why, isArmed: false) == [], "\(answer.why)")
    }

    @Test("that send forms, and for pushed requests JSON")
    func content() async throws {
        let world = try await World()
        let json = try await world.call(
            .post, Example.custom + "/token", [("content-type", "application/json")], #"{"client_id":"x"}"#)
        #expect(json.status == 400)
        #expect(json.failure == "media-type")
        #expect(json.outcome(of: "media-type") == .failed)
        #expect(try await world.call(.post, Example.custom + "/token").failure == "media-type")
        // A server that does not exist comes before everything else.
        #expect(try await world.call(.post, "/oauth2/nope/v1/token").failure == "as-not-found")
    }
}
