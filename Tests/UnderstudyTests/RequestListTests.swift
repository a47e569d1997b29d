import Emulation
import Expectations
import Foundation
import HTTPTypes
import JSON
import Support
import Testing
import Understudy

/// What a call's handler asked for.
struct ObservedReading: Sendable {
    let vendor: String
    let route: String
    let isAccepted: Bool
    let reading: RequestReading
}

/// What each route reads of a request, by the readings of all contract cases: `requests.yaml`.
struct RequestList {
    private let readings: [ObservedReading]

    init(_ readings: [ObservedReading]) { self.readings = readings }

    /// The file of a vendor, with its routes in their order.
    func file(_ vendor: String, _ routes: [String]) -> String {
        let lines = routes.flatMap { route -> [String] in
            let own = readings.filter { $0.vendor == vendor && $0.route == route }
            let members: [(String, JSONObject)] = [
                ("query", Self.query(own)), ("form", Self.form(own.flatMap(\.reading.content.names))),
                ("body", Self.body(own)),
            ].filter { !$0.1.isEmpty }
            return members.isEmpty
                ? [] : Self.lines(route, .object(JSONObject(members.map { ($0.0, .object($0.1)) })), 2)
        }
        let head = [
            "# What each route of the vendor reads of a request, as JSON Schema: the names that readers asked for in all",
            "# contract cases. Written and held by RequestListTests; copy the file that it names when it fails.",
            "requests:",
        ]
        return ((lines.isEmpty ? Array(head.dropLast()) + ["requests: {}"] : head + lines) + [""]).joined(
            separator: "\n")
    }

    private static func query(_ readings: [ObservedReading]) -> JSONObject {
        let schemas = readings.compactMap(\.reading.query.schema)
        var query = merged(schemas)["properties"]?.object ?? [:]
        for name in readings.flatMap(\.reading.query.names) where query[name] == nil {
            query[name] = ["type": "string"]
        }
        return query
    }

    private static func form(_ names: [String]) -> JSONObject {
        let distinct = names.reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
        let members = JSONObject(distinct.map { ($0, ["type": "string"]) })
        return members.isEmpty ? [:] : ["type": "object", "properties": .object(members)]
    }

    private static func body(_ readings: [ObservedReading]) -> JSONObject {
        let schema = settled(
            merged(readings.compactMap(\.reading.content.schema)),
            readings.filter(\.isAccepted).compactMap(\.reading.content.schema))
        let isEmpty = schema["properties"]?.object?.isEmpty ?? true
        if isEmpty && schema["additionalProperties"] == nil { return [:] }
        // A list has its elements under an empty name.
        return schema["properties"]?[FieldReader.elements]?.object ?? schema
    }

    private static func merged(_ schemas: [JSONObject]) -> JSONObject {
        schemas.reduce(into: [:]) { $0 = FieldSchema.merged($0, $1) }
    }

    /// Leaves a name required only where each accepted call required it.
    private static func settled(_ schema: JSONObject, _ accepted: [JSONObject]) -> JSONObject {
        var schema = schema
        let required = (schema["required"]?.array ?? []).filter { name in
            accepted.allSatisfy { $0["required"]?.array?.contains(name) == true }
        }
        schema["required"] = required.isEmpty ? JSON?.none : .array(required)
        if let items = schema["items"]?.object {
            schema["items"] = .object(settled(items, accepted.compactMap { $0["items"]?.object }))
        }
        if let properties = schema["properties"]?.object {
            schema["properties"] = .object(
                JSONObject(
                    properties.map { member in
                        let below = accepted.compactMap { $0["properties"]?[member.name]?.object }
                        return (member.name, .object(settled(member.value.object ?? [:], below)))
                    }))
        }
        return schema
    }

    // MARK: YAML

    /// A member in one line, if it fits, or else with a line for each of its own.
    private static func lines(_ name: String, _ value: JSON, _ indent: Int) -> [String] {
        let start = String(repeating: " ", count: indent) + quoted(name) + ":"
        let line = start + " " + flow(value)
        guard line.count > 120, let object = value.object, !object.isEmpty else { return [line] }
        return [start] + object.flatMap { lines($0.name, $0.value, indent + 2) }
    }

    private static func flow(_ value: JSON) -> String {
        switch value {
        case .object(let object):
            object.isEmpty
                ? "{}" : "{ " + object.map { "\(quoted($0.name)): \(flow($0.value))" }.joined(separator: ", ") + " }"
        case .array(let elements): "[" + elements.map(flow).joined(separator: ", ") + "]"
        case .string(let text): quoted(text)
        default: value.text
        }
    }

    private static func quoted(_ text: String) -> String {
        let isPlain = text.wholeMatch(of: /[A-Za-z_][A-Za-z0-9_.-]*/) != nil
        let isWord = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"].contains(text.lowercased())
        return isPlain && !isWord ? text : JSON.string(text).text
    }
}

@Suite("The list of what routes read") struct RequestListTests {
    @Test(
        "is what the readers ask for in all contract cases",
        arguments: try Stage.shared().emulator.vendors.map(\.identity.id))
    func list(_ vendor: String) async throws {
        let readings = try await ContractRun.occurrences(of: vendor).flatMap(\.readings)
        let routes = try Stage.shared().emulator.vendors.first { $0.identity.id == vendor }?.routes.map(\.id) ?? []
        let text = RequestList(readings).file(vendor, routes)
        let known = try? String(contentsOfFile: "\(Repository.root)/Fixtures/\(vendor)/requests.yaml", encoding: .utf8)
        guard text != known else { return }
        let folder = "\(Repository.root)/.build/requests"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try text.write(toFile: "\(folder)/\(vendor).yaml", atomically: true, encoding: .utf8)
        Issue.record("\(folder)/\(vendor).yaml differs from Fixtures/\(vendor)/requests.yaml")
    }

    /// Accepted calls of the cases that have a field which nobody reads, as intended.
    private static let intended: Set<String> = [
        // What was pushed decides, and not what comes with its address.
        #"authorize: "state" in the query is read by nobody"#
    ]

    @Test("has every name that accepted contract cases send") func unread() async throws {
        let unread = try await ContractRun.occurrences().flatMap(\.unread)
        let others = unread.filter { !Self.intended.contains($0) }
        #expect(others.isEmpty, "\(Set(others).sorted().joined(separator: "\n"))")
        #expect(Self.intended.subtracting(unread).isEmpty)
    }
}

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
        try await world.arm(#"{"faults":[{"route":"group.create","respond":{"status":200,"body":{}}}]}"#)
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
