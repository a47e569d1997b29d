import JSON
import Support
import Testing
import Tokens

/// Tokens from the minting call, good and defective, and what is said about them.
@Suite("Okta's minted tokens")
struct MintingTests {
    private static func minted(_ kind: String, _ order: JSON = [:], in world: World) async throws -> JSON {
        let answer = try await world.control(.post, "tokens/okta/\(kind)", order.text)
        #expect(answer.status == 200, "\(answer.text)")
        return answer.json
    }

    private static func explain(_ token: String, _ request: JSON = [:], in world: World) async throws -> JSON {
        let order: JSON = ["token": .string(token), "vendor": "okta", "request": request]
        return try #require(try await world.control(.post, "tokens/explain", order.text).json["verdicts"]?[0])
    }

    private static func names(_ object: JSON?) -> [String] { object?.object?.map(\.name) ?? [] }

    @Test("an access token is as the server would make it, and is accepted", arguments: Depth.allCases)
    func access(_ depth: Depth) async throws {
        let world = try await World(depth)
        let minted = try await Self.minted("access", in: world)
        #expect(Self.names(minted["header"]) == ["kid", "alg"])
        let claims = try #require(minted["claims"])
        #expect(
            Self.names(claims) == [
                "ver", "jti", "iss", "aud", "iat", "exp", "cid", "uid", "scp", "auth_time", "sub",
            ])
        #expect(claims["iss"] == "http://localhost:8080/oauth2/default" && claims["aud"] == "api://default")
        #expect(claims["jti"]?.string?.hasPrefix("AT.") == true && claims["jti"]?.string?.utf8.count == 46)
        #expect(claims["exp"] == 1_800_003_600 && claims["scp"] == ["openid", "profile", "email"])
        let app = AppClient.native(world)
        let token = minted["token"]?.string ?? ""
        #expect(try await app.userinfo(token).json["sub"] == .string(Example.ada))
        #expect(try await app.isActive(token))
    }

    @Test("every member of an order is followed")
    func members() async throws {
        let world = try await World()
        let access = try await Self.minted(
            "access",
            [
                "server": "org", "client": .string(Example.web), "user": "cleo@example.test", "scopes": "openid",
                "expires_in": 60, "jkt": "T1", "header": ["typ": "x"], "claims": ["role": "admin"],
            ], in: world)
        let claims = try #require(access["claims"])
        #expect(claims["iss"] == "http://localhost:8080" && claims["aud"] == "http://localhost:8080")
        #expect(claims["cid"] == .string(Example.web) && claims["uid"] == .string(Example.cleo))
        #expect(claims["exp"] == 1_800_000_060 && claims["scp"] == ["openid"] && claims["cnf"] == ["jkt": "T1"])
        #expect(claims["role"] == "admin" && access["header"]?["typ"] == "x")
        let service = try await Self.minted("access", ["client": .string(Example.service)], in: world)
        #expect(service["claims"]?["uid"] == nil && service["claims"]?["sub"] == .string(Example.service))
        let id = try await Self.minted(
            "id", ["nonce": "n1", "access_token": access["token"] ?? .null, "scopes": ["openid", "email"]], in: world)
        let hash = Base64URL.encode(Digest.sha256(Array((access["token"]?.string ?? "").utf8)).prefix(16))
        #expect(id["claims"]?["nonce"] == "n1" && id["claims"]?["at_hash"] == .string(hash))
        #expect(id["claims"]?["email"] == "ada@example.test" && id["claims"]?["aud"] == .string(Example.native))
    }

    @Test("issuers follow the form in which the sandbox is named")
    func forms() async throws {
        let world = try await World()
        let byPath = try await world.bare(.post, "/~\(world.name)/_understudy/tokens/okta/id")
        #expect(byPath.json["claims"]?["iss"] == .string("http://localhost:8080/~\(world.name)/oauth2/default"))
    }

    @Test("a client assertion authenticates its client, by key and by secret, once", arguments: Depth.allCases)
    func assertions(_ depth: Depth) async throws {
        let world = try await World(depth)
        for method in ["private_key_jwt", "client_secret_jwt"] {
            let minted = try await Self.minted("client-assertion", ["method": .string(method)], in: world)
            #expect(minted["claims"]?["aud"] == "http://localhost:8080/oauth2/default/v1/token")
            let app = AppClient(
                world: world,
                credentials: [
                    ("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"),
                    ("client_assertion", minted["token"]?.string ?? ""),
                ])
            let items = [("grant_type", "client_credentials"), ("scope", "trips.read")]
            try await app.post("token", items).expect(200)
            #expect(try await app.post("token", items).failure == "assertion-replayed")
        }
        let other = try await Self.minted(
            "client-assertion", ["client": .string(Example.ops), "server": "org", "endpoint": "par"], in: world)
        #expect(other["claims"]?["aud"] == "http://localhost:8080/oauth2/v1/par")
        #expect(other["claims"]?["sub"] == .string(Example.ops))
    }

    @Test("a device's answer is accepted for the newest challenge", arguments: Depth.allCases)
    func deviceAnswer(_ depth: Depth) async throws {
        let world = try await World(depth)
        let path = "/api/v1/users/\(Example.ada)/factors/\(Example.push)"
        let challenge = try await world.call(
            .post, path + "/verify", [("authorization", "SSWS 00understudy-api-token-not-a-secret")])
        #expect(challenge.status == 201, "\(challenge.text)")
        let minted = try await Self.minted("ssws", in: world)
        #expect(Self.names(minted["claims"]) == ["tx", "iss", "sub", "aud", "iat", "nbf", "exp", "jti"])
        let verdict = try await Self.explain(minted["token"]?.string ?? "", in: world)
        #expect(verdict["kind"] == "ssws" && verdict["failure"] == .null, "\(verdict)")
        #expect(verdict["account"] == .string("factor \(Example.push)"))
        let transaction = minted["claims"]?["tx"]?.string ?? ""
        let answer = try await world.call(
            .post, "\(path)/transactions/\(transaction)/verify",
            [("authorization", "SSWS \(minted["token"]?.string ?? "")"), ("content-type", "application/json")],
            #"{"result":"APPROVE"}"#)
        answer.expect(200, #"{"factorResult":"SUCCESS"}"#)
    }

    @Test("a proof has the server's nonce and fits the access token")
    func proofs() async throws {
        let world = try await World()
        let early = try await world.control(.post, "tokens/okta/dpop-proof", #"{"nonce":"current"}"#)
        #expect(early.status == 400 && early.text.contains("there is no nonce yet"), "\(early.text)")
        let nonce = try await world.nonce()
        let proof = try await Self.minted("dpop-proof", ["nonce": "current"], in: world)
        #expect(proof["claims"]?["nonce"] == .string(nonce) && proof["claims"]?["htm"] == "POST")
        #expect(Self.names(proof["header"]) == ["typ", "alg", "jwk"])
        #expect(Self.names(proof["header"]?["jwk"]).sorted() == ["crv", "kty", "x", "y"])
        let verdict = try await Self.explain(proof["token"]?.string ?? "", in: world)
        #expect(verdict["kind"] == "dpop-proof" && verdict["account"] == "key DK1" && verdict["failure"] == .null)
        let outcomes = (verdict["findings"]?.array ?? []).filter { $0["outcome"] == "not-judged" }.map { $0["check"] }
        #expect(outcomes == ["proof-htm", "proof-htu"])
        let elsewhere = try await Self.explain(
            proof["token"]?.string ?? "", ["method": "GET", "url": "http://localhost:8080/oauth2/v1/token"], in: world)
        #expect(elsewhere["failure"] == "dpop-htm", "\(elsewhere)")
    }

    /// A defect of an access token, the claim or header member that shows it, and the failure at userinfo.
    private static let defects: [(defect: String, failure: String?)] = [
        ("expired", "access-token-expired"), ("unknown-kid", "access-token-invalid"),
        ("retired-key", "access-token-invalid"), ("next-key", nil), ("wrong-issuer", "access-token-invalid"),
        ("missing-kid", "access-token-invalid"), ("public-key-as-secret", "access-token-invalid"),
        ("alg-none", "access-token-invalid"), ("bad-signature", "access-token-invalid"),
    ]

    @Test("a defective access token is refused, and explained with the same failure", arguments: defects)
    func defective(_ example: (defect: String, failure: String?)) async throws {
        let world = try await World()
        let minted = try await Self.minted("access", ["defect": .string(example.defect)], in: world)
        let token = minted["token"]?.string ?? ""
        #expect(try await AppClient.native(world).userinfo(token).failure == example.failure)
        let verdict = try await Self.explain(token, in: world)
        #expect(verdict["kind"] == "access" && verdict["failure"] == example.failure.map(JSON.string) ?? .null)
    }

    @Test("defects of claims are as their names say")
    func claims() async throws {
        let world = try await World()
        func claim(_ name: String, _ defect: String) async throws -> JSON? {
            try await Self.minted("id", ["defect": .string(defect)], in: world)["claims"]?[name]
        }
        #expect(try await claim("aud", "wrong-audience") == "understudy-wrong-audience")
        #expect(try await claim("aud", "aud-array") == [.string(Example.native), "understudy-wrong-audience"])
        #expect(try await claim("nonce", "wrong-nonce") == "understudy-wrong-nonce")
        #expect(try await claim("iat", "iat-milliseconds") == 1_800_000_000_000)
        #expect(try await claim("iat", "issued-in-future") == 1_800_003_600)
        #expect(try await claim("exp", "missing-exp") == nil)
        let other = try await Self.minted("id", ["defect": "typ-other"], in: world)
        #expect(other["header"]?["typ"] == "other+jwt")
    }

    @Test(
        "an order that makes no sense is refused, and the answer says why",
        arguments: [
            ("access", #"{"server":"defalt"}"#, "did you mean “default”?"), ("access", #"{"user":"x"}"#, "no user"),
            ("access", #"{"client":"x"}"#, "no client has the id x"), ("access", #"{"scopes":[1]}"#, "list of strings"),
            ("access", #"{"nonce":"n"}"#, "has no member nonce"), ("id", #"{"defect":"wrong-nonse"}"#, "wrong-nonce"),
            ("access", #"{"expires_in":9223372036854775807}"#, "too large"),
            ("client-assertion", #"{"method":"none"}"#, "expected private_key_jwt or client_secret_jwt"),
            ("client-assertion", #"{"client":"0oaunderstudynative1"}"#, "has no secret"),
            ("ssws", #"{"factor":"smsunderstudyada0001"}"#, "is not known here"),
            ("dpop-proof", #"{"key":"DK3"}"#, "no proof key is called DK3"),
        ])
    func refused(_ kind: String, _ order: String, _ hint: String) async throws {
        let answer = try await World().control(.post, "tokens/okta/\(kind)", order)
        #expect(answer.status == 400)
        #expect(answer.json["error"]?["message"]?.string?.contains(hint) == true, "\(answer.text)")
    }
}
