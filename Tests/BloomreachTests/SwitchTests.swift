import HTTPTypes
import JSON
import Support
import Testing

/// Every value of every switch (section 10 of the vendor's spec).
@Suite("Bloomreach's switches")
struct SwitchTests {
    @Test("each value does what it says", arguments: cases)
    func value(_ example: SwitchCase) async throws {
        try await example.check("bloomreach", in: try await World())
    }

    @Test("no value of a switch is without a case, and the profiles are those of the spec")
    func coverage() async throws {
        let bloomreach = try #require(try await World().emulator.vendors.first { $0.identity.id == "bloomreach" })
        for declaration in bloomreach.switchDeclarations {
            let tested = Set(Self.cases.filter { $0.name == declaration.name }.map(\.value))
            if case .choice(let values) = declaration.domain { #expect(tested == Set(values), "\(declaration.name)") }
            #expect(tested.contains(declaration.documented), "\(declaration.name)")
        }
        let profiles = bloomreach.switchDeclarations.map { "\($0.name) \($0.documented) \($0.observed)" }
        #expect(
            profiles == [
                "consents-method post-and-get get-only", "attributes-access public public",
                "customer-token-binding exact exact", "app-inbox-auth any any", "unknown-project-status 400 404",
                "sync-token-check gone gone", "token-expired-flag on on", "unknown-ids accept accept",
                "mint-endpoint on on", "clock-leeway-seconds 0 0", "require-jwt app-inbox app-inbox",
                "cors off off",
            ])
    }

    private typealias Send = @Sendable (World) async throws -> ReceivedAnswer

    private static let consents = "/data/v2/projects/demo-project-1/consent/categories"
    private static let postConsents: Send = { try await $0.call(.post, consents, .token, "{}") }
    private static let getConsents: Send = { try await $0.call(.get, consents, .token) }
    private static let readAttributes: Send = {
        try await $0.call(
            .post, Example.attributes, .token, Example.body(Example.ana, #""attributes":[{"type":"id","id":"cookie"}]"#)
        )
    }

    /// Fetches with Ana's token and other ids.
    private static func fetch(_ ids: String) -> Send {
        { try await $0.call(.post, Example.inbox, .bearer, Example.body(ids)) }
    }

    private static let more = #"{"registered":"ana@example.test","email_id":"x"}"#
    private static let fetchWithKey: Send = {
        try await $0.call(.post, Example.inbox, .token, Example.body(Example.ana))
    }
    private static let unknownProject: Send = {
        try await $0.call(.post, "/track/v2/projects/none/customers", .token, Example.body(Example.ana))
    }
    private static let staleToken: Send = {
        try await $0.control(
            .post, "state/bloomreach/delete-inbox-message", #"{"customer":"ana@example.test","message":"msg-html-1"}"#)
        return try await $0.call(
            .post, Example.inbox, .token, Example.body(Example.ana, #""sync_token":"v1.1.1.2""#))
    }
    private static let expired: Send = {
        try await $0.call(.post, Example.inbox, .bearer(Example.jwtAnaOld), Example.body(Example.ana))
    }
    private static let unknownID: Send = {
        try await $0.call(.post, Example.customers, .token, Example.body(#"{"passport":"x"}"#))
    }
    private static let mint: Send = {
        try await $0.call(
            .post, Example.mint, [], #"{"project_id":"demo-project-1","kid":"privkey-demo-1","sub":{"registered":"a"}}"#
        )
    }
    private static let unsignedEvent: Send = {
        try await $0.call(.post, Example.streamEvents, [], Example.body(Example.guest, #""event_type":"view""#))
    }

    private static let origin: World.Fields = [("origin", "https://app.example.test")]
    private static let preflight: Send = { try await $0.call(.options, Example.events, origin) }

    @Test("pages of any origin may read every answer with switch cors, and no other one", arguments: Depth.allCases)
    func cors(_ depth: Depth) async throws {
        let world = try await World(depth)
        func origin(_ method: HTTPRequest.Method, _ path: String, _ fields: World.Fields) async throws -> String? {
            try await world.call(method, path, fields, "{}")["access-control-allow-origin"]
        }
        #expect(try await origin(.post, Example.events, Self.origin) == nil)
        try await world.set("bloomreach.cors", "on")
        #expect(try await origin(.post, Example.events, []) == nil, "only browsers name an origin")
        for path in [Example.events, Self.consents, "/track/none", "/webxp"] {
            for method in [HTTPRequest.Method.get, .post, .options] {
                #expect(try await origin(method, path, Self.origin) == "*", "\(method) \(path)")
            }
        }
        let asked = try await world.call(.options, Example.events, Self.origin)
        asked.expect(204, "")
        #expect(asked["access-control-allow-methods"] == "GET, POST, OPTIONS")
        #expect(asked["access-control-allow-headers"]?.contains("authorization") == true)
        #expect(try await world.call(.options, Example.events).failure == "method-not-allowed")
    }

    /// Ana's token, a second after its end.
    private static let late: Send = {
        try await $0.freeze(at: 1_800_003_601)
        return try await $0.call(.post, Example.inbox, .bearer, Example.body(Example.ana))
    }

    private static let cases: [SwitchCase] = [
        SwitchCase("consents-method", "post-and-get", nil, postConsents),
        SwitchCase("consents-method", "post-and-get", nil, getConsents),
        SwitchCase("consents-method", "get-only", "method-not-allowed", postConsents),
        SwitchCase("consents-method", "get-only", nil, getConsents),
        SwitchCase("attributes-access", "public", nil, readAttributes),
        SwitchCase("attributes-access", "private", "credential-not-accepted", readAttributes),
        SwitchCase("customer-token-binding", "exact", "customer-token-ids-mismatch", fetch(more)),
        SwitchCase("customer-token-binding", "subset", nil, fetch(more)),
        SwitchCase("customer-token-binding", "subset", "customer-token-ids-mismatch", fetch(Example.ben)),
        SwitchCase("customer-token-binding", "off", nil, fetch(Example.ben)),
        SwitchCase("app-inbox-auth", "any", nil, fetchWithKey),
        SwitchCase("app-inbox-auth", "advanced", "customer-token-required", fetchWithKey),
        SwitchCase("app-inbox-auth", "advanced", nil, fetch(Example.ana)),
        SwitchCase("unknown-project-status", "400", "unknown-project", unknownProject),
        SwitchCase("unknown-project-status", "404", "unknown-project", unknownProject),
        SwitchCase("sync-token-check", "gone", "sync-token-stale", staleToken),
        SwitchCase("sync-token-check", "full-resync", nil, staleToken),
        SwitchCase("token-expired-flag", "on", "customer-token-expired", expired),
        SwitchCase("token-expired-flag", "off", "customer-token-expired", expired),
        SwitchCase("unknown-ids", "accept", nil, unknownID),
        SwitchCase("unknown-ids", "reject", "unknown-id-name", unknownID),
        SwitchCase("mint-endpoint", "on", nil, mint),
        SwitchCase("mint-endpoint", "off", "unknown-route", mint),
        SwitchCase("clock-leeway-seconds", "0", "customer-token-expired", late),
        SwitchCase("clock-leeway-seconds", "1", "customer-token-expired", late),
        SwitchCase("clock-leeway-seconds", "2", nil, late),
        SwitchCase("cors", "off", "method-not-allowed", preflight),
        SwitchCase("cors", "on", nil, preflight),
        SwitchCase("require-jwt", "app-inbox", nil, unsignedEvent),
        SwitchCase("require-jwt", "all", "stream-token-missing", unsignedEvent),
    ]

    @Test("an expired customer token is told apart unless a switch says otherwise; that of a stream always is")
    func expiredFlag() async throws {
        let world = try await World()
        try await Self.expired(world).expect(401, Example.expired, "customer-token-expired")
        try await world.set("bloomreach.token-expired-flag", "off")
        try await Self.expired(world).expect(
            401, Example.error("token has invalid claims: token is expired"), "customer-token-expired")
        try await world.freeze(at: 1_800_000_900)
        try await world.call(.post, Example.streamInbox, .streamBearer, Example.body(Example.ana)).expect(
            401, Example.expired, "stream-token-expired")
    }

    @Test("a project that does not exist is not found in profile observed, as a path that does not")
    func unknownProjectObserved() async throws {
        let world = try await World()
        try await world.set(profile: .observed)
        try await Self.unknownProject(world).expect(404, Example.notFound, "unknown-project")
    }

    @Test("where only GET reads consents, the refusal of POST says so")
    func allow() async throws {
        let world = try await World()
        try await world.set("bloomreach.consents-method", "get-only")
        let answer = try await Self.postConsents(world)
        answer.expect(405, Example.error("Method not allowed"), "method-not-allowed")
        #expect(answer["allow"] == "GET")
    }

    @Test("the call of the example apps is not there when a switch takes it away")
    func noMint() async throws {
        let world = try await World()
        try await world.set("bloomreach.mint-endpoint", "off")
        try await Self.mint(world).expect(404, Example.notFound, "unknown-route")
    }
}
