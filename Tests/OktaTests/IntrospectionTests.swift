import JSON
import Support
import Testing
import Tokens

@Suite("Okta introspects and revokes tokens")
struct IntrospectionTests {
    private static let inactive = #"{"active":false}"#

    @Test("15: an access token is active at its own server only", arguments: Depth.allCases)
    func access(_ depth: Depth) async throws {
        let app = AppClient.native(try await World(depth))
        let token = try await app.tokens("openid profile").member("access_token")
        let id = CompactToken(token).claims?["jti"]?.string ?? ""
        try await app.introspect(token).expect(
            200,
            #"{"active":true,"token_type":"Bearer","scope":"openid profile","client_id":"0oaunderstudynative1","#
                + #""username":"ada@example.test","exp":1800003600,"iat":1800000000,"sub":"ada@example.test","#
                + #""aud":"api://default","iss":"http://localhost:8080/oauth2/default","jti":"\#(id)","#
                + #""uid":"00uunderstudyada0001"}"#)
        let org = try await app.introspect(token, at: Example.org)
        org.expect(200, Self.inactive)
        let note = try #require(org.findings.first { $0.check == "key-published" })
        #expect(note.outcome == .noted)
        #expect(note.note == "It is a key of server default; this endpoint is that of server org.")
    }

    @Test("refresh and ID tokens are described, and services have no user")
    func kinds() async throws {
        let world = try await World()
        let app = AppClient.native(world)
        let tokens = try await app.tokens()
        try await app.introspect(tokens.member("refresh_token")).expect(
            200,
            #"{"active":true,"token_type":"Bearer","scope":"openid profile offline_access","#
                + #""client_id":"0oaunderstudynative1","username":"ada@example.test","exp":1800604800,"#
                + #""sub":"ada@example.test"}"#)
        let id = try await app.introspect(tokens.member("id_token"))
        id.expect(200)
        #expect(id.json["active"] == true && id.json["client_id"] == .string(Example.native))
        #expect(id.json["username"] == "ada@example.test" && id.json["nonce"] == "n1")
        let service = AppClient.service(world)
        let own = try await service.post("token", [("grant_type", "client_credentials"), ("scope", "trips.read")])
        let described = try await app.introspect(own.member("access_token"))
        #expect(described.json["active"] == true && described.json["username"] == nil && described.json["uid"] == nil)
        #expect(described.json["sub"] == .string(Example.service))
    }

    @Test("a token without jti counts as never revoked, wherever it is used")
    func unnamed() async throws {
        let world = try await World()
        let token = try await world.mint("okta/access", ["claims": ["jti": nil]])
        let app = AppClient.native(world)
        try await app.userinfo(token).expect(200)
        #expect(try await app.introspect(token).json["active"] == true)
    }

    @Test("everything else is inactive, and the journal says why")
    func inactive() async throws {
        let world = try await World()
        let app = AppClient.native(world)
        let tokens = try await app.tokens()
        let token = tokens.member("access_token")
        let broken = String(token.dropLast(2)) + (token.hasSuffix("AA") ? "BA" : "AA")
        for (text, check) in [
            ("nope", "refresh-token-active"), ("a.b", "parts"), (broken, "signature"),
            (try await world.mint("okta/access", ["defect": "unknown-kid"]), "key-published"),
            (try await world.mint("okta/access", ["defect": "wrong-issuer"]), "issuer"),
        ] {
            let answer = try await app.introspect(text)
            answer.expect(200, Self.inactive)
            #expect(answer.outcome(of: check) == .noted, "\(check): \(answer.findings)")
        }
        try await app.introspect(tokens.member("refresh_token"), at: Example.org).expect(200, Self.inactive)
        try await world.advance("3600s")
        for name in ["access_token", "id_token"] {
            let answer = try await app.introspect(tokens.text(name))
            answer.expect(200, Self.inactive)
            #expect(answer.outcome(of: "expiry") == .noted)
        }
        let nothing = try await app.post("introspect", [])
        nothing.expect(
            400, #"{"error":"invalid_request","error_description":"The 'token' parameter is required."}"#,
            "token-parameter-missing")
        #expect(nothing["content-type"] == "application/json;charset=UTF-8")
    }

    @Test("an access token is revoked alone, by its own client only")
    func revocation() async throws {
        let world = try await World()
        let app = AppClient.native(world)
        let tokens = try await app.tokens()
        let token = tokens.member("access_token")
        let other = try await AppClient.spa(world).revoke(token)
        other.expect(200, "")
        #expect(other.outcome(of: "token-of-client") == .noted)
        #expect(try await app.isActive(token))
        try await AppClient.spa(world).revoke(tokens.member("refresh_token")).expect(200, "")
        try await app.revoke(tokens.member("refresh_token"), at: Example.org).expect(200, "")
        #expect(try await app.isActive(tokens.member("refresh_token")))
        for _ in 0..<2 { try await app.revoke(token).expect(200, "") }
        let answer = try await app.introspect(token)
        answer.expect(200, Self.inactive)
        #expect(answer.outcome(of: "token-revoked") == .noted)
        let userinfo = try await app.userinfo(token)
        userinfo.expect(401, "", "access-token-revoked")
        #expect(userinfo.why.contains("revoked; expected a token that was not revoked"), "\(userinfo.why)")
        try await app.refresh(tokens.member("refresh_token")).expect(200)
        for text in ["nope", "a.b.c", tokens.member("id_token")] { try await app.revoke(text).expect(200, "") }
        #expect(try await app.isActive(tokens.member("id_token")))
        try await app.post("revoke", []).expect(
            400, #"{"error":"invalid_request","error_description":"The 'token' parameter is required."}"#,
            "token-parameter-missing")
    }

    @Test("a minted token can be revoked too")
    func minted() async throws {
        let world = try await World()
        let app = AppClient.native(world)
        let token = try await world.mint("okta/access", ["client": .string(Example.native)])
        #expect(try await app.isActive(token))
        try await app.revoke(token).expect(200, "")
        #expect(try await !app.isActive(token))
    }

    @Test("public clients may say their id in the query, and nobody without one is told anything")
    func callers() async throws {
        let world = try await World()
        let token = try await AppClient.native(world).tokens().member("access_token")
        let query = try await world.call(
            .post, "\(Example.custom)/introspect?client_id=\(Example.native)", [AppClient.form], "token=\(token)")
        query.expect(200)
        #expect(query.json["active"] == true)
        let nobody = try await world.call(.post, Example.custom + "/introspect", [AppClient.form], "token=\(token)")
        nobody.expect(
            401, #"{"error":"invalid_client","error_description":"No client credentials found."}"#,
            "client-credentials-missing")
    }
}
