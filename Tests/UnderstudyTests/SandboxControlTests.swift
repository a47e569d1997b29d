import Emulation
import Expectations
import JSON
import Support
import Testing
import Understudy
import Wire

@Suite("Control: sandboxes") struct SandboxControlTests {
    /// The sandboxes, asked for without naming one, which would count as its use.
    private func all(_ world: World) async throws -> [JSON] {
        try await world.bare(.get, "/_understudy/sandboxes").json["sandboxes"]?.array ?? []
    }

    private func listed(_ world: World) async throws -> JSON? {
        try await all(world).first { $0["name"] == .string(world.name) }
    }

    @Test("lists what each has seen, and forgets one") func list() async throws {
        let world = try await World()
        _ = try await world.call(.get, "/nowhere")
        let sandbox = try #require(try await listed(world))
        expect(
            sandbox.object?.map(\.name),
            is: [
                "name", "created_at", "age_seconds", "idle_seconds", "ttl_seconds", "expires_in_seconds", "clock",
                "now", "seed", "exchanges", "sockets", "journal_entries", "refusals", "journal_bytes",
            ])
        expect(["exchanges", "journal_entries", "refusals"].map { sandbox[$0] }, is: [1, 1, 0])
        expect(["ttl_seconds", "expires_in_seconds", "seed"].map { sandbox[$0] }, is: [.null, .null, .null])
        expect(["clock", "now"].map { sandbox[$0] }, is: ["frozen", "2027-01-15T08:00:00.000Z"])
        #expect(try #require(sandbox["journal_bytes"]?.int) > 0)
        let other = try await World()
        try await other.control(.delete, "sandboxes/" + world.name).expect(204)
        #expect(world.emulator.sandboxes.existing(world.name) == nil)
        try await other.control(.delete, "sandboxes/" + world.name)
            .expectProblem(404, "no-such-sandbox", "There is no sandbox \(world.name)")
    }

    @Test("reset gives the first answer again: clock, settings, faults, scenarios, ids, journal")
    func reset() async throws {
        let world = try await World()
        try await world.set(seed: 3)
        try await world.set(profile: .observed)
        try await world.arm("service-unavailable", at: "rua.guest")
        try await world.control(.put, "scenarios", #"{"scenario":"rezolve-busy-backend"}"#).expect(200)
        _ = try await world.call(.get, "/nowhere")
        try await world.control(.post, "reset").expect(204)
        for (path, name, value) in [
            ("clock", "machine_time", true), ("settings", "profile", "documented"), ("settings", "seed", .null),
            ("faults", "faults", []), ("scenarios", "active", []), ("journal", "entries", []),
        ] as [(String, String, JSON)] {
            expect(try await world.control(.get, path).json[name], is: value, "\(name)")
        }
        expect(try await world.call(.get, "/nowhere").entry?.id, is: 1)
    }

    /// A server whose sandboxes age by a clock that the test advances.
    private func agingStage(_ machine: MachineClock, capacity: Int = 9) throws -> Stage {
        let limits = SandboxLimits(capacity: capacity, timeToLive: .seconds(7200))
        return try Stage(Emulator(fixtures: Repository.fixtures, sandboxes: limits, machine: { machine.now }))
    }

    @Test("a time to live can be set for one sandbox, counts from the last use, and what is over begins anew")
    func timeToLive() async throws {
        let machine = MachineClock()
        let world = try await World(on: agingStage(machine))
        let fresh = try #require(try await listed(world))
        expect(fresh["ttl_seconds"], is: 7200)
        expect(fresh["expires_in_seconds"], is: 7200)
        let set = try await world.control(.put, "sandboxes/" + world.name, #"{"ttl":"10m"}"#)
        expect(set.json["ttl_seconds"], is: 600)
        _ = try await world.call(.get, "/nowhere")
        machine.advance(.seconds(599))
        let idle = try #require(try await listed(world))
        expect(["idle_seconds", "expires_in_seconds", "exchanges"].map { idle[$0] }, is: [599, 1, 1])
        // A control call counts as use.
        expect(try await world.control(.get, "clock").json["frozen"], is: true)
        machine.advance(.seconds(599))
        expect(try await world.control(.get, "clock").json["frozen"], is: true)
        machine.advance(.seconds(600))
        expect(try await listed(world), is: nil)
        expect(try await world.control(.get, "clock").json["machine_time"], is: true)
        expect(try #require(try await listed(world))["exchanges"], is: 0)
    }

    @Test("a time to live can be taken from a sandbox; one that is named so is made") func endless() async throws {
        let machine = MachineClock()
        let world = try await World(on: agingStage(machine))
        let kept = try await world.control(.put, "sandboxes/kept", #"{"ttl":null}"#).json
        expect(["name", "ttl_seconds"].map { kept[$0] }, is: ["kept", .null])
        machine.advance(.seconds(100_000_000))
        expect(try await all(world).map { $0["name"] }, is: ["default", "kept"])
    }

    @Test("at the cap the sandbox that was longest unused makes room") func cap() async throws {
        let machine = MachineClock()
        let world = try await World(on: agingStage(machine, capacity: 2), at: nil)
        for name in ["a", "b", "a", "c"] {
            machine.advance(.seconds(1))
            _ = try await world.bare(.get, "/~\(name)/nowhere")
        }
        expect(try await all(world).map { $0["name"] }, is: ["default", "a", "c"])
    }

    @Test(
        "a time to live that makes no sense is refused",
        arguments: [
            ("x", #"{"ttl":"10"}"#, "invalid", "expected a duration over 0"),
            ("x", #"{"ttl":"0s"}"#, "invalid", "over 0"), ("x", #"{"ttl":"-1m"}"#, "invalid", "over 0"),
            ("x", #"{"ttl":10}"#, "invalid", "ttl is 10; expected a duration"),
            ("x", "{}", "invalid", "member ttl is missing"), ("x", #"{"tll":"1s"}"#, "invalid", "did you mean “ttl”?"),
            ("X", #"{"ttl":"1s"}"#, "sandbox-name-invalid", "“X” is not a sandbox name"),
            ("default", #"{"ttl":"1s"}"#, "invalid", "the sandbox default never expires"),
        ])
    func refused(_ name: String, _ body: String, _ code: String, _ message: String) async throws {
        let world = try await World()
        try await world.control(.put, "sandboxes/" + name, body).expectProblem(400, code, message)
        #expect(world.emulator.sandboxes.existing("x") == nil)
    }
}

/// Deadlines that expire without a request, by the sandbox's clock.
@Suite("Deadlines of vendors", .timeLimit(.minutes(15))) struct DeadlineTests {
    private let expired = LiveSocket.Event.closed(WebSocketClosure(.policyViolation, reason: "expired"))

    private func end(_ session: String, in seconds: Double, _ world: World) async throws {
        expect(try await world.call(.post, "/switchboard/sessions/\(session)?life=\(seconds)").status, is: 204)
    }

    @Test("a running clock keeps them, also beside the machine's", arguments: Depth.allCases, [nil, "2h"] as [String?])
    func running(_ depth: Depth, _ ahead: String?) async throws {
        let board = try await SwitchboardWorld(depth, at: nil)
        if let ahead { try await board.world.advance(ahead) }
        let (late, early) = (try await board.open("late"), try await board.open("early"))
        try await end("late", in: 0.4, board.world)
        try await end("early", in: 0.2, board.world)
        expect(await early.next(), is: expired)
        expect(await late.next(), is: expired)
        #expect(await board.sockets(0))
        let state = try await board.state()
        expect(Set(state["gone"]?.array ?? []), is: ["early 1008", "late 1008"])
        expect(state["sessions"], is: [])
    }

    @Test("one that was put off a hundred times passes at the last moment it was given") func putOff() async throws {
        let board = try await SwitchboardWorld(.pipeline, at: nil)
        let socket = try await board.open("ada")
        for time in 1...100 { try await end("ada", in: Double(1000 - time), board.world) }
        try await end("ada", in: 0.2, board.world)
        expect(await socket.next(), is: expired)
        expect(try await board.state()["passed"], is: 1)
    }

    @Test("a clock that is moved there passes them before the call is answered", arguments: Depth.allCases)
    func moved(_ depth: Depth) async throws {
        let board = try await SwitchboardWorld(depth)
        let (first, second) = (try await board.open("first", life: 60), try await board.open("second", life: 120))
        let third = try await board.open("third", life: 121)
        try await board.world.advance("59s")
        expect(try await board.state()["passed"], is: 0)
        try await board.world.advance("61s")
        expect(await first.next(), is: expired)
        expect(await second.next(), is: expired)
        let state = try await board.state()
        expect(state["sessions"], is: ["third"])
        expect(state["passed"], is: 1, "what was due together passed together")
        third.send(.text("echo"))
        expect(await third.next(), is: .text("echo"))
        try await board.world.freeze(at: World.exampleMoment + 121)
        expect(await third.next(), is: expired)
    }

    @Test("a clock that stands still keeps none, until it runs again", arguments: Depth.allCases)
    func frozen(_ depth: Depth) async throws {
        let board = try await SwitchboardWorld(depth)
        let frozen = try await board.open("frozen", life: 0.2)
        let other = try await SwitchboardWorld(depth, at: nil)
        // Another session's full second has passed, and with it the fifth of a second that this one had.
        let running = try await other.open("running")
        try await end("running", in: 1, other.world)
        expect(await running.next(), is: expired)
        frozen.send(.text("echo"))
        expect(await frozen.next(), is: .text("echo"))
        expect(try await board.state()["passed"], is: 0)
        try await board.world.control(.put, "clock", #"{"freeze":false}"#)
        expect(await frozen.next(), is: expired)
    }

    @Test("one that is over when it is named passes at once, also while the clock stands", arguments: Depth.allCases)
    func over(_ depth: Depth) async throws {
        let board = try await SwitchboardWorld(depth)
        _ = try await board.world.call(.post, "/switchboard/sessions/ada?life=-1")
        let next = try await board.world.call(.post, "/switchboard/count")
        expect(next.text, is: #"{"count":1,"sessions":0}"#, "a call finds passed what is due at its moment")
        expect(try await board.state()["passed"], is: 1)
    }

    @Test("a later one takes the place of an earlier one that was taken back") func takenBack() async throws {
        let board = try await SwitchboardWorld(.pipeline)
        let socket = try await board.open("ada", life: 60)
        try await end("ada", in: 120, board.world)
        try await board.world.advance("61s")
        expect(try await board.state()["passed"], is: 0)
        try await board.world.advance("59s")
        expect(await socket.next(), is: expired)
        expect(try await board.state()["passed"], is: 1)
    }

    @Test("a reset forgets them") func reset() async throws {
        let board = try await SwitchboardWorld(.pipeline)
        _ = try await board.world.call(.post, "/switchboard/sessions/ada?life=60")
        try await board.world.control(.post, "reset")
        try await board.world.advance("2h")
        expect(try await board.state()["passed"], is: 0)
    }

    @Test("one that a vendor does not deal with keeps nobody from going on", arguments: Depth.allCases)
    func stuck(_ depth: Depth) async throws {
        let board = try await SwitchboardWorld(depth, at: nil)
        _ = try await board.world.call(.post, "/switchboard/sessions/stuck?life=-5")
        for count in 1...3 {
            let answer = try await board.world.call(.post, "/switchboard/count")
            expect(answer.text, is: #"{"count":\#(count),"sessions":1}"#)
        }
        expect(try await board.state()["passed"], is: 1)
    }

    @Test("those of 300 sandboxes pass each in its own") func many() async throws {
        let board = try await SwitchboardWorld(.pipeline, at: nil)
        let sockets = try await withThrowingTaskGroup(of: LiveSocket.self) { group in
            for number in 0..<300 {
                group.addTask {
                    let world = board.world.named("many-\(number)")
                    _ = try await world.call(.post, "/switchboard/sessions/ada")
                    let socket = try await world.openSocket("/switchboard/sessions/ada/socket")
                    expect(await socket.next(), is: .text("hello ada, at your service"))
                    try await end("ada", in: 0.1 + Double(number % 7) / 10, world)
                    return socket
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        for socket in sockets { expect(await socket.next(), is: expired) }
    }
}
