import Emulation
import JSON
import Support
import Testing
import Understudy

/// Inboxes, segments and consents that a file keeps over a restart: what requests made or changed, and nothing else.
@Suite("Bloomreach's content over a restart")
struct ContentRestartTests {
    private typealias Content = ContentExample

    private static let read = #"{"customer":"ana@example.test","message":"msg-push-1"}"#

    private func restarted(_ emulator: Emulator, fixtures: FixtureStore = Repository.fixtures) throws -> Stage {
        // By its text, as a file would hold it.
        let saved = try JSON.parse(emulator.exportState().prettyText.utf8)
        let fresh = try Emulator(fixtures: fixtures)
        try fresh.importState(FixtureNode(saved, from: "file"))
        return try Stage(fresh)
    }

    private func segments(_ world: World, _ letter: String) async throws -> String {
        try await world.call(
            .get, "\(Content.segments)?cookie=c0000000-0000-4000-8000-00000000000\(letter)", Content.key
        ).text
    }

    @Test("read flags, messages, epochs, segments and consents are there again, and after another restart too")
    func restart() async throws {
        let first = try Stage(Emulator(fixtures: Repository.fixtures))
        let (world, untouched) = (try await World(on: first), try await World(on: first))
        try await world.act("read-inbox-message", Self.read)
        try await world.act("delete-inbox-message", #"{"customer":"ana@example.test","message":"msg-html-1"}"#)
        try await world.act(
            "add-inbox-message",
            #"{"customer":"ana@example.test","message":{"id":"m","type":"push","application_id":"tv","content":{"a":[1]}}}"#
        )
        try await world.act("set-segments", #"{"customer":"ana@example.test","segments":{}}"#)
        try await world.act("set-segments", #"{"customer":"ben@example.test","segments":{"content":[{"id":"s"}]}}"#)
        try await world.act("set-consent", #"{"customer":"ben@example.test","category":"newsletter","value":true}"#)
        _ = try await segments(untouched, "a")
        let consents = #""attributes":[{"type":"consent","category":"newsletter"}]"#
        func seen(_ world: World) async throws -> [String] {
            [
                try await world.fetchInbox(#""application_id":"tv""#).text,
                try await world.fetchInbox(#""sync_token":"v1.1.1.2""#).text,
                try await world.call(.post, Content.attributes, Content.key, Content.ofBen(consents)).text,
                try await segments(world, "a"), try await segments(world, "b"),
            ]
        }
        let before = try await seen(world)
        #expect(before[0].contains(#""id":"m""#))
        #expect(before[1] == Content.staleToken)
        #expect(before[3] == "{}")
        let second = try restarted(first.emulator)
        #expect(second.emulator.sandboxes.existing(untouched.name) == nil, "nothing of it was to be kept")
        let again = world.moved(to: second)
        try await again.freeze(at: World.exampleMoment)
        #expect(try await seen(again) == before)
        let third = world.moved(to: try restarted(second.emulator))
        try await third.freeze(at: World.exampleMoment)
        #expect(try await seen(third) == before)
    }

    @Test("what was seen of content has the same times again")
    func times() async throws {
        let first = try Stage(Emulator(fixtures: Repository.fixtures))
        let world = try await World(on: first)
        let before = try await world.fetchInbox().text
        #expect(before.contains("create_time"))
        let again = world.moved(to: try restarted(first.emulator))
        try await again.freeze(at: World.exampleMoment + 86_400)
        #expect(try await again.fetchInbox().text == before)
    }

    @Test("what is kept may be as deep as a state may be")
    func deep() async throws {
        let first = try Stage(Emulator(fixtures: Repository.fixtures))
        let world = try await World(on: first)
        let levels = Emulator.stateDepth - 10
        let value = String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
        let state =
            #"{"projects":[{"token":"demo-project-1","customers":[{"number":1,"ids":{"registered":"a"},"properties":{"deep":\#(value)}}]}]}"#
        #expect(try await world.control(.put, "state/bloomreach", state).status == 200)
        let saved = try JSON.parse(first.emulator.exportState().text.utf8, maximumDepth: Emulator.documentDepth)
        let fresh = try Emulator(fixtures: Repository.fixtures)
        try fresh.importState(FixtureNode(saved, from: "file"))
        let again = world.moved(to: try Stage(fresh))
        #expect(try await again.control(.get, "state/bloomreach").text.contains(value))
    }

    @Test("what nobody touched follows the files of the new start")
    func otherContent() async throws {
        let first = try Stage(Emulator(fixtures: Repository.fixtures))
        let world = try await World(on: first)
        try await world.act("read-inbox-message", Self.read)
        let fixtures = try OwnFixtures()
        try fixtures.put("bloomreach/content/app-inbox.yaml", [("Welcome, Ben", "Hello, Ben")])
        try fixtures.put("bloomreach/content/segments.yaml", [("seg-1", "seg-9")])
        let again = world.moved(to: try restarted(first.emulator, fixtures: fixtures.store))
        try await again.freeze(at: World.exampleMoment)
        #expect(try await again.fetchInbox().json["messages"]?.array?.map { $0["is_read"] } == [true, false])
        let ben = try await again.call(.post, Content.fetch, Content.key, Content.ofBen())
        #expect(ben.json["messages"]?[0]?["content"]?["title"] == "Hello, Ben")
        #expect(try await segments(again, "a").contains("seg-9"))
    }

    @Test("an inbox is that of its customer also when the file numbers customers anew")
    func otherNumbers() async throws {
        let first = try Stage(Emulator(fixtures: Repository.fixtures))
        let world = try await World(on: first)
        try await world.act("read-inbox-message", Self.read)
        let fixtures = try OwnFixtures()
        try fixtures.put(
            "bloomreach/accounts.yaml",
            [
                (
                    "      - ids: { registered: \"ana@example.test\" }",
                    "      - ids: { registered: \"zoe@example.test\" }\n      - ids: { registered: \"ana@example.test\" }"
                )
            ])
        let again = world.moved(to: try restarted(first.emulator, fixtures: fixtures.store))
        try await again.freeze(at: World.exampleMoment)
        let ana = try await again.fetchInbox()
        #expect(ana.json["messages"]?.array?.map { $0["is_read"] } == [true, false])
        #expect(
            try await again.call(.post, Content.fetch, Content.key, Content.ofBen()).messageIDs == ["msg-push-2"])
        let zoe = try await again.call(
            .post, Content.fetch, Content.key, #"{"customer_ids":{"registered":"zoe@example.test"}}"#)
        #expect(zoe.messageIDs == [])
    }
}
