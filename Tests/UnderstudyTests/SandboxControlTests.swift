import JSON
import Support
import Testing

@Suite("Control: sandboxes")
struct SandboxControlTests {
    private func listed(_ world: World) async throws -> JSON? {
        try await world.control(.get, "sandboxes").json["sandboxes"]?.array?.first { $0["name"] == .string(world.name) }
    }

    @Test("lists what each has seen, and forgets one", arguments: Depth.allCases)
    func list(_ depth: Depth) async throws {
        let world = try await World(depth)
        _ = try await world.call(.get, "/nowhere")
        let sandbox = try #require(try await listed(world))
        #expect(sandbox["exchanges"] == 1)
        #expect(sandbox["journal_entries"] == 1)
        #expect(try #require(sandbox["journal_bytes"]?.int) > 0)
        let other = try await World(depth)
        #expect(try await other.control(.delete, "sandboxes/" + world.name).status == 204)
        #expect(world.emulator.sandboxes.existing(world.name) == nil)
        try await other.control(.delete, "sandboxes/" + world.name)
            .expectProblem(404, "no-such-sandbox", "There is no sandbox \(world.name)")
    }

    @Test("reset gives the first answer again: clock, settings, faults, ids, journal")
    func reset() async throws {
        let world = try await World()
        try await world.set(seed: 3)
        try await world.set(profile: .observed)
        try await world.arm("service-unavailable", at: "rua.guest")
        _ = try await world.call(.get, "/nowhere")
        #expect(try await world.control(.post, "reset").status == 204)
        #expect(try await world.control(.get, "clock").json["machine_time"] == true)
        let settings = try await world.control(.get, "settings")
        #expect(settings.json["profile"] == "documented")
        #expect(settings.json["seed"] == .null)
        #expect(try await world.control(.get, "faults").text == #"{"faults":[]}"#)
        #expect(try await world.control(.get, "journal").json["entries"] == [])
        let first = try await world.call(.get, "/nowhere")
        #expect(first.entry?.id == 1)
    }
}
