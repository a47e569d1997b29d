import Emulation
import JSON
import Support
import Testing
import Understudy

/// State exported from a sandbox as JSON and imported again, and state under other fixtures.
@Suite("Comapi's state, exported and imported")
struct ExportTests {
    @Test("a conversation that was deleted may begin again after an import")
    func revived() async throws {
        let world = try await World.comapi()
        let mira = try await ComapiLife.live(world)
        let exported = try await world.control(.get, "state/comapi").text
        #expect(try await world.control(.put, "state/comapi", exported).status == 200)
        try await world.call(.post, Example.path("/conversations"), mira.fields, #"{"id":"gone"}"#).expect(201)
    }

    @Test("a sandbox in which nothing happened has no changes")
    func untouched() async throws {
        let stage = try Stage(Emulator(fixtures: Repository.fixtures))
        let world = try await World.comapi(on: stage)
        try await world.call(.get, Example.path("/profiles")).expect(401, Example.unauthorized, "session-missing")
        #expect(stage.emulator.exportState()["sandboxes"]?.array == [])
        _ = try await world.challenge()
        #expect(stage.emulator.exportState()["sandboxes"]?.array?.map { $0["name"]?.string } == [world.name])
    }

    @Test("fixtures that are read anew keep sessions, messages and tokens; a space that is gone is not found")
    func reload() async throws {
        let fixtures = try OwnFixtures()
        let emulator = try fixtures.emulator(of: "comapi")
        let world = try await World.comapi(on: Stage(emulator))
        let mira = try await ComapiLife.live(world)
        let before = try await ComapiLife.seen(world, as: mira)
        try fixtures.put("comapi/accounts.yaml", [(Example.c, "another-space"), ("4001", "4009")])
        try emulator.reload(fixtures.store)
        let after = try await ComapiLife.seen(world, as: mira)
        #expect(after.map { $0.replacing("4009", with: "4001") } == before)
        try await world.call(.get, Example.path("/sessions/start", in: Example.c))
            .expect(404, Example.notFound, "unknown-space")
        try await world.call(.get, Example.path("/sessions/start", in: "another-space")).expect(200)
    }
}
