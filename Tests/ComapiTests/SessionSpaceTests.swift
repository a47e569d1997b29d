import JSON
import Support
import Testing

/// Sessions with the same id in two API spaces, and users whose ids contain a slash: they stay separate.
@Suite("Comapi's sessions and sockets by space", .timeLimit(.minutes(15)))
struct SessionSpaceTests {
    /// A minted session with this id in a space.
    private func minted(_ space: String, _ profile: String, _ world: World) async throws -> World.Fields {
        let token = try await world.mint(
            "comapi/session", ["space": .string(space), "profile": .string(profile), "session": "s-1"])
        return [("authorization", "Bearer \(token)")]
    }

    @Test("the same id in two spaces is two sessions", arguments: Depth.allCases)
    func sameID(_ depth: Depth) async throws {
        let world = try await World.comapi(depth)
        let (mira, anna) = (
            try await minted(Example.a, "mira", world), try await minted(Example.c, "anna", world)
        )
        let path = "/sessions/s-1"
        for (space, fields, user) in [(Example.a, mira, "mira"), (Example.c, anna, "anna")] {
            let answer = try await world.call(.get, Example.path(path, in: space), fields)
            answer.expect(200)
            #expect(answer.json["session"]?["profileId"]?.string == user)
        }
        let sockets = [
            try await world.openSocket(Example.path("/socket"), mira),
            try await world.openSocket(Example.path("/socket", in: Example.c), anna),
        ]
        for socket in sockets { #expect(await socket.frame()["name"] == "socket.info") }
        try await world.call(.delete, Example.path(path), mira).expect(204)
        #expect(await sockets[0].next().isClosed(with: .normal))
        try await world.call(.get, Example.path(path), mira).expect(401, Example.unauthorized, "session-ended")
        try await world.call(.get, Example.path(path, in: Example.c), anna).expect(200)
        sockets[1].send(.text(#"{"name":"echo"}"#))
        #expect(await sockets[1].frame()["name"] == "echo")
    }

    @Test("an action on an id that two spaces have wants to know the space")
    func actions() async throws {
        let world = try await World.comapi()
        for space in [Example.a, Example.c] {
            let fields = try await minted(space, "mira", world)
            try await world.call(.get, Example.path("/sessions/s-1", in: space), fields).expect(200)
        }
        let open = try await world.control(.post, "state/comapi/end-session", #"{"session":"s-1"}"#)
        #expect(open.status == 400)
        #expect(open.text.contains("2 spaces have a session s-1: \(Example.a), \(Example.c)"), "\(open.text)")
        let named = try await world.control(
            .post, "state/comapi/end-session", #"{"session":"s-1","space":"\#(Example.c)"}"#)
        #expect(named.status == 200, "\(named.text)")
        let left = try await world.control(.post, "state/comapi/end-session", #"{"session":"s-1"}"#)
        #expect(left.json["space"]?.string == Example.a, "\(left.text)")
        let ended = try await world.control(.get, "state/comapi").json["ended_sessions"]
        #expect(ended == [["id": "s-1", "space": .string(Example.c)], ["id": "s-1", "space": .string(Example.a)]])
    }

    @Test("an id is one user's in its space, whoever else's token names it")
    func anotherUser() async throws {
        let world = try await World.comapi()
        let (mira, bob) = (
            try await minted(Example.a, "mira", world), try await minted(Example.a, "bob", world)
        )
        try await world.call(.get, Example.path("/profiles/mira"), mira).expect(200)
        let refused = try await world.call(.get, Example.path("/profiles/mira"), bob)
        refused.expect(401, Example.unauthorized, "session-unknown")
        #expect(refused.findings.contains { $0.note == "The session is that of mira." })
        let order = try await world.control(.post, "tokens/comapi/session", #"{"session":"s-1","profile":"bob"}"#)
        #expect(order.status == 400)
        #expect(order.text.contains("session s-1 is that of mira, not bob"), "\(order.text)")
        try await world.call(.get, Example.path("/sessions/s-1"), mira).expect(200)
    }

    @Test("the defect of an ended session takes one of its own space")
    func endedDefect() async throws {
        let world = try await World.comapi()
        let mira = try await world.session()
        try await world.call(.delete, Example.path("/sessions/\(mira.id)"), mira.fields).expect(204)
        let order = try await world.control(
            .post, "tokens/comapi/session", #"{"space":"\#(Example.c)","defect":"session-ended"}"#)
        #expect(order.status == 400)
        #expect(order.text.contains("no session was ended yet in API space \(Example.c)"), "\(order.text)")
    }

    @Test("a slash in a user's id or a space's leads to no other's sockets", arguments: Depth.allCases)
    func slashes(_ depth: Depth) async throws {
        let world = try await World.comapi(depth)
        let pairs = [("suite-a", "b/c"), ("suite-a/b", "c"), ("suite-a", "b%2Fc")]
        var sockets: [LiveSocket] = []
        var tokens: [World.Fields] = []
        for (space, user) in pairs {
            let token = try await world.mint(
                "comapi/session", ["space": .string(space), "profile": .string(user)])
            tokens.append([("authorization", "Bearer \(token)")])
            let path = Example.path("/socket?token=\(token)", in: space.replacing("/", with: "%2F"))
            let socket = try await world.openSocket(path)
            #expect(await socket.frame()["apiSpaceId"]?.string == space)
            sockets.append(socket)
        }
        try await world.call(
            .patch, Example.path("/profiles/b%2Fc", in: "suite-a"), tokens[0], #"{"firstName":"B"}"#
        ).expect(200)
        for socket in sockets { socket.send(.text(#"{"name":"echo"}"#)) }
        #expect(await sockets[0].frames(2).map { $0["name"]?.string } == ["profile.update", "echo"])
        for socket in sockets.dropFirst() { #expect(await socket.frame()["name"] == "echo") }
    }
}
