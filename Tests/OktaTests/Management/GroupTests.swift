import Expectations
import JSON
import Support
import Testing
import Tokens

@testable import Okta

@Suite("Okta's groups, and the lists of its management API") struct GroupTests {
    private func names(_ world: World, _ query: String) async throws -> [String?] {
        let answer = try await world.manage(.get, "/api/v1/users?" + query)
        answer.expect(200)
        return answer.json.array?.map { $0["profile"]?["firstName"]?.string } ?? []
    }

    @Test(
        "conditions select users: and binds closer than or, and case does not matter",
        arguments: [
            (#"profile.login eq "ADA@example.test""#, ["Ada"]), (#"status eq "SUSPENDED""#, ["Ben"]),
            (#"profile.firstName sw "c" or profile.firstName sw "a" and status eq "ACTIVE""#, ["Ada", "Cleo"]),
            (#"profile.firstName sw "b" and status eq "ACTIVE""#, []), (#"profile.lastName co "P""#, ["Cleo"]),
            (#"lastUpdated gt "2023-12-31T00:00:00.000Z""#, ["Ada", "Ben", "Cleo"]),
            (#"lastUpdated lt "2023-12-31T00:00:00.000Z""#, []), (#"profile.nothing eq "x""#, []),
        ])
    func conditions(_ condition: String, _ found: [String]) async throws {
        let world = try await World()
        let query = Parameters([("search", condition)]).text
        expect(try await names(world, query), is: found)
    }

    @Test("a deactivated user is listed by a condition alone, and pages keep the query") func pages() async throws {
        let world = try await World()
        try await world.act("set-status", ["user": "ben@example.test", "status": "DEPROVISIONED"])
        expect(try await names(world, "q="), is: ["Ada", "Cleo"])
        expect(try await names(world, Parameters([("filter", #"status eq "DEPROVISIONED""#)]).text), is: ["Ben"])
        let first = try await world.manage(.get, "/api/v1/groups?q=&limit=1")
        let links = first.fields.filter { $0.name.lowercased() == "link" }.map(\.value)
        let address = "<\(Example.base)/api/v1/groups?q=&limit=1"
        expect(links, is: [address + ">; rel=\"self\"", address + "&after=00gunderstudyevery01>; rel=\"next\""])
    }

    @Test("groups have scopes of their own, and appear in the next token") func scopes() async throws {
        let world = try await World()
        func token(_ scopes: String) async throws -> World.Fields {
            let order: JSONObject = ["server": "org", "client": .string(Example.ops), "scopes": .string(scopes)]
            return .bearer(try await world.mint("okta/access", order))
        }
        let path = "/api/v1/groups/00gunderstudypilots1"
        try await world.call(.get, path, token("okta.groups.read")).expect(200)
        let denied = try await world.call(.get, path, token("okta.users.read"))
        expect(denied.failure, is: "access-denied-api")
        expect(
            denied["www-authenticate"],
            is: #"Bearer authorization_uri="\#(Example.base)/oauth2/v1/authorize", "#
                + #"realm="\#(Example.base)", scope="okta.groups.read", error="insufficient_scope", "#
                + #"error_description="The access token provided does not contain the required scopes.", "#
                + #"resource="\#(path)""#)
        let own = try await token("okta.groups.manage")
        try await world.call(.put, "\(path)/users/\(Example.ada)", own).expect(204)
        let claims = try await world.token(.redeem(world.code(.authorize.with("scope", "openid groups"))))
        expect(claims.claims(of: "id_token")["groups"], is: ["Everyone", "Pilots"])
        try await world.call(.delete, path, own).expect(204)
        let left = try await world.token(.redeem(world.code(.authorize.with("scope", "openid groups"))))
        expect(left.claims(of: "id_token")["groups"], is: ["Everyone"])
    }

    @Test("the API token is refused without a challenge") func challenge() async throws {
        let answer = try await World().call(.get, "/api/v1/groups", [("authorization", "SSWS x")])
        answer.refuses(401, "E0000011", "Invalid token provided", "api-token-invalid")
        expect(answer["www-authenticate"], is: nil)
    }
}

@Suite("Access tokens of the org server") struct OrgTokenTests {
    @Test("are verified by Okta's own endpoints alone") func key() async throws {
        let world = try await World()
        let token = try await world.issue("access_token", at: Example.org)
        try await world.call(.get, Example.org + "/userinfo", .bearer(token)).expect(200)
        let form: Parameters = [("client_id", Example.native), ("token", token)]
        expect(try await world.submit(form, to: Example.org + "/introspect").json["active"], is: true)
        let header = try #require(CompactToken(token).header)
        expect(header.map(\.name), is: ["kid", "typ", "alg"])
        expect(header["typ"], is: "application/okta-internal-at+jwt")
        let published = try await world.call(.get, Example.org + "/keys").json["keys"]?.array ?? []
        #expect(!published.contains { $0["kid"] == header["kid"] })
        let order: JSONObject = ["token": .string(token), "vendor": "okta"]
        let explained = try await world.control(.post, "tokens/explain", JSON.object(order).text)
        #expect(explained.text.contains("an app cannot verify the token; introspection and userinfo can"))
        expect(explained.json["verdicts"]?[0]?["account"], is: "server org")
        try await world.control(.post, "keys/okta/org/replace").expect(200)
        try await world.call(.get, Example.org + "/userinfo", .bearer(token)).expect(200)
    }
}
