import Contracts
import Emulation
import Expectations
import JSON
import Support
import Testing

@testable import Understudy

@Suite("Control: journal") struct JournalControlTests {
    /// A guest's registration, a refusal at the same route, a miss, and a path no vendor owns; ten seconds apart.
    private func filled() async throws -> World {
        let world = try await World()
        _ = try await world.call(.post, "/v2/credentials/register/guest", [World.apiKey])
        try await world.advance("10s")
        _ = try await world.call(.post, "/v2/credentials/register/guest", [])
        try await world.advance("10s")
        _ = try await world.call(.get, "/v2/credentials/pong", [World.apiKey])
        try await world.advance("10s")
        _ = try await world.call(.get, "/nowhere")
        return world
    }

    private func ids(_ world: World, _ query: String) async throws -> [Int] {
        let answer = try await world.control(.get, "journal" + query)
        expect(answer.status, is: 200)
        return answer.json["entries"]?.array?.compactMap { $0["id"]?.int } ?? []
    }

    @Test("holds vendor, route, status, failure and reason of every exchange, and no control call")
    func entries() async throws {
        let world = try await filled()
        let entries = try await world.control(.get, "journal").json["entries"]?.array ?? []
        let lines = entries.map { entry in
            ["id", "at", "vendor", "route", "status", "failure"].map { entry[$0]?.text ?? "-" }.joined(separator: " ")
        }
        expect(
            lines,
            is: [
                #"1 "2027-01-15T08:00:00.000Z" "rezolve" "rua.guest" 200 null"#,
                #"2 "2027-01-15T08:00:10.000Z" "rezolve" "rua.guest" 500 "rua-api-key-missing""#,
                #"3 "2027-01-15T08:00:20.000Z" "rezolve" null 404 "route-not-found""#,
                #"4 "2027-01-15T08:00:30.000Z" null null 404 null"#,
            ])
        expect(entries[1]["reason"]?.string?.hasPrefix("api-key: found "), is: true)
        expect(entries[2]["nearest_routes"]?[0], is: "rezolve rua.ping: GET /v2/credentials/ping")
        expect(entries[3]["nearest_routes"], is: [])
        expect(entries[0]["nearest_routes"], is: nil)
        expect(entries[0]["request"]?["method"], is: "POST")
        expect(entries[0]["response"]?["body"]?["guest"], is: true)
    }

    @Test("shows what an accepted call was remarked on, and finds such calls") func notes() async throws {
        let world = try await World()
        let path = "/api/v1/partner/317/customer/entity123/addressbook"
        for claims: JSON in [["exp": JSON(World.exampleMoment * 1000)], [:], ["exp": JSON(World.exampleMoment - 1)]] {
            let token = try await world.mint("rezolve/login", ["claims": claims])
            _ = try await world.call(.get, path, [World.apiKey, World.device, ("authorization", "Bearer " + token)])
        }
        let note =
            "lifetime: found 1798200000000 s; milliseconds-exp: exp looks like milliseconds: as seconds it is after the year "
            + "9999, as milliseconds 2027-01-15T08:00:00Z. Divide by 1000."
        for query in ["?noted=true&format=brief", "?noted=true"] {
            let entries = try await world.control(.get, "journal" + query).json["entries"]?.array ?? []
            expect(entries.map { [$0["id"], $0["note"]] }, is: [[1, .string(note)]])
        }
        expect(try await ids(world, "?noted=false"), is: [2, 3])
        try await world.verify(#"{"exactly":1,"where":{"noted":true}}"#).expect(200)
        let missed = try await world.verify(#"{"exactly":2,"where":{"noted":true}}"#)
        missed.expect(409)
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
        expect(try await ids(filled(), query), is: expected)
    }

    @Test("answers one entry by its number", arguments: ["1", "4"]) func single(_ id: String) async throws {
        let world = try await filled()
        let listed = try await world.control(.get, "journal").json["entries"]?[(Int(id) ?? 0) - 1]
        expect(try await world.control(.get, "journal/" + id).json, is: listed)
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
            ("?wait=61s", "up to 60s"), ("?wait=-1s", "up to 60s"), ("?wait=1s&count=x", "whole number"),
            ("?status=200&status=404", "twice"),
        ])
    func refused(_ query: String, _ message: String) async throws {
        try await World().control(.get, "journal" + query).expectProblem(400, "invalid", message)
    }

    @Test("a long poll answers with the entry that it waits for", .timeLimit(.minutes(15))) func poll() async throws {
        let world = try await World()
        async let answer = world.control(.get, "journal?failure=route-not-found&wait=60s&count=2")
        for path in ["/v1/user/a", "/nowhere", "/v1/user/b"] { _ = try await world.call(.get, path) }
        expect(try await answer.json["entries"]?.array?.map { $0["id"] }, is: [1, 3])
    }

    @Test("a long poll that waits in vain answers with what there is") func vainPoll() async throws {
        let world = try await World()
        _ = try await world.call(.get, "/nowhere")
        expect(try await ids(world, "?wait=20ms&count=2"), is: [1])
        expect(try await ids(world, "?wait=0s&count=2"), is: [1])
    }

    @Test("clearing forgets the entries") func clear() async throws {
        let world = try await filled()
        try await world.control(.delete, "journal").expect(204)
        expect(try await ids(world, ""), is: [])
    }

    @Test(
        "a mistyped route shows no password",
        arguments: ["/v2/credentials/logi", "/v3/credentials/login", "/v2/credentials/login"])
    func masked(_ path: String) async throws {
        let world = try await World()
        let answer = try await world.call(
            .post, path, [World.apiKey], #"{"username":"u","password":"do not show this","deviceId":"d"}"#)
        #expect(answer.status >= 400)
        let text = try await world.control(.get, "journal").text
        #expect(!text.contains("show this"))
        #expect(text.contains(#""username":"u","password":"***""#))
    }
}

@Suite("Control: the journal as HAR and as contract cases") struct JournalExportTests {
    private static let book = "/api/v1/partner/317/customer/entity123/addressbook"

    private func call(_ world: World, _ order: JSONObject) async throws {
        let token = try await world.mint("rezolve/login", order)
        _ = try await world.call(
            .get, Self.book + "?a=b%20c", [World.apiKey, World.device, ("authorization", "Bearer \(token)")])
    }

    @Test("in brief it has what a list shows, and the newest number") func brief() async throws {
        let world = try await World()
        try await call(world, ["defect": "expired"])
        _ = try await world.call(.get, "/nowhere")
        let journal = try await world.control(.get, "journal?format=brief&last=1").json
        expect(journal["newest"], is: 2)
        expect(journal["entries"]?.array?.map { $0["nearest_routes"] }, is: [[]])
        let entry = try await world.control(.get, "journal/1?format=brief").json
        expect(entry["failure"], is: "token-expired")
        expect(entry["target"], is: .string(Self.book + "?a=b%20c"))
        #expect(entry["findings"] == nil && entry["request"] == nil)
    }

    @Test("the newest number is never ahead of the entries it comes with") func newest() async throws {
        let world = try await World()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { for _ in 1...200 { _ = try await world.call(.get, "/nowhere") } }
            for _ in 1...200 {
                let answer = try await world.control(.get, "journal?format=brief&last=1").json
                let last = answer["entries"]?.array?.last?["id"]?.int ?? 0
                #expect(last >= answer["newest"]?.int ?? .max)
            }
            try await group.waitForAll()
        }
    }

    @Test(
        "as HAR a request has the content that came, or says why not",
        arguments: [
            (#""@/etc/hostname""#, nil as Int?, #""@/etc/hostname""#, nil as String?), ("7", nil, "7", nil),
            (#"{ "big": 12345678901234567890, "exact": 1.0 }"#, nil, #"{"big":12345678901234567890,"exact":1.0}"#, nil),
            (#"{"cut": "o"#, 10, "", "10 bytes"), (#"{"cut": "o"#, nil, "", "10 bytes"),
            (#""(10 bytes)""#, 12, #""(10 bytes)""#, nil), (#""\u0061""#, 8, #""a""#, nil),
        ])
    func content(sent: String, length: Int?, shown: String, lack: String?) async throws {
        let world = try await World()
        let length = length.map { [("content-length", "\($0)")] } ?? []
        _ = try await world.call(.post, "/nowhere", length, sent)
        let log = try await world.control(.get, "journal?format=har").json["log"]
        let content = log?["entries"]?[0]?["request"]?["postData"]
        expect(content?["text"], is: .string(shown))
        expect(content?["comment"], is: lack.map(JSON.string))
    }

    @Test(
        "a refused call is a case that is refused again for the same reason",
        arguments: [
            "expired", "not-yet-valid", "missing-exp", "missing-device_id", "wrong-alg", "alg-none", "wrong-secret",
            "tampered-payload", "bad-signature", "truncated-signature", "string-exp", "other-user",
        ])
    func refused(_ defect: String) async throws {
        let world = try await World()
        try await call(world, ["defect": .string(defect)])
        let text = try await world.control(.get, "journal/1?format=hurl").text
        #expect(!text.contains("left out"), "\(text)")
        let again = try await World(at: nil)
        let result = try await run(HurlFile(name: "export.hurl", bytes: Array(text.utf8)), in: again)
        #expect(result.hasPassed, "\(text)\n\(result.lines.joined(separator: "\n"))")
        expect(again.sandbox.journal.last?.record.failure, is: world.sandbox.journal.last?.record.failure)
    }

    /// Files whose cases change only what vendor calls change.
    private static let files = ContractFile.all.filter { file in
        guard let bytes = try? Repository.fixtures.file(file.description).bytes else { return false }
        let source = String(decoding: bytes, as: UTF8.self)
        let changes = [
            "/settings", "/faults", "/scenarios", "/keys/", "_understudy/state", "DELETE {{base}}/_understudy",
        ]
        return !changes.contains { source.contains($0) }
    }

    @Test("the journal of a file of contract cases is a file that passes", arguments: files)
    func repeated(_ file: ContractFile) async throws {
        let world = try await World(at: nil)
        #expect(try await run(file.read(), in: world).hasPassed)
        let text = try await world.control(.get, "journal?format=hurl").text
        let export = try HurlFile(name: "export.hurl", bytes: Array(text.utf8))
        let result = try await run(export, in: World(at: nil))
        #expect(result.hasPassed, "\(result.lines.joined(separator: "\n"))\n\(text)")
    }

    private func run(_ file: HurlFile, in world: World) async -> ContractResult {
        await ContractRunner(isPreparation: ContractRun.steers) { (request) throws(ContractSendingProblem) in
            try await ContractRun.send(request, world)
        }.run(file, variables: ContractVariables(["base": .string("http://understudy/~\(world.name)")]))
    }
}
