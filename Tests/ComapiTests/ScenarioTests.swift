import Expectations
import HTTPTypes
import JSON
import Support
import Testing

@Suite("Comapi's scenarios and actions", .timeLimit(.minutes(15))) struct ScenarioTests {
    private func activate(_ scenario: String, _ world: World) async throws {
        let answer = try await world.control(.put, "scenarios", #"{"scenario":"comapi-\#(scenario)"}"#)
        expect(answer.status, is: 200, "\(answer.text)")
    }

    @Test("a session expires in mid-conversation; an app that begins anew goes on", arguments: Depth.allCases)
    func expires(_ depth: Depth) async throws {
        let world = try await World.comapi(depth)
        let (mira, _) = try await world.trip()
        let socket = try await world.socket(mira)
        try await activate("session-expires", world)
        let path = Example.path("/conversations/trip-42")
        try await world.call(.get, path, mira.fields).expect(200)
        try await world.call(.get, path + "/messages", mira.fields).expect(200)
        let refused = try await world.call(.post, path + "/messages", mira.fields, Example.message)
        refused.expect(401, Example.unauthorized, "session-expired")
        expect(await socket.closure?.code, is: .policyViolation)
        let renewed = try await world.session("mira")
        try await world.call(.post, path + "/messages", renewed.fields, Example.message).expect(200)
    }

    @Test("a socket drops and comes back, and the log tells what was missed", arguments: Depth.allCases)
    func drops(_ depth: Depth) async throws {
        let world = try await World.comapi(depth)
        let (mira, _) = try await world.trip()
        let socket = try await world.socket(mira)
        try await activate("socket-drops", world)
        let path = Example.path("/conversations/trip-42")
        for _ in 0..<2 { try await world.call(.post, path + "/messages", mira.fields, Example.message).expect(200) }
        expect(await socket.frame()["conversationEventId"], is: 1)
        #expect(await socket.next().isClosed(with: .goingAway))
        let refused = await #expect(throws: SocketRefused.self) { _ = try await world.socket(mira) }
        refused?.answer.expect(503, #"{"message":"Service Unavailable"}"#, "unavailable")
        let again = try await world.socket(mira)
        try await world.call(.post, path + "/messages", mira.fields, Example.message).expect(200)
        expect(await again.frame()["conversationEventId"], is: 3)
        let missed = try await world.call(.get, path + "/events?from=2&limit=1", mira.fields)
        expect(missed.json[0]?["conversationEventId"], is: 2)
    }

    /// An action with the members it needs, and the outcome of a call afterwards.
    private static let deeds: [(name: String, order: String, failure: String?)] = [
        ("end-session", #"{"session":"SESSION"}"#, "session-ended"),
        ("expire-session", #"{"session":"SESSION"}"#, "session-expired"),
        ("forget-session", #"{"session":"SESSION"}"#, "session-unknown"),
        ("drop-sockets", #"{"session":"SESSION"}"#, nil),
        ("answer-challenge", #"{"challenge":"CHALLENGE"}"#, nil),
        ("send-message", #"{"conversation":"trip-42","profile":"eve","text":"Ho"}"#, nil),
        ("mark-message", #"{"conversation":"trip-42","profile":"bob"}"#, nil),
    ]

    @Test("each action does what it says", arguments: Depth.allCases, deeds)
    func action(_ depth: Depth, _ deed: (name: String, order: String, failure: String?)) async throws {
        let world = try await World.comapi(depth)
        let (mira, _) = try await world.trip()
        let path = Example.path("/conversations/trip-42/messages")
        try await world.call(.post, path, mira.fields, Example.message).expect(200)
        let socket = try await world.socket(mira)
        let challenge = try await world.challenge()
        let order = deed.order.replacing("SESSION", with: mira.id).replacing("CHALLENGE", with: challenge.id)
        let told = try await world.control(.post, "state/comapi/\(deed.name)", order)
        expect(told.status, is: 200, "\(told.text)")
        let token = try Forged.token(claims: Forged.claims(nonce: challenge.json))
        let late = try await world.answer(challenge, token)
        guard deed.name != "answer-challenge" else { return late.expect(403, Example.invalidJWT, "nonce-reused") }
        late.expect(200)
        let answer = try await world.call(.get, path, mira.fields)
        expect(answer.failure, is: deed.failure)
        let event = await socket.next()
        switch deed.name {
        case "end-session": #expect(event.isClosed(with: .normal))
        case "expire-session", "forget-session": #expect(event.isClosed(with: .policyViolation))
        case "drop-sockets": #expect(event.isClosed(with: .goingAway))
        case "send-message":
            expect(answer.json["messages"]?[0]?["parts"]?[0]?["data"], is: "Ho")
            expect(answer.json["messages"]?[0]?["context"]?["sentBy"], is: "eve")
            expect(await socket.frame()["name"], is: "conversationMessage.sent")
        default: expect(answer.json["messages"]?[0]?["statusUpdates"]?["bob"]?["status"], is: "read")
        }
    }

    @Test("no action is without a case") func coverage() async throws {
        let comapi = try #require(try await World().emulator.vendors.first { $0.identity.id == "comapi" })
        expect(Self.deeds.map(\.name), is: comapi.actions.map(\.name))
    }

    @Test(
        "an action that makes no sense is refused, and changes nothing",
        arguments: [
            ("end-session", #"{"session":"none"}"#, "no session"), ("end-session", "{}", "session"),
            ("send-message", #"{"conversation":"trip-43","profile":"x"}"#, "did you mean “trip-42”?"),
            ("send-message", #"{"conversation":"trip-42","profile":"x","space":"none"}"#, "no API space"),
            ("mark-message", #"{"conversation":"trip-42","profile":"bob"}"#, "no message yet"),
            (
                "mark-message", #"{"conversation":"trip-42","profile":"bob","status":"seen"}"#,
                "expected delivered or read"
            ),
            ("mark-message", #"{"conversation":"trip-42","profile":"bob","message":"none"}"#, "No message"),
        ])
    func refused(_ name: String, _ order: String, _ hint: String) async throws {
        let world = try await World.comapi()
        _ = try await world.trip()
        let before = try await world.control(.get, "state/comapi").text
        let answer = try await world.control(.post, "state/comapi/\(name)", order)
        expect(answer.status, is: 400)
        #expect(answer.text.contains(hint), "\(answer.text)")
        expect(try await world.control(.get, "state/comapi").text, is: before)
    }
}

extension ScenarioPlay {
    private static func fields(_ token: String) -> World.Fields { [("authorization", "Bearer " + token)] }

    private static func signIn(_ world: World) async throws -> String {
        let session = try await world.session()
        _ = try await world.call(.post, Example.path("/conversations"), session.fields, Example.trip)
        return session.token
    }

    private static func send(_ world: World, _ token: String) async throws -> ReceivedAnswer {
        try await world.call(.post, Example.path("/conversations/trip-42/messages"), fields(token), Example.message)
    }

    static let all = [
        ScenarioPlay("comapi-nonce-reused") { world, _ in
            let challenge = try await world.challenge()
            return try await world.answer(challenge, try Forged.token(claims: Forged.claims(nonce: challenge.json)))
        },
        ScenarioPlay("comapi-session-expires", calls: 5, signIn: signIn, call: send),
        ScenarioPlay("comapi-socket-drops", signIn: signIn, call: send),
        ScenarioPlay("comapi-upload-fails-once", signIn: signIn) {
            try await $0.call(.post, Example.path("/content"), fields($1), "x")
        },
    ]
}
