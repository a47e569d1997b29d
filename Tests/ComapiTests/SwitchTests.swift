import JSON
import Support
import Testing
import Tokens
import Understudy

/// Every value of every switch (section 10 of the vendor's spec).
@Suite("Comapi's switches")
struct SwitchTests {
    @Test("each value does what it says", arguments: cases)
    func value(_ example: SwitchCase) async throws {
        try await example.check("comapi", in: try await World.comapi())
    }

    @Test("no value of a switch is without a case, and the profiles are those of the spec")
    func coverage() async throws {
        let comapi = try #require(try await World().emulator.vendors.first { $0.identity.id == "comapi" })
        for declaration in comapi.switchDeclarations {
            let tested = Set(
                Self.cases.filter { $0.name == declaration.name }.map(\.value) + (Self.own[declaration.name] ?? []))
            if case .choice(let values) = declaration.domain { #expect(tested == Set(values), "\(declaration.name)") }
            #expect(tested.contains(declaration.documented), "\(declaration.name)")
        }
        #expect(
            Set(comapi.switchDeclarations.map { "\($0.name) \($0.documented) \($0.observed)" }) == [
                "accepts-millisecond-times on off", "requires-time-claims off on", "session-lifetime 3600 600",
                "challenge-lifetime 900 900", "clock-leeway 60 60", "single-use-challenges on on",
                "accepts-audience-array on on", "profile-write-status 200 200", "emits-conversation-create on off",
                "accepts-encoded-query on on", "accepts-participant-ids-in-body on on", "echoes-frames on on",
                "adopts-earlier-sessions on on",
            ])
    }

    /// Switches whose effect is in the body or at a socket have tests of their own, below.
    private static let own = [
        "session-lifetime": ["3600", "600"], "profile-write-status": ["200", "201"],
        "emits-conversation-create": ["on", "off"], "echoes-frames": ["on", "off"],
        "adopts-earlier-sessions": ["on", "off"],
    ]

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

    private static let cases: [SwitchCase] = [
        SwitchCase(
            "accepts-millisecond-times", "on", nil, answer(expires: "1798848000000")),
        SwitchCase(
            "accepts-millisecond-times", "off", "milliseconds-exp",
            answer(expires: "1798848000000")),
        SwitchCase("requires-time-claims", "off", nil, answer(issued: nil)),
        SwitchCase("requires-time-claims", "on", "missing-iat", answer(issued: nil)),
        SwitchCase("challenge-lifetime", "900", nil, answer(after: "900s")),
        SwitchCase("challenge-lifetime", "10", "nonce-expired", answer(after: "11s")),
        SwitchCase("clock-leeway", "60", nil, answer(expires: "1798761541")),
        SwitchCase("clock-leeway", "0", "expired-token", answer(expires: "1798761600")),
        SwitchCase("single-use-challenges", "on", "nonce-reused", answerTwice),
        SwitchCase("single-use-challenges", "off", nil, answerTwice),
        SwitchCase(
            "accepts-audience-array", "on", nil,
            answer(audience: #"["https://api.comapi.com"]"#)),
        SwitchCase(
            "accepts-audience-array", "off", "wrong-audience",
            answer(audience: #"["https://api.comapi.com"]"#)),
        SwitchCase("accepts-encoded-query", "on", nil, encodedQuery),
        SwitchCase("accepts-encoded-query", "off", "unknown-path", encodedQuery),
        SwitchCase("accepts-participant-ids-in-body", "on", nil, removeByBody),
        SwitchCase("accepts-participant-ids-in-body", "off", "missing-field", removeByBody),
    ]

    @Test("a session lives as long as its switch says", arguments: [("3600", "01:00:00"), ("600", "00:10:00")])
    func lifetime(_ seconds: String, _ end: String) async throws {
        let world = try await World.comapi()
        try await world.set("comapi.session-lifetime", seconds)
        let session = try await world.session()
        #expect(session.answer.json["session"]?["expiresOn"]?.string == "2027-01-01T\(end).000Z")
        #expect(CompactToken(session.token).claims?["exp"]?.int == Example.moment + (Int(seconds) ?? 0))
    }

    @Test("a profile is written with the status of its switch", arguments: [("200", 200), ("201", 201)])
    func writeStatus(_ value: String, _ status: Int) async throws {
        let world = try await World.comapi()
        try await world.set("comapi.profile-write-status", value)
        let mira = try await world.session()
        for body in [#"{"shoeSize":38}"#, #"{"shoeSize":38}"#] {
            let answer = try await world.call(.put, Example.path("/profiles/mira"), mira.fields, body)
            answer.expect(status)
            #expect(answer["etag"] != nil)
        }
    }

    @Test("a new conversation is announced, or only its participants are", arguments: Depth.allCases, ["on", "off"])
    func announcement(_ depth: Depth, _ value: String) async throws {
        let world = try await World.comapi(depth)
        try await world.set("comapi.emits-conversation-create", value)
        let bob = try await world.session("bob")
        let socket = try await world.socket(bob)
        let mira = try await world.session("mira")
        try await world.call(.post, Example.path("/conversations"), mira.fields, Example.trip).expect(201)
        let names = await socket.frames(value == "on" ? 3 : 2).map { $0["name"]?.string }
        let added = Array(repeating: "conversation.participantAdded", count: 2)
        #expect(names == (value == "on" ? ["conversation.create"] : []) + added)
    }

    @Test("an echo frame is sent back, or ignored with a remark", arguments: Depth.allCases, ["on", "off"])
    func echo(_ depth: Depth, _ value: String) async throws {
        let world = try await World.comapi(depth)
        try await world.set("comapi.echoes-frames", value)
        let mira = try await world.session()
        let socket = try await world.socket(mira)
        socket.send(.text(#"{"name":"echo"}"#))
        socket.send(.binary([1]))
        let first = await socket.next()
        if value == "on" { #expect(first == .text(#"{"name":"echo"}"#)) }
        #expect(await value == "on" ? socket.closure?.code == .unsupportedData : first.isClosed(with: .unsupportedData))
    }

    @Test("a session of an earlier start is taken over, or unknown", arguments: [("on", 200), ("off", 401)])
    func adoption(_ value: String, _ status: Int) async throws {
        let world = try await World.comapi()
        let mira = try await world.session()
        let later = world.moved(to: try Stage(Emulator(fixtures: Repository.fixtures)))
        try await later.freeze(at: Example.moment)
        try await later.set("comapi.adopts-earlier-sessions", value)
        let answer = try await later.call(.get, Example.path("/sessions/\(mira.id)"), mira.fields)
        #expect(answer.status == status)
        #expect(answer.failure == (value == "on" ? nil : "session-unknown"))
        if value == "on" { #expect(answer.json["session"]?["expiresOn"] == "2027-01-01T01:00:00.000Z") }
    }
}
