import Emulation
import JSON
import Support
import Testing
import Tokens
import Understudy
import Wire

/// The effect of each value of each switch (section 10 of the vendor's spec).
extension SwitchCase {
    private static func answer(
        issued: String? = "1798761600", expires: String? = "1798848000", audience: String = #""https://api.comapi.com""#
    ) -> @Sendable (World) async throws -> ReceivedAnswer {
        { world in
            try await world.answer {
                Forged.claims(nonce: $0.json, audience: audience, issued: issued, expires: expires)
            }
        }
    }

    private static func answer(after delay: String) -> @Sendable (World) async throws -> ReceivedAnswer {
        { world in
            let challenge = try await world.challenge()
            try await world.advance(delay)
            return try await world.answer(challenge, Forged.token(claims: Forged.claims(nonce: challenge.json)))
        }
    }

    private static let answerTwice: @Sendable (World) async throws -> ReceivedAnswer = { world in
        let challenge = try await world.challenge()
        let token = try Forged.token(claims: Forged.claims(nonce: challenge.json))
        try await world.answer(challenge, token).expect(200)
        return try await world.answer(challenge, token)
    }

    private static let encodedQuery: @Sendable (World) async throws -> ReceivedAnswer = { world in
        try await world.call(.get, Example.path("/profiles%3Femail=!"), world.session().fields)
    }

    private static let removeByBody: @Sendable (World) async throws -> ReceivedAnswer = { world in
        let (mira, _) = try await world.trip()
        return try await world.call(
            .delete, Example.path("/conversations/trip-42/participants"), mira.fields, #"["bob"]"#)
    }

    static let all = [
        SwitchCase(
            "accepts-millisecond-times", "on", answer(expires: "1798848000000")),
        SwitchCase(
            "accepts-millisecond-times", "off", failure: "milliseconds-exp", answer(expires: "1798848000000")),
        SwitchCase("requires-time-claims", "off", answer(issued: nil)),
        SwitchCase("requires-time-claims", "on", failure: "missing-iat", answer(issued: nil)),
        SwitchCase("challenge-lifetime", "900", answer(after: "900s")),
        SwitchCase("challenge-lifetime", "10", failure: "nonce-expired", answer(after: "11s")),
        SwitchCase("clock-leeway", "60", answer(expires: "1798761541")),
        SwitchCase("clock-leeway", "0", failure: "expired-token", answer(expires: "1798761600")),
        SwitchCase("single-use-challenges", "on", failure: "nonce-reused", answerTwice),
        SwitchCase("single-use-challenges", "off", answerTwice),
        SwitchCase(
            "accepts-audience-array", "on", answer(audience: #"["https://api.comapi.com"]"#)),
        SwitchCase(
            "accepts-audience-array", "off", failure: "wrong-audience",
            answer(audience: #"["https://api.comapi.com"]"#)),
        SwitchCase("accepts-encoded-query", "on", encodedQuery),
        SwitchCase("accepts-encoded-query", "off", failure: "unknown-path", encodedQuery),
        SwitchCase("accepts-participant-ids-in-body", "on", removeByBody),
        SwitchCase("accepts-participant-ids-in-body", "off", failure: "missing-field", removeByBody),
        SwitchCase("session-lifetime", "3600", shows: "\n2027-01-01T01:00:00.000Z 3600", begin),
        SwitchCase("session-lifetime", "600", shows: "\n2027-01-01T00:10:00.000Z 600", begin),
        SwitchCase("profile-write-status", "200", shows: "200\n", writeProfile),
        SwitchCase("profile-write-status", "201", shows: "201\n", writeProfile),
        SwitchCase(
            "emits-conversation-create", "on",
            shows: "\nconversation.create conversation.participantAdded conversation.participantAdded",
            announcement),
        SwitchCase(
            "emits-conversation-create", "off",
            shows: "\nconversation.participantAdded conversation.participantAdded", announcement),
        SwitchCase("echoes-frames", "on", shows: #"\#n{"name":"echo"} closed 1003"#, echo),
        SwitchCase("echoes-frames", "off", shows: "\nclosed 1003", echo),
        SwitchCase(
            "adopts-earlier-sessions", "on", shows: #""expiresOn":"2027-01-01T01:00:00.000Z""#,
            earlierSession),
        SwitchCase("adopts-earlier-sessions", "off", failure: "session-unknown", earlierSession),
    ]

    /// When a session ends, and its token's lifetime in seconds.
    private static let begin: @Sendable (World) async throws -> ReceivedAnswer = { world in
        let session = try await world.session()
        let expiry = CompactToken(session.token).claims?["exp"]?.int ?? 0
        return .heard([
            session.answer.json["session"]?["expiresOn"]?.string ?? "", "\(expiry - Example.moment)",
        ])
    }

    /// Writing a profile twice gets the same status.
    private static let writeProfile: @Sendable (World) async throws -> ReceivedAnswer = { world in
        let (path, mira) = (Example.path("/profiles/mira"), try await world.session())
        let first = try await world.call(.put, path, mira.fields, #"{"shoeSize":38}"#)
        let second = try await world.call(.put, path, mira.fields, #"{"shoeSize":38}"#)
        #expect(first.status == second.status)
        #expect(first["etag"] != nil && second["etag"] != nil)
        return second
    }

    /// The frames a socket receives for a new conversation, until both participants are named.
    private static let announcement: @Sendable (World) async throws -> ReceivedAnswer = { world in
        let socket = try await world.socket(world.session("bob"))
        let mira = try await world.session("mira")
        try await world.call(.post, Example.path("/conversations"), mira.fields, Example.trip).expect(201)
        var names: [String] = []
        while names.count(where: { $0 != "conversation.create" }) < 2 {
            names.append(await socket.frame()["name"]?.string ?? "none")
        }
        return .heard(names)
    }

    /// What a socket receives for an echo frame, and then for bytes, which close it.
    private static let echo: @Sendable (World) async throws -> ReceivedAnswer = { world in
        let socket = try await world.socket(world.session())
        socket.send(.text(#"{"name":"echo"}"#))
        socket.send(.binary([1]))
        var heard: [String] = []
        while true {
            switch await socket.next() {
            case .text(let text): heard.append(text)
            case .closed(let closure): return .heard(heard + ["closed \(closure.code.rawValue)"])
            case .binary, .pong: heard.append("something else")
            }
        }
    }

    /// A session from an earlier start, read at a later one with the same switch.
    private static let earlierSession: @Sendable (World) async throws -> ReceivedAnswer = { world in
        let mira = try await world.session()
        let later = world.moved(to: try Stage(Emulator(fixtures: Repository.fixtures)))
        try await later.freeze(at: Example.moment)
        let name = "comapi.adopts-earlier-sessions"
        let value = try await world.control(.get, "settings").json["switches"]?[name]?.string
        try await later.set(name, value ?? "")
        return try await later.call(.get, Example.path("/sessions/\(mira.id)"), mira.fields)
    }
}
