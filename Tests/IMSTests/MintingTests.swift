import JSON
import Support
import Testing
import Tokens

/// Valid and defective tokens from the minting call.
@Suite("IMS's minted tokens")
struct MintingTests {
    @Test(
        "a token of every issuer that this server signs for is accepted", arguments: Depth.allCases,
        ["uat", "rotating", "firebase", "cognito"])
    func good(_ depth: Depth, _ issuer: String) async throws {
        let world = try await World(depth)
        try await world.me(try await world.mint("ims/user", ["issuer": .string(issuer)])).expect(200, Example.ada)
    }

    @Test("without an order the first issuer signs for the first active user, for ten minutes")
    func standard() async throws {
        let answer = try await World().control(.post, "tokens/ims/user")
        #expect(answer.json["header"] == ["alg": "RS256", "typ": "JWT"])
        #expect(
            answer.json["claims"] == [
                "iss": "https://auth.example.test/uat", "sub": "EMP-0001", "iat": 1_800_000_000, "exp": 1_800_000_600,
            ])
    }

    @Test("every member of an order is followed")
    func members() async throws {
        let answer = try await World().control(
            .post, "tokens/ims/user",
            #"{"issuer":"legacy-cert","sub":"EMP-9","expires_in":60,"kid":"k","signed_by":"stranger","#
                + #""header":{"typ":"jwt"},"claims":{"jti":"j","nbf":7}}"#)
        #expect(answer.json["header"] == ["alg": "RS256", "typ": "jwt", "kid": "k"])
        #expect(
            answer.json["claims"] == [
                "iss": "https://auth.example.test/prod", "sub": "EMP-9", "iat": 1_800_000_000, "exp": 1_800_000_060,
                "jti": "j", "nbf": 7,
            ])
        let token = CompactToken(answer.json["token"]?.string ?? "")
        #expect(token.signature(by: try Forged.key(9).verificationKey, algorithm: .rs256).outcome == .passed)
    }

    @Test("defects that need another issuer or rule to be seen")
    func specialDefects() async throws {
        let world = try await World()
        let unknown = try await world.mint("ims/user", ["issuer": "rotating", "defect": "unknown-kid"])
        try await world.me(unknown).expectRefusal(401, "kid-unknown")
        let without = try await world.mint("ims/user", ["issuer": "firebase", "defect": "missing-kid"])
        try await world.me(without).expectRefusal(401, "kid-required")
        try await world.set("ims.max-lifetime-seconds", "900")
        try await world.me(try await world.mint("ims/user", ["defect": "lifetime-16m"])).expectRefusal(
            401, "lifetime-too-long")
        try await world.me(try await world.mint("ims/user")).expect(200)
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
        #expect(answer.status == 400)
        #expect(answer.json["error"]?["message"]?.string?.contains(hint) == true, "\(answer.text)")
    }

    private func explain(_ token: String, _ world: World) async throws -> JSON {
        let order: JSON = ["token": .string(token), "vendor": "ims"]
        return try #require(try await world.control(.post, "tokens/explain", order.text).json["verdicts"]?[0])
    }

    @Test("an explanation names the issuer whose key fits, and the answer", arguments: Depth.allCases)
    func explanation(_ depth: Depth) async throws {
        let world = try await World(depth)
        let good = try await explain(try Forged().text(), world)
        #expect(good["kind"] == "user")
        #expect(good["account"] == "issuer uat of tenant demo")
        #expect(good["accepted"] == true)
        let expired = try await explain(try Forged(.uat, [("exp", 1_800_000_000)]).text(), world)
        #expect(expired["failure"] == "token-expired")
        #expect(expired["answer"]?["status"] == 401)
        #expect(expired["answer"]?["body"]?["error"]?["field"] == "exp")
        let other = try await explain(try Forged().signed(by: 9).text(), world)
        #expect(other["account"] == "issuer stranger of tenant other")
        #expect(other["failure"] == "signature-invalid")
        let claim = try await explain(try Forged(.uat, [("iat", nil)]).text(), world)
        #expect(claim["answer"]?["body"]?["error"]?["field"] == "nbf")
        #expect(claim["clients"]?[0]?["result"]?["usable"] == true, "the SDK would send it")
        let unknown = try await explain(try Forged(.uat, [("sub", "EMP-0002")]).text(), world)
        #expect(unknown["failure"] == "user-not-active")
        #expect(try await explain("garbage", world)["failure"] == "token-malformed")
    }

    @Test("an explanation asks nobody for keys, and does without those that were not fetched")
    func explanationWithoutKeys() async throws {
        let world = try await World()
        let own = try await explain(try Forged(.rotating).text(), world)
        #expect(own["account"] == "issuer rotating of tenant demo", "what this server publishes, it knows")
        #expect(own["accepted"] == true)
        let forged = try await explain(try Forged(.rotating).signed(by: 1).text(), world)
        #expect(forged["failure"] == "signature-invalid")
        #expect(try await world.fetches() == 0)
        let fixtures = try OwnFixtures()
        try fixtures.put(
            "ims/accounts.yaml",
            [("url: \"{self}/ims/dev-issuers/rotating/jwks.json\"", "url: \"http://127.0.0.1:1/jwks.json\"")])
        let away = try await World(on: Stage(.init(fixtures: fixtures.store)))
        let verdict = try await explain(try Forged(.rotating).text(), away)
        #expect(verdict["account"] == .null)
        #expect(verdict["findings"]?.array?.contains { $0["check"] == "keys" && $0["outcome"] == "not-judged" } == true)
    }

    @Test("an explanation does not use up a token id")
    func explanationOfTokenID() async throws {
        let world = try await World()
        try await world.replaceUAT(["replay": "single-use"])
        let token = try await world.mint("ims/user")
        for _ in 1...2 { #expect(try await explain(token, world)["accepted"] == true) }
        try await world.me(token).expect(200)
    }
}
