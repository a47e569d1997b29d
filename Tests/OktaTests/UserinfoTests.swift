import JSON
import Support
import Testing
import Tokens

@Suite("Okta's userinfo")
struct UserinfoTests {
    private static func challenge(_ error: String, _ text: String) -> String {
        "Bearer error=\"\(error)\", error_description=\"\(text)\""
    }

    private static let invalid = challenge("invalid_token", "The access token is invalid")

    private func expect(
        _ answer: ReceivedAnswer, _ status: Int, _ failure: String, _ challenge: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        answer.expect(status, "", failure, sourceLocation: sourceLocation)
        #expect(answer["www-authenticate"] == challenge, sourceLocation: sourceLocation)
    }

    @Test("14: tells about a token's user, and challenges whoever has none", arguments: Depth.allCases)
    func userinfo(_ depth: Depth) async throws {
        let world = try await World(depth)
        let app = AppClient.native(world)
        let token = try await app.tokens("openid profile email groups").member("access_token")
        let body =
            #"{"sub":"00uunderstudyada0001","name":"Ada L","nickname":"","given_name":"Ada","family_name":"L","#
            + #""preferred_username":"ada@example.test","locale":"en-US","zoneinfo":"UTC","updated_at":1798761600,"#
            + #""email":"ada@example.test","email_verified":true,"groups":["Everyone"]}"#
        // Several times, since a token that was seen before takes another way.
        for _ in 0..<3 { try await app.userinfo(token).expect(200, body) }
        let post = try await world.call(.post, Example.custom + "/userinfo", [("authorization", "Bearer \(token)")])
        post.expect(200, body)
        #expect(post["content-type"] == "application/json;charset=UTF-8")
        let missing = try await world.call(.get, Example.custom + "/userinfo")
        expect(missing, 401, "access-token-missing", Self.challenge("invalid_request", "The access token is missing"))
        let narrow = try await app.tokens("openid").member("access_token")
        try await app.userinfo(narrow).expect(200, #"{"sub":"00uunderstudyada0001"}"#)
        for isAnswered in [true, false] {
            if !isAnswered { try await world.set("okta.userinfo-openid-alone", "off") }
            let scope = isAnswered ? "trips.read" : "openid"
            let poor = isAnswered ? try await world.mint("okta/access", ["scopes": ["trips.read"]]) : narrow
            let refused = try await app.userinfo(poor)
            expect(
                refused, 403, "scope-insufficient",
                Self.challenge(
                    "insufficient_scope",
                    "The access token must provide access to at least one of these scopes - profile, email, address or "
                        + "phone"
                ))
            #expect(refused["expires"] == "0")
            let expected = "profile or email or address or phone" + (isAnswered ? " or openid" : "")
            #expect(refused.why.contains("found \(scope); expected \(expected)"), "\(refused.why)")
        }
        try await world.advance("3600s")
        let late = try await app.userinfo(token)
        expect(late, 401, "access-token-expired", Self.invalid)
        #expect(late.outcome(of: "expiry") == .failed)
    }

    @Test("tells what the scopes and the profile say")
    func scopes() async throws {
        let world = try await World()
        let app = AppClient.native(world)
        let made = try await world.call(
            .post, "/api/v1/users?activate=true",
            [("authorization", "SSWS 00understudy-api-token-not-a-secret"), ("content-type", "application/json")],
            #"{"profile":{"firstName":"Dora","lastName":"E","email":"d@example.test","login":"dora@example.test","#
                + #""mobilePhone":"+15550111","nickName":"Do","locale":"de_DE","city":"Ulm","countryCode":"DE"},"#
                + #""credentials":{"password":{"value":"not-a-secret-9"}}}"#)
        let id = made.member("id")
        #expect(!id.isEmpty, "\(made.text)")
        func ask(_ scopes: JSON) async throws -> JSON {
            let token = try await world.mint("okta/access", ["user": .string(id), "scopes": scopes])
            return try await app.userinfo(token).json
        }
        #expect(try await ask(["openid", "phone"]) == ["sub": .string(id), "phone_number": "+15550111"])
        #expect(
            try await ask(["openid", "address"])
                == ["sub": .string(id), "address": ["locality": "Ulm", "country": "DE"]])
        #expect(
            try await ask(["openid", "email"])
                == ["sub": .string(id), "email": "d@example.test", "email_verified": true])
        let profile = try await ask(["openid", "profile"])
        #expect(profile["nickname"] == "Do" && profile["locale"] == "de-DE")
    }

    @Test(
        "refuses a token that is not its own, and says why",
        arguments: [
            ("unknown-kid", "key-published", "never published here"), ("missing-kid", "key-published", "found no kid"),
            ("bad-signature", "signature", "does not match"), ("alg-none", "algorithm", "unsigned"),
            ("public-key-as-secret", "algorithm", "RS256"), ("wrong-issuer", "issuer", "--public-base"),
        ])
    func defects(_ defect: String, _ check: String, _ phrase: String) async throws {
        let world = try await World()
        let token = try await world.mint("okta/access", ["defect": .string(defect)])
        for _ in 0..<3 {
            let answer = try await AppClient.native(world).userinfo(token)
            expect(answer, 401, "access-token-invalid", Self.invalid)
            #expect(answer.outcome(of: check) == .failed, "\(answer.findings)")
            #expect(answer.findings.contains { $0.description.contains(phrase) }, "\(answer.why)")
        }
    }

    @Test("refuses an ID token, another server's token, and one of another sandbox")
    func strangers() async throws {
        let world = try await World()
        let app = AppClient.native(world)
        let tokens = try await app.tokens()
        let id = try await app.userinfo(tokens.member("id_token"))
        expect(id, 401, "access-token-invalid", Self.invalid)
        #expect(id.why.contains("expected an access token"), "\(id.why)")
        let org = try await app.userinfo(tokens.member("access_token"), at: Example.org)
        expect(org, 401, "access-token-invalid", Self.invalid)
        #expect(org.why.contains("It is a key of server default"), "\(org.why)")
        #expect(try await app.userinfo(tokens.member("access_token"), at: "/oauth2/nope/v1").failure == "as-not-found")
        // Both sandboxes have the keys of the fixtures, but not the same address.
        let other = try await World()
        let code = "/~\(other.name)\(Example.custom)"
        let foreign = try await AppClient.native(other).tokens(at: code)
        let answer = try await app.userinfo(foreign.member("access_token"))
        expect(answer, 401, "access-token-invalid", Self.invalid)
        #expect(answer.outcome(of: "issuer") == .failed)
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
        #expect(CompactToken(byPath).claims?["iss"] == .string("http://localhost:8080/~\(world.name)/oauth2/default"))
        try await app.userinfo(byPath).expect(200)
        try await app.userinfo(token, at: "/~\(world.name)\(Example.custom)").expect(200)
        try await world.control(.post, "keys/okta/default/overlap")
        try await app.userinfo(token).expect(200)
        try await world.control(.post, "keys/okta/default/retire")
        let retired = try await app.userinfo(token)
        expect(retired, 401, "access-token-invalid", Self.invalid)
        #expect(retired.why.contains("it has left since"), "\(retired.why)")
        let next = try await app.tokens().member("access_token")
        for _ in 0..<3 { try await app.userinfo(next).expect(200) }
        try await world.control(.post, "keys/okta/default/same-kid")
        let same = try await app.userinfo(next)
        expect(same, 401, "access-token-invalid", Self.invalid)
        #expect(same.outcome(of: "signature") == .failed)
    }
}
