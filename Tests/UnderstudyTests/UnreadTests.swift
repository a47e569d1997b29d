import Emulation
import HTTPTypes
import JSON
import Support
import Testing

/// A call that is accepted with a name that nobody reads says so in the journal, whatever part of the request it is in.
@Suite("Fields that nobody reads") struct UnreadTests {
    private static let key = [("x-rezolve-partner-apikey", "a1b2c3d4-e5f6-g7h8-i9j0-a1b2c3d4e5f6")]
    private static let api = [
        ("authorization", "SSWS 00understudy-api-token-not-a-secret"), ("content-type", "application/json"),
    ]
    private static let basic = [
        ("authorization", "Basic MG9hdW5kZXJzdHVkeXN2YzAwMDE6c3ZjLXNlY3JldC1ub3QtcmVhbC0wMTIzNDU2Nzg5YWJjZGVm"),
        ("content-type", "application/x-www-form-urlencoded"),
    ]

    private func note(_ world: World) async throws -> JSON? {
        let entries = try await world.control(.get, "journal?last=1").json["entries"]?.array ?? []
        return entries.first?["note"]
    }

    private func note(
        on method: HTTPRequest.Method, _ target: String, _ fields: World.Fields, _ body: String = "",
        _ status: Int = 200
    ) async throws -> JSON? {
        let world = try await World()
        let answer = try await world.call(method, target, fields, body)
        #expect(answer.status == status, "\(answer.text)")
        return try await note(world)
    }

    @Test(
        "are noted with their path and the nearest name that is read",
        arguments: [
            (#"{"profile":{"name":"a"}}"#, nil),
            (
                #"{"profile":{"name":"a","descripton":"b"}}"#,
                #"unread: "profile.descripton" is read by nobody; did you mean "description"?"#
            ),
            (#"{"profile":{"name":"a"},"quite":{"other":1}}"#, #"unread: "quite" is read by nobody"#),
            (
                #"{"profile":{"name":"a","x":1,"descripton":2},"y":3}"#,
                #"unread: "profile.x", "profile.descripton" (did you mean "description"?), "y" are read by nobody"#
            ),
        ] as [(String, JSON?)])
    func body(_ body: String, _ expected: JSON?) async throws {
        #expect(try await note(on: .post, "/api/v1/groups", Self.api, body) == expected)
    }

    @Test("are those of JSON that is sent as a form, as curl does") func formOfJSON() async throws {
        let world = try await World()
        let token = try await world.control(.post, "tokens/rezolve/login").json["token"]?.string ?? ""
        try await world.call(
            .post, "/api/v1/partner/317/customer/entity123/addressbook",
            [
                ("Authorization", "Bearer \(token)"), ("content-type", "application/x-www-form-urlencoded"),
                ("x-rezolve-partner-apikey", "a1b2c3d4-e5f6-g7h8-i9j0-a1b2c3d4e5f6"),
                ("x-rezolve-device-id", "wlkCDA2Hy/CfMqVAShslBAR/0sAiuRIUm5jOg0a"),
            ], #"{"full_nam":"x","line_1":"1 Road","city":"L","zip":"N1","country":"GB"}"#
        ).expect(201)
        #expect(try await note(world) == #"unread: "full_nam" is read by nobody; did you mean "full_name"?"#)
    }

    @Test("are ten at most by name") func many() async throws {
        let others = (1...12).map { #""unknown-member-\#($0)":1"# }.joined(separator: ",")
        let note = try await note(on: .post, "/api/v1/groups", Self.api, #"{"profile":{"name":"a"},\#(others)}"#)
        #expect(note?.string?.hasSuffix(#""unknown-member-10", 2 more are read by nobody"#) == true)
        // More members than a set of bits has room for.
        let many = (1...70).map { #""unknown-member-\#($0)":1"# }.joined(separator: ",")
        let noted = try await self.note(on: .post, "/api/v1/groups", Self.api, #"{"profile":{"name":"a"},\#(many)}"#)
        #expect(noted?.string?.hasSuffix("60 more are read by nobody") == true)
    }

    @Test("are none where the vendor takes any member, however many") func free() async throws {
        let others = (1...70).map { #""own-\#($0)":1"# }.joined(separator: ",")
        let profile = #""login":"a@example.test","email":"a@example.test","firstName":"A","lastName":"B""#
        #expect(try await note(on: .post, "/api/v1/users", Self.api, #"{"profile":{\#(profile),\#(others)}}"#) == nil)
        #expect(
            try await note(on: .post, "/api/v1/users", Self.api, #"{"profile":{\#(profile)},"credentals":{}}"#)
                == #"unread: "credentals" is read by nobody; did you mean "credentials"?"#)
    }

    @Test("in a list are noted with their place") func list() async throws {
        let world = try await World()
        let token = try await world.control(.post, "tokens/ims/user").json["token"]?.string ?? ""
        let trip =
            #""trip_id":"t","started_at":"2027-01-15T07:00:00Z","ended_at":"2027-01-15T07:30:00Z","distance_meters":1"#
        let point = #""at":"2027-01-15T07:10:00Z","lat":1,"lon":2"#
        let answer = try await world.call(
            .post, "/ims/v1/trips", [("authorization", "Bearer \(token)")],
            #"{\#(trip),"points":[{\#(point)},{\#(point),"speed":3}]}"#)
        #expect(answer.status == 201)
        #expect(try await note(world) == #"unread: "points.1.speed" is read by nobody"#)
    }

    @Test("in a query and in a form are noted with where they are") func items() async throws {
        #expect(
            try await note(on: .get, "/api/v1/groups?limt=5&q=a", Self.api)
                == #"unread: "limt" in the query is read by nobody; did you mean "limit"?"#)
        #expect(try await note(on: .get, "/api/v1/groups?limit=5&q=a&after=x", Self.api) == nil)
        #expect(try await note(on: .get, "/api/v1/groups/00gunderstudyeveryone?limit=5", Self.api, "", 404) == nil)
        let path = "/oauth2/v1/introspect"
        let known = try await note(on: .post, path, Self.basic, "token=x&token_type_hint=access_token")
        #expect(known?.string?.contains("unread") != true)
        #expect(
            try await note(on: .post, path, Self.basic, "token=x&token_typ_hint=a")?.string?.hasSuffix(
                #"unread: "token_typ_hint" is read by nobody; did you mean "token_type_hint"?"#) == true)
    }

    @Test("among the vendor's own header fields are noted too") func header() async throws {
        let body = #"{"email":"ada@example.test"}"#
        let path = "/v1/credentials/forget"
        let mail = "mail: A real server would send a mail now."
        #expect(try await note(on: .post, path, Self.key + [("x-rezolve-device-id", "a")], body) == .string(mail))
        #expect(
            try await note(on: .post, path, Self.key + [("X-Rezolve-Deviceid", "a"), ("x-other", "b")], body)
                == .string(
                    mail
                        + #"; unread: "x-rezolve-deviceid" in the header is read by nobody; did you mean "x-rezolve-device-id"?"#
                ))
    }

    @Test("of content for which there is no reader are the content as a whole") func content() async throws {
        let world = try await World()
        let token = try await world.control(.post, "tokens/ims/user").json["token"]?.string ?? ""
        let bearer = [("authorization", "Bearer \(token)")]
        _ = try await world.call(.get, "/ims/v1/me", bearer, "[1]")
        #expect(try await note(world) == "unread: the content is read by nobody")
        _ = try await world.call(.get, "/ims/v1/me", bearer, "{}")
        #expect(try await note(world) == nil)
    }

    @Test("of a refused call, and of one that a scenario answers, are not noted") func refused() async throws {
        #expect(try await note(on: .post, "/api/v1/groups", Self.api, #"{"profil":{}}"#, 400) == nil)
        let world = try await World()
        try await world.control(
            .put, "faults", #"{"faults":[{"route":"group.create","respond":{"status":200,"body":{}}}]}"#)
        _ = try await world.call(.post, "/api/v1/groups", Self.api, #"{"profil":{}}"#)
        #expect(try await note(world) == nil)
    }

    @Test("are counted by an expectation, which names the exchanges") func verified() async throws {
        let world = try await World()
        func verify(_ order: String) async throws -> (Int, JSON) {
            let answer = try await world.control(.post, "journal/verify", order)
            return (answer.status, answer.json)
        }
        _ = try await world.call(.post, "/api/v1/groups", Self.api, #"{"profile":{"name":"a"}}"#)
        #expect(try await verify(#"{"unread":0}"#).0 == 200)
        _ = try await world.call(.post, "/api/v1/groups", Self.api, #"{"profile":{"name":"b"},"quite":1}"#)
        let (status, answer) = try await verify(#"{"unread":0}"#)
        #expect(status == 409)
        #expect(
            answer["message"]
                == #"expected exactly 0 exchanges, found 1; one too many is entry 2, okta group.create: POST /api/v1/groups → 200: unread: "quite" is read by nobody"#
        )
        #expect(try await verify(#"{"unread":1}"#).1["entries"] == [2])
        #expect(try await verify(#"{"unread":0,"where":{"route":"group.list"}}"#).0 == 200)
        #expect(try await verify(#"{"exactly":1,"where":{"unread":false}}"#).1["entries"] == [1])
        #expect(try await world.control(.get, "journal?unread=true").json["entries"]?.array?.count == 1)
        let refused = try await verify(#"{"unread":0,"at_most":2}"#)
        #expect(refused.0 == 400)
        #expect(
            refused.1["error"]?["message"]?.string?.hasSuffix(
                "unread cannot be combined with exactly, at_least or at_most") == true)
    }
}
