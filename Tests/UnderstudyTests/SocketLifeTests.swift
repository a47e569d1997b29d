import Emulation
import JSON
import Support
import Synchronization
import Testing
import Understudy
import Wire

/// Sockets, and changes to the sandbox they belong to.
@Suite("WebSockets and their sandbox", .timeLimit(.minutes(15)))
struct SocketLifeTests {
    private let replaced = WebSocketClosure(.goingAway, reason: "the state was replaced")

    @Test("a reset closes them, and the new state knows nothing of them", arguments: Depth.allCases)
    func reset(_ depth: Depth) async throws {
        let board = try await SwitchboardWorld(depth)
        let socket = try await board.open("ada")
        try await board.world.control(.post, "reset")
        #expect(await socket.next() == .closed(replaced))
        #expect(await board.sockets(0))
        #expect(try await board.state()["gone"] == [])
        let fresh = try await board.open("ada")
        try await board.tell("anew", to: "ada")
        #expect(await fresh.next() == .text("anew"))
    }

    @Test("replacing a state by a control call closes them", arguments: Depth.allCases)
    func importing(_ depth: Depth) async throws {
        let board = try await SwitchboardWorld(depth)
        let socket = try await board.open("ada")
        try await board.world.control(.put, "state/switchboard", "{}")
        #expect(await socket.next() == .closed(replaced))
    }

    @Test("a sandbox that is deleted closes them, and its successor is another one", arguments: Depth.allCases)
    func deletion(_ depth: Depth) async throws {
        let board = try await SwitchboardWorld(depth)
        let socket = try await board.open("ada")
        try await board.world.control(.delete, "sandboxes/\(board.world.name)")
        #expect(await socket.next() == .closed(WebSocketClosure(.goingAway, reason: "the sandbox is gone")))
        #expect(try await board.state()["sessions"] == [])
        #expect(board.world.sandbox.sockets == 0)
    }

    @Test("a handshake from before a reset opens nothing behind it")
    func lateOpening() async throws {
        let board = try await SwitchboardWorld(.pipeline)
        _ = try await board.world.call(.post, "/switchboard/sessions/ada")
        let fields = [
            ("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Version", "13"),
            ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="), ("X-Understudy-Sandbox", board.world.name),
        ]
        let response = await Pipeline(board.emulator).response(
            to: Request(method: .get, target: "/switchboard/sessions/ada/socket", fields: FieldLines(fields)))
        let upgrade = try #require(response.upgrade)
        try await board.world.control(.post, "reset")
        let channel = Recorder()
        upgrade.handler.opened(WebSocket(channel))
        #expect(channel.closures.withLock { $0 } == [WebSocketClosure(.goingAway, reason: "the sandbox was reset")])
        #expect(channel.messages.withLock { $0 } == [])
        upgrade.handler.received(.text("count"), on: WebSocket(channel))
        upgrade.handler.closed(WebSocket(channel), WebSocketClosure(.normal))
        #expect(board.world.sandbox.sockets == 0)
        let state = try await board.state()
        #expect(state["count"] == 0)
        #expect(state["gone"] == [])
    }

    /// A channel that records what it receives.
    private final class Recorder: WebSocket.Channel {
        let messages = Mutex<[WebSocketMessage]>([])
        let closures = Mutex<[WebSocketClosure]>([])
        func send(_ message: WebSocketMessage) { messages.withLock { $0.append(message) } }
        func close(_ closure: WebSocketClosure) { closures.withLock { $0.append(closure) } }
    }

    @Test("they outlive a change of the fixtures, and the later vendor answers them", arguments: Depth.allCases)
    func reload(_ depth: Depth) async throws {
        let board = try await SwitchboardWorld(depth)
        let socket = try await board.open("ada")
        let later = try Switchboard.fixtures("later")
        try board.emulator.reload(FixtureStore(layers: [later.path]))
        socket.send(.text("motto"))
        #expect(await socket.next() == .text("later"))
        try await board.tell("still", to: "ada")
        #expect(await socket.next() == .text("still"))
    }

    @Test("an open one keeps its sandbox from expiring, from its end on the time counts", arguments: Depth.allCases)
    func timeToLive(_ depth: Depth) async throws {
        let machine = Machine()
        let board = try await SwitchboardWorld(depth) { machine.now }
        let directory = board.emulator.sandboxes
        let sandbox = board.world.sandbox
        try await board.world.control(.put, "sandboxes/\(board.world.name)", #"{"ttl":"60s"}"#)
        let socket = try await board.open("ada")
        machine.advance(.seconds(3600))
        #expect(directory.existing(board.world.name) === sandbox)
        let listed = try await board.world.control(.get, "sandboxes").json["sandboxes"]?.array?.last
        #expect(listed?["name"]?.string == board.world.name)
        #expect(listed?["expires_in_seconds"] == JSON.null)
        #expect(listed?["idle_seconds"] == 0)
        socket.close()
        #expect(await board.sockets(0))
        machine.advance(.seconds(59))
        #expect(directory.existing(board.world.name) === sandbox)
        machine.advance(.seconds(2))
        #expect(directory.existing(board.world.name) == nil)
    }

    /// A machine clock that a test advances.
    private final class Machine: Sendable {
        private let moment = Mutex(Moment(unixSeconds: 1_800_000_000))

        var now: Moment { moment.withLock { $0 } }
        func advance(_ duration: Duration) { moment.withLock { $0 = $0 + duration } }
    }
}
