import Expectations
import JSON
import Support
import Testing
import Tokens

@Suite("IMS's minted tokens") struct MintingTests {
    @Test("without an order the first issuer signs for the first active user, for ten minutes")
    func standard() async throws {
        let answer = try await World().control(.post, "tokens/ims/user")
        expect(answer.json["header"], is: ["alg": "RS256", "typ": "JWT"])
        expect(
            answer.json["claims"],
            is: ["iss": "https://auth.example.test/uat", "sub": "EMP-0001", "iat": 1_800_000_000, "exp": 1_800_000_600])
    }

    @Test("every member of an order is followed") func members() async throws {
        let answer = try await World().control(
            .post, "tokens/ims/user",
            #"{"issuer":"legacy-cert","sub":"EMP-9","expires_in":60,"kid":"k","signed_by":"stranger","#
                + #""header":{"typ":"jwt"},"claims":{"jti":"j","nbf":7}}"#)
        expect(answer.json["header"], is: ["alg": "RS256", "typ": "jwt", "kid": "k"])
        expect(
            answer.json["claims"],
            is: [
                "iss": "https://auth.example.test/prod", "sub": "EMP-9", "iat": 1_800_000_000, "exp": 1_800_000_060,
                "jti": "j", "nbf": 7,
            ])
        let token = CompactToken(answer.json["token"]?.string ?? "")
        expect(token.signature(by: try Forged.key(9).verificationKey, algorithm: .rs256).outcome, is: .passed)
    }

    @Test("defects that need another issuer to be seen") func specialDefects() async throws {
        let world = try await World()
        let unknown = try await world.mint("ims/user", ["issuer": "rotating", "defect": "unknown-kid"])
        try await world.me(unknown).expectRefusal(401, "kid-unknown")
        let without = try await world.mint("ims/user", ["issuer": "firebase", "defect": "missing-kid"])
        try await world.me(without).expectRefusal(401, "kid-required")
    }

    @Test(
        "an order that makes no sense is refused, and the answer says why",
        arguments: [
            (#"{"issuer":"uatt"}"#, "did you mean “uat”?"), (#"{"issuer":"legacy-cert"}"#, "signed_by"),
            (#"{"signed_by":"nobody"}"#, "is not known here"), (#"{"expires_in":"soon"}"#, "whole number"),
            (#"{"sbu":"x"}"#, "did you mean “sub”?"), (#"{"defect":"unknown-kidd"}"#, "did you mean “unknown-kid”?"),
            (#"{"expires_in":9223372036854775807}"#, "too large"), (#"{"header":[]}"#, "expected an object"),
        ])
    func refused(_ order: String, _ hint: String) async throws {
        let answer = try await World().control(.post, "tokens/ims/user", order)
        expect(answer.status, is: 400)
        expect(answer.json["error"]?["message"]?.string?.contains(hint), is: true, "\(answer.text)")
    }

    private func explain(_ token: String, _ world: World) async throws -> JSON {
        let order: JSON = ["token": .string(token), "vendor": "ims"]
        return try #require(try await world.control(.post, "tokens/explain", order.text).json["verdicts"]?[0])
    }

    @Test("an explanation names the issuer whose key fits, and the answer") func explanation() async throws {
        let world = try await World()
        let good = try await explain(try Forged().text(), world)
        expect(good["kind"], is: "user")
        expect(good["account"], is: "issuer uat of tenant demo")
        expect(good["accepted"], is: true)
        let expired = try await explain(try Forged(.uat, [("exp", 1_800_000_000)]).text(), world)
        expect(expired["failure"], is: "token-expired")
        expect(expired["answer"]?["status"], is: 401)
        expect(expired["answer"]?["body"]?["error"]?["field"], is: "exp")
        let other = try await explain(try Forged().signed(by: 9).text(), world)
        expect(other["account"], is: "issuer stranger of tenant other")
        expect(other["failure"], is: "signature-invalid")
        let claim = try await explain(try Forged(.uat, [("iat", nil)]).text(), world)
        expect(claim["answer"]?["body"]?["error"]?["field"], is: "nbf")
        expect(claim["clients"]?[0]?["result"]?["usable"], is: true, "the SDK would send it")
        let unknown = try await explain(try Forged(.uat, [("sub", "EMP-0002")]).text(), world)
        expect(unknown["failure"], is: "user-not-active")
        expect(try await explain("garbage", world)["failure"], is: "token-malformed")
    }

    @Test("an explanation asks nobody for keys, and does without those that were not fetched")
    func explanationWithoutKeys() async throws {
        let world = try await World()
        let own = try await explain(try Forged(.rotating).text(), world)
        expect(own["account"], is: "issuer rotating of tenant demo", "what this server publishes, it knows")
        expect(own["accepted"], is: true)
        let forged = try await explain(try Forged(.rotating).signed(by: 1).text(), world)
        expect(forged["failure"], is: "signature-invalid")
        expect(try await world.fetches(), is: 0)
        let fixtures = try OwnFixtures()
        try fixtures.put(
            "ims/accounts.yaml",
            [("url: \"{self}/ims/dev-issuers/rotating/jwks.json\"", "url: \"http://127.0.0.1:1/jwks.json\"")])
        let away = try await World(on: Stage(fixtures.emulator(of: "ims")))
        let verdict = try await explain(try Forged(.rotating).text(), away)
        expect(verdict["account"], is: .null)
        expect(
            verdict["findings"]?.array?.contains { $0["check"] == "keys" && $0["outcome"] == "not-judged" }, is: true)
    }

    @Test("an explanation does not use up a token id") func explanationOfTokenID() async throws {
        let world = try await World()
        try await world.replaceUAT(["replay": "single-use"])
        let token = try await world.mint("ims/user")
        for _ in 1...2 { expect(try await explain(token, world)["accepted"], is: true) }
        try await world.me(token).expect(200)
    }
}

@Suite("IMS's routes") struct RouteTests {
    @Test(
        "what is not there is not found in the vendor's shape",
        arguments: ["/ims", "/ims/", "/ims/v1", "/ims/v1/me/", "/ims/v2/me", "/ims/dev-issuers"])
    func notThere(_ path: String) async throws {
        try await World().call(.get, path).expectRefusal(404, "route-not-found")
    }

    @Test("the scheme has no case, and blanks before the token are many", arguments: ["bearer ", "BEARER   "])
    func scheme(_ scheme: String) async throws {
        let token = try Forged().text()
        try await World().call(.get, Example.me, [("authorization", scheme + token)]).expect(200)
    }

    @Test("a user is found by id, by enterprise id, and by that of a tenant") func users() async throws {
        let world = try await World()
        let other = #"{"tenant":"other","email":"x@example.test","enterprise_id":"EMP-0001","activate":true}"#
        try await world.call(.post, "/ims/v1/users", .operatorKey, other).expect(201)
        for (path, id) in [
            ("usr-1", "usr-1"), ("EMP-0001", "usr-1"), ("EMP%2D0001?tenant=other", "usr-5"),
            ("usr-5?tenant=demo", "usr-5"),
        ] {
            let answer = try await world.call(.get, "/ims/v1/users/" + path, .operatorKey)
            expect(answer.json["id"]?.string, is: id, "\(path): \(answer.text)")
        }
        for path in ["usr-01", "usr-", "EMP-0001?tenant=none", "emp-0001"] {
            try await world.call(.get, "/ims/v1/users/" + path, .operatorKey).expectRefusal(404, "user-not-found")
        }
    }
}

@Suite("IMS's switches") struct SwitchTests {
    @Test("a user who is adopted is enrolled and active, and stays") func adoption() async throws {
        let world = try await World()
        try await world.set("ims.unknown-user", "adopt")
        try await world.me(Forged(.uat, [("sub", "EMP-7")])).expect(
            200,
            #"{"id":"usr-5","enterprise_id":"EMP-7","email":"EMP-7@adopted.invalid","first_name":"","last_name":"","#
                + #""phone":"","locale":"en","state":"active","activated_at":1800000000}"#)
        try await world.set("ims.unknown-user", "refuse")
        try await world.me(Forged(.uat, [("sub", "EMP-7")])).expect(200)
    }

    @Test("a request that is refused adopts nobody") func refusedAdoption() async throws {
        let world = try await World()
        try await world.set("ims.unknown-user", "adopt")
        let token = try Forged(.uat, [("sub", "EMP-7")]).text()
        try await world.call(.post, "/ims/v1/trips", .bearer(token), "{}").expectRefusal(
            400, "body-invalid", field: "trip_id")
        try await world.call(.get, "/ims/v1/users/EMP-7", .operatorKey).expectRefusal(404, "user-not-found")
    }

    @Test("nobody is adopted whose email another has, or whose name is longer than any text")
    func noAdoption() async throws {
        let world = try await World()
        try await world.set("ims.unknown-user", "adopt")
        try await world.call(
            .post, "/ims/v1/users", .operatorKey, #"{"tenant":"demo","email":"EMP-7@adopted.invalid"}"#
        ).expect(201)
        try await world.me(Forged(.uat, [("sub", "EMP-7")])).expectRefusal(403, "user-unknown")
        let longest = String(repeating: "x", count: 255)
        try await world.me(Forged(.uat, [("sub", .string(longest + "x"))])).expectRefusal(403, "user-unknown")
        try await world.me(Forged(.uat, [("sub", .string(longest))])).expect(200)
    }
}
