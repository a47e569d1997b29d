import Emulation
import JSON
import Support
import Testing
import Understudy
import Wire

/// Deadlines that expire without a request, by the sandbox's clock.
@Suite("Deadlines of vendors", .timeLimit(.minutes(15)))
struct DeadlineTests {
    private let expired = LiveSocket.Event.closed(WebSocketClosure(.policyViolation, reason: "expired"))

    /// Makes an existing session end in the given number of seconds.
    private func end(_ session: String, in seconds: Double, _ world: World) async throws {
        #expect(try await world.call(.post, "/switchboard/sessions/\(session)?life=\(seconds)").status == 204)
    }

    @Test("a running clock keeps them", arguments: Depth.allCases)
    func running(_ depth: Depth) async throws {
        let board = try await SwitchboardWorld(depth, at: nil)
        let (late, early) = (try await board.open("late"), try await board.open("early"))
        try await end("late", in: 0.4, board.world)
        try await end("early", in: 0.2, board.world)
        #expect(await early.next() == expired)
        #expect(await late.next() == expired)
        #expect(await board.sockets(0))
        let state = try await board.state()
        #expect(Set(state["gone"]?.array ?? []) == ["early 1008", "late 1008"])
        #expect(state["sessions"] == [])
    }

    @Test("one that was put off a hundred times passes at the last moment it was given")
    func putOff() async throws {
        let board = try await SwitchboardWorld(.pipeline, at: nil)
        let socket = try await board.open("ada")
        for time in 1...100 { try await end("ada", in: Double(1000 - time), board.world) }
        try await end("ada", in: 0.2, board.world)
        #expect(await socket.next() == expired)
        #expect(try await board.state()["passed"] == 1)
    }

    @Test("a clock that runs beside the machine's keeps them too", arguments: Depth.allCases)
    func besides(_ depth: Depth) async throws {
        let board = try await SwitchboardWorld(depth, at: nil)
        try await board.world.advance("2h")
        let socket = try await board.open("ada")
        try await end("ada", in: 0.2, board.world)
        #expect(await socket.next() == expired)
    }

    @Test("a clock that is moved there passes them before the call is answered", arguments: Depth.allCases)
    func moved(_ depth: Depth) async throws {
        let board = try await SwitchboardWorld(depth)
        let (first, second) = (try await board.open("first", life: 60), try await board.open("second", life: 120))
        let third = try await board.open("third", life: 121)
        try await board.world.advance("59s")
        #expect(try await board.state()["passed"] == 0)
        try await board.world.advance("61s")
        #expect(await first.next() == expired)
        #expect(await second.next() == expired)
        let state = try await board.state()
        #expect(state["sessions"] == ["third"])
        #expect(state["passed"] == 1, "what was due together passed together")
        third.send(.text("echo"))
        #expect(await third.next() == .text("echo"))
        try await board.world.freeze(at: World.exampleMoment + 121)
        #expect(await third.next() == expired)
    }

    @Test("a clock that stands still keeps none, until it runs again", arguments: Depth.allCases)
    func frozen(_ depth: Depth) async throws {
        let board = try await SwitchboardWorld(depth)
        let frozen = try await board.open("frozen", life: 0.2)
        let other = try await SwitchboardWorld(depth, at: nil)
        // Another session's full second has passed, and with it the fifth of a second that this one had.
        let running = try await other.open("running")
        try await end("running", in: 1, other.world)
        #expect(await running.next() == expired)
        frozen.send(.text("echo"))
        #expect(await frozen.next() == .text("echo"))
        #expect(try await board.state()["passed"] == 0)
        try await board.world.control(.put, "clock", #"{"freeze":false}"#)
        #expect(await frozen.next() == expired)
    }

    @Test("one that is over when it is named passes at once, also while the clock stands", arguments: Depth.allCases)
    func over(_ depth: Depth) async throws {
        let board = try await SwitchboardWorld(depth)
        _ = try await board.world.call(.post, "/switchboard/sessions/ada?life=-1")
        let next = try await board.world.call(.post, "/switchboard/count")
        #expect(next.text == #"{"count":1,"sessions":0}"#, "a call finds passed what is due at its moment")
        #expect(try await board.state()["passed"] == 1)
    }

    @Test("a later one takes the place of an earlier one that was taken back")
    func takenBack() async throws {
        let board = try await SwitchboardWorld(.pipeline)
        let socket = try await board.open("ada", life: 60)
        try await end("ada", in: 120, board.world)
        try await board.world.advance("61s")
        #expect(try await board.state()["passed"] == 0)
        try await board.world.advance("59s")
        #expect(await socket.next() == expired)
        #expect(try await board.state()["passed"] == 1)
    }

    @Test("a reset forgets them")
    func reset() async throws {
        let board = try await SwitchboardWorld(.pipeline)
        _ = try await board.world.call(.post, "/switchboard/sessions/ada?life=60")
        try await board.world.control(.post, "reset")
        try await board.world.advance("2h")
        #expect(try await board.state()["passed"] == 0)
    }

    @Test("one that a vendor does not deal with keeps nobody from going on", arguments: Depth.allCases)
    func stuck(_ depth: Depth) async throws {
        let board = try await SwitchboardWorld(depth, at: nil)
        _ = try await board.world.call(.post, "/switchboard/sessions/stuck?life=-5")
        for count in 1...3 {
            let answer = try await board.world.call(.post, "/switchboard/count")
            #expect(answer.text == #"{"count":\#(count),"sessions":1}"#)
        }
        #expect(try await board.state()["passed"] == 1)
    }

    @Test("those of 300 sandboxes pass each in its own")
    func many() async throws {
        let board = try await SwitchboardWorld(.pipeline, at: nil)
        let sockets = try await withThrowingTaskGroup(of: LiveSocket.self) { group in
            for number in 0..<300 {
                group.addTask {
                    let world = board.world.named("many-\(number)")
                    _ = try await world.call(.post, "/switchboard/sessions/ada")
                    let socket = try await world.openSocket("/switchboard/sessions/ada/socket")
                    #expect(await socket.next() == .text("hello ada, at your service"))
                    try await end("ada", in: 0.1 + Double(number % 7) / 10, world)
                    return socket
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        for socket in sockets { #expect(await socket.next() == expired) }
    }
}
