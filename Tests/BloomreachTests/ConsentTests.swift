import HTTPTypes
import JSON
import Support
import Testing

/// The rules of consents and segments beyond the spec's examples.
@Suite("Bloomreach's consents and segments")
struct ConsentTests {
    private typealias Content = ContentExample

    // MARK: - Consents

    @Test("a body is not looked at", arguments: ["", "{", "[]", "null"])
    func consentBody(_ body: String) async throws {
        try await World().call(.post, Content.consents, .token, body).expect(200, Content.consentCategories)
    }

    @Test("with get-only POST is refused, as in the observed profile", arguments: Depth.allCases)
    func getOnly(_ depth: Depth) async throws {
        let world = try await World(depth)
        let refused = #"{"success":false,"error":"Method not allowed"}"#
        try await world.set("bloomreach.consents-method", "get-only")
        let answer = try await world.call(.post, Content.consents, .token, "{}")
        answer.expect(405, refused, "method-not-allowed")
        #expect(answer["allow"] == "GET")
        try await world.call(.get, Content.consents, .token).expect(200, Content.consentCategories)
        try await world.set("bloomreach.consents-method", "post-and-get")
        try await world.call(.post, Content.consents, .token).expect(200, Content.consentCategories)
    }

    @Test("a stream has those of its project, and a private key reads them too")
    func consentAccess() async throws {
        let world = try await World()
        for method in [HTTPRequest.Method.get, .post] {
            try await world.call(method, "/data/v2/streams/demo-stream-1/consent/categories")
                .expect(200, Content.consentCategories)
        }
        try await world.call(.get, Content.consents, .basic).expect(200, Content.consentCategories)
    }

    @Test("an event of consent moves the attribute of its category, and one that is incomplete revokes")
    func consentEvents() async throws {
        let world = try await World()
        let asked = #""attributes":[{"type":"consent","category":"newsletter"},{"type":"consent","category":"x"}]"#
        func value() async throws -> [JSON?] {
            let answer = try await world.call(.post, Example.attributes, .token, "{\(Content.benIDs),\(asked)}")
            return answer.json["results"]?.array?.map { $0["value"] } ?? []
        }
        func track(_ properties: String) async throws -> ReceivedAnswer {
            let answer = try await world.call(
                .post, Example.events, .token,
                Example.body(Example.ben, #""event_type":"consent","properties":\#(properties)"#))
            answer.expect(200)
            return answer
        }
        let accept = #"{"action":"accept","category":"newsletter","valid_until":"unlimited"}"#
        for (properties, agrees) in [
            (accept, true), (#"{"action":"accept","category":"x","valid_until":"unlimited"}"#, true), ("{}", true),
            (#"{"action":"reject"}"#, true), (#"{"action":"reject","category":"newsletter"}"#, false), (accept, true),
            // An incomplete consent, or one with another action, revokes.
            (#"{"action":"later","category":"newsletter","valid_until":"unlimited"}"#, false), (accept, true),
            (#"{"category":"newsletter","valid_until":"unlimited"}"#, false), (accept, true),
            (#"{"action":"accept","category":"newsletter"}"#, false),
            (#"{"action":"accept","category":"newsletter","valid_until":1800000001}"#, true),
            (#"{"action":"accept","category":"newsletter","valid_until":1800000000}"#, false),
        ] {
            let answer = try await track(properties)
            #expect(try await value() == [.bool(agrees), false], "\(properties)")
            #expect((answer.outcome(of: "consent") == .noted) == properties.contains("category"), "\(properties)")
        }
    }

    @Test("each project has a category, since Android refuses an empty list")
    func everyProject() async throws {
        let other = try await World().call(
            .get, "/data/v2/projects/demo-project-2/consent/categories", [("authorization", "Token pubkey-demo-2")])
        #expect(other.json["results"]?.array?.count == 1)
    }

    @Test("an attribute tells whether a customer has agreed, and an action changes it")
    func consentAttribute() async throws {
        let world = try await World()
        let asked = #""attributes":[{"type":"consent","category":"newsletter"},{"type":"consent","category":"x"}]"#
        func values(_ ids: String) async throws -> String {
            try await world.call(.post, Example.attributes, .token, "{\(ids),\(asked)}").text
        }
        let yes = #"{"success":true,"results":[{"success":true,"value":true},{"success":true,"value":false}]}"#
        let no = yes.replacing("true,\"value\":true", with: "true,\"value\":false")
        #expect(try await values(Content.anaIDs) == yes)
        #expect(try await values(Content.benIDs) == no)
        for (value, answer) in [("true", yes), (#""false""#, no)] {
            let order = #"{"customer":"ben@example.test","category":"newsletter","value":\#(value)}"#
            #expect(try await world.act("set-consent", order).status == 200)
            #expect(try await values(Content.benIDs) == answer)
        }
    }

    // MARK: - Segments

    private static let anasSegments =
        #"{"discovery":[{"id":"seg-1","segmentation_id":"segmentation-1"}],"#
        + #""content":[{"id":"seg-2","segmentation_id":"segmentation-2"}],"merchandising":[]}"#
    private static let anasCookie = "?cookie=c0000000-0000-4000-8000-00000000000a"

    @Test("they are found by cookie, however it is spelled", arguments: Depth.allCases)
    func segments(_ depth: Depth) async throws {
        let world = try await World(depth)
        for query in [Self.anasCookie, "?cookie=" + Self.anasCookie, "?cookie=c0000000-0000-4000-8000-00000000000%61"] {
            try await world.call(.get, Content.segments + query, .token).expect(200, Self.anasSegments)
        }
        try await world.call(.get, "/webxp/streams/demo-stream-1/segments" + Self.anasCookie)
            .expect(200, Self.anasSegments)
    }

    @Test(
        "an unknown cookie, one in other letters, and a customer without segments have none",
        arguments: [
            "none", "C0000000-0000-4000-8000-00000000000A", "c0000000-0000-4000-8000-00000000000b",
            "c0000000-0000-4000-8000-00000000000c",
        ])
    func noSegments(_ cookie: String) async throws {
        try await World().call(.get, "\(Content.segments)?cookie=\(cookie)", .token).expect(200, "{}")
    }

    @Test("a cookie must be there", arguments: ["", "?cookie=", "?cookie", "?Cookie=a"])
    func noCookie(_ query: String) async throws {
        try await World().call(.get, Content.segments + query, .token)
            .expect(400, Content.missing("cookie"), "missing-field")
    }

    @Test("a customer token must be of whoever has the cookie; of an unknown one nobody can tell")
    func segmentBinding() async throws {
        let world = try await World()
        try await world.call(.get, Content.segments + Self.anasCookie, .bearer).expect(200, Self.anasSegments)
        try await world.call(.get, Content.segments + "?cookie=none", .bearer).expect(200, "{}")
        let ben = Content.segments + "?cookie=c0000000-0000-4000-8000-00000000000b"
        let refused = try await world.call(.get, ben, .bearer)
        #expect(refused.status == 401)
        #expect(refused.failure == "customer-token-ids-mismatch")
        try await world.set("bloomreach.customer-token-binding", "off")
        try await world.call(.get, ben, .bearer).expect(200, "{}")
    }

    @Test("an action puts a customer into segments, and a guest takes them along when signing in")
    func setSegments() async throws {
        let world = try await World()
        let guest = #"{"cookie":"c0000000-0000-4000-8000-00000000000c"}"#
        let set = try await world.act(
            "set-segments", #"{"customer":\#(guest),"segments":{"content":[{"id":"s","segmentation_id":"t"}]}}"#)
        #expect(set.status == 200, "\(set.text)")
        let segments = #"{"discovery":[],"content":[{"id":"s","segmentation_id":"t"}],"merchandising":[]}"#
        let query = "?cookie=c0000000-0000-4000-8000-00000000000c"
        try await world.call(.get, Content.segments + query, .token).expect(200, segments)
        try await world.call(
            .post, "/track/v2/projects/demo-project-1/customers", .token,
            #"{"customer_ids":{"cookie":"c0000000-0000-4000-8000-00000000000c","registered":"ben@example.test"}}"#
        ).expect(200)
        try await world.call(
            .get, Content.segments + "?cookie=c0000000-0000-4000-8000-00000000000b", .token
        ).expect(200, segments)
    }
}
