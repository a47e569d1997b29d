import Emulation
import Expectations
import HTTPTypes
import JSON
import Support
import Synchronization
import Testing
import Understudy
import Wire

@Suite("WebSockets of vendors", .timeLimit(.minutes(15))) struct SocketTests {
    @Test("a socket is greeted, answered, and remarked on in the entry of its handshake", arguments: Depth.allCases)
    func conversation(_ depth: Depth) async throws {
        let board = try await SwitchboardWorld(depth)
        let socket = try await board.open("ada")
        socket.send(.text("echo"))
        expect(await socket.next(), is: .text("echo"))
        socket.send(.text(#"{"who":"me","secret":"s3cret"}"#))
        socket.send(.text("motto"))
        expect(await socket.next(), is: .text("at your service"))
        socket.send(.text("mine is eyJh.eyJi.c2ln, yes"))
        socket.send(.text("my Secret: s3cret"))
        socket.send(.binary([1, 2]))
        expect(await socket.next(), is: .closed(WebSocketClosure(.unsupportedData, reason: "bytes")))
        let entry = try #require(await board.handshakes { $0.first?.record.socket?.closure != nil }.first)
        expect(entry.response.status.code, is: 101)
        let json = board.world.masked(entry)
        // Text that is not JSON is shown as it is, unless it mentions what the route hides.
        let expected: [JSON] = [
            ["server", "hello ada, at your service", 0], ["client", "echo", 0], ["server", "echo", 0],
            ["client", ["who": "me", "secret": "***"], 1], ["client", "motto", 0], ["server", "at your service", 0],
            ["client", "mine is eyJh.eyJi.***, yes", 1], ["client", "(17 bytes)", 1], ["client", "(2 bytes)", 0],
        ]
        let frames = json["socket"]?["frames"]?.array ?? []
        let shown = frames.map { frame -> JSON in
            [frame["from"] ?? .null, frame["message"] ?? .null, JSON(frame["findings"]?.array?.count ?? -1)]
        }
        expect(shown, is: expected)
        expect(frames[3]["findings"]?.array?.first?["check"], is: "frame-ignored")
        expect(frames[3]["at"], is: "2027-01-15T08:00:00.000Z")
        expect(json["socket"]?["findings"]?.array?.map { $0["check"] }, is: ["farewell"])
        expect(["received", "sent"].map { json["socket"]?[$0] }, is: [6, 3])
        expect(json["socket"]?["closed"]?["code"], is: 1003)
    }

    @Test("frames are no calls: filters and expectations count the handshake alone", arguments: Depth.allCases)
    func counting(_ depth: Depth) async throws {
        let board = try await SwitchboardWorld(depth)
        let socket = try await board.open("ada")
        for _ in 0..<5 { socket.send(.text("echo")) }
        _ = await socket.next(5)
        try await board.world.verify(#"{"exactly":1,"where":{"route":"socket","status":101}}"#).expect(200)
        let listed = try await board.world.control(.get, "journal?route=socket").json["entries"]?[0]?["socket"]
        expect(["received", "closed"].map { listed?[$0] }, is: [5, .null])
        let sandboxes = try await board.world.control(.get, "sandboxes").json["sandboxes"]?.array
        expect(sandboxes?.first { $0["name"]?.string == board.world.name }?["sockets"], is: 1)
    }

    @Test("a refused handshake is a plain answer, also when a fault refuses it", arguments: Depth.allCases)
    func refusals(_ depth: Depth) async throws {
        let board = try await SwitchboardWorld(depth)
        let unknown = await #expect(throws: SocketRefused.self) { try await board.again("nobody") }
        unknown?.answer.expect(401, #"{"code":"session-unknown"}"#, "session-unknown")
        #expect(unknown?.answer.entry?.record.socket == nil)
        _ = try await board.world.call(.post, "/switchboard/sessions/ada")
        let plain = try await board.world.call(.get, "/switchboard/sessions/ada/socket")
        expect(plain.status, is: 426)
        expect(plain.failure, is: "upgrade-required")
        try await board.world.arm("refused", at: "socket")
        let armed = await #expect(throws: SocketRefused.self) { try await board.again("ada") }
        expect(armed?.answer.failure, is: "refused")
        _ = try await board.again("ada")
    }

    @Test("what 200 concurrent calls tell arrives everywhere in the order of the state", arguments: Depth.allCases)
    func order(_ depth: Depth) async throws {
        let board = try await SwitchboardWorld(depth)
        let sockets = [try await board.open("ada"), try await board.open("bob"), try await board.again("bob")]
        try await withThrowingTaskGroup(of: Int?.self) { group in
            for _ in 0..<200 {
                group.addTask { try await board.world.call(.post, "/switchboard/count").json["count"]?.int }
            }
            var counts: Set<Int?> = []
            for try await count in group { counts.insert(count) }
            expect(counts, is: Set(1...200))
        }
        for socket in sockets { expect(await socket.next(200), is: (1...200).map { .text("\($0)") }) }
    }

    @Test("what a frame tells to others and to its own socket keeps its order", arguments: Depth.allCases)
    func frames(_ depth: Depth) async throws {
        let board = try await SwitchboardWorld(depth)
        let (own, other) = (try await board.open("ada"), try await board.open("bob"))
        for _ in 0..<3 { own.send(.text("count")) }
        let expected = ["1", "counted", "2", "counted", "3", "counted"]
        expect(await own.next(6), is: expected.map { .text($0) })
        expect(await other.next(3), is: ["1", "2", "3"].map { .text($0) })
    }

    @Test("each is told once, whatever number of its addresses was meant, and nobody else", arguments: Depth.allCases)
    func audience(_ depth: Depth) async throws {
        let board = try await SwitchboardWorld(depth)
        let (ada, bob, cy) = (try await board.open("ada"), try await board.open("bob"), try await board.open("cy"))
        let second = try await board.again("bob")
        try await board.tell("one", to: "bob")
        try await board.tell("two", to: "ada,bob,bob")
        try await board.tell("nobody", to: "none")
        try await board.tell("all", to: "*")
        expect(await ada.next(2), is: [.text("two"), .text("all")])
        expect(await bob.next(3), is: [.text("one"), .text("two"), .text("all")])
        expect(await second.next(3), is: [.text("one"), .text("two"), .text("all")])
        expect(await cy.next(), is: .text("all"))
    }

    @Test("a call that is refused tells nothing, and one that waits tells once", arguments: Depth.allCases)
    func refusedCalls(_ depth: Depth) async throws {
        let board = try await SwitchboardWorld(depth)
        let socket = try await board.open("ada")
        expect(try await board.tell("refused", to: "ada", and: "refuse").failure, is: "refused")
        expect(try await board.tell("waited", to: "ada", and: "wait").status, is: 204)
        try await board.tell("end", to: "ada")
        expect(await socket.next(2), is: [.text("waited"), .text("end")])
    }

    @Test("a socket that has ended is forgotten, and the vendor is told once", arguments: Depth.allCases)
    func forgetting(_ depth: Depth) async throws {
        let board = try await SwitchboardWorld(depth)
        let (first, second) = (try await board.open("ada"), try await board.again("ada"))
        expect(board.world.sandbox.sockets, is: 2)
        first.close(WebSocketClosure(.normal))
        expect(await first.next(), is: .closed(WebSocketClosure(.normal)))
        #expect(await board.sockets(1))
        try await board.tell("still", to: "ada")
        expect(await second.next(), is: .text("still"))
        expect(try await board.state()["gone"], is: ["ada 1000"])
        let logs = await board.handshakes { _ in true }.compactMap(\.record.socket)
        expect(logs.map(\.closure), is: [WebSocketClosure(.normal), nil])
        expect(logs[0].frames.count, is: 1, "nothing but the greeting")
    }

    @Test(
        "actions send and close, a refused one does neither, and a scenario's rule can do them",
        arguments: Depth.allCases)
    func actions(_ depth: Depth) async throws {
        let board = try await SwitchboardWorld(depth)
        let (ada, bob) = (try await board.open("ada"), try await board.open("bob"))
        expect(try await board.world.control(.post, "state/switchboard/drop", #"{"session":"ada"}"#).status, is: 200)
        let dropped = WebSocketClosure(.normal, reason: "dropped")
        expect(await ada.next(2), is: [.text("good bye"), .closed(dropped)])
        #expect(await board.sockets(1))
        expect(try await board.state()["gone"], is: ["ada 1000"])
        _ = try await board.world.call(.post, "/switchboard/sessions/cy")
        try await board.world.arm(#"{"route":"count","do":{"drop":{"session":"bob"}}}"#)
        _ = try await board.world.call(.post, "/switchboard/count")
        // The rule takes effect before the call itself.
        expect(await bob.next(2), is: [.text("good bye"), .closed(dropped)])
        let cy = try await board.again("cy")
        try await board.world.control(.post, "state/switchboard/forget")
        expect(try await board.world.control(.post, "state/switchboard/drop", #"{"session":"cy"}"#).status, is: 400)
        cy.send(.text("echo"))
        expect(await cy.next(), is: .text("echo"))
    }

    @Test("one message reaches 1,000 sockets, each once") func thousand() async throws {
        let board = try await SwitchboardWorld(.pipeline)
        _ = try await board.world.call(.post, "/switchboard/sessions/ada")
        let sockets = try await withThrowingTaskGroup(of: LiveSocket.self) { group in
            for _ in 0..<1000 { group.addTask { try await board.again("ada") } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        expect(board.world.sandbox.sockets, is: 1000)
        try await board.tell("hear", to: "*")
        try await board.tell("end", to: "ada")
        for socket in sockets { expect(await socket.next(2), is: [.text("hear"), .text("end")]) }
        try await board.world.control(.post, "reset")
        for socket in sockets {
            expect(await socket.next(), is: .closed(WebSocketClosure(.goingAway, reason: "the state was replaced")))
        }
        #expect(await board.sockets(0))
    }
}

@Suite("WebSockets and their sandbox", .timeLimit(.minutes(15))) struct SocketLifeTests {
    @Test(
        "a reset, another state and a deletion close them, and what follows knows nothing of them",
        arguments: Depth.allCases,
        [
            (.post, "reset", "", "the state was replaced"), (.put, "state/switchboard", "{}", "the state was replaced"),
            (.delete, "sandboxes/", "", "the sandbox is gone"),
        ] as [(HTTPRequest.Method, String, String, String)])
    func endings(
        _ depth: Depth, _ end: (method: HTTPRequest.Method, path: String, body: String, reason: String)
    ) async throws {
        let board = try await SwitchboardWorld(depth)
        let socket = try await board.open("ada")
        let path = end.path + (end.method == .delete ? board.world.name : "")
        try await board.world.control(end.method, path, end.body)
        expect(await socket.next(), is: .closed(WebSocketClosure(.goingAway, reason: end.reason)))
        #expect(await board.sockets(0))
        // This vendor's state imports nothing.
        if end.method != .put {
            let state = try await board.state()
            expect([state["gone"], state["sessions"]], is: [[], []])
        }
        let fresh = try await board.open("ada")
        try await board.tell("anew", to: "ada")
        expect(await fresh.next(), is: .text("anew"))
    }

    @Test("a handshake from before a reset opens nothing behind it") func lateOpening() async throws {
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
        expect(channel.closures.withLock { $0 }, is: [WebSocketClosure(.goingAway, reason: "the sandbox was reset")])
        expect(channel.messages.withLock { $0 }, is: [])
        upgrade.handler.received(.text("count"), on: WebSocket(channel))
        upgrade.handler.closed(WebSocket(channel), WebSocketClosure(.normal))
        expect(board.world.sandbox.sockets, is: 0)
        let state = try await board.state()
        expect(state["count"], is: 0)
        expect(state["gone"], is: [])
    }

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
        expect(await socket.next(), is: .text("later"))
        try await board.tell("still", to: "ada")
        expect(await socket.next(), is: .text("still"))
    }

    @Test("an open one keeps its sandbox from expiring, from its end on the time counts", arguments: Depth.allCases)
    func timeToLive(_ depth: Depth) async throws {
        let machine = MachineClock()
        let board = try await SwitchboardWorld(depth) { machine.now }
        let directory = board.emulator.sandboxes
        let sandbox = board.world.sandbox
        try await board.world.control(.put, "sandboxes/\(board.world.name)", #"{"ttl":"60s"}"#)
        let socket = try await board.open("ada")
        machine.advance(.seconds(3600))
        #expect(directory.existing(board.world.name) === sandbox)
        let listed = try await board.world.control(.get, "sandboxes").json["sandboxes"]?.array?.last
        expect(listed?["name"]?.string, is: board.world.name)
        expect(listed?["expires_in_seconds"], is: JSON.null)
        expect(listed?["idle_seconds"], is: 0)
        socket.close()
        #expect(await board.sockets(0))
        machine.advance(.seconds(59))
        #expect(directory.existing(board.world.name) === sandbox)
        machine.advance(.seconds(2))
        #expect(directory.existing(board.world.name) == nil)
    }
}
