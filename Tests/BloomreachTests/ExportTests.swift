import Emulation
import JSON
import Support
import Testing
import Understudy

/// State that leaves a sandbox as JSON and comes back.
@Suite("Bloomreach's state, exported and imported")
struct ExportTests {
    /// Something of every kind happens: merges, new customers, events, clicks, self-checks, an anonymized customer.
    private func live(_ world: World) async throws {
        func post(_ path: String, _ body: String, _ fields: World.Fields = .token) async throws {
            try await world.call(.post, path, fields, body).expect(200)
        }
        let view = #""event_type":"view","properties":{"n":1.50,"deep":{"a":[null,"\u00e9"]}}"#
        try await post(Example.events, Example.body(Example.guest, view))
        try await post(Example.events, Example.body(Example.ana, #""event_type":"purchase","timestamp":1.25"#))
        try await post(
            Example.customers, Example.body(#"{"registered":"ana@example.test","cookie":"\#(Example.cookieGuest)"}"#))
        try await post(
            Example.customers, Example.body(#"{"registered":"new@example.test"}"#, #""properties":{"a":null}"#))
        try await post(Example.clicks, #"{"url":"https://a.example.test"}"#)
        try await post(Example.selfCheck, Example.body(Example.ana, #""platform":"ios","push_notification_id":"t""#))
        try await post(Example.data + "/anonymize", Example.body(Example.ben), .basic)
        try await post(
            Example.markAsRead,
            Example.body(Example.ana, #""message_ids":["msg-push-1"],"sync_token":"v1.1.1.2""#))
    }

    /// Everything that a client can see of it.
    private func seen(_ world: World) async throws -> [String] {
        [
            try await world.call(.post, Example.data + "/export", .basic, "{}").text,
            try await world.call(.post, Example.data + "/export-one", .basic, Example.body(Example.ana)).text,
            try await world.call(.post, Example.inbox, .token, Example.body(Example.ana)).text,
            try await world.call(.post, Example.inbox, .token, Example.body(Example.ben)).text,
            try await world.control(.get, "state/bloomreach").text,
        ]
    }

    @Test("an export put back changes nothing, and holds no secret", arguments: Depth.allCases)
    func whole(_ depth: Depth) async throws {
        let world = try await World(depth)
        try await live(world)
        let before = try await seen(world)
        let exported = try await world.control(.get, "state/bloomreach")
        for secret in [Example.secret, Example.streamSecret] { #expect(!exported.text.contains(secret)) }
        // What happens after the export is taken back.
        try await world.call(.post, Example.customers, .token, Example.body(#"{"registered":"later@example.test"}"#))
            .expect(200)
        let put = try await world.control(.put, "state/bloomreach", exported.text)
        #expect(put.status == 200, "\(put.text)")
        #expect(try await seen(world) == before)
        let other = try await World()
        #expect(try await other.control(.put, "state/bloomreach", exported.text).status == 200)
        #expect(try await seen(other) == before)
        // Numbers count on behind those that were given out.
        let made = try await other.control(.post, "state/bloomreach/identify-customer", #"{"customer":"x"}"#)
        #expect(made.text.contains(#""customer":5"#), "\(made.text)")
    }

    private static func customers(_ list: String) -> String {
        #"{"projects":[{"token":"demo-project-1","customers":[\#(list)]}]}"#
    }

    /// A wrong state and the complaint about it.
    private static let wrong: [(String, String)] = [
        ("{}", "member “projects” is missing"),
        (#"{"projects":[{"token":"none","customers":[]}]}"#, "no project has the token none"),
        (
            #"{"projects":[{"token":"demo-project-1","customers":[]},{"token":"demo-project-1","customers":[]}]}"#,
            "stands there twice"
        ),
        (#"{"projects":[{"token":"demo-project-1"}]}"#, "member “customers” is missing"),
        (customers("{}"), "needs a hard id or a cookie"),
        (customers(#"{"cookies":["a"]},{"cookies":["a"]}"#), "another customer has the cookie a"),
        (customers(#"{"number":1,"cookies":["a"]},{"number":1,"cookies":["b"]}"#), "has the number 1"),
        (customers(#"{"number":-1,"cookies":["a"]}"#), "is not between 0 and"),
        (customers(#"{"ids":{"registered":""}}"#), "an id is a string that is not empty"),
        (customers(#"{"cookies":["a"],"properties":[]}"#), "expected a mapping"),
        (customers(#"{"cookies":["a"],"events":[{"type":"x"}]}"#), "member “timestamp” is missing"),
        (customers(#"{"cookies":["a"],"event":[]}"#), "did you mean “events”?"),
    ]

    @Test("a wrong state is refused with the place, and nothing changes", arguments: wrong)
    func refused(_ state: String, _ complaint: String) async throws {
        let world = try await World()
        let before = try await world.control(.get, "state/bloomreach").text
        let answer = try await world.control(.put, "state/bloomreach", state)
        #expect(answer.status == 422 || answer.status == 400)
        #expect(answer.text.contains(complaint), "\(answer.text)")
        #expect(try await world.control(.get, "state/bloomreach").text == before)
    }

    @Test("an empty state is one, and reset brings the customers of the fixtures back")
    func empty() async throws {
        let world = try await World()
        #expect(try await world.control(.put, "state/bloomreach", #"{"projects":[]}"#).status == 200)
        #expect(try await world.customer(#""ana@example.test""#).status != 200)
        try await world.control(.post, "reset")
        #expect(try await world.customer(#""ana@example.test""#).status == 200)
    }

    private func restarted(_ emulator: Emulator, fixtures: FixtureStore = Repository.fixtures) throws -> Stage {
        // By its text, as a file would hold it.
        let saved = try JSON.parse(emulator.exportState().prettyText.utf8)
        let fresh = try Emulator(fixtures: fixtures)
        try fresh.importState(FixtureNode(saved, from: "file"))
        return try Stage(fresh)
    }

    @Test("after a restart everything is there, and after another one too")
    func restart() async throws {
        let first = try Stage(Emulator(fixtures: Repository.fixtures))
        let (world, untouched) = (try await World(on: first), try await World(on: first))
        try await live(world)
        _ = try await untouched.customer(Example.ana)
        let before = try await seen(world)
        let second = try restarted(first.emulator)
        #expect(second.emulator.sandboxes.existing(untouched.name) == nil, "nothing of it was to be kept")
        let again = world.moved(to: second)
        try await again.freeze(at: World.exampleMoment)
        #expect(try await seen(again) == before)
        let third = world.moved(to: try restarted(second.emulator))
        try await third.freeze(at: World.exampleMoment)
        #expect(try await seen(third) == before)
    }

    @Test("what nobody touched follows the fixtures of the new start")
    func otherFixtures() async throws {
        let first = try Stage(Emulator(fixtures: Repository.fixtures))
        let world = try await World(on: first)
        try await world.call(.post, Example.customers, .token, Example.body(#"{"registered":"new@example.test"}"#))
            .expect(200)
        let fixtures = try OwnFixtures()
        try fixtures.put("bloomreach/accounts.yaml", [("first_name: \"Ana\"", "first_name: \"Anna\"")])
        let again = world.moved(to: try restarted(first.emulator, fixtures: fixtures.store))
        #expect(try await again.customer(Example.ana).json["properties"] == ["first_name": "Anna"])
        #expect(try await again.customer(#""new@example.test""#).json["number"] == 4)
    }
}
