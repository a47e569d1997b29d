import Emulation
import Expectations
import Foundation
import JSON
import Support
import Testing
import Understudy

@Suite("State files") struct StateFileFormatTests {
    /// A file written by a release of the first format, with data of every vendor. Its keys are invented.
    private static let formatOne =
        (try? String(contentsOfFile: Repository.root + "/Tests/UnderstudyTests/States/format-1.json", encoding: .utf8))
        ?? ""

    private static func emulator() throws -> Emulator {
        var settings = Settings()
        // As the file's server was started; the clock is frozen then, so that no session ends in between.
        settings.seed = 7
        return try Emulator(fixtures: Repository.fixtures, settings: settings)
    }

    private static func parsed(_ text: String) throws -> JSON {
        try JSON.parse(Array(text.utf8), maximumDepth: Emulator.documentDepth)
    }

    /// The export without the members that differ in every export.
    private static func export(_ emulator: Emulator) -> JSON {
        var document = emulator.exportState().object ?? [:]
        document["saved_at"] = nil
        return .object(document)
    }

    @Test("of the first format are read, and written again in the latest") func formatOneIsRead() throws {
        let emulator = try Self.emulator()
        let file = try Self.parsed(Self.formatOne)
        let restored = try emulator.restoreState(file, from: "state.json")
        expect(restored.sandboxes, is: 1)
        expect(restored.setAside.map(\.description), is: [])
        expect(Self.export(emulator)["understudy_state"], is: 2)
        expect(Self.export(emulator)["sandboxes"], is: file["sandboxes"])
    }

    @Test("of a later format are refused as a whole") func later() throws {
        let later = try Self.parsed(#"{"understudy_state":3,"sandboxes":[]}"#)
        let emulator = try Self.emulator()
        #expect(
            throws: FixtureProblem(
                file: "state.json",
                message: "understudy_state: the file's format is not between 1 and 2, which this release reads")
        ) { try emulator.restoreState(later, from: "state.json") }
    }

    private static let path = "sandboxes[0].state."

    /// A text of the file, what stands there instead, the place of the damaged record, and the problem.
    private static let damages = [
        (
            #""partner_entity_id": "rua-1002""#, #""partner_entity_id": 7"#, "sandbox default, rezolve, customers[0]",
            "rezolve.customers[0].partner_entity_id: found the number 7; expected a string"
        ),
        (
            #""state": "enrolled""#, #""state": "lost""#, "sandbox default, ims, users[0]",
            "ims.users[0].state: “lost” is not one of enrolled, active, deactivated"
        ),
        (
            #""number": 4"#, #""number": -4"#, "sandbox default, bloomreach, projects[0].customers[1]",
            "bloomreach.projects[0].customers[1].number: -4 is not between 0 and 4503599627370496"
        ),
        (
            #""purchase",\#n                      "timestamp": 1800000000.5"#, #""purchase", "timestamp": "x""#,
            "sandbox default, bloomreach, projects[0].customers[0].events[0]",
            "bloomreach.projects[0].customers[0].events[0].timestamp: found the string “x”; expected a number"
        ),
        (
            #""revision": 2"#, #""revision": 9223372036854775807"#, "sandbox default, comapi, spaces[0].profiles[0]",
            "comapi.spaces[0].profiles[0].revision: 9223372036854775807 is not between 1 and 4503599627370496"
        ),
        (
            #""mint_mark": "first""#, #""mint_mark": 1"#, "sandbox default, comapi",
            "comapi.mint_mark: found the number 1; expected a string; write it in quotes"
        ),
        (
            #""bloomreach": {"#, #""bloomerang": {"#, "sandbox default, bloomerang",
            "bloomerang: no vendor is called bloomerang"
        ),
    ]

    @Test("with a damaged record lose no other one, and keep it as it stood", arguments: damages)
    func damage(_ old: String, _ new: String, _ place: String, _ problem: String) throws {
        let text = Self.formatOne.replacing(old, with: new)
        try #require(text != Self.formatOne)
        let file = try Self.parsed(text)
        let emulator = try Self.emulator()
        let parts = try emulator.restoreState(file, from: "state.json").setAside.map(\.description)
        expect(parts.first?.hasPrefix("\(place): \(Self.path)\(problem)"), is: true, "\(parts)")
        // Undamaged vendors keep all their data.
        let (before, after) = (file["sandboxes"]?[0]?["state"], Self.export(emulator)["sandboxes"]?[0]?["state"])
        let vendor = place.split(separator: ", ")[1]
        for member in before?.object ?? [:] where member.name != vendor {
            expect(after?[member.name], is: member.value, "\(member.name)")
        }
        // Restarting again from the exported file keeps what was set aside.
        let exported = Self.export(emulator)
        expect(exported["set_aside"]?.array?.count, is: parts.count)
        let next = try Self.emulator()
        expect(try next.restoreState(exported, from: "next.json").setAside.map(\.description), is: parts)
        expect(Self.export(next), is: exported)
    }

    @Test("keep what was set aside byte for byte") func verbatim() throws {
        let emulator = try Self.emulator()
        let file = try Self.parsed(
            #"{"understudy_state":2,"sandboxes":[{"name":"No Name","state":{"a":1,"a":[1e400]}},{"name":"b"},7]}"#)
        let parts = try emulator.restoreState(file, from: "f").setAside
        expect(
            parts.map(\.description),
            is: [
                "sandbox No Name: sandboxes[0]: “No Name” is not a sandbox name, or occurs twice",
                "sandbox b: sandboxes[1]: member “state” is missing",
                "sandbox without a name: sandboxes[2]: found the number 7; expected a mapping",
            ])
        expect(Self.export(emulator)["set_aside"]?.array?.map { $0["value"] }, is: file["sandboxes"]?.array)
    }

    @Test("say in health what was set aside, and never a secret") func health() async throws {
        let stage = try Stage(Emulator(fixtures: Repository.fixtures))
        let text = Self.formatOne.replacing(#""password": "qa-pass-1""#, with: #""password": 4711"#)
        _ = try stage.emulator.restoreState(try Self.parsed(text), from: "state.json")
        let health = try await World(on: stage, at: nil).control(.get, "health")
        let part: JSON = [
            "sandbox": "default", "vendor": "rezolve", "record": "users[0]",
            "problem":
                "sandboxes[0].state.rezolve.users[0].password: is not a secret of that name's form; its value is not shown",
        ]
        expect(health.json["set_aside"], is: ["count": 1, "parts": [part]])
        #expect(!health.text.contains("4711"))
    }
}

/// What calls and control calls may leave in a state must not keep a restart from reading it.
@Suite("Unusual states survive a restart") struct UnusualStateTests {
    private static let spaceID = "b1f0c3d2-5a47-4c1e-9d88-0e6a7f2b4c15"
    private static let space = "/apispaces/" + spaceID
    private static let track = "/track/v2/projects/demo-project-1"
    private static let token = [("authorization", "Token pubkey-demo-1")]

    private let world: World

    init() async throws { world = try await World(on: Stage(Emulator(fixtures: Repository.fixtures))) }

    /// Expects that the state the calls produced can be exported and read again.
    private func expectRestart(sourceLocation: SourceLocation = #_sourceLocation) throws {
        let exported = world.emulator.exportState()["sandboxes"]
        expect(
            try world.stage.restarted().emulator.exportState()["sandboxes"], is: exported,
            sourceLocation: sourceLocation)
    }

    private func put(_ state: String, of vendor: String) async throws {
        try await world.control(.put, "state/" + vendor, state).expect(200)
    }

    private func enrol() async throws -> ReceivedAnswer {
        let answer = try await world.call(
            .post, "/ims/v1/users", [("x-ims-operator-key", "ims-operator-test-key")],
            #"{"tenant":"demo","email":"late@example.test"}"#)
        answer.expect(201)
        return answer
    }

    private func session() async throws -> World.Fields {
        [("authorization", "Bearer " + (try await world.mint("comapi/session")))]
    }

    // MARK: Extreme numbers

    @Test("users of IMS go on with the smallest free number") func imsUsers() async throws {
        var state = try await world.control(.get, "state/ims").json.object ?? [:]
        state["last_user"] = 1_000_000_000
        state["last_invitation"] = 1_000_000_000
        try await put(JSON.object(state).text, of: "ims")
        let taken = state["users"]?.array?.compactMap { $0["id"]?.string } ?? []
        let free = (1...100).map { "usr-\($0)" }.first { !taken.contains($0) }
        expect(try await enrol().json["id"]?.string, is: free)
        try expectRestart()
    }

    @Test("users of RUA go on with the smallest free id") func ruaUsers() async throws {
        var state = try await world.control(.get, "state/rezolve").json.object ?? [:]
        state["last_user_id"] = 2_000_000_000
        try await put(JSON.object(state).text, of: "rezolve")
        for name in ["a", "b"] {
            try await world.call(
                .post, "/v2/credentials/register", [World.apiKey],
                #"{"username":"\#(name)@example.test","password":"qa-pass-1","email":"\#(name)@example.test"}"#
            ).expect(201)
        }
        try expectRestart()
    }

    @Test("customers and events of Bloomreach go on") func customers() async throws {
        try await put(
            #"{"projects":[{"token":"demo-project-1","customers":[],"last_number":4503599627370496,"#
                + #""last_sequence":4503599627370496}]}"#, of: "bloomreach")
        for name in ["a", "b"] {
            let event = #"{"customer_ids":{"cookie":"\#(name)"},"event_type":"x","properties":{}}"#
            try await world.call(.post, Self.track + "/customers/events", Self.token, event).expect(200)
        }
        try expectRestart()
    }

    @Test("profiles, conversations and logs of Comapi go on, or say that they are full") func comapi() async throws {
        try await put(
            #"{"spaces":[{"id":"\#(Self.spaceID)","profiles":[{"id":"mira","created":1,"revision":4503599627370496}],"#
                + #""conversations":[{"id":"talk","creator":"mira","created":1,"revision":4503599627370496,"#
                + #""participants":[{"id":"mira","role":"owner"}],"last_event":1099511627776}]}]}"#, of: "comapi")
        let fields = try await session()
        try await world.call(.patch, Self.space + "/profiles/mira", fields, #"{"firstName":"Mira"}"#).expect(200)
        try await world.call(.put, Self.space + "/conversations/talk", fields, #"{"id":"talk","name":"Other"}"#)
            .expect(200)
        let message = try await world.call(
            .post, Self.space + "/conversations/talk/messages", fields,
            #"{"metadata":{},"parts":[{"name":"t","type":"text/plain","data":"hi"}]}"#)
        expect(message.status, is: 413)
        expect(message.failure, is: "body-too-large")
        expect(message.entry?.record.reason, is: "the events of the conversation have reached the largest number")
        try expectRestart()
    }

    @Test("an inbox and the keys of an issuer go on") func inbox() async throws {
        let inbox = try await world.control(.get, "state/bloomreach").text
        try await put(
            inbox.replacing(#""counter":2"#, with: #""counter":1000000000"#)
                .replacing(#""epoch":1"#, with: #""epoch":1000000000"#), of: "bloomreach")
        try await world.control(
            .post, "state/bloomreach/clear-inbox",
            #"{"project":"demo-project-1","customer":{"registered":"ana@example.test"}}"#
        ).expect(200)
        #expect(try await world.control(.post, "keys/ims/rotating/break").status < 300)
        let keys = try await world.control(.get, "state/ims").text
        try await put(keys.replacing(#""fetches":0"#, with: #""fetches":4503599627370496"#), of: "ims")
        #expect(try await world.call(.get, "/ims/dev-issuers/rotating/jwks.json").status >= 200)
        try expectRestart()
    }

    // MARK: Repeated members, which clients may send without being refused, and other oddities

    @Test(
        "Bloomreach's customers, events and clicks may have a name twice",
        arguments: [
            ("/customers", #"{"customer_ids":{"cookie":"c"},"properties":{"o":{"a":1,"a":2}}}"#),
            ("/customers", #"{"customer_ids":{"cookie":"c"},"properties":{"a":1,"a":2}}"#),
            ("/customers/events", #"{"customer_ids":{"cookie":"c"},"event_type":"x","properties":{"a":1,"a":2}}"#),
            (
                "/campaigns/clicks",
                #"{"url":"https://a.example.test/?xnpe_cmp=1","timestamp":1,"properties":{"a":1,"a":2}}"#
            ),
        ])
    func tracked(_ path: String, _ body: String) async throws {
        try await world.call(.post, Self.track + path, Self.token, body).expect(200)
        try await expectImport(of: "bloomreach")
    }

    @Test("Comapi's profiles and messages may have a name twice") func repeated() async throws {
        let fields = try await session()
        _ = try await world.call(.get, Self.space + "/profiles/mira", fields)
        try await world.call(.patch, Self.space + "/profiles/mira", fields, #"{"o":{"a":1,"a":2},"p":1,"p":2}"#)
            .expect(200)
        _ = try await world.call(.post, Self.space + "/conversations", fields, #"{"id":"talk","name":"Talk"}"#)
        try await world.call(
            .post, Self.space + "/conversations/talk/messages", fields,
            #"{"metadata":{"a":1,"a":2},"parts":[{"name":"t","type":"text/plain","data":"hi","x":1,"x":2}],"alert":{"platforms":{"fcm":{"a":1,"a":2}}}}"#
        ).expect(200)
        try await expectImport(of: "comapi")
    }

    @Test("codes of IMS may end after the year 9999") func lateCode() async throws {
        try await world.freeze(at: 253_402_295_400)
        _ = try await enrol()
        try await expectImport(of: "ims")
    }

    /// Expects that a restart reads the state, and so does a control call.
    private func expectImport(of vendor: String) async throws {
        try expectRestart()
        let state = try await world.control(.get, "state/" + vendor).text
        expect(try await world.control(.put, "state/" + vendor, state).text, is: state)
    }
}

/// What is kept of a vendor in a sandbox is bounded once, for all vendors.
@Suite("Full states") struct FullStateTests {
    private static let reason =
        "the sandbox keeps 100000 records of 0 bytes of Switchboard; expected fewer than 100000 of 268435456 before "
        + "anything is added"

    private func full() async throws -> SwitchboardWorld {
        let board = try await SwitchboardWorld(.pipeline)
        for session in ["heavy-1", "heavy-2"] {
            try await board.world.call(.post, "/switchboard/sessions/\(session)").expect(204)
        }
        return board
    }

    @Test("a call that adds to a full state is undone and refused, and others are answered") func call() async throws {
        let board = try await full()
        let refused = try await board.world.call(.post, "/switchboard/sessions/heavy-3")
        refused.expect(404, #"{"code":"nothing-here"}"#, "nothing-here")
        expect(refused.entry?.record.reason, is: Self.reason)
        expect(try await board.state()["sessions"], is: ["heavy-1", "heavy-2"])
        expect(try await board.world.call(.post, "/switchboard/sessions/heavy-1?life=1").status, is: 204)
        expect(try await board.world.call(.post, "/switchboard/count").status, is: 200)
        _ = try await board.world.control(.post, "state/switchboard/forget")
        expect(try await board.world.call(.post, "/switchboard/sessions/heavy-3").status, is: 204)
    }

    @Test("an action that adds to a full state is undone and refused") func action() async throws {
        let board = try await full()
        let refused = try await board.world.control(.post, "state/switchboard/begin")
        refused.expect(400)
        expect(refused.json["error"]?["message"]?.string, is: Self.reason)
        expect(try await board.state()["sessions"], is: ["heavy-1", "heavy-2"])
    }
}
