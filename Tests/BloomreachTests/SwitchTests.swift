import HTTPTypes
import JSON
import Support
import Testing

/// Effects of switches beyond the cases of `SwitchCases.swift`.
@Suite("Bloomreach's switches")
struct SwitchTests {
    @Test("pages of any origin may read every answer with switch cors, and no other one", arguments: Depth.allCases)
    func cors(_ depth: Depth) async throws {
        let world = try await World(depth)
        func origin(_ method: HTTPRequest.Method, _ path: String, _ fields: World.Fields) async throws -> String? {
            try await world.call(method, path, fields, "{}")["access-control-allow-origin"]
        }
        #expect(try await origin(.post, Example.events, SwitchCase.origin) == nil)
        try await world.set("bloomreach.cors", "on")
        #expect(try await origin(.post, Example.events, []) == nil, "only browsers name an origin")
        for path in [Example.events, SwitchCase.consents, "/track/none", "/webxp"] {
            for method in [HTTPRequest.Method.get, .post, .options] {
                #expect(try await origin(method, path, SwitchCase.origin) == "*", "\(method) \(path)")
            }
        }
        let asked = try await world.call(.options, Example.events, SwitchCase.origin)
        asked.expect(204, "")
        #expect(asked["access-control-allow-methods"] == "GET, POST, OPTIONS")
        #expect(asked["access-control-allow-headers"]?.contains("authorization") == true)
        #expect(try await world.call(.options, Example.events).failure == "method-not-allowed")
    }

    @Test("an expired customer token is told apart unless a switch says otherwise; that of a stream always is")
    func expiredFlag() async throws {
        let world = try await World()
        try await SwitchCase.expired(world).expect(401, Example.expired, "customer-token-expired")
        try await world.set("bloomreach.token-expired-flag", "off")
        try await SwitchCase.expired(world).expect(
            401, Example.error("token has invalid claims: token is expired"), "customer-token-expired")
        try await world.freeze(at: 1_800_000_900)
        try await world.call(.post, Example.streamInbox, .streamBearer, Example.body(Example.ana)).expect(
            401, Example.expired, "stream-token-expired")
    }

    @Test("a project that does not exist is not found in profile observed, as a path that does not")
    func unknownProjectObserved() async throws {
        let world = try await World()
        try await world.set(profile: .observed)
        try await SwitchCase.unknownProject(world).expect(404, Example.notFound, "unknown-project")
    }

    @Test("where only GET reads consents, the refusal of POST says so")
    func allow() async throws {
        let world = try await World()
        try await world.set("bloomreach.consents-method", "get-only")
        let answer = try await SwitchCase.postConsents(world)
        answer.expect(405, Example.error("Method not allowed"), "method-not-allowed")
        #expect(answer["allow"] == "GET")
    }

    @Test("the call of the example apps is not there when a switch takes it away")
    func noMint() async throws {
        let world = try await World()
        try await world.set("bloomreach.mint-endpoint", "off")
        try await SwitchCase.mint(world).expect(404, Example.notFound, "unknown-route")
    }
}
