import Emulation
import Expectations
import JSON
import Support
import Testing
import Understudy

@testable import Okta

@Suite("Okta's users") struct UserTests {
    private static let draft = #""profile":{"firstName":"D","lastName":"D","email":"d@e.f","login":"d"}"#

    @Test("10.1: without a password a user is provisioned, without activation staged") func statuses() async throws {
        let world = try await World()
        var draft: JSONObject = [
            "profile": [
                "firstName": "Dora", "lastName": "D", "email": "dora@example.test", "login": "dora@example.test",
            ],
            "groupIds": ["00gunderstudypilots1"],
        ]
        let provisioned = try await world.manage(.post, "/api/v1/users", .object(draft))
        provisioned.expect(200)
        expect(provisioned.json["status"], is: "PROVISIONED")
        expect(provisioned.json["passwordChanged"], is: .null)
        expect(
            provisioned.json["credentials"]?.text,
            is: #"{"emails":[{"value":"dora@example.test","status":"VERIFIED","#
                + #""type":"PRIMARY"}],"provider":{"type":"OKTA","name":"OKTA"}}"#)
        draft["profile"] = ["firstName": "E", "lastName": "E", "email": "e@example.test", "login": "emil@example.test"]
        let staged = try await world.manage(.post, "/api/v1/users?activate=false", .object(draft))
        expect(staged.json["status"], is: "STAGED")
        expect(staged.json["activated"], is: .null)
        expect(staged.json["profile"]?["email"], is: "e@example.test")
        let state = try await world.control(.get, "state/okta")
        let emil = state.json["users"]?.array?.first { $0["login"] == "emil@example.test" }
        expect(emil?["groups"], is: ["00gunderstudyevery01", "00gunderstudypilots1"])
    }

    @Test(
        "wrong bodies name the member",
        arguments: [
            (#""profile":{"firstName":5,"lastName":"D","email":"d@e.f","login":"d"}"#, "firstName", "a string"),
            (#""profile":[]"#, "profile", "an object"), (draft + #","groupIds":["x"]"#, "groupIds", "no group has"),
            (draft + #","groupIds":[5]"#, "groupIds", "a string"),
            (draft + #","credentials":{"password":{}}"#, "value", "credentials.password.value"),
        ])
    func wrongMembers(_ members: String, _ member: String, _ reason: String) async throws {
        let world = try await World()
        let answer = try await world.manage(.post, "/api/v1/users", try JSON.parse("{\(members)}".utf8))
        answer.refuses(400, "E0000001", "Api validation failed: \(member)", "body-invalid")
        expect(answer.entry?.explanation?.contains(reason), is: true, "\(answer.entry?.explanation ?? "")")
    }

    @Test(
        "only the API token opens the management API",
        arguments: [
            (nil, "no Authorization header"), ("SSWS 00another", "SSWS and a value without dots"),
            ("SSWS a.b.c", "SSWS and a token"), ("Basic YTpi", "another scheme"),
            (Example.apiToken, "another scheme"),
        ] as [(String?, String)])
    func tokens(_ field: String?, _ found: String) async throws {
        let world = try await World()
        let answer = try await world.call(.get, "/api/v1/users", field.map { [("authorization", $0)] } ?? [])
        answer.refuses(401, "E0000011", "Invalid token provided", "api-token-invalid")
        expect(answer["www-authenticate"], is: nil)
        expect(answer.entry?.explanation?.contains(found), is: true, "\(answer.entry?.explanation ?? "")")
        let token = "ssws " + Example.apiToken
        let twice = try await world.call(.get, "/api/v1/users", [("authorization", token), ("authorization", token)])
        twice.refuses(401, "E0000011", "Invalid token provided", "api-token-invalid")
        try await world.call(.get, "/api/v1/users", [("authorization", token)]).expect(200)
    }

    @Test("users are listed by pages, without deactivated ones") func list() async throws {
        let world = try await World()
        try await world.act("set-status", ["user": "ben@example.test", "status": "DEPROVISIONED"])
        let all = try await world.manage(.get, "/api/v1/users")
        expect(all.json.array?.map { $0["id"]?.string }, is: [Example.ada, Example.cleo])
        let first = try await world.manage(.get, "/api/v1/users?limit=1")
        expect(first.json.array?.map { $0["id"]?.string }, is: [Example.ada])
        let links = first.fields.filter { $0.name.lowercased() == "link" }.map(\.value)
        let next = "\(Example.base)/api/v1/users?limit=1&after=\(Example.ada)"
        expect(links, is: ["<\(Example.base)/api/v1/users?limit=1>; rel=\"self\"", "<\(next)>; rel=\"next\""])
        let second = try await world.manage(.get, String(next.dropFirst(Example.base.utf8.count)))
        expect(second.json.array?.map { $0["id"]?.string }, is: [Example.cleo])
        expect(second.fields.count { $0.name.lowercased() == "link" }, is: 1)
        let active = try await world.manage(.get, "/api/v1/users?search=status+eq+%22ACTIVE%22")
        active.expect(200)
        expect(
            try await world.manage(.get, "/api/v1/users?search=status%20eq%20%22ACTIVE%22").json, is: active.json)
        for query in ["search=a", "filter=id", "search=id%20eq%20%22x%22%20nor%20id%20eq%20%22y%22"] {
            try await world.manage(.get, "/api/v1/users?" + query).refuses(
                400, "E0000031", "Invalid search criteria.", "search-invalid")
        }
        for query in ["limit=0", "limit=x"] {
            let answer = try await world.manage(.get, "/api/v1/users?" + query)
            answer.refuses(400, "E0000001", "Api validation failed: \(query.prefix { $0 != "=" })", "body-invalid")
        }
    }

    @Test("10.3: an access token of the org server opens the routes of its scopes") func accessTokens() async throws {
        let world = try await World()
        func token(_ members: JSONObject) async throws -> [(String, String)] {
            var order: JSONObject = ["server": "org", "client": .string(Example.ops), "scopes": "okta.users.read"]
            for member in members { order[member.name] = member.value }
            return [("authorization", "Bearer " + (try await world.mint("okta/access", order)))]
        }
        let path = "/api/v1/users/ada@example.test"
        let reading = try await token([:])
        try await world.call(.get, path, reading).expect(200)
        try await world.call(.post, path + "/lifecycle/suspend", token(["scopes": "okta.users.manage"])).expect(200)
        let cases: [JSONObject] = [
            ["server": "default"], ["defect": "bad-signature"], ["defect": "expired"], ["defect": "wrong-issuer"],
        ]
        for members in cases {
            try await world.call(.get, path, token(members)).refuses(
                401, "E0000011", "Invalid token provided", "api-token-invalid")
        }
    }
}

@Suite("The steps of Okta's users") struct UserLifecycleTests {
    private func status(of user: String, _ world: World) async throws -> String? {
        try await world.manage(.get, "/api/v1/users/\(user)").json["status"]?.string
    }

    /// Each step with a status that allows it, one that does not, and the status after it.
    static let steps: [(OktaLifecycleStep, OktaUser.Status, OktaUser.Status?, String)] = [
        (.activate, .staged, .active, "ACTIVE"), (.activate, .deprovisioned, .suspended, "ACTIVE"),
        (.deactivate, .suspended, .deprovisioned, "DEPROVISIONED"), (.suspend, .active, .suspended, "SUSPENDED"),
        (.unsuspend, .suspended, .active, "ACTIVE"), (.unlock, .lockedOut, .active, "ACTIVE"),
        (.resetFactors, .active, .deprovisioned, "ACTIVE"),
        (.expirePassword, .active, .staged, "PASSWORD_EXPIRED"), (.resetPassword, .lockedOut, .suspended, "RECOVERY"),
    ]

    @Test("10.2: each step leads from its statuses alone", arguments: steps)
    func step(_ example: (OktaLifecycleStep, OktaUser.Status, OktaUser.Status?, String)) async throws {
        let (step, from, other, to) = example
        let world = try await World()
        let path = "/api/v1/users/\(Example.ada)/lifecycle/\(step.rawValue)"
        try await world.act("set-status", ["user": "ada@example.test", "status": .string(from.rawValue)])
        let answer = try await world.manage(.post, path)
        answer.expect(200, step == .expirePassword ? nil : "{}")
        expect(try await status(of: Example.ada, world), is: to)
        if let other {
            try await world.act("set-status", ["user": "ada@example.test", "status": .string(other.rawValue)])
            let refused = try await world.manage(.post, path)
            switch step {
            case .activate where other == .active: expect(refused.failure, is: "user-already-active")
            case .unlock: expect(refused.failure, is: "unlock-forbidden")
            case .suspend: expect(refused.failure, is: "user-status")
            default:
                refused.refuses(
                    400, "E0000001", "Api validation failed: status",
                    causes: [["errorSummary": .string("Cannot \(step.rawValue) this user")]], "user-status")
            }
            expect(refused.entry?.explanation?.contains("is \(other.rawValue)"), is: true)
            expect(try await status(of: Example.ada, world), is: other.rawValue)
        }
    }

    @Test("10.2: a reset takes all factors; there are no other steps") func factors() async throws {
        let world = try await World()
        try await world.manage(.post, "/api/v1/users/\(Example.ada)/lifecycle/reset_factors").expect(200, "{}")
        try await world.manage(.get, "/api/v1/users/\(Example.ada)/factors").expect(200, "[]")
        let answer = try await world.manage(.post, "/api/v1/users/\(Example.ada)/lifecycle/suspends")
        answer.refuses(404, "E0000008", "The requested path was not found", "path-not-found")
        expect(answer.entry?.explanation?.contains("suspend"), is: true)
    }

    @Test("sessions end, and tokens only when that is wanted; so does everything of a deactivated user")
    func sessions() async throws {
        let world = try await World()
        let app = AppClient.native(world)
        let user = "/api/v1/users/\(Example.ada)"
        let tests: [(end: @Sendable () async throws -> Void, endsTokens: Bool)] = [
            ({ try await world.manage(.delete, user + "/sessions").expect(204, "") }, false),
            ({ try await world.manage(.delete, user + "/sessions?oauthTokens=true").expect(204, "") }, true),
            ({ _ = try await world.act("end-sessions", ["user": "ada@example.test"]) }, false),
            ({ _ = try await world.act("end-sessions", ["user": "ada@example.test", "tokens": true]) }, true),
            ({ try await world.manage(.post, user + "/lifecycle/deactivate").expect(200, "{}") }, true),
        ]
        for (number, test) in tests.enumerated() {
            let signedIn = try await world.authorize()
            let cookie = [("cookie", "sid=" + (try #require(signedIn.cookie("sid"))))]
            let tokens = try await app.redeem(try #require(signedIn.inLocation("code")))
            try await world.call(.get, "/api/v1/sessions/me", cookie).expect(200)
            try await test.end()
            let session = try await world.call(.get, "/api/v1/sessions/me", cookie)
            expect(session.failure, is: "session-not-found", "\(number)")
            let refreshed = try await app.refresh(tokens.member("refresh_token"))
            expect(refreshed.failure, is: (test.endsTokens ? "refresh-token-invalid" : nil), "\(number)")
        }
    }
}

extension World {
    /// What Okta's state has besides the fixtures, with secrets.
    var changes: JSON { sandbox.vendor(okta).export(.changes) ?? [:] }

    private var okta: Int { emulator.vendors.firstIndex { $0.identity.id == "okta" } ?? 0 }
}

@Suite("Actions on Okta's users") struct UserActionTests {
    @Test("users come, change and go") func users() async throws {
        let world = try await World()
        let added = try await world.act(
            "add-user",
            ["login": "eve@example.test", "password": "not-a-secret-5", "first_name": "Eve", "groups": ["Pilots"]])
        let id = try #require(added["id"]?.string)
        expect(
            added.text,
            is: #"{"id":"\#(id)","login":"eve@example.test","status":"ACTIVE","groups":"#
                + #"["00gunderstudyevery01","00gunderstudypilots1"]}"#)
        #expect(try await world.refusal(of: "add-user", ["login": "EVE@example.test"]).message.contains("another user"))
        #expect(
            try await world.refusal(of: "add-user", ["login": "x", "groups": ["Pilot"]]).message.contains("Pilots"))
        expect(try await world.refusal(of: "add-user", ["login": ""]).code, is: "invalid")
        let groups = try await world.act("set-groups", ["user": "eve@example.test", "groups": []])
        expect(groups["groups"], is: ["00gunderstudyevery01"])
        let status = try await world.act("set-status", ["user": .string(id), "status": "LOCKED_OUT"])
        expect(status["status"], is: "LOCKED_OUT")
        expect(
            try await world.refusal(of: "set-status", ["user": .string(id), "status": "locked"]).code, is: "invalid")
        try await world.act("remove-user", ["user": .string(id)])
        try await world.manage(.get, "/api/v1/users/\(id)").refuses(
            404, "E0000007", "Not found: Resource not found: \(id) (User)", "user-not-found")
        #expect(try await world.refusal(of: "remove-user", ["user": .string(id)]).message.contains("no user"))
    }

    @Test("a new password makes those active who needed one, and nobody else") func passwords() async throws {
        let world = try await World()
        for (status, after) in [("PASSWORD_EXPIRED", "ACTIVE"), ("RECOVERY", "ACTIVE"), ("SUSPENDED", "SUSPENDED")] {
            try await world.act("set-status", ["user": "ada@example.test", "status": .string(status)])
            let told = try await world.act("set-password", ["user": "ada@example.test", "password": "not-a-secret-6"])
            expect(told["status"]?.string, is: after)
        }
        let state = try await world.control(.get, "state/okta")
        #expect(!state.text.contains("not-a-secret-6"))
        expect(world.changes["users"]?[0]?["password"], is: "not-a-secret-6")
    }

    @Test("consents are given and taken back") func consents() async throws {
        let world = try await World()
        let place: JSONObject = ["user": "ada@example.test", "client": .string(Example.spa)]
        var given = place
        given["scopes"] = "openid trips.share"
        let told = try await world.act("consent", .object(given))
        expect(
            told.text,
            is: #"{"user":"\#(Example.ada)","client":"\#(Example.spa)","server":"default","#
                + #""scopes":["openid","trips.share"]}"#)
        expect(world.changes["consents"]?.array?.count, is: 1)
        given["scopes"] = ["trips.steal"]
        #expect(try await world.refusal(of: "consent", .object(given)).message.contains("no scope trips.steal"))
        try await world.act("revoke-consent", .object(place))
        #expect(world.changes["consents"]?.array?.isEmpty != false)
        #expect(try await world.refusal(of: "revoke-consent", .object(place)).message.contains("not consented"))
    }
}
