import Expectations
import JSON
import Support
import Testing
import Tokens

@Suite("Okta's minted tokens") struct MintingTests {
    private static func minted(_ kind: String, _ order: JSON = [:], in world: World) async throws -> JSON {
        let answer = try await world.control(.post, "tokens/okta/\(kind)", order.text)
        answer.expect(200)
        return answer.json
    }

    @Test("explaining an ID token compares its hashes with the token and code that came with it")
    func hashes() async throws {
        let world = try await World()
        let access = "not.a.token"
        func finding(_ hash: String, _ claim: String, _ fact: String) async throws -> JSON? {
            let token = try await world.mint("okta/id", ["claims": [claim: .string(hash)]])
            let verdict = try await Self.explain(token, [fact: .string(access)], in: world)
            return verdict["findings"]?.array?.first { $0["check"]?.string == claim }
        }
        let digest = Digest.sha256(Array(access.utf8))
        for (claim, fact) in [("at_hash", "access_token"), ("c_hash", "code")] {
            expect(try await finding(Base64URL.encode(digest.prefix(16)), claim, fact)?["outcome"], is: "passed")
            let whole = try await finding(Base64URL.encode(digest), claim, fact)
            expect(whole?["outcome"], is: "failed")
            expect(
                whole?["note"]?.string?.hasPrefix("It is the whole digest; expected base64url of 16 bytes"), is: true)
        }
    }

    private static func explain(_ token: String, _ request: JSON = [:], in world: World) async throws -> JSON {
        let order: JSON = ["token": .string(token), "vendor": "okta", "request": request]
        return try #require(try await world.control(.post, "tokens/explain", order.text).json["verdicts"]?[0])
    }

    private static func names(_ object: JSON?) -> [String] { object?.object?.map(\.name) ?? [] }

    @Test("an access token is as the server would make it, and is accepted") func access() async throws {
        let world = try await World()
        let minted = try await Self.minted("access", in: world)
        expect(Self.names(minted["header"]), is: ["kid", "alg"])
        let claims = try #require(minted["claims"])
        expect(
            Self.names(claims), is: ["ver", "jti", "iss", "aud", "iat", "exp", "cid", "uid", "scp", "auth_time", "sub"])
        #expect(claims["iss"] == "http://localhost:8080/oauth2/default" && claims["aud"] == "api://default")
        #expect(claims["jti"]?.string?.hasPrefix("AT.") == true && claims["jti"]?.string?.utf8.count == 46)
        #expect(claims["exp"] == 1_800_003_600 && claims["scp"] == ["openid", "profile", "email"])
        let app = AppClient.native(world)
        let token = minted["token"]?.string ?? ""
        expect(try await app.userinfo(token).json["sub"], is: .string(Example.ada))
        #expect(try await app.isActive(token))
    }

    @Test("every member of an order is followed") func members() async throws {
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

    @Test("issuers follow the form in which the sandbox is named") func forms() async throws {
        let world = try await World()
        let byPath = try await world.bare(.post, "/~\(world.name)/_understudy/tokens/okta/id")
        expect(byPath.json["claims"]?["iss"], is: .string("http://localhost:8080/~\(world.name)/oauth2/default"))
    }

    @Test("a proof has the server's nonce and fits the access token") func proofs() async throws {
        let world = try await World()
        let early = try await world.control(.post, "tokens/okta/dpop-proof", #"{"nonce":"current"}"#)
        #expect(early.status == 400 && early.text.contains("there is no nonce yet"), "\(early.text)")
        let nonce = try await world.nonce()
        let proof = try await Self.minted("dpop-proof", ["nonce": "current"], in: world)
        #expect(proof["claims"]?["nonce"] == .string(nonce) && proof["claims"]?["htm"] == "POST")
        expect(Self.names(proof["header"]), is: ["typ", "alg", "jwk"])
        expect(Self.names(proof["header"]?["jwk"]).sorted(), is: ["crv", "kty", "x", "y"])
        let verdict = try await Self.explain(proof["token"]?.string ?? "", in: world)
        #expect(verdict["kind"] == "dpop-proof" && verdict["account"] == "key DK1" && verdict["failure"] == .null)
        let outcomes = (verdict["findings"]?.array ?? []).filter { $0["outcome"] == "not-judged" }.map { $0["check"] }
        expect(outcomes, is: ["proof-htm", "proof-htu"])
        let elsewhere = try await Self.explain(
            proof["token"]?.string ?? "", ["method": "GET", "url": "http://localhost:8080/oauth2/v1/token"], in: world)
        expect(elsewhere["failure"], is: "dpop-htm", "\(elsewhere)")
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
        expect(answer.status, is: 400)
        expect(answer.json["error"]?["message"]?.string?.contains(hint), is: true, "\(answer.text)")
    }
}

@Suite("Okta's scenarios") struct ScenarioTests {
    private func world(_ scenario: String) async throws -> World {
        let world = try await World()
        try await world.control(.put, "scenarios", #"{"scenario":"okta-\#(scenario)"}"#).expect(200)
        return world
    }

    @Test("keys rotate under a signed-in app: tokens of the old key work until it leaves")
    func rotation() async throws {
        let world = try await world("keys-rotate-mid-session")
        let app = AppClient.native(world)
        let first = try await app.tokens()
        let refreshToken = first.member("refresh_token")
        var kids: [JSON?] = []
        for _ in 1...4 {
            try await app.userinfo(first.member("access_token")).expect(200)
            kids.append(try await app.refresh(refreshToken).read("access_token").header?["kid"])
        }
        #expect(kids[0] == first.read("access_token").header?["kid"] && kids[1] != kids[0])
        #expect(kids[2] == kids[1] && kids[3] == kids[1])
        expect(try await app.userinfo(first.member("access_token")).failure, is: "access-token-invalid")
        let rotating = world.sandbox.journal.entries().filter { $0.record.intervention != nil }
        expect(
            rotating.map(\.record.intervention),
            is: [
                "scenario okta-keys-rotate-mid-session in old at call 2, to both: do drill-keys; waits for call 2 of "
                    + "token.create whose form grant_type fits",
                "scenario okta-keys-rotate-mid-session in both at call 2, to new: do drill-keys",
            ])
    }

    @Test("a lost refresh answer: a second try within the leeway works, a later one ends all tokens")
    func refreshLost() async throws {
        let world = try await world("refresh-answer-lost")
        let app = AppClient.spa(world)
        let first = try await app.browserTokens()
        let old = first.member("refresh_token")
        let lost = try await app.refresh(old)
        expect(lost.entry?.record.intervention?.contains("fault empty reply"), is: true)
        try await world.advance("20s")
        let second = try await app.refresh(old)
        second.expect(200)
        #expect(second.member("refresh_token") != old)
        try await world.advance("11s")
        let reused = try await app.refresh(old)
        expect(reused.failure, is: "refresh-token-invalid")
        expect(reused.entry?.explanation?.contains("refresh-token-reused"), is: true)
        expect(try await app.refresh(second.member("refresh_token")).failure, is: "refresh-token-invalid")
        expect(try await app.isActive(second.member("access_token")), is: false)
    }
}

extension ScenarioPlay {
    private static func signIn(_ world: World, _: String) async throws -> ReceivedAnswer {
        try await AppClient.web(world).post("token", .password)
    }

    static let all = [
        ScenarioPlay("okta-consent-refused") { world, _ in try await world.authorize() },
        ScenarioPlay("okta-keys-endpoint-down", calls: 4) { world, _ in
            try await world.call(.get, Example.custom + "/keys")
        },
        ScenarioPlay(
            "okta-keys-rotate-mid-session", calls: 5,
            signIn: { try await AppClient.native($0).tokens().member("refresh_token") },
            call: { try await AppClient.native($0).refresh($1) }),
        ScenarioPlay("okta-mfa-required", ending: "mfa-required", call: signIn),
        ScenarioPlay("okta-password-expired", ending: "password-expired", call: signIn),
        ScenarioPlay(
            "okta-refresh-answer-lost", calls: 1,
            signIn: { try await AppClient.spa($0).browserTokens().member("refresh_token") },
            call: { try await AppClient.spa($0).refresh($1) }),
    ]
}
