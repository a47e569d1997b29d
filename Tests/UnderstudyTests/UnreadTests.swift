import Emulation
import Expectations
import HTTPTypes
import JSON
import Support
import Testing

/// A call that is accepted with a name that nobody reads says so in the journal, whatever part of the request it is in.
@Suite("Fields that nobody reads") struct UnreadTests {
    private static let api = [
        ("authorization", "SSWS 00understudy-api-token-not-a-secret"), ("content-type", "application/json"),
    ]
    private static let basic = [
        ("authorization", "Basic MG9hdW5kZXJzdHVkeXN2YzAwMDE6c3ZjLXNlY3JldC1ub3QtcmVhbC0wMTIzNDU2Nzg5YWJjZGVm"),
        ("content-type", "application/x-www-form-urlencoded"),
    ]

    private func note(_ world: World) async throws -> String? {
        try await world.control(.get, "journal?last=1").json["entries"]?[0]?["note"]?.string
    }

    /// The note on a call, which must be answered with that status.
    private func note(
        on method: HTTPRequest.Method, _ target: String, _ fields: World.Fields = [], _ body: String = "",
        _ status: Int = 200, bearer kind: String? = nil
    ) async throws -> String? {
        let world = try await World()
        var fields = fields
        if let kind { fields.append(("authorization", "Bearer " + (try await world.mint(kind)))) }
        let answer = try await world.call(method, target, fields, body)
        expect(answer.status, is: status, "\(answer.text)")
        return try await note(world)
    }

    @Test(
        "are noted with their path and the nearest name that is read, unless the call is refused",
        arguments: [
            (#"{"profile":{"name":"a"}}"#, 200, nil),
            (
                #"{"profile":{"name":"a","descripton":"b"}}"#, 200,
                #"unread: "profile.descripton" is read by nobody; did you mean "description"?"#
            ), (#"{"profile":{"name":"a"},"quite":{"other":1}}"#, 200, #"unread: "quite" is read by nobody"#),
            (
                #"{"profile":{"name":"a","x":1,"descripton":2},"y":3}"#, 200,
                #"unread: "profile.x", "profile.descripton" (did you mean "description"?), "y" are read by nobody"#
            ), (#"{"profil":{}}"#, 400, nil),
        ] as [(String, Int, String?)])
    func body(_ body: String, _ status: Int, _ expected: String?) async throws {
        expect(try await note(on: .post, "/api/v1/groups", Self.api, body, status), is: expected)
    }

    @Test("are those of JSON that is sent as a form, as curl does") func formOfJSON() async throws {
        let form = ("content-type", "application/x-www-form-urlencoded")
        let address = #"{"full_nam":"x","line_1":"1 Road","city":"L","zip":"N1","country":"GB"}"#
        let told = try await note(
            on: .post, "/api/v1/partner/317/customer/entity123/addressbook", [World.apiKey, World.device, form],
            address, 201, bearer: "rezolve/login")
        expect(told, is: #"unread: "full_nam" is read by nobody; did you mean "full_name"?"#)
    }

    /// The second has more members than a set of bits has room for.
    @Test("are ten at most by name", arguments: [(12, #""unknown-member-10", 2"#), (70, "60")])
    func many(_ count: Int, _ more: String) async throws {
        let others = (1...count).map { #""unknown-member-\#($0)":1"# }.joined(separator: ",")
        let told = try await note(on: .post, "/api/v1/groups", Self.api, #"{"profile":{"name":"a"},\#(others)}"#)
        expect(told?.hasSuffix(more + " more are read by nobody"), is: true, "\(told ?? "")")
    }

    @Test("are none where the vendor takes any member, however many") func free() async throws {
        let others = (1...70).map { #""own-\#($0)":1"# }.joined(separator: ",")
        let profile = #""login":"a@example.test","email":"a@example.test","firstName":"A","lastName":"B""#
        let free = try await note(on: .post, "/api/v1/users", Self.api, #"{"profile":{\#(profile),\#(others)}}"#)
        expect(free, is: nil)
        let beside = try await note(on: .post, "/api/v1/users", Self.api, #"{"profile":{\#(profile)},"credentals":{}}"#)
        expect(beside, is: #"unread: "credentals" is read by nobody; did you mean "credentials"?"#)
    }

    @Test("in a list are noted with their place") func list() async throws {
        let trip =
            #""trip_id":"t","started_at":"2027-01-15T07:00:00Z","ended_at":"2027-01-15T07:30:00Z","distance_meters":1"#
        let point = #""at":"2027-01-15T07:10:00Z","lat":1,"lon":2"#
        let body = #"{\#(trip),"points":[{\#(point)},{\#(point),"speed":3}]}"#
        let told = try await note(on: .post, "/ims/v1/trips", [], body, 201, bearer: "ims/user")
        expect(told, is: #"unread: "points.1.speed" is read by nobody"#)
    }

    @Test(
        "in a query are noted with where they are",
        arguments: [
            ("?limt=5&q=a", 200, #"unread: "limt" in the query is read by nobody; did you mean "limit"?"#),
            ("?limit=5&q=a&after=x", 200, nil), ("/00gunderstudyeveryone?limit=5", 404, nil),
        ] as [(String, Int, String?)])
    func query(_ rest: String, _ status: Int, _ expected: String?) async throws {
        expect(try await note(on: .get, "/api/v1/groups" + rest, Self.api, "", status), is: expected)
    }

    @Test("in a form are noted beside what else is") func form() async throws {
        let path = "/oauth2/v1/introspect"
        let known = try await note(on: .post, path, Self.basic, "token=x&token_type_hint=access_token")
        #expect(known?.contains("unread") != true)
        let told = try await note(on: .post, path, Self.basic, "token=x&token_typ_hint=a")
        let unread = #"unread: "token_typ_hint" is read by nobody; did you mean "token_type_hint"?"#
        expect(told?.hasSuffix(unread), is: true, "\(told ?? "")")
    }

    @Test(
        "among the vendor's own header fields are noted too",
        arguments: [
            ("x-rezolve-device-id", ""),
            (
                "X-Rezolve-Deviceid",
                #"; unread: "x-rezolve-deviceid" in the header is read by nobody; did you mean "x-rezolve-device-id"?"#
            ),
        ])
    func header(_ name: String, _ unread: String) async throws {
        let fields = [World.apiKey, (name, "a"), ("x-other", "b")]
        let told = try await note(on: .post, "/v1/credentials/forget", fields, #"{"email":"ada@example.test"}"#)
        expect(told, is: "mail: A real server would send a mail now." + unread)
    }

    @Test(
        "of content for which there is no reader are the content as a whole",
        arguments: [("[1]", "unread: the content is read by nobody"), ("{}", nil)] as [(String, String?)])
    func content(_ body: String, _ expected: String?) async throws {
        expect(try await note(on: .get, "/ims/v1/me", [], body, bearer: "ims/user"), is: expected)
    }

    @Test("of a call that a scenario answers are not noted") func answered() async throws {
        let world = try await World()
        try await world.control(
            .put, "faults", #"{"faults":[{"route":"group.create","respond":{"status":200,"body":{}}}]}"#)
        try await world.call(.post, "/api/v1/groups", Self.api, #"{"profil":{}}"#).expect(200)
        expect(try await note(world), is: nil)
    }

    @Test("are counted by an expectation, which names the exchanges") func verified() async throws {
        let world = try await World()
        _ = try await world.call(.post, "/api/v1/groups", Self.api, #"{"profile":{"name":"a"}}"#)
        try await world.verify(#"{"unread":0}"#).expect(200)
        _ = try await world.call(.post, "/api/v1/groups", Self.api, #"{"profile":{"name":"b"},"quite":1}"#)
        let surplus = try await world.verify(#"{"unread":0}"#)
        expect(surplus.status, is: 409)
        expect(
            surplus.json["message"],
            is:
                #"expected exactly 0 exchanges, found 1; one too many is entry 2, okta group.create: POST /api/v1/groups → 200: unread: "quite" is read by nobody"#
        )
        expect(try await world.verify(#"{"unread":1}"#).json["entries"], is: [2])
        try await world.verify(#"{"unread":0,"where":{"route":"group.list"}}"#).expect(200)
        expect(try await world.verify(#"{"exactly":1,"where":{"unread":false}}"#).json["entries"], is: [1])
        expect(try await world.control(.get, "journal?unread=true").json["entries"]?.array?.count, is: 1)
        try await world.verify(#"{"unread":0,"at_most":2}"#).expectProblem(
            400, "invalid", "unread cannot be combined with exactly, at_least or at_most")
    }
}
