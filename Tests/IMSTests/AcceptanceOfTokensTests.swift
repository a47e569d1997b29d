import JSON
import Support
import Testing
import Tokens

/// The spec's acceptance examples for tokens, with the spec's numbers.
@Suite("IMS's acceptance examples: tokens")
struct AcceptanceOfTokensTests {
    @Test("1: a good token of an active user is accepted", arguments: Depth.allCases)
    func good(_ depth: Depth) async throws {
        try await World(depth).me(Forged()).expect(200, Example.ada)
    }

    @Test("2: without a token there is none", arguments: Depth.allCases)
    func missing(_ depth: Depth) async throws {
        try await World(depth).call(.get, Example.me).expectRefusal(401, "token-missing")
    }

    @Test("3: what is no compact JWT is malformed", arguments: Depth.allCases)
    func malformed(_ depth: Depth) async throws {
        let world = try await World(depth)
        let token = try Forged().text()
        let parts = token.split(separator: ".").map(String.init)
        let array = try Forged.signed("\(parts[0]).\(Base64URL.encode(Array("[]".utf8)))", by: 1)
        for token in ["\(parts[0]).\(parts[1])", token + "=", token + ".e30", array] {
            try await world.me(token).expectRefusal(401, "token-malformed")
        }
    }

    @Test("4: nothing but RS256 is allowed", arguments: Depth.allCases)
    func algorithms(_ depth: Depth) async throws {
        let world = try await World(depth)
        try await world.me(Forged().header("alg", "none").input + ".").expectRefusal(401, "alg-not-allowed")
        let symmetric = Forged().header("alg", "HS256").input
        let secret = try SigningKey.secret(try Forged.pem(1))
        let code = Base64URL.encode(try secret.sign(Array(symmetric.utf8), algorithm: .hs256))
        let answer = try await world.me("\(symmetric).\(code)")
        answer.expectRefusal(401, "alg-not-allowed")
        #expect(answer.outcome(of: "public-key-as-secret") == .noted)
        let longer = try Forged.signed(Forged().header("alg", "RS512").input, by: 1, .rs512)
        try await world.me(longer).expectRefusal(401, "alg-not-allowed")
    }

    @Test("5: typ is needed, but for an issuer whose tokens have none", arguments: Depth.allCases)
    func type(_ depth: Depth) async throws {
        let world = try await World(depth)
        try await world.me(Forged().header("typ", nil)).expectRefusal(401, "typ-not-allowed")
        let cognito = Forged(.cognito, [("token_use", "id"), ("aud", "testclient0001")]).header("typ", nil)
        try await world.me(cognito).expect(200, Example.ada)
    }

    @Test("6: an issuer is known by its exact iss", arguments: Depth.allCases)
    func issuer(_ depth: Depth) async throws {
        let token = Forged(.uat, [("iss", "https://auth.example.test/uat/")])
        try await World(depth).me(token).expectRefusal(401, "issuer-unknown")
    }

    @Test("7: another key does not sign, also when the token brings it along", arguments: Depth.allCases)
    func otherKey(_ depth: Depth) async throws {
        let world = try await World(depth)
        try await world.me(Forged().signed(by: 2)).expectRefusal(401, "signature-invalid")
        let embedded = Forged().header("jwk", try Forged.key(2).publicJWK()).signed(by: 2)
        let answer = try await world.me(embedded)
        answer.expectRefusal(401, "signature-invalid")
        #expect(answer.outcome(of: "key-references") == .noted)
        #expect(world.sandbox.journal.entries().count == 2, "nothing was asked for")
    }

    @Test(
        "8: the certificate of the vendor's page loads, and that it has expired is a warning", arguments: Depth.allCases
    )
    func certificate(_ depth: Depth) async throws {
        let world = try await World(depth)
        let answer = try await world.me(Forged(.legacy))
        answer.expectRefusal(401, "signature-invalid")
        #expect(answer.outcome(of: "certificate-expired") == .noted)
        let body = Example.issuer(
            "legacy2", iss: "https://auth.example.test/prod2",
            ["type": "pem-certificate", "pem": .string(try Example.seedCertificate())])
        let created = try await world.call(.post, "/ims/v1/issuers", .operatorKey, body)
        created.expect(201)
        #expect(created.json["warnings"] == ["certificate-expired"])
    }

    @Test("9: required claims are there and of their types", arguments: Depth.allCases)
    func claims(_ depth: Depth) async throws {
        let world = try await World(depth)
        try await world.me(Forged(.uat, [("sub", nil)])).expectRefusal(401, "claim-missing", field: "sub")
        try await world.me(Forged(.uat, [("exp", "1800000600")])).expectRefusal(401, "claim-invalid", field: "exp")
        try await world.me(Forged(.uat, [("iat", nil)])).expectRefusal(401, "claim-missing", field: "nbf")
    }

    @Test(
        "10: the SDK's own check knows nothing of nbf, asks for renewal near the end, and sees the end",
        arguments: Depth.allCases)
    func preCheck(_ depth: Depth) async throws {
        let world = try await World(depth)
        func check(_ token: Forged) async throws -> JSON? {
            let order: JSON = ["token": .string(try token.text()), "vendor": "ims"]
            let verdict = try await world.control(.post, "tokens/explain", order.text).json["verdicts"]?[0]
            return verdict?["clients"]?[0]?["result"]
        }
        let usable: JSON = ["usable": true, "renew": false, "problems": []]
        #expect(try await check(Forged(.uat, [("iat", nil)])) == usable)
        #expect(
            try await check(Forged(.uat, [("exp", 1_800_000_030)])) == ["usable": true, "renew": true, "problems": []])
        #expect(
            try await check(Forged(.uat, [("exp", 1_799_999_999)]))
                == ["usable": false, "renew": false, "problems": [["name": "sdk-expired"]]])
    }

    @Test("11: a token is good until its last second and expired from its exp on", arguments: Depth.allCases)
    func expiry(_ depth: Depth) async throws {
        let world = try await World(depth)
        try await world.me(Forged(.uat, [("exp", 1_800_000_000)])).expectRefusal(401, "token-expired")
        try await world.me(Forged(.uat, [("exp", 1_800_000_001)])).expect(200)
    }

    @Test("12: half a minute of leeway before iat, and nbf wins over it", arguments: Depth.allCases)
    func notBefore(_ depth: Depth) async throws {
        let world = try await World(depth)
        try await world.me(Forged(.uat, [("iat", 1_800_000_030)])).expect(200)
        try await world.me(Forged(.uat, [("iat", 1_800_000_031)])).expectRefusal(
            401, "token-not-yet-valid", field: "iat")
        try await world.me(Forged(.uat, [("nbf", 1_799_999_000), ("iat", 1_800_009_000)])).expect(200)
    }

    @Test("13: an issuer can limit lifetimes", arguments: Depth.allCases)
    func lifetime(_ depth: Depth) async throws {
        let world = try await World(depth)
        try await world.replaceUAT(["max_lifetime_seconds": 900])
        try await world.me(Forged(.uat, [("exp", 1_800_000_900)])).expect(200)
        try await world.me(Forged(.uat, [("exp", 1_800_000_901)])).expectRefusal(401, "lifetime-too-long")
    }

    @Test("14: a token needs an active user of its issuer's tenant", arguments: Depth.allCases)
    func users(_ depth: Depth) async throws {
        let world = try await World(depth)
        let ben = Forged(.uat, [("sub", "EMP-0002")])
        try await world.me(ben).expectRefusal(403, "user-not-active")
        try await world.call(.post, "/ims/v1/trips", .bearer(try ben.text()), Example.trip)
            .expectRefusal(403, "user-not-active")
        try await world.me(Forged(.uat, [("sub", "EMP-0003")])).expectRefusal(403, "user-deactivated")
        try await world.me(Forged(.uat, [("sub", "EMP-9999")])).expectRefusal(403, "user-unknown")
        try await world.me(Forged(.stranger)).expectRefusal(403, "user-unknown")
    }

    @Test("24: tokens in Firebase's shape have a kid and the project as audience", arguments: Depth.allCases)
    func firebase(_ depth: Depth) async throws {
        let world = try await World(depth)
        let token = Forged(.firebase, [("aud", "understudy-demo")])
        try await world.me(token).expect(200)
        try await world.me(Forged(.firebase, [("aud", "other")])).expectRefusal(401, "audience-mismatch", field: "aud")
        try await world.me(token.header("kid", nil)).expectRefusal(401, "kid-required")
    }

    @Test("25: a token id is bound to a device, or good once", arguments: Depth.allCases)
    func replay(_ depth: Depth) async throws {
        let world = try await World(depth)
        try await world.replaceUAT(["replay": "bind-device"])
        let token = Forged(.uat, [("jti", "j1")])
        try await world.me(token, device: "d1").expect(200)
        try await world.me(token, device: "d1").expect(200)
        try await world.me(token, device: "d2").expectRefusal(401, "token-replayed")
        try await world.me(Forged()).expectRefusal(401, "jti-missing")
        let once = try await World(depth)
        try await once.replaceUAT(["replay": "single-use"])
        try await once.me(token).expect(200)
        try await once.me(token).expectRefusal(401, "token-replayed")
    }
}
