import JSON
import Support
import Testing

@Suite("Okta's users")
struct UserTests {
    private static let dora: JSON = [
        "profile": [
            "firstName": "Dora", "lastName": "D", "email": "dora@example.test", "login": "dora@example.test",
            "title": "Pilot",
        ],
        "credentials": ["password": ["value": "not-a-secret-4"]],
    ]

    @Test("10.1: a user with a password is active, and no other gets the login", arguments: Depth.allCases)
    func create(_ depth: Depth) async throws {
        let world = try await World(depth)
        let created = try await world.manage(.post, "/api/v1/users", Self.dora)
        let id = try #require(created.json["id"]?.string)
        #expect(id.hasPrefix("00u") && id.utf8.count == 20)
        let now = "2027-01-15T08:00:00.000Z"
        let expected: JSON = [
            "id": .string(id), "status": "ACTIVE", "created": .string(now), "activated": .string(now),
            "statusChanged": .string(now), "lastLogin": nil, "lastUpdated": .string(now),
            "passwordChanged": .string(now),
            "profile": [
                "firstName": "Dora", "lastName": "D", "email": "dora@example.test", "login": "dora@example.test",
                "title": "Pilot",
            ],
            "credentials": ["password": [:], "provider": ["type": "OKTA", "name": "OKTA"]],
            "_links": ["self": ["href": .string("http://localhost:8080/api/v1/users/\(id)")]],
        ]
        created.expect(200, expected.text)
        #expect(!world.shown(created.entry).contains("not-a-secret-4"))
        try await world.manage(.get, "/api/v1/users/DORA@example.test").expect(200, expected.text)
        try await world.manage(.post, "/api/v1/users", Self.dora).refuses(
            400, "E0000001", "Api validation failed: login",
            causes: [
                ["errorSummary": "login: An object with this field already exists in the current organization"]
            ], "user-exists")
    }

    @Test("10.1: without a password a user is provisioned, without activation staged")
    func statuses() async throws {
        let world = try await World()
        var draft = try #require(Self.dora.object)
        draft["credentials"] = nil
        draft["groupIds"] = ["00gunderstudypilots1"]
        let provisioned = try await world.manage(.post, "/api/v1/users", .object(draft))
        provisioned.expect(200)
        #expect(provisioned.json["status"] == "PROVISIONED")
        #expect(provisioned.json["passwordChanged"] == .null)
        #expect(provisioned.json["credentials"]?.text == #"{"provider":{"type":"OKTA","name":"OKTA"}}"#)
        draft["profile"] = [
            "firstName": "E", "lastName": "E", "email": "e@example.test", "login": "emil@example.test",
        ]
        let staged = try await world.manage(.post, "/api/v1/users?activate=false", .object(draft))
        #expect(staged.json["status"] == "STAGED")
        #expect(staged.json["activated"] == .null)
        #expect(staged.json["profile"]?["email"] == "e@example.test")
        let state = try await world.control(.get, "state/okta")
        let emil = state.json["users"]?.array?.first { $0["login"] == "emil@example.test" }
        #expect(emil?["groups"] == ["00gunderstudyevery01", "00gunderstudypilots1"])
    }

    @Test(
        "wrong bodies name the member",
        arguments: [
            (#"{"profile":{"firstName":"D","lastName":"D","email":"d@e.f"}}"#, "login", "profile.login"),
            (#"{"profile":{"firstName":5,"lastName":"D","email":"d@e.f","login":"d"}}"#, "firstName", "a string"),
            (#"{"profile":[]}"#, "profile", "an object"), (#"{}"#, "profile", "no member profile"),
            (
                #"{"profile":{"firstName":"D","lastName":"D","email":"d@e.f","login":"d"},"groupIds":["x"]}"#,
                "groupIds",
                "no group has that id"
            ),
            (
                #"{"profile":{"firstName":"D","lastName":"D","email":"d@e.f","login":"d"},"groupIds":[5]}"#, "groupIds",
                "a string"
            ),
            (
                #"{"profile":{"firstName":"D","lastName":"D","email":"d@e.f","login":"d"},"credentials":{"password":{}}}"#,
                "value", "credentials.password.value"
            ),
        ])
    func wrongMembers(_ body: String, _ member: String, _ reason: String) async throws {
        let world = try await World()
        let answer = try await world.manage(.post, "/api/v1/users", try JSON.parse(body.utf8))
        answer.refuses(400, "E0000001", "Api validation failed: \(member)", "body-invalid")
        #expect(answer.entry?.explanation?.contains(reason) == true, "\(answer.entry?.explanation ?? "")")
    }

    @Test("bodies that are no JSON object, and types that are not JSON, have failures of their own")
    func wrongBodies() async throws {
        let world = try await World()
        let token = ("authorization", "SSWS " + World.apiToken)
        let json = ("content-type", "application/json")
        for body in ["{", "[]", ""] {
            try await world.call(.post, "/api/v1/users", [token, json], body).refuses(
                400, "E0000003", "The request body was not well-formed.", "body-malformed")
        }
        let form = try await world.call(.post, "/api/v1/users", [token, ("content-type", "text/plain")], "{}")
        form.refuses(
            400, "E0000021",
            "Bad request.  Accept and/or Content-Type headers likely do not match supported values.", "media-type")
        #expect(form.entry?.explanation == "Content-Type is text/plain; expected application/json")
    }

    @Test(
        "only the API token opens the management API",
        arguments: [
            (nil, "no Authorization header"), ("SSWS 00another", "SSWS and a value without dots"),
            ("SSWS a.b.c", "SSWS and a token"), ("Basic YTpi", "another scheme"),
            (World.apiToken, "another scheme"),
        ] as [(String?, String)])
    func tokens(_ field: String?, _ found: String) async throws {
        let world = try await World()
        let answer = try await world.call(.get, "/api/v1/users", field.map { [("authorization", $0)] } ?? [])
        answer.refuses(401, "E0000011", "Invalid token provided", "api-token-invalid")
        #expect(answer.entry?.explanation?.contains(found) == true, "\(answer.entry?.explanation ?? "")")
        let token = "ssws " + World.apiToken
        let twice = try await world.call(
            .get, "/api/v1/users", [("authorization", token), ("authorization", token)])
        twice.refuses(401, "E0000011", "Invalid token provided", "api-token-invalid")
        try await world.call(.get, "/api/v1/users", [("authorization", token)]).expect(200)
    }

    @Test("users are listed by pages, without deactivated ones")
    func list() async throws {
        let world = try await World()
        try await world.act("set-status", ["user": "ben@example.test", "status": "DEPROVISIONED"])
        let all = try await world.manage(.get, "/api/v1/users")
        #expect(all.json.array?.map { $0["id"]?.string } == [Example.ada, Example.cleo])
        let first = try await world.manage(.get, "/api/v1/users?limit=1")
        #expect(first.json.array?.map { $0["id"]?.string } == [Example.ada])
        let links = first.fields.filter { $0.name.lowercased() == "link" }.map(\.value)
        let next = "\(Example.base)/api/v1/users?limit=1&after=\(Example.ada)"
        #expect(links == ["<\(Example.base)/api/v1/users?limit=1>; rel=\"self\"", "<\(next)>; rel=\"next\""])
        let second = try await world.manage(.get, String(next.dropFirst(Example.base.utf8.count)))
        #expect(second.json.array?.map { $0["id"]?.string } == [Example.cleo])
        #expect(second.fields.count { $0.name.lowercased() == "link" } == 1)
        for query in ["limit=0", "limit=x", "search=a", "q=a", "filter=a"] {
            let answer = try await world.manage(.get, "/api/v1/users?" + query)
            answer.refuses(
                400, "E0000001", "Api validation failed: \(query.prefix { $0 != "=" })", "body-invalid")
        }
    }

    @Test("nobody has another id")
    func unknown() async throws {
        let world = try await World()
        try await world.manage(.get, "/api/v1/users/00unone").refuses(
            404, "E0000007", "Not found: Resource not found: 00unone (User)", "user-not-found")
    }

    @Test("10.3: an access token of the org server opens the routes of its scopes", arguments: Depth.allCases)
    func accessTokens(_ depth: Depth) async throws {
        let world = try await World(depth)
        func token(_ members: JSONObject) async throws -> [(String, String)] {
            var order: JSONObject = ["server": "org", "client": .string(Example.ops), "scopes": "okta.users.read"]
            for member in members { order[member.name] = member.value }
            return [("authorization", "Bearer " + (try await world.mint("okta/access", order)))]
        }
        let path = "/api/v1/users/ada@example.test"
        let reading = try await token([:])
        try await world.call(.get, path, reading).expect(200)
        let denied = try await world.call(.post, path + "/lifecycle/suspend", reading)
        denied.refuses(
            403, "E0000006", "You do not have permission to perform the requested action", "access-denied-api")
        #expect(denied.entry?.explanation?.contains("okta.users.manage") == true)
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
