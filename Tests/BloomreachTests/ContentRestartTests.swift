import Emulation
import JSON
import Support
import Testing
import Understudy

/// Inboxes, segments and consents that a file keeps across a restart: only what requests created or changed.
@Suite("Bloomreach's content over a restart")
struct ContentRestartTests {
    private typealias Content = ContentExample

    private static let read = #"{"customer":"ana@example.test","message":"msg-push-1"}"#

    private func segments(_ world: World, _ letter: String) async throws -> String {
        try await world.call(
            .get, "\(Content.segments)?cookie=c0000000-0000-4000-8000-00000000000\(letter)", .token
        ).text
    }

    @Test("what was seen of content has the same times again")
    func times() async throws {
        let first = try Stage(Emulator(fixtures: Repository.fixtures))
        let world = try await World(on: first)
        let before = try await world.fetchInbox().text
        #expect(before.contains("create_time"))
        let again = world.moved(to: try first.restarted())
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
        let again = world.moved(to: try first.restarted())
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
        let again = world.moved(to: try first.restarted(fixtures.store))
        try await again.freeze(at: World.exampleMoment)
        #expect(try await again.fetchInbox().json["messages"]?.array?.map { $0["is_read"] } == [true, false])
        let ben = try await again.call(.post, Example.inbox, .token, Content.ofBen())
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
        let again = world.moved(to: try first.restarted(fixtures.store))
        try await again.freeze(at: World.exampleMoment)
        let ana = try await again.fetchInbox()
        #expect(ana.json["messages"]?.array?.map { $0["is_read"] } == [true, false])
        #expect(
            try await again.call(.post, Example.inbox, .token, Content.ofBen()).messageIDs == ["msg-push-2"])
        let zoe = try await again.call(
            .post, Example.inbox, .token, #"{"customer_ids":{"registered":"zoe@example.test"}}"#)
        #expect(zoe.messageIDs == [])
    }
}
