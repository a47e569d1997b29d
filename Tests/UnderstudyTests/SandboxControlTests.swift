import Emulation
import JSON
import Support
import Synchronization
import Testing
import Understudy

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
        #expect(
            sandbox.object?.map(\.name) == [
                "name", "created_at", "age_seconds", "idle_seconds", "ttl_seconds", "expires_in_seconds", "clock",
                "now",
                "seed", "exchanges", "sockets", "journal_entries", "journal_bytes",
            ])
        #expect(sandbox["exchanges"] == 1)
        #expect(sandbox["journal_entries"] == 1)
        #expect(sandbox["ttl_seconds"] == .null)
        #expect(sandbox["expires_in_seconds"] == .null)
        #expect(sandbox["clock"] == "frozen")
        #expect(sandbox["now"] == "2027-01-15T08:00:00.000Z")
        #expect(sandbox["seed"] == .null)
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

    /// A server whose sandboxes age by a clock that the test advances.
    private func agingStage(_ seconds: Ticker, capacity: Int = 9) throws -> Stage {
        try Stage(
            Emulator(
                fixtures: Repository.fixtures,
                sandboxes: SandboxLimits(capacity: capacity, timeToLive: .seconds(7200))
            ) {
                Moment(unixSeconds: seconds.value)
            })
    }

    @Test("a time to live can be set for one sandbox, counts from the last use, and what is over begins anew")
    func timeToLive() async throws {
        let seconds = Ticker(1_000_000)
        let world = try await World(on: agingStage(seconds))
        let fresh = try #require(try await listed(world))
        #expect(fresh["ttl_seconds"] == 7200)
        #expect(fresh["expires_in_seconds"] == 7200)
        let set = try await world.control(.put, "sandboxes/" + world.name, #"{"ttl":"10m"}"#)
        #expect(set.status == 200)
        #expect(set.json["ttl_seconds"] == 600)
        _ = try await world.call(.get, "/nowhere")
        seconds.value += 599
        let idle = try #require(try await listedFromOutside(world))
        #expect(idle["idle_seconds"] == 599)
        #expect(idle["expires_in_seconds"] == 1)
        #expect(idle["exchanges"] == 1)
        // A control call counts as use.
        #expect(try await world.control(.get, "clock").json["frozen"] == true)
        seconds.value += 599
        #expect(try await world.control(.get, "clock").json["frozen"] == true)
        seconds.value += 600
        #expect(try await listedFromOutside(world) == nil)
        #expect(try await world.control(.get, "clock").json["machine_time"] == true)
        #expect(try #require(try await listed(world))["exchanges"] == 0)
    }

    private func listedFromOutside(_ world: World) async throws -> JSON? {
        try await world.bare(.get, "/_understudy/sandboxes").json["sandboxes"]?.array?
            .first { $0["name"] == .string(world.name) }
    }

    @Test("a time to live can be taken from a sandbox; one that is named so is made")
    func endless() async throws {
        let seconds = Ticker(1_000_000)
        let world = try await World(on: agingStage(seconds))
        let kept = try await world.control(.put, "sandboxes/kept", #"{"ttl":null}"#)
        #expect(kept.json["name"] == "kept")
        #expect(kept.json["ttl_seconds"] == .null)
        seconds.value += 1e8
        let names = try await world.bare(.get, "/_understudy/sandboxes").json["sandboxes"]?.array?.map { $0["name"] }
        #expect(names == ["default", "kept"])
    }

    @Test("at the cap the sandbox that was longest unused makes room")
    func cap() async throws {
        let seconds = Ticker(1_000_000)
        let world = try await World(on: agingStage(seconds, capacity: 2), at: nil)
        for name in ["a", "b", "a", "c"] {
            seconds.value += 1
            _ = try await world.bare(.get, "/~\(name)/nowhere")
        }
        let names = try await world.bare(.get, "/_understudy/sandboxes").json["sandboxes"]?.array?.map { $0["name"] }
        #expect(names == ["default", "a", "c"])
    }

    @Test(
        "a time to live that makes no sense is refused",
        arguments: [
            ("x", #"{"ttl":"10"}"#, "invalid", "expected a duration over 0"),
            ("x", #"{"ttl":"0s"}"#, "invalid", "over 0"), ("x", #"{"ttl":"-1m"}"#, "invalid", "over 0"),
            ("x", #"{"ttl":10}"#, "invalid", "ttl is 10; expected a duration"),
            ("x", "{}", "invalid", "member ttl is missing"),
            ("x", #"{"tll":"1s"}"#, "invalid", "did you mean “ttl”?"),
            ("X", #"{"ttl":"1s"}"#, "sandbox-name-invalid", "“X” is not a sandbox name"),
            ("default", #"{"ttl":"1s"}"#, "invalid", "the sandbox default never expires"),
        ])
    func refused(_ name: String, _ body: String, _ code: String, _ message: String) async throws {
        let world = try await World()
        try await world.control(.put, "sandboxes/" + name, body).expectProblem(400, code, message)
        #expect(world.emulator.sandboxes.existing("x") == nil)
    }
}

/// A machine clock that a test advances.
private final class Ticker: Sendable {
    private let number: Mutex<Double>

    init(_ seconds: Double) { number = Mutex(seconds) }

    var value: Double {
        get { number.withLock { $0 } }
        set { number.withLock { $0 = newValue } }
    }
}
