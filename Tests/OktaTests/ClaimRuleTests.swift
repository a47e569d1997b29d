import Foundation
import JSON
import Support
import Testing
import Tokens

/// Tokens and answers that are wrong on purpose.
@Suite("Okta's claim rules")
struct ClaimRuleTests {
    private static func set(_ rule: JSON, in world: World) async throws {
        let answer = try await world.control(.post, "state/okta/claim-rule", rule.text)
        #expect(answer.status == 200, "\(answer.text)")
    }

    private static func rules(in world: World) async throws -> [JSON] {
        try await world.control(.get, "state/okta").json["claim_rules"]?.array ?? []
    }

    @Test("8.1: a prepared rule bends one token, and the journal says how", arguments: Depth.allCases)
    func once(_ depth: Depth) async throws {
        let world = try await World(depth)
        let app = AppClient.native(world)
        let rule: JSON = ["name": "wrong-nonce", "client": .string(Example.native)]
        let answer = try await world.control(.post, "state/okta/claim-rule", rule.text)
        answer.expect(
            200,
            #"{"claim_rule":{"name":"wrong-nonce","of":"id","client":"0oaunderstudynative1","times":1,"left":1,"#
                + #""set":{"nonce":"understudy-wrong-nonce"}}}"#)
        let first = try await app.tokens()
        #expect(first.read("id_token").claims?["nonce"] == "understudy-wrong-nonce")
        let shown = world.masked(try #require(first.entry))
        #expect(
            shown["intervention"] == [
                [
                    "claim_rule": "wrong-nonce", "of": "id",
                    "changes": [["member": "nonce", "would_be": "n1", "is": "understudy-wrong-nonce"]], "left": 0,
                ]
            ])
        let second = try await app.tokens()
        #expect(second.read("id_token").claims?["nonce"] == "n1")
        #expect(world.masked(try #require(second.entry))["intervention"] == nil)
        #expect(try await Self.rules(in: world) == [])
    }

    @Test("8.2: a rule that always holds makes tokens that stand by the server's own checks", arguments: Depth.allCases)
    func always(_ depth: Depth) async throws {
        let world = try await World(depth)
        let app = AppClient.native(world)
        try await Self.set(["name": "no-scp", "times": "always", "user": "ada@example.test"], in: world)
        var tokens: [String] = []
        for _ in 1...2 {
            let answer = try await app.tokens()
            #expect(answer.read("access_token").claims?["scp"] == nil)
            tokens.append(answer.member("access_token"))
        }
        let introspected = try await app.introspect(tokens[0])
        introspected.expect(200)
        #expect(introspected.json["active"] == true && introspected.json["scope"] == nil, "\(introspected.text)")
        #expect(introspected.findings.contains { $0.check == "claim_rule" && $0.found == .text("no-scp") })
        try await world.control(.post, "state/okta/remove-claim-rule", #"{"name":"no-scp"}"#).expect(200)
        #expect(try await app.tokens().read("access_token").claims?["scp"] != nil)
    }

    @Test(
        "8.3: only an answer counts a rule down, and a bent token is known when it comes back",
        arguments: Depth.allCases)
    func ownRule(_ depth: Depth) async throws {
        let world = try await World(depth)
        let app = AppClient.native(world)
        let rule: JSON = [
            "name": "mine", "of": "access", "grant": "refresh_token",
            "set": ["exp": ["add": -7200], "role": "admin"],
        ]
        try await Self.set(rule, in: world)
        let first = try await app.tokens()
        #expect(first.read("access_token").claims?["role"] == nil)
        #expect(try await app.refresh("nope").failure == "refresh-token-invalid")
        #expect(try await Self.rules(in: world).first?["left"] == 1)
        let bent = try await app.refresh(first.member("refresh_token"))
        let claims = bent.read("access_token").claims
        #expect(claims?["exp"] == JSON(World.exampleMoment + 3600 - 7200) && claims?["role"] == "admin")
        let hash = Base64URL.encode(Digest.sha256(Array(bent.member("access_token").utf8)).prefix(16))
        #expect(bent.read("id_token").claims?["at_hash"] == .string(hash))
        let used = try await app.userinfo(bent.member("access_token"))
        #expect(used.status == 401 && used.failure == "access-token-expired")
        #expect(used.findings.contains { $0.check == "claim_rule" && $0.found == .text("mine") })
    }

    @Test("the journal proves that a bent token was used, or that it was not")
    func verification() async throws {
        let world = try await World()
        let app = AppClient.native(world)
        try await Self.set(["name": "scp-as-text"], in: world)
        let token = try await app.tokens().member("access_token")
        let never: JSON = ["exactly": 0, "where": ["vendor": "okta", "claim_rule": "scp-as-text"]]
        let once: JSON = ["exactly": 1, "where": ["claim_rule": "scp-as-text", "route": "userinfo.get"]]
        try await world.control(.post, "journal/verify", never.text).expect(200)
        #expect(try await world.control(.post, "journal/verify", once.text).status == 409)
        _ = try await app.userinfo(token)
        try await world.control(.post, "journal/verify", once.text).expect(200)
        let refuted = try await world.control(.post, "journal/verify", never.text)
        #expect(refuted.status == 409)
        let other: JSON = ["where": ["claim_rule": ["like": "no-*"], "route": "userinfo.get"]]
        let missed = try await world.control(.post, "journal/verify", other.text)
        #expect(missed.status == 409)
        #expect(
            missed.json["nearest"]?[0]?["missed"]?[0] == [
                "condition": "claim_rule", "expected": "like \"no-*\"", "found": "scp-as-text",
            ], "\(missed.text)")
    }

    /// What a prepared rule makes of a claim of the ID token, or of the access token.
    private static let claims: [(rule: String, token: String, claim: String, value: JSON?)] = [
        ("no-nonce", "id_token", "nonce", nil),
        ("wrong-issuer", "id_token", "iss", "https://understudy-wrong-issuer.example.test"),
        ("wrong-audience", "id_token", "aud", "understudy-wrong-audience"),
        ("audience-array", "id_token", "aud", [.string(Example.native), "understudy-wrong-audience"]),
        ("old-auth-time", "id_token", "auth_time", JSON(World.exampleMoment - 86_401)),
        ("other-acr", "id_token", "acr", "urn:okta:loa:1fa:any"), ("no-subject", "id_token", "sub", nil),
        ("other-subject", "id_token", "sub", "understudy-other-subject"),
        ("expired-at-birth", "id_token", "exp", JSON(World.exampleMoment - 3600)),
        ("expired-at-birth", "access_token", "iat", JSON(World.exampleMoment - 7200)),
        ("expires-before-issue", "access_token", "exp", JSON(World.exampleMoment - 1)),
        ("issued-in-future", "id_token", "iat", JSON(World.exampleMoment + 3600)),
        ("issued-in-future", "access_token", "exp", JSON(World.exampleMoment + 7200)),
        ("no-scp", "access_token", "scp", nil),
        ("scp-as-text", "access_token", "scp", "openid profile offline_access"),
    ]

    @Test("a prepared rule changes one claim as its name says", arguments: claims)
    func claim(_ example: (rule: String, token: String, claim: String, value: JSON?)) async throws {
        let world = try await World()
        try await Self.set(["name": .string(example.rule)], in: world)
        let answer = try await AppClient.native(world).tokens()
        let token = answer.read(example.token)
        #expect(token.claims?[example.claim] == example.value)
        let key = try #require(try await Self.keys(in: world).first { $0.id == token.header?["kid"]?.string })
        #expect(token.signature(by: key, algorithm: .rs256).outcome == .passed)
    }

    private static func keys(in world: World) async throws -> [VerificationKey] {
        try await world.call(.get, Example.custom + "/keys").json["keys"]?.array?.map { try VerificationKey.jwk($0) }
            ?? []
    }

    @Test("a prepared rule spoils the signature or the header", arguments: ["id_token", "access_token"])
    func signature(_ member: String) async throws {
        let world = try await World()
        let app = AppClient.native(world)
        let keys = try await Self.keys(in: world)
        try await Self.set(["name": "bad-signature"], in: world)
        let bad = try await app.tokens().read(member)
        #expect(keys.allSatisfy { bad.signature(by: $0, algorithm: .rs256).outcome == .failed })
        try await Self.set(["name": "unknown-kid"], in: world)
        let unknown = try await app.tokens().read(member)
        #expect(unknown.header?["kid"] == "understudy-unknown-kid")
        #expect(keys.contains { unknown.signature(by: $0, algorithm: .rs256).outcome == .passed })
        try await Self.set(["name": "alg-hs256"], in: world)
        let symmetric = try await app.tokens()
        #expect(symmetric.read(member).header?["alg"] == "HS256")
        let intervention = world.masked(try #require(symmetric.entry))["intervention"]?.array
        #expect(intervention?.map { $0["of"] } == ["access", "id"])
        #expect(intervention?.first?["changes"]?[0] == ["defect": "public-key-as-secret"])
        try await Self.set(["name": "old", "of": "both", "defect": "retired-key"], in: world)
        let retired = try await app.tokens().read(member)
        #expect(!keys.contains { $0.id == retired.header?["kid"]?.string })
    }

    @Test("at_hash fits the access token, unless a rule sets it")
    func accessTokenHash() async throws {
        let world = try await World()
        let app = AppClient.native(world)
        try await Self.set(["of": "access", "set": ["role": "admin"], "header": ["typ": "at+jwt"]], in: world)
        try await Self.set(["name": "wrong-at-hash", "times": 2], in: world)
        let answer = try await app.tokens()
        #expect(answer.read("access_token").header?["typ"] == "at+jwt")
        let hash = Base64URL.encode(Digest.sha256(Array(answer.member("access_token").utf8)).prefix(16))
        let found = answer.read("id_token").claims?["at_hash"]
        #expect(found != .string(hash))
        let intervention = world.masked(try #require(answer.entry))["intervention"]
        #expect(
            intervention == [
                [
                    "claim_rule": "rule-1", "of": "access",
                    "changes": [
                        ["member": "header.typ", "would_be": .null, "is": "at+jwt"],
                        ["member": "role", "would_be": .null, "is": "admin"],
                    ], "left": 0,
                ],
                [
                    "claim_rule": "wrong-at-hash", "of": "id",
                    "changes": [["member": "at_hash", "would_be": .string(hash), "is": found ?? .null]], "left": 1,
                ],
            ])
    }

    @Test("rules bend the token endpoint's JSON and the redirect", arguments: Depth.allCases)
    func answers(_ depth: Depth) async throws {
        let world = try await World(depth)
        let app = AppClient.native(world)
        try await Self.set(["name": "no-id-token"], in: world)
        try await Self.set(["name": "no-refresh-token"], in: world)
        let answer = try await app.tokens()
        #expect(answer.json["id_token"] == nil && answer.json["refresh_token"] == nil)
        let intervention = world.masked(try #require(answer.entry))["intervention"]?.array
        #expect(intervention?.first?["changes"] == [["member": "id_token", "would_be": "***", "is": .null]])
        for (rule, expected) in [
            ("other-state", "understudy-other-state"), ("no-state", nil), ("other-issuer", "s1"),
        ] as [(String, String?)] {
            try await Self.set(["name": .string(rule)], in: world)
            let location = try await location(in: world)
            let items = try #require(URLComponents(string: location)?.queryItems)
            #expect(items.first { $0.name == "state" }?.value == expected, "\(location)")
            #expect(items.contains { $0.name == "iss" } == (rule == "other-issuer"))
            #expect(items.contains { $0.name == "code" })
        }
        #expect(try await location(in: world).hasSuffix("&state=s1"))
    }

    private func location(in world: World) async throws -> String {
        let answer = try await world.call(
            .get,
            "\(Example.custom)/authorize?client_id=\(Example.native)&redirect_uri=com.example.app:/callback"
                + "&response_type=code&scope=openid&state=s1&code_challenge=\(Example.challenge)&code_challenge_method=S256"
        )
        return try #require(answer["location"], "\(answer.text)")
    }

    @Test("userinfo and introspection are bent too")
    func readBack() async throws {
        let world = try await World()
        let app = AppClient.native(world)
        let token = try await app.tokens().member("access_token")
        try await Self.set(["name": "other", "of": "userinfo", "set": ["sub": "somebody-else"]], in: world)
        try await Self.set(["name": "off", "of": "introspection", "set": ["active": false]], in: world)
        #expect(try await app.userinfo(token).json["sub"] == "somebody-else")
        #expect(try await app.userinfo(token).json["sub"] == .string(Example.ada))
        #expect(try await app.introspect(token).json["active"] == false)
        #expect(try await app.introspect(token).json["active"] == true)
    }

    @Test("values may refer to the request, the clock and the claims; a rule waits for something to change")
    func templates() async throws {
        let world = try await World()
        let app = AppClient.native(world)
        try await Self.set(
            [
                "of": "access",
                "set": [
                    "by": "{{request.body.grant_type}} of {{claims.cid}}", "at": "{{clock.unix}}", "gone": ["add": 1],
                ],
            ], in: world)
        try await Self.set(["name": "no-nonce", "of": "id", "scope": "email"], in: world)
        let claims = try await app.tokens().read("access_token").claims
        #expect(claims?["by"] == "authorization_code of 0oaunderstudynative1")
        #expect(claims?["at"] == JSON(World.exampleMoment) && claims?["gone"] == nil)
        #expect(try await Self.rules(in: world).map { $0["name"] } == ["no-nonce"])
        #expect(try await app.tokens("openid email").read("id_token").claims?["nonce"] == nil)
    }

    @Test("a scenario or fault makes a rule, so that the third refresh gives a bad token")
    func fault() async throws {
        let world = try await World()
        let app = AppClient.native(world)
        let fault: JSON = [
            "vendor": "okta", "route": "token.create", "when": ["form": ["grant_type": "refresh_token"]], "call": 3,
            "do": ["claim-rule": ["name": "no-subject"]],
        ]
        try await world.control(.put, "faults", fault.text).expect(200)
        let token = try await app.tokens().member("refresh_token")
        for call in 1...4 {
            let answer = try await app.refresh(token)
            #expect((answer.read("id_token").claims?["sub"] == nil) == (call == 3))
            let intervention = world.masked(try #require(answer.entry))["intervention"]
            #expect((intervention == nil) == (call != 3))
            if call == 3 {
                #expect(intervention?[0] == "armed fault at call 3: do claim-rule")
                #expect(intervention?[1]?["claim_rule"] == "no-subject")
            }
        }
        let archive = try await world.control(.get, "journal?format=har")
        #expect(archive.text.contains("claim rule no-subject, of id, left 0"), "\(archive.text.suffix(2000))")
    }

    @Test(
        "a rule that cannot be is refused with its member",
        arguments: [
            (#"{"name":"wrong-nonse"}"#, "claim-rule-unknown", "did you mean “wrong-nonce”?"),
            (#"{"name":"mine","set":{"a":1}}"#, "claim-rule-invalid", "of is missing"),
            (#"{"of":"id"}"#, "claim-rule-invalid", "set is missing"),
            (#"{"name":"wrong-nonce","of":"access"}"#, "claim-rule-invalid", "of is access"),
            (#"{"name":"wrong-nonce","times":0}"#, "claim-rule-invalid", "times is 0"),
            (#"{"name":"wrong-nonce","client":"nativ"}"#, "claim-rule-invalid", "client: there is no client nativ"),
            (#"{"name":"wrong-nonce","user":"eve"}"#, "claim-rule-invalid", "user: there is no user eve"),
            (#"{"name":"wrong-nonce","server":"x"}"#, "claim-rule-invalid", "server: there is no server x"),
            (#"{"name":"wrong-nonce","grant":"x"}"#, "claim-rule-invalid", "grant: there is no grant x"),
            (#"{"of":"id","set":[]}"#, "claim-rule-invalid", "set is a JSON array"),
            (#"{"of":"id","set":{"a":{"add":"x"}}}"#, "claim-rule-invalid", "set: a:"),
            (#"{"of":"id","set":{"a":"{{nobody.x}}"}}"#, "claim-rule-invalid", "nobody"),
            (#"{"of":"response","defect":"expired"}"#, "claim-rule-invalid", "for tokens; of is response"),
            (#"{"of":"id","defect":"retired-kee"}"#, "claim-rule-invalid", "did you mean “retired-key”?"),
            (#"{"of":"nothing","set":{"a":1}}"#, "claim-rule-invalid", "nothing"),
        ])
    func refused(_ rule: String, _ code: String, _ message: String) async throws {
        let world = try await World()
        let answer = try await world.control(.post, "state/okta/claim-rule", rule)
        #expect(answer.status == 400)
        #expect(answer.json["error"]?["code"] == .string(code), "\(answer.text)")
        #expect(answer.json["error"]?["message"]?.string?.contains(message) == true, "\(answer.text)")
        #expect(try await Self.rules(in: world) == [])
    }

    @Test("there are at most a hundred rules, of which one can be removed, set again and reset")
    func bound() async throws {
        let world = try await World()
        for _ in 1...100 { try await Self.set(["of": "id", "set": ["a": 1]], in: world) }
        let full = try await world.control(.post, "state/okta/claim-rule", #"{"name":"wrong-nonce"}"#)
        #expect(full.status == 400 && full.json["error"]?["code"] == "claim-rule-invalid", "\(full.text)")
        try await Self.set(["name": "rule-1", "of": "id", "set": ["a": 2]], in: world)
        #expect(try await Self.rules(in: world).last?["set"] == ["a": 2])
        try await world.control(.post, "state/okta/remove-claim-rule", #"{"name":"rule-7"}"#).expect(200)
        let gone = try await world.control(.post, "state/okta/remove-claim-rule", #"{"name":"rule-7"}"#)
        #expect(gone.status == 400 && gone.json["error"]?["code"] == "claim-rule-unknown", "\(gone.text)")
        try await Self.set(["of": "id", "set": ["a": 3]], in: world)
        #expect(try await Self.rules(in: world).last?["name"] == "rule-7")
        try await world.control(.post, "reset")
        #expect(try await Self.rules(in: world) == [])
    }
}
