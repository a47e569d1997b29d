import Expectations
import JSON
import Support
import Testing
import Tokens
import Understudy

@Suite("Okta's userinfo") struct UserinfoTests {
    private func expectInvalid(
        _ answer: ReceivedAnswer, at server: String = Example.custom, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        answer.expect(401, "", "access-token-invalid", sourceLocation: sourceLocation)
        let challenge =
            "Bearer authorization_uri=\"\(Example.base)\(server)/authorize\", realm=\"\(Example.base)\", scope=\"openid\", "
            + "error=\"invalid_token\", error_description=\"The access token is invalid.\", resource=\"\(server)/userinfo\""
        expect(answer["www-authenticate"], is: challenge, sourceLocation: sourceLocation)
    }

    @Test("tells what the scopes and the profile say") func scopes() async throws {
        let world = try await World()
        let app = AppClient.native(world)
        let made = try await world.manage(
            "/api/v1/users?activate=true",
            #"{"profile":{"firstName":"Dora","lastName":"E","email":"d@example.test","login":"dora@example.test","#
                + #""mobilePhone":"+15550111","nickName":"Do","locale":"de_DE","city":"Ulm","countryCode":"DE"},"#
                + #""credentials":{"password":{"value":"not-a-secret-9"}}}"#)
        let id = try made.text("id")
        func ask(_ scopes: JSON) async throws -> JSON {
            let token = try await world.mint("okta/access", ["user": .string(id), "scopes": scopes])
            return try await app.userinfo(token).json
        }
        expect(try await ask(["openid", "phone"]), is: ["sub": .string(id), "phone_number": "+15550111"])
        expect(
            try await ask(["openid", "address"]),
            is: ["sub": .string(id), "address": ["locality": "Ulm", "country": "DE"]])
        expect(
            try await ask(["openid", "email"]),
            is: ["sub": .string(id), "email": "d@example.test", "email_verified": true])
        let profile = try await ask(["openid", "profile"])
        #expect(profile["nickname"] == "Do" && profile["locale"] == "de-DE")
    }

    @Test("refuses an ID token, another server's token, and one of another sandbox") func strangers() async throws {
        let world = try await World()
        let app = AppClient.native(world)
        let tokens = try await app.tokens()
        let id = try await app.userinfo(tokens.member("id_token"))
        expectInvalid(id)
        #expect(id.why.contains("expected an access token"), "\(id.why)")
        let org = try await app.userinfo(tokens.member("access_token"), at: Example.org)
        expectInvalid(org, at: Example.org)
        expect(try await app.userinfo(tokens.member("access_token"), at: "/oauth2/nope/v1").failure, is: "as-not-found")
        // Both sandboxes have the keys of the fixtures, but not the same address.
        let other = try await World()
        let code = "/~\(other.name)\(Example.custom)"
        let foreign = try await AppClient.native(other).tokens(at: code)
        let answer = try await app.userinfo(foreign.member("access_token"))
        expectInvalid(answer)
        expect(answer.outcome(of: "issuer"), is: .failed)
        #expect(answer.why.contains("found \"http://localhost:8080/~\(other.name)/oauth2/default\""), "\(answer.why)")
        #expect(answer.why.contains("expected http://localhost:8080/oauth2/default or"), "\(answer.why)")
        try await AppClient.native(other).userinfo(foreign.member("access_token"), at: code).expect(200)
    }

    @Test("takes tokens of every form of its own address, and of keys that are still published")
    func forms() async throws {
        let world = try await World()
        let app = AppClient.native(world)
        let token = try await app.tokens().member("access_token")
        let byPath = try await app.tokens(at: "/~\(world.name)\(Example.custom)").member("access_token")
        expect(CompactToken(byPath).claims?["iss"], is: .string("http://localhost:8080/~\(world.name)/oauth2/default"))
        try await app.userinfo(byPath).expect(200)
        try await app.userinfo(token, at: "/~\(world.name)\(Example.custom)").expect(200)
        try await world.control(.post, "keys/okta/default/overlap")
        try await app.userinfo(token).expect(200)
        try await world.control(.post, "keys/okta/default/retire")
        let retired = try await app.userinfo(token)
        expectInvalid(retired)
        #expect(retired.why.contains("it has left since"), "\(retired.why)")
        let next = try await app.tokens().member("access_token")
        for _ in 0..<3 { try await app.userinfo(next).expect(200) }
        try await world.control(.post, "keys/okta/default/same-kid")
        let same = try await app.userinfo(next)
        expectInvalid(same)
        expect(same.outcome(of: "signature"), is: .failed)
    }
}

/// A backend that trusts the emulated issuer: it fetches the issuer's keys inside the process.
@Suite("A backend that trusts Okta's tokens") struct TrustTests {
    private static let path = "/ims/v1/me"

    /// Enrolls the user of the issuer, which the fixtures onboard wherever this server is.
    private static func trust(in world: World, under prefix: String? = nil, _ fields: World.Fields = []) async throws {
        let user: JSON = [
            "email": "ada@example.test", "tenant": "sso", "enterprise_id": "ada@example.test", "activate": true,
        ]
        let path = (prefix ?? "/~\(world.name)") + "/_understudy/state/ims/enroll-user"
        try await world.bare(.post, path, fields + .jsonContent, user.text).expect(200)
    }

    private static func me(_ token: String, in world: World) async throws -> ReceivedAnswer {
        try await world.call(.get, path, .bearer(token))
    }

    @Test("signs a user in with keys that it fetches from the issuer") func named() async throws {
        let world = try await World()
        try await Self.trust(in: world)
        let token = try await AppClient.native(world).tokens().member("access_token")
        let answer = try await Self.me(token, in: world)
        answer.expect(200)
        expect(answer.json["enterprise_id"], is: "ada@example.test", "\(answer.text)")
        let fetched = world.sandbox.journal.entries().filter { $0.record.route == "keys.list" }
        expect(fetched.map(\.request.target), is: ["/oauth2/default/v1/keys"])
        // The fetched keys serve the next call.
        try await Self.me(token, in: world).expect(200)
        expect(world.sandbox.journal.entries().count { $0.record.route == "keys.list" }, is: 1)
    }

    @Test("does so in the default sandbox, and in one that is named by path or host") func forms() async throws {
        let world = try await World(on: Stage(Emulator(fixtures: Repository.fixtures)))
        for (prefix, host) in [("", nil), ("/~\(world.name)", nil), ("", "\(world.name)-b.localhost")]
            as [(String, String?)]
        {
            let fields = host.map { [("host", $0)] } ?? []
            try await Self.trust(in: world, under: prefix, fields)
            let minted = try await world.bare(.post, prefix + "/_understudy/tokens/okta/access", fields)
            let token = try #require(minted.json["token"]?.string, "\(minted.text)")
            try await world.bare(.get, prefix + Self.path, fields + .bearer(token)).expect(200)
        }
    }

    @Test("refuses tokens of a key that has left, of another server and of another sandbox's issuer")
    func refused() async throws {
        let world = try await World()
        try await Self.trust(in: world)
        func me(_ order: JSONObject) async throws -> ReceivedAnswer {
            try await Self.me(world.mint("okta/access", order), in: world)
        }
        try await me([:]).expect(200)
        expect(try await me(["server": "org", "header": ["typ": "JWT"]]).failure, is: "issuer-unknown")
        expect(try await me(["defect": "unknown-kid"]).failure, is: "kid-unknown")
        let elsewhere = try await me([
            "claims": ["iss": "http://127.0.0.1:8080/oauth2/default"], "header": ["typ": "JWT"],
        ])
        expect(elsewhere.failure, is: "issuer-unknown")
        #expect(
            elsewhere.findings.contains { $0.note?.contains("--public-base says which address that is") == true },
            "\(elsewhere.findings)")
        let literal = try await me(["claims": ["iss": "{base}/oauth2/default"], "header": ["typ": "JWT"]])
        expect(literal.failure, is: "issuer-unknown")
    }

    @Test("enrolls the user at the first call, in the scenario for that") func scenario() async throws {
        let world = try await World()
        try await world.control(.put, "scenarios", #"{"scenario":"ims-user-of-another-issuer"}"#).expect(200)
        let token = try await AppClient.native(world).tokens().member("access_token")
        for _ in 1...2 {
            let answer = try await Self.me(token, in: world)
            answer.expect(200)
            expect(answer.json["enterprise_id"], is: "ada@example.test", "\(answer.text)")
        }
        try await Self.me(world.mint("ims/user"), in: world).expect(200)
    }
}

@Suite("Okta's own claims") struct OwnClaimTests {
    private static func set(_ order: JSON, in world: World) async throws -> ReceivedAnswer {
        try await world.control(.post, "state/okta/set-claims", order.text)
    }

    private static func rules(in world: World) async throws -> JSON? {
        try await world.control(.get, "state/okta").json["server_rules"]
    }

    @Test("8.1: tokens have the constants, the journal says which, and [] ends them") func constants() async throws {
        let world = try await World()
        let app = AppClient.native(world)
        let order: JSON = [
            "claims": [
                ["name": "nonce", "in": "id", "value": "wrong"], ["name": "role", "in": "id", "value": "admin"],
                ["name": "auth_time", "in": "id", "value": .null],
            ]
        ]
        let set = try await Self.set(order, in: world)
        #expect(set.status == 200 && set.json["server"] == "default" && set.json["policies"] == .null, "\(set.text)")
        let token = try await app.tokens()
        let claims = try #require(token.read("id_token").claims)
        #expect(claims["nonce"] == "wrong" && claims["role"] == "admin" && claims["auth_time"] == nil)
        expect(token.read("access_token").claims?["role"], is: nil)
        expect(
            world.masked(try #require(token.entry))["intervention"],
            is: [["set_claims": "nonce, role, auth_time", "of": "id"]])
        let key = try #require(
            try await Self.keys(in: world).first { $0.id == token.read("id_token").header?["kid"]?.string })
        expect(token.read("id_token").signature(by: key, algorithm: .rs256).outcome, is: .passed)
        try await Self.set(["claims": []], in: world).expect(200, #"{"server":"default","policies":null,"claims":[]}"#)
        let plain = try await app.tokens()
        expect(plain.read("id_token").claims?["nonce"], is: "n1")
        expect(world.masked(try #require(plain.entry))["intervention"], is: nil)
        try await Self.set([:], in: world).expect(200)
        expect(try await Self.rules(in: world), is: [])
    }

    private static func keys(in world: World) async throws -> [VerificationKey] {
        try await world.call(.get, Example.custom + "/keys").json["keys"]?.array?.map { try VerificationKey.jwk($0) }
            ?? []
    }

    @Test("8.2: claims of both tokens end at the server's own checks, and are in the state") func both() async throws {
        let world = try await World()
        let app = AppClient.native(world)
        let past = JSON(World.exampleMoment - 3600)
        try await Self.set(["claims": [["name": "exp", "value": past]]], in: world).expect(200)
        expect(
            try await Self.rules(in: world),
            is: [["server": "default", "claims": [["name": "exp", "value": past, "always": true]]]])
        let answer = try await app.tokens()
        #expect(answer.read("id_token").claims?["exp"] == past && answer.read("access_token").claims?["exp"] == past)
        let hash = Base64URL.encode(Digest.sha256(Array(answer.member("access_token").utf8)).prefix(16))
        expect(answer.read("id_token").claims?["at_hash"], is: .string(hash))
        let used = try await app.userinfo(answer.member("access_token"))
        #expect(used.status == 401 && used.failure == "access-token-expired")
        try await world.control(.post, "reset")
        expect(try await Self.rules(in: world), is: [])
    }

    @Test("a scenario or fault sets claims, so that the third refresh gives a bad token") func fault() async throws {
        let world = try await World()
        let app = AppClient.native(world)
        let fault: JSON = [
            "vendor": "okta", "route": "token.create", "when": ["form": ["grant_type": "refresh_token"]], "call": 3,
            "do": ["set-claims": ["claims": [["name": "sub", "in": "id", "value": .null]]]],
        ]
        try await world.control(.put, "faults", fault.text).expect(200)
        let token = try await app.tokens().member("refresh_token")
        for call in 1...4 {
            let answer = try await app.refresh(token)
            expect((answer.read("id_token").claims?["sub"] == nil), is: (call >= 3))
            guard call == 3 else { continue }
            let intervention = world.masked(try #require(answer.entry))["intervention"]
            expect(intervention?[0], is: "armed fault at call 3: do set-claims")
            expect(intervention?[1], is: ["set_claims": "sub", "of": "id"])
        }
        let archive = try await world.control(.get, "journal?format=har")
        #expect(archive.text.contains("set claims sub, of id"), "\(archive.text.suffix(2000))")
    }

    @Test("claims that were set outlive a restart") func restart() async throws {
        let world = try await World.restartable()
        try await Self.set(["claims": [["name": "role", "in": "access", "value": "admin"]]], in: world).expect(200)
        let again = try world.restarted()
        expect(try await AppClient.native(again).tokens().read("access_token").claims?["role"], is: "admin")
    }

    @Test("claims of the fixtures are in tokens, introspection, userinfo and minted tokens alike")
    func fixtures() async throws {
        let fixtures = try OwnFixtures()
        let claims = """
            audience: "api://default"
                claims:
                  - { name: teams, in: access, value: groups(contains very) }
                  - { name: department, value: user.profile.department, scope: profile }
                  - { name: shown, in: id, value: { a: 1 }, always: false }
            """
        try fixtures.put(
            "okta/accounts.yaml",
            [
                ("audience: \"api://default\"", claims),
                ("first_name: \"Ada\"", "first_name: \"Ada\"\n    profile: { department: \"Flight\" }"),
            ])
        let world = try await World(on: Stage(fixtures.emulator(of: "okta")))
        let app = AppClient.native(world)
        let answer = try await app.tokens()
        let (access, id) = (answer.read("access_token").claims, answer.read("id_token").claims)
        #expect(access?["teams"] == ["Everyone"] && access?["department"] == "Flight")
        #expect(id?["department"] == "Flight" && id?["shown"] == nil && id?["teams"] == nil)
        let described = try await app.introspect(answer.member("access_token"))
        #expect(
            described.json["department"] == "Flight" && described.json["teams"] == ["Everyone"], "\(described.text)")
        let shown = try await app.userinfo(answer.member("access_token"))
        #expect(shown.json["shown"] == ["a": 1] && shown.json["department"] == "Flight" && shown.json["teams"] == nil)
        let minted = CompactToken(try await world.mint("okta/access", ["scopes": "openid profile"]))
        #expect(minted.claims?["department"] == "Flight" && minted.claims?["teams"] == ["Everyone"])
        expect(try await app.tokens("openid").read("access_token").claims?["department"], is: nil)
    }

    @Test(
        "claims that cannot be are refused with their place",
        arguments: [
            (#"{"claims":{}}"#, "claims: found a mapping; expected a list"),
            (#"{"claims":[{"name":"a"}]}"#, "member “value” is missing"),
            (#"{"claims":[{"name":"a","in":"refresh","value":1}]}"#, "[0].in: “refresh” is not one of access, id"),
            (#"{"claims":[{"name":"a","value":"groups(like x)"}]}"#, "expected groups(), groups(starts-with TEXT)"),
            (#"{"server":"defalt","claims":[]}"#, "did you mean “default”?"),
            (
                #"{"claims":[{"name":"a","value":"\#(String(repeating: "x", count: 8192))"}]}"#,
                "bytes; expected at most 8192"
            ),
        ])
    func refused(_ order: String, _ message: String) async throws {
        let world = try await World()
        let answer = try await world.control(.post, "state/okta/set-claims", order)
        expect(answer.status, is: 400)
        expect(answer.json["error"]?["message"]?.string?.contains(message), is: true, "\(answer.text)")
        expect(try await Self.rules(in: world), is: [])
    }
}
