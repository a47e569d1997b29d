import JSON
import Support
import Testing
import Tokens

/// Tokens whose claims are set by hand.
@Suite("Okta's claim overrides")
struct ClaimOverrideTests {
    private static func set(_ order: JSON, in world: World) async throws -> ReceivedAnswer {
        try await world.control(.post, "state/okta/claim-override", order.text)
    }

    private static func overrides(in world: World) async throws -> JSON? {
        try await world.control(.get, "state/okta").json["claim_overrides"]
    }

    @Test("8.1: tokens have the constants, the journal says which, and {} ends them", arguments: Depth.allCases)
    func constants(_ depth: Depth) async throws {
        let world = try await World(depth)
        let app = AppClient.native(world)
        let order: JSON = ["of": "id", "claims": ["nonce": "wrong", "role": "admin", "auth_time": .null]]
        try await Self.set(order, in: world).expect(
            200, #"{"claim_overrides":[{"of":"id","claims":{"nonce":"wrong","role":"admin","auth_time":null}}]}"#)
        let token = try await app.tokens()
        let claims = try #require(token.read("id_token").claims)
        #expect(claims["nonce"] == "wrong" && claims["role"] == "admin" && claims["auth_time"] == nil)
        #expect(token.read("access_token").claims?["role"] == nil)
        #expect(
            world.masked(try #require(token.entry))["intervention"]
                == [["claim_override": "nonce, role, auth_time", "of": "id"]])
        let key = try #require(
            try await Self.keys(in: world).first { $0.id == token.read("id_token").header?["kid"]?.string })
        #expect(token.read("id_token").signature(by: key, algorithm: .rs256).outcome == .passed)
        try await Self.set(["claims": [:]], in: world).expect(200, #"{"claim_overrides":[]}"#)
        let plain = try await app.tokens()
        #expect(plain.read("id_token").claims?["nonce"] == "n1")
        #expect(world.masked(try #require(plain.entry))["intervention"] == nil)
    }

    private static func keys(in world: World) async throws -> [VerificationKey] {
        try await world.call(.get, Example.custom + "/keys").json["keys"]?.array?.map { try VerificationKey.jwk($0) }
            ?? []
    }

    @Test(
        "8.2: an override of both kinds ends at the server's own checks, and is in the state", arguments: Depth.allCases
    )
    func both(_ depth: Depth) async throws {
        let world = try await World(depth)
        let app = AppClient.native(world)
        let past = JSON(World.exampleMoment - 3600)
        try await Self.set(["claims": ["exp": past]], in: world).expect(200)
        #expect(
            try await Self.overrides(in: world) == [
                ["of": "access", "claims": ["exp": past]], ["of": "id", "claims": ["exp": past]],
            ])
        let answer = try await app.tokens()
        #expect(answer.read("id_token").claims?["exp"] == past && answer.read("access_token").claims?["exp"] == past)
        let hash = Base64URL.encode(Digest.sha256(Array(answer.member("access_token").utf8)).prefix(16))
        #expect(answer.read("id_token").claims?["at_hash"] == .string(hash))
        let used = try await app.userinfo(answer.member("access_token"))
        #expect(used.status == 401 && used.failure == "access-token-expired")
        try await world.control(.post, "reset")
        #expect(try await Self.overrides(in: world) == [])
    }

    @Test("a scenario or fault sets claims, so that the third refresh gives a bad token")
    func fault() async throws {
        let world = try await World()
        let app = AppClient.native(world)
        let fault: JSON = [
            "vendor": "okta", "route": "token.create", "when": ["form": ["grant_type": "refresh_token"]], "call": 3,
            "do": ["claim-override": ["of": "id", "claims": ["sub": .null]]],
        ]
        try await world.control(.put, "faults", fault.text).expect(200)
        let token = try await app.tokens().member("refresh_token")
        for call in 1...4 {
            let answer = try await app.refresh(token)
            #expect((answer.read("id_token").claims?["sub"] == nil) == (call >= 3))
            guard call == 3 else { continue }
            let intervention = world.masked(try #require(answer.entry))["intervention"]
            #expect(intervention?[0] == "armed fault at call 3: do claim-override")
            #expect(intervention?[1] == ["claim_override": "sub", "of": "id"])
        }
        let archive = try await world.control(.get, "journal?format=har")
        #expect(archive.text.contains("claim override sub, of id"), "\(archive.text.suffix(2000))")
    }

    @Test("overrides outlive a restart")
    func restart() async throws {
        let world = try await World.restartable()
        try await Self.set(["of": "access", "claims": ["role": "admin"]], in: world).expect(200)
        let again = try world.restarted()
        #expect(try await AppClient.native(again).tokens().read("access_token").claims?["role"] == "admin")
    }

    @Test(
        "an override that cannot be is refused with its member",
        arguments: [
            (#"{"of":"id"}"#, "needs the member claims"), (#"{"claims":[]}"#, "claims is []; expected an object"),
            (#"{"of":"refresh","claims":{}}"#, #"of is "refresh""#),
            (
                #"{"claims":{"a":"\#(String(repeating: "x", count: 8192))"}}"#,
                "claims has 8200 bytes; expected at most 8192"
            ),
        ])
    func refused(_ order: String, _ message: String) async throws {
        let world = try await World()
        let answer = try await world.control(.post, "state/okta/claim-override", order)
        #expect(answer.status == 400)
        #expect(answer.json["error"]?["message"]?.string?.contains(message) == true, "\(answer.text)")
        #expect(try await Self.overrides(in: world) == [])
    }
}
