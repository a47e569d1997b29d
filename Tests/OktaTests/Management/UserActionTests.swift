import JSON
import Support
import Testing

@Suite("Actions on Okta's users")
struct UserActionTests {
    @Test("users come, change and go")
    func users() async throws {
        let world = try await World()
        let added = try await world.act(
            "add-user",
            ["login": "eve@example.test", "password": "not-a-secret-5", "first_name": "Eve", "groups": ["Pilots"]])
        let id = try #require(added["id"]?.string)
        #expect(
            added.text == #"{"id":"\#(id)","login":"eve@example.test","status":"ACTIVE","groups":"#
                + #"["00gunderstudyevery01","00gunderstudypilots1"]}"#)
        #expect(try await world.refusal(of: "add-user", ["login": "EVE@example.test"]).message.contains("another user"))
        #expect(
            try await world.refusal(of: "add-user", ["login": "x", "groups": ["Pilot"]]).message.contains("Pilots"))
        #expect(try await world.refusal(of: "add-user", ["login": ""]).code == "invalid")
        let groups = try await world.act("set-groups", ["user": "eve@example.test", "groups": []])
        #expect(groups["groups"] == ["00gunderstudyevery01"])
        let status = try await world.act("set-status", ["user": .string(id), "status": "LOCKED_OUT"])
        #expect(status["status"] == "LOCKED_OUT")
        #expect(try await world.refusal(of: "set-status", ["user": .string(id), "status": "locked"]).code == "invalid")
        try await world.act("remove-user", ["user": .string(id)])
        try await world.manage(.get, "/api/v1/users/\(id)").refuses(
            404, "E0000007", "Not found: Resource not found: \(id) (User)", "user-not-found")
        #expect(try await world.refusal(of: "remove-user", ["user": .string(id)]).message.contains("no user"))
    }

    @Test("a new password makes those active who needed one, and nobody else")
    func passwords() async throws {
        let world = try await World()
        for (status, after) in [("PASSWORD_EXPIRED", "ACTIVE"), ("RECOVERY", "ACTIVE"), ("SUSPENDED", "SUSPENDED")] {
            try await world.act("set-status", ["user": "ada@example.test", "status": .string(status)])
            let told = try await world.act("set-password", ["user": "ada@example.test", "password": "not-a-secret-6"])
            #expect(told["status"]?.string == after)
        }
        let state = try await world.control(.get, "state/okta")
        #expect(!state.text.contains("not-a-secret-6"))
        #expect(world.changes["users"]?[0]?["password"] == "not-a-secret-6")
    }

    @Test("consents are given and taken back")
    func consents() async throws {
        let world = try await World()
        let place: JSONObject = ["user": "ada@example.test", "client": .string(Example.spa)]
        var given = place
        given["scopes"] = "openid trips.share"
        let told = try await world.act("consent", .object(given))
        #expect(
            told.text == #"{"user":"\#(Example.ada)","client":"\#(Example.spa)","server":"default","#
                + #""scopes":["openid","trips.share"]}"#)
        #expect(world.changes["consents"]?.array?.count == 1)
        given["scopes"] = ["trips.steal"]
        #expect(try await world.refusal(of: "consent", .object(given)).message.contains("no scope trips.steal"))
        try await world.act("revoke-consent", .object(place))
        #expect(world.changes["consents"]?.array?.isEmpty != false)
        #expect(try await world.refusal(of: "revoke-consent", .object(place)).message.contains("not consented"))
    }
}
