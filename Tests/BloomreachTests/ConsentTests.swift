import Expectations
import HTTPTypes
import JSON
import Support
import Testing

@Suite("Bloomreach's consents and segments") struct ConsentTests {
    private typealias Content = ContentExample

    // MARK: - Consents

    @Test("a body is not looked at", arguments: ["", "{", "[]", "null"]) func consentBody(_ body: String) async throws {
        let world = try await World()
        // Whole in the contract case of consents.
        let categories = try await world.call(.get, Content.consents, .token)
        try await world.call(.post, Content.consents, .token, body).expect(200, categories.text)
    }

    private static let asked = #"{"type":"consent","category":"newsletter"},{"type":"consent","category":"x"}"#

    @Test("an event of consent moves the attribute of its category, and one that is incomplete revokes")
    func consentEvents() async throws {
        let world = try await World()
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
            let answer = try await world.call(
                .post, Example.events, .token,
                Example.body(Example.ben, #""event_type":"consent","properties":\#(properties)"#))
            answer.expect(200)
            let results = try await world.attributes(Self.asked, of: Example.ben).json["results"]?.array
            expect(results?.map { $0["value"] }, is: [.bool(agrees), false], "\(properties)")
            expect((answer.outcome(of: "consent") == .noted), is: properties.contains("category"), "\(properties)")
        }
    }

    @Test("each project has a category, since Android refuses an empty list") func everyProject() async throws {
        let other = try await World().call(
            .get, "/data/v2/projects/demo-project-2/consent/categories", [("authorization", "Token pubkey-demo-2")])
        expect(other.json["results"]?.array?.count, is: 1)
    }

    @Test("an attribute tells whether a customer has agreed, and an action changes it")
    func consentAttribute() async throws {
        let world = try await World()
        let yes = #"{"success":true,"results":[{"success":true,"value":true},{"success":true,"value":false}]}"#
        let no = yes.replacing("true,\"value\":true", with: "true,\"value\":false")
        try await world.attributes(Self.asked, of: Example.ana).expect(200, yes)
        try await world.attributes(Self.asked, of: Example.ben).expect(200, no)
        for (value, answer) in [("true", yes), (#""false""#, no)] {
            let order = #"{"customer":"ben@example.test","category":"newsletter","value":\#(value)}"#
            expect(try await world.act("set-consent", order).status, is: 200)
            try await world.attributes(Self.asked, of: Example.ben).expect(200, answer)
        }
    }

    // MARK: - Segments

    private static let anasSegments =
        #"{"discovery":[{"id":"seg-1","segmentation_id":"segmentation-1"}],"#
        + #""content":[{"id":"seg-2","segmentation_id":"segmentation-2"}],"merchandising":[]}"#

    private static func segments(_ cookie: String) -> String { "\(Content.segments)?cookie=\(cookie)" }

    @Test(
        "a cookie in other letters and a customer without segments have none",
        arguments: ["C0000000-0000-4000-8000-00000000000A", Example.cookieBen, Example.cookieGuest])
    func noSegments(_ cookie: String) async throws {
        try await World().call(.get, Self.segments(cookie), .token).expect(200, "{}")
    }

    @Test("a customer token must be of whoever has the cookie; of an unknown one nobody can tell")
    func segmentBinding() async throws {
        let world = try await World()
        try await world.call(.get, Self.segments(Example.cookieAna), .bearer).expect(200, Self.anasSegments)
        try await world.call(.get, Self.segments("none"), .bearer).expect(200, "{}")
        let ben = Self.segments(Example.cookieBen)
        try await world.call(.get, ben, .bearer).expect(401, Example.mismatch, "customer-token-ids-mismatch")
        try await world.set("bloomreach.customer-token-binding", "off")
        try await world.call(.get, ben, .bearer).expect(200, "{}")
    }

    @Test("an action puts a customer into segments, and a guest takes them along when signing in")
    func setSegments() async throws {
        let world = try await World()
        let set = try await world.act(
            "set-segments",
            #"{"customer":\#(Example.guest),"segments":{"content":[{"id":"s","segmentation_id":"t"}]}}"#)
        expect(set.status, is: 200, "\(set.text)")
        let segments = #"{"discovery":[],"content":[{"id":"s","segmentation_id":"t"}],"merchandising":[]}"#
        try await world.call(.get, Self.segments(Example.cookieGuest), .token).expect(200, segments)
        let signedIn = #"{"cookie":"\#(Example.cookieGuest)","registered":"ben@example.test"}"#
        try await world.update(signedIn).expect(200)
        try await world.call(.get, Self.segments(Example.cookieBen), .token).expect(200, segments)
    }
}

@Suite("Bloomreach's recommendations and computed attributes") struct RecommendationTests {
    private typealias Content = ContentExample

    // MARK: - Recommendations

    @Test("the same recommendations are an attribute of a project")
    func recommendationAttribute() async throws {
        let world = try await World()
        let attribute =
            #"{"type":"recommendation","id":"bestsellers","fillWithRandom":true,"size":2,"#
            + #""catalogAttributesWhitelist":["price"]}"#
        let answer = try await world.attributes(attribute, of: Example.ana)
        let id = try #require(answer.json["results"]?[0]?["value"]?[0]?["recommendation_id"]?.string)
        func item(_ item: String, _ price: String) -> String {
            #"{"engine_name":"bestsellers","item_id":"\#(item)","recommendation_id":"\#(id)","#
                + #""recommendation_variant_id":null,"price":\#(price)}"#
        }
        answer.expect(
            200,
            #"{"success":true,"results":[{"success":true,"value":[\#(item("item-1", "9.5")),\#(item("item-2", "14"))]}]}"#
        )
        // The token of the call stands in for ids that are not sent.
        for order in [Content.ofAna(#""engine_id":"bestsellers""#), #"{"engine_id":"bestsellers"}"#] {
            let items = try await world.call(.post, Content.recommendations, .streamBearer, order)
            items.expect(200)
            expect(items.json["data"]?[0]?["recommendation_id"]?.string, is: id)
        }
        try await world.attributes(#"{"type":"recommendation","id":"none"}"#, of: Example.ana)
            .expect(200, #"{"success":true,"results":[{"success":false,"error":"Not Found"}]}"#)
    }

    @Test(
        "an attribute that is none is repeated as Python 2 shows it",
        arguments: [
            (
                #"{"type":"it's","a":[null,true,1.50,{"b":"é\u20ac\ud83d\ude00"}]}"#,
                #"{u'a': [None, True, 1.50, {u'b': u'\xe9\u20ac\U0001f600'}], u'type': u'it\'s'}"#
            ),
            (#"{"type":"a\"\\\n"}"#, #"{u'type': u'a"\\\n'}"#), (#""x""#, "u'x'"),
        ])
    func unreadable(_ attribute: String, _ shown: String) async throws {
        let answer = try await World().attributes(attribute, of: Example.ana)
        expect(answer.status, is: 400)
        expect(answer.json["errors"]?["attributes"]?["0"]?[0]?.string, is: "Could not parse \(shown). Invalid type.")
    }

    // MARK: - Computed attributes

    @Test(
        "what is computed of a customer stands in the fixture, for each kind",
        arguments: [
            ("segmentation", "segmentation-1", #""loyal""#, #""others""#),
            ("expression", "expression-1", "41.5", "null"),
            ("aggregate", "aggregate-1", "3", "0"), ("prediction", "prediction-1", "0.75", "null"),
        ])
    func computed(_ type: String, _ id: String, _ anas: String, _ others: String) async throws {
        let world = try await World()
        for (ids, value) in [(Example.ana, anas), (Example.ben, others)] {
            try await world.attributes(#"{"type":"\#(type)","id":"\#(id)"}"#, of: ids)
                .expect(200, #"{"success":true,"results":[{"success":true,"value":\#(value)}]}"#)
        }
    }

    @Test(
        "what is not there is unknown, in the words for its kind",
        arguments: [("segmentation", "Segmentation"), ("aggregate", "Aggregation"), ("prediction", "Prediction")])
    func unknownComputed(_ type: String, _ title: String) async throws {
        try await World().attributes(#"{"type":"\#(type)","id":"x"}"#, of: Example.ana).expect(
            404, #"{"success":false,"errors":{"_global":["\#(title) with id x does not exist"]}}"#,
            "attribute-unknown-id")
    }
}
