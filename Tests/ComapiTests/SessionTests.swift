import Emulation
import Expectations
import JSON
import Support
import Testing
import Tokens
import Understudy

/// Sessions with the same id in two API spaces, and users whose ids contain a slash: they stay separate.
@Suite("Comapi's sessions and sockets by space", .timeLimit(.minutes(15))) struct SessionSpaceTests {
    private func minted(_ space: String, _ profile: String, _ world: World) async throws -> World.Fields {
        let token = try await world.mint(
            "comapi/session", ["space": .string(space), "profile": .string(profile), "session": "s-1"])
        return [("authorization", "Bearer \(token)")]
    }

    @Test("the same id in two spaces is two sessions", arguments: Depth.allCases)
    func sameID(_ depth: Depth) async throws {
        let world = try await World.comapi(depth)
        let (mira, anna) = (try await minted(Example.a, "mira", world), try await minted(Example.c, "anna", world))
        let path = "/sessions/s-1"
        for (space, fields, user) in [(Example.a, mira, "mira"), (Example.c, anna, "anna")] {
            let answer = try await world.call(.get, Example.path(path, in: space), fields)
            answer.expect(200)
            expect(answer.json["session"]?["profileId"]?.string, is: user)
        }
        let sockets = [
            try await world.openSocket(Example.path("/socket"), mira),
            try await world.openSocket(Example.path("/socket", in: Example.c), anna),
        ]
        for socket in sockets { expect(await socket.frame()["name"], is: "socket.info") }
        try await world.call(.delete, Example.path(path), mira).expect(204)
        #expect(await sockets[0].next().isClosed(with: .normal))
        try await world.call(.get, Example.path(path), mira).expect(401, Example.unauthorized, "session-ended")
        try await world.call(.get, Example.path(path, in: Example.c), anna).expect(200)
        sockets[1].send(.text(#"{"name":"echo"}"#))
        expect(await sockets[1].frame()["name"], is: "echo")
    }

    @Test("an action on an id that two spaces have wants to know the space") func actions() async throws {
        let world = try await World.comapi()
        for space in [Example.a, Example.c] {
            let fields = try await minted(space, "mira", world)
            try await world.call(.get, Example.path("/sessions/s-1", in: space), fields).expect(200)
        }
        let open = try await world.control(.post, "state/comapi/end-session", #"{"session":"s-1"}"#)
        expect(open.status, is: 400)
        #expect(open.text.contains("2 spaces have a session s-1: \(Example.a), \(Example.c)"), "\(open.text)")
        let named = try await world.control(
            .post, "state/comapi/end-session", #"{"session":"s-1","space":"\#(Example.c)"}"#)
        expect(named.status, is: 200, "\(named.text)")
        let left = try await world.control(.post, "state/comapi/end-session", #"{"session":"s-1"}"#)
        expect(left.json["space"]?.string, is: Example.a, "\(left.text)")
        let ended = try await world.control(.get, "state/comapi").json["ended_sessions"]
        expect(ended, is: [["id": "s-1", "space": .string(Example.c)], ["id": "s-1", "space": .string(Example.a)]])
    }

    @Test("an id is one user's in its space, whoever else's token names it") func anotherUser() async throws {
        let world = try await World.comapi()
        let (mira, bob) = (try await minted(Example.a, "mira", world), try await minted(Example.a, "bob", world))
        try await world.call(.get, Example.path("/profiles/mira"), mira).expect(200)
        let refused = try await world.call(.get, Example.path("/profiles/mira"), bob)
        refused.expect(401, Example.unauthorized, "session-unknown")
        #expect(refused.findings.contains { $0.note == "The session is that of mira." })
        let order = try await world.control(.post, "tokens/comapi/session", #"{"session":"s-1","profile":"bob"}"#)
        expect(order.status, is: 400)
        #expect(order.text.contains("session s-1 is that of mira, not bob"), "\(order.text)")
        try await world.call(.get, Example.path("/sessions/s-1"), mira).expect(200)
    }

    @Test("the defect of an ended session takes one of its own space") func endedDefect() async throws {
        let world = try await World.comapi()
        let mira = try await world.session()
        try await world.call(.delete, Example.path("/sessions/\(mira.id)"), mira.fields).expect(204)
        let order = try await world.control(
            .post, "tokens/comapi/session", #"{"space":"\#(Example.c)","defect":"session-ended"}"#)
        expect(order.status, is: 400)
        #expect(order.text.contains("no session was ended yet in API space \(Example.c)"), "\(order.text)")
    }

    @Test("a slash in a user's id or a space's leads to no other's sockets", arguments: Depth.allCases)
    func slashes(_ depth: Depth) async throws {
        let world = try await World.comapi(depth)
        let pairs = [("suite-a", "b/c"), ("suite-a/b", "c"), ("suite-a", "b%2Fc")]
        var sockets: [LiveSocket] = []
        var tokens: [World.Fields] = []
        for (space, user) in pairs {
            let token = try await world.mint("comapi/session", ["space": .string(space), "profile": .string(user)])
            tokens.append([("authorization", "Bearer \(token)")])
            let path = Example.path("/socket?token=\(token)", in: space.replacing("/", with: "%2F"))
            let socket = try await world.openSocket(path)
            expect(await socket.frame()["apiSpaceId"]?.string, is: space)
            sockets.append(socket)
        }
        try await world.call(
            .patch, Example.path("/profiles/b%2Fc", in: "suite-a"), tokens[0], #"{"firstName":"B"}"#
        ).expect(200)
        for socket in sockets { socket.send(.text(#"{"name":"echo"}"#)) }
        expect(await sockets[0].frames(2).map { $0["name"]?.string }, is: ["profile.update", "echo"])
        for socket in sockets.dropFirst() { expect(await socket.frame()["name"], is: "echo") }
    }
}

@Suite("Comapi's pushes") struct PushTests {
    @Test("a session may begin with its registration, and a link that the sender gave keeps its url")
    func deepLink() async throws {
        let world = try await World.comapi()
        let registration: JSON = ["fcm": ["package": "p", "registrationId": "r"]]
        let mira = try await world.session()
        _ = try await world.session("bob", in: Example.a, ["push": registration])
        try await world.call(.post, Example.path("/conversations"), mira.fields, Example.trip).expect(201)
        let alert: JSON = ["platforms": ["fcm": ["data": ["dd_deepLink": #"{"url":"https://shop.test/x"}"#]]]]
        try await world.call(
            .post, Example.path("/conversations/trip-42/messages"), mira.fields,
            #"{"parts":[{"data":"Hi"}],"alert":\#(alert.text)}"#
        ).expect(200)
        let pushes = try await world.control(.get, "state/comapi").json["spaces"]?[0]?["pushes"]?.array
        let push = try #require(pushes?.last)
        expect(push["registration"], is: registration)
        expect(push["data"]?["dd_originated"], is: "true")
        let link = try JSON.parse(Array((push["data"]?["dd_deepLink"]?.string ?? "").utf8))
        expect(link["url"], is: "https://shop.test/x")
        expect(link["trackingUrl"]?.string?.hasSuffix("/click"), is: true)
    }
}

@Suite("Comapi's state, exported and imported") struct ExportTests {
    @Test("a conversation that was deleted may begin again after an import") func revived() async throws {
        let world = try await World.comapi()
        let mira = try await ComapiLife.live(world)
        let exported = try await world.control(.get, "state/comapi").text
        expect(try await world.control(.put, "state/comapi", exported).status, is: 200)
        try await world.call(.post, Example.path("/conversations"), mira.fields, #"{"id":"gone"}"#).expect(201)
    }

    @Test("a sandbox in which nothing happened has no changes") func untouched() async throws {
        let stage = try Stage(Emulator(fixtures: Repository.fixtures))
        let world = try await World.comapi(on: stage)
        try await world.call(.get, Example.path("/profiles")).expect(401, Example.unauthorized, "session-missing")
        expect(stage.emulator.exportState()["sandboxes"]?.array, is: [])
        _ = try await world.challenge()
        expect(stage.emulator.exportState()["sandboxes"]?.array?.map { $0["name"]?.string }, is: [world.name])
    }
}

/// Tokens on demand (section 2.5 of the vendor's spec), and Comapi's answer to each of their defects.
@Suite("Comapi's minted tokens") struct MintingTests {
    /// The fewest seconds from the example's moment on that no clock can count.
    private static let tooLong = Int.max - Example.moment + 1

    @Test("every member of an order shows in the token") func members() async throws {
        let world = try await World.comapi()
        let token = CompactToken(
            try await world.mint(
                "comapi/app",
                [
                    "space": .string(Example.c), "user": "anna", "nonce": "n", "expires_in": "60",
                    "header": ["kid": "k"], "claims": ["extra": [1]],
                ]))
        expect(token.header, is: ["alg": "HS256", "typ": "JWT", "kid": "k"])
        expect(
            token.claims,
            is: [
                "uid": "anna", "nonce": "n", "aud": "orders-app", "iss": "https://issuer.example/app",
                "iat": 1_798_761_600, "exp": 1_798_761_660, "extra": [1],
            ])
        let session = CompactToken(
            try await world.mint("comapi/session", ["profile": "anna", "session": "s-1", "expires_in": 60]))
        expect(session.claims?["sub"], is: "anna")
        expect(session.claims?["jti"], is: "s-1")
        expect(session.claims?["exp"], is: 1_798_761_660)
    }

    @Test(
        "an order that makes no sense is refused, and the answer says why",
        arguments: [
            ("app", #"{"defect":"expird"}"#, "expird"), ("app", #"{"usr":"x"}"#, "did you mean “user”?"),
            ("app", #"{"space":"none"}"#, "no API space"), ("app", #"{"authenticationId":"none"}"#, "no challenge"),
            ("app", #"{"expires_in":"soon"}"#, "whole number"), ("app", #"{"defect":"nonce-reused"}"#, "answered yet"),
            ("app", #"{"defect":"secret-latin-1"}"#, "U+0080"),
            ("app", #"{"defect":"public-key-as-secret"}"#, "no public key"),
            ("session", #"{"defect":"session-ended"}"#, "no session was ended"),
            ("session", #"{"defect":"nonce-mismatch"}"#, "no defect nonce-mismatch"),
            ("session", #"{"defect":"secret-hex-decoded"}"#, "hexadecimal"),
            // Lifetimes beyond all clocks.
            ("app", #"{"expires_in":\#(Int.max)}"#, "expires_in is \(Int.max)"),
            ("app", #"{"expires_in":\#(tooLong)}"#, "expires_in is \(tooLong)"),
            ("session", #"{"expires_in":\#(Int.max)}"#, "expires_in is \(Int.max)"),
            ("session", #"{"expires_in":\#(tooLong)}"#, "expires_in is \(tooLong)"),
        ])
    func refused(_ kind: String, _ order: String, _ hint: String) async throws {
        let answer = try await World.comapi().control(.post, "tokens/comapi/\(kind)", order)
        expect(answer.status, is: 400)
        #expect(answer.text.contains(hint), "\(answer.text)")
    }

    @Test("an explanation names the space whose secret fits, and judges the nonce where the challenge is known")
    func explanation() async throws {
        let world = try await World.comapi()
        let challenge = try await world.challenge()
        let token = try await world.mint("comapi/app", ["nonce": .string(challenge.nonce)])
        func verdict(_ token: String, _ request: JSON) async throws -> JSON? {
            let order: JSON = ["token": .string(token), "vendor": "comapi", "request": request]
            return try await world.control(.post, "tokens/explain", order.text).json["verdicts"]?[0]
        }
        let bare = try await verdict(token, [:])
        expect(bare?["account"], is: .string("API space \(Example.a)"))
        expect(bare?["accepted"], is: true)
        expect(bare?["findings"]?.array?.first { $0["check"] == "nonce" }?["outcome"], is: "not-judged")
        expect(try await verdict(token, ["authenticationId": .string(challenge.id)])?["accepted"], is: true)
        expect(try await verdict(token, ["nonce": "other"])?["failure"], is: "nonce-mismatch")
        expect(try await verdict(token, ["space": .string(Example.b)])?["failure"], is: "secret-of-another-space")
        let session = try await world.session()
        let own = try await verdict(session.token, [:])
        expect(own?["kind"], is: "session")
        expect(own?["accepted"], is: true)
        expect(own?["account"], is: .string("API space \(Example.a)"))
        let other = try await verdict(session.token, ["space": .string(Example.b)])
        expect(other?["failure"], is: "session-other-space")
        expect(other?["answer"]?["status"], is: 401)
    }

    @Test("whatever the user id is, the payload of a session's token has neither - nor _")
    func decodable() async throws {
        let world = try await World.comapi()
        let users = ["~~~", "???", ">>>", "\u{7F}", "ÿþ", "日本", "👍🏽", "a~b?c>d", "\u{0}\u{1F}", "\\\"/", "é?é~é>"]
        for user in users + (0..<40).map({ number in String(repeating: "x", count: number % 4) + "~?>\(number)ö" }) {
            let token = try await world.mint("comapi/session", ["profile": .string(user)])
            let payload = token.split(separator: ".")[1]
            #expect(!payload.contains("-") && !payload.contains("_"), "\(user)")
            expect(CompactToken(token).claims?["sub"]?.string, is: user)
        }
    }
}
