import JSON
import Support
import Testing

@Suite("Control: journal")
struct JournalControlTests {
    private let key = [("x-rezolve-partner-apikey", "a1b2c3d4-e5f6-g7h8-i9j0-a1b2c3d4e5f6")]

    /// A guest's registration, a refusal at the same route, a miss, and a path no vendor owns; ten seconds apart.
    private func filled(_ depth: Depth = .pipeline) async throws -> World {
        let world = try await World(depth)
        _ = try await world.call(.post, "/v2/credentials/register/guest", key)
        try await world.advance("10s")
        _ = try await world.call(.post, "/v2/credentials/register/guest", [])
        try await world.advance("10s")
        _ = try await world.call(.get, "/v2/credentials/pong", key)
        try await world.advance("10s")
        _ = try await world.call(.get, "/nowhere")
        return world
    }

    private func ids(_ world: World, _ query: String) async throws -> [Int] {
        let answer = try await world.control(.get, "journal" + query)
        #expect(answer.status == 200)
        return answer.json["entries"]?.array?.compactMap { $0["id"]?.int } ?? []
    }

    @Test(
        "holds vendor, route, status, failure and reason of every exchange, and no control call",
        arguments: Depth.allCases)
    func entries(_ depth: Depth) async throws {
        let world = try await filled(depth)
        let entries = try await world.control(.get, "journal").json["entries"]?.array ?? []
        let lines = entries.map { entry in
            ["id", "at", "vendor", "route", "status", "failure"].map { entry[$0]?.text ?? "-" }.joined(separator: " ")
        }
        #expect(
            lines == [
                #"1 "2027-01-15T08:00:00.000Z" "rezolve" "rua.guest" 200 null"#,
                #"2 "2027-01-15T08:00:10.000Z" "rezolve" "rua.guest" 500 "rua-api-key-missing""#,
                #"3 "2027-01-15T08:00:20.000Z" "rezolve" null 404 "route-not-found""#,
                #"4 "2027-01-15T08:00:30.000Z" null null 404 null"#,
            ])
        #expect(entries[1]["reason"]?.string?.hasPrefix("api-key: found ") == true)
        #expect(entries[2]["nearest_routes"]?[0] == "rezolve rua.ping: GET /v2/credentials/ping")
        #expect(entries[3]["nearest_routes"]?.array?.isEmpty == false)
        #expect(entries[0]["nearest_routes"] == nil)
        #expect(entries[0]["request"]?["method"] == "POST")
        #expect(entries[0]["response"]?["body"]?["guest"] == true)
    }

    @Test("shows what an accepted call was remarked on, and finds such calls", arguments: Depth.allCases)
    func notes(_ depth: Depth) async throws {
        let world = try await World(depth)
        let path = "/api/v1/partner/317/customer/entity123/addressbook"
        for claims: JSON in [["exp": JSON(World.exampleMoment * 1000)], [:], ["exp": JSON(World.exampleMoment - 1)]] {
            let token = try await world.mint("rezolve/login", ["claims": claims])
            _ = try await world.call(
                .get, path,
                key + [
                    ("x-rezolve-device-id", "wlkCDA2Hy/CfMqVAShslBAR/0sAiuRIUm5jOg0a"),
                    ("authorization", "Bearer " + token),
                ])
        }
        let note =
            "lifetime: found 1798200000000 s; milliseconds-exp: exp looks like milliseconds: as seconds it is after the year "
            + "9999, as milliseconds 2027-01-15T08:00:00Z. Divide by 1000."
        for query in ["?noted=true&format=brief", "?noted=true"] {
            let entries = try await world.control(.get, "journal" + query).json["entries"]?.array ?? []
            #expect(entries.map { $0["id"] } == [1])
            #expect(entries.first?["note"]?.string == note)
        }
        #expect(try await ids(world, "?noted=false") == [2, 3])
        let verified = try await world.control(.post, "journal/verify", #"{"exactly":1,"where":{"noted":true}}"#)
        verified.expect(200)
        let missed = try await world.control(.post, "journal/verify", #"{"exactly":2,"where":{"noted":true}}"#)
        #expect(missed.status == 409)
        #expect(missed.text.contains(#"{"condition":"noted","expected":"true","found":"false"}"#), "\(missed.text)")
    }

    @Test(
        "filters by each part and all together",
        arguments: [
            ("", [1, 2, 3, 4]), ("?vendor=rezolve", [1, 2, 3]), ("?route=rua.guest", [1, 2]), ("?status=404", [3, 4]),
            ("?failure=route-not-found", [3]), ("?since=1800000010", [2, 3, 4]),
            ("?since=2027-01-15T08:00:20Z", [3, 4]), ("?since=2027-01-15T09:00:20%2B01:00", [3, 4]), ("?after=3", [4]),
            ("?route=rua.guest&status=500", [2]), ("?status=200&failure=route-not-found", []),
            ("?status=4xx", [3, 4]), ("?status=5XX", [2]), ("?refused=true", [2, 3]), ("?refused=false", [1, 4]),
            ("?route=rua.*", [1, 2]), ("?route=*&refused=true", [2]), ("?last=2", [3, 4]), ("?last=0", []),
            ("?status=4xx&last=1", [4]), ("?since=10s", [3, 4]), ("?since=1h&refused=true", [2, 3]),
        ])
    func filters(_ query: String, _ expected: [Int]) async throws {
        #expect(try await ids(filled(), query) == expected)
    }

    @Test("answers one entry by its number", arguments: ["1", "4"])
    func single(_ id: String) async throws {
        let world = try await filled()
        let entry = try await world.control(.get, "journal/" + id)
        let listed = try await world.control(.get, "journal").json["entries"]?[(Int(id) ?? 0) - 1]
        #expect(entry.json == listed)
    }

    @Test(
        "has no entry of another number",
        arguments: ["0", "5", "-1", "x", "-9223372036854775808", "99999999999999999999"])
    func noEntry(_ id: String) async throws {
        try await filled().control(.get, "journal/" + id).expectProblem(404, "no-such-entry", "no journal entry \(id)")
    }

    @Test(
        "a query that makes no sense is refused",
        arguments: [
            ("?staus=1", "did you mean “status”?"), ("?status=x", "whole number"), ("?status=-1", "whole number"),
            ("?after=x", "whole number"), ("?since=now", "RFC 3339"), ("?wait=2", "such as 2s"),
            ("?wait=61s", "up to 60s"),
            ("?wait=-1s", "up to 60s"), ("?wait=1s&count=x", "whole number"), ("?status=200&status=404", "twice"),
        ])
    func refused(_ query: String, _ message: String) async throws {
        try await World().control(.get, "journal" + query).expectProblem(400, "invalid", message)
    }

    @Test("a long poll answers with the entry that it waits for", .timeLimit(.minutes(15)), arguments: Depth.allCases)
    func poll(_ depth: Depth) async throws {
        let world = try await World(depth)
        async let answer = world.control(.get, "journal?failure=route-not-found&wait=60s&count=2")
        for path in ["/v1/user/a", "/nowhere", "/v1/user/b"] { _ = try await world.call(.get, path) }
        let entries = try await answer.json["entries"]?.array ?? []
        #expect(entries.map { $0["id"]?.int } == [1, 3])
    }

    @Test("a long poll that waits in vain answers with what there is", arguments: Depth.allCases)
    func vainPoll(_ depth: Depth) async throws {
        let world = try await World(depth)
        _ = try await world.call(.get, "/nowhere")
        #expect(try await ids(world, "?wait=20ms&count=2") == [1])
        #expect(try await ids(world, "?wait=0s&count=2") == [1])
    }

    @Test("clearing forgets the entries")
    func clear() async throws {
        let world = try await filled()
        #expect(try await world.control(.delete, "journal").status == 204)
        #expect(try await ids(world, "") == [])
    }

    @Test(
        "a mistyped route shows no password",
        arguments: ["/v2/credentials/logi", "/v3/credentials/login", "/v2/credentials/login"])
    func masked(_ path: String) async throws {
        let world = try await World()
        let answer = try await world.call(
            .post, path, key, #"{"username":"u","password":"do not show this","deviceId":"d"}"#)
        #expect(answer.status >= 400)
        let text = try await world.control(.get, "journal").text
        #expect(!text.contains("show this"))
        #expect(text.contains(#""username":"u","password":"***""#))
    }
}
