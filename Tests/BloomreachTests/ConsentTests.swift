import Expectations
import HTTPTypes
import JSON
import Support
import Testing

@Suite("Bloomreach's consents and segments") struct ConsentTests {
    private typealias Content = ContentExample

    // MARK: - Consents

    @Test("a body is not looked at", arguments: ["", "{", "[]", "null"]) func consentBody(_ body: String) async throws {
        try await World().call(.post, Content.consents, .token, body).expect(200, Content.consentCategories)
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
            expect(try await value(), is: [.bool(agrees), false], "\(properties)")
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
        let asked = #""attributes":[{"type":"consent","category":"newsletter"},{"type":"consent","category":"x"}]"#
        func values(_ ids: String) async throws -> String {
            try await world.call(.post, Example.attributes, .token, "{\(ids),\(asked)}").text
        }
        let yes = #"{"success":true,"results":[{"success":true,"value":true},{"success":true,"value":false}]}"#
        let no = yes.replacing("true,\"value\":true", with: "true,\"value\":false")
        expect(try await values(Content.anaIDs), is: yes)
        expect(try await values(Content.benIDs), is: no)
        for (value, answer) in [("true", yes), (#""false""#, no)] {
            let order = #"{"customer":"ben@example.test","category":"newsletter","value":\#(value)}"#
            expect(try await world.act("set-consent", order).status, is: 200)
            expect(try await values(Content.benIDs), is: answer)
        }
    }

    // MARK: - Segments

    private static let anasSegments =
        #"{"discovery":[{"id":"seg-1","segmentation_id":"segmentation-1"}],"#
        + #""content":[{"id":"seg-2","segmentation_id":"segmentation-2"}],"merchandising":[]}"#
    private static let anasCookie = "?cookie=c0000000-0000-4000-8000-00000000000a"

    @Test(
        "a cookie in other letters and a customer without segments have none",
        arguments: [
            "C0000000-0000-4000-8000-00000000000A", "c0000000-0000-4000-8000-00000000000b",
            "c0000000-0000-4000-8000-00000000000c",
        ])
    func noSegments(_ cookie: String) async throws {
        try await World().call(.get, "\(Content.segments)?cookie=\(cookie)", .token).expect(200, "{}")
    }

    @Test("a customer token must be of whoever has the cookie; of an unknown one nobody can tell")
    func segmentBinding() async throws {
        let world = try await World()
        try await world.call(.get, Content.segments + Self.anasCookie, .bearer).expect(200, Self.anasSegments)
        try await world.call(.get, Content.segments + "?cookie=none", .bearer).expect(200, "{}")
        let ben = Content.segments + "?cookie=c0000000-0000-4000-8000-00000000000b"
        let refused = try await world.call(.get, ben, .bearer)
        expect(refused.status, is: 401)
        expect(refused.failure, is: "customer-token-ids-mismatch")
        try await world.set("bloomreach.customer-token-binding", "off")
        try await world.call(.get, ben, .bearer).expect(200, "{}")
    }

    @Test("an action puts a customer into segments, and a guest takes them along when signing in")
    func setSegments() async throws {
        let world = try await World()
        let guest = #"{"cookie":"c0000000-0000-4000-8000-00000000000c"}"#
        let set = try await world.act(
            "set-segments", #"{"customer":\#(guest),"segments":{"content":[{"id":"s","segmentation_id":"t"}]}}"#)
        expect(set.status, is: 200, "\(set.text)")
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

@Suite("Bloomreach's recommendations and computed attributes") struct RecommendationTests {
    private typealias Content = ContentExample

    // MARK: - Recommendations

    private func recommend(_ world: World, _ members: String) async throws -> ReceivedAnswer {
        try await world.call(
            .post, Content.recommendations, .streamBearer, "{\(Content.anaIDs),\"engine_id\":\(members)}")
    }

    @Test("the same recommendations are an attribute of a project, but not of somebody unknown")
    func recommendationAttribute() async throws {
        let world = try await World()
        func ask(_ ids: String, _ attribute: String) async throws -> ReceivedAnswer {
            try await world.call(.post, Example.attributes, .token, #"{\#(ids),"attributes":[\#(attribute)]}"#)
        }
        let attribute =
            #"{"type":"recommendation","id":"bestsellers","fillWithRandom":true,"size":2,"#
            + #""catalogAttributesWhitelist":["price"]}"#
        let answer = try await ask(Content.anaIDs, attribute)
        let id = try #require(answer.json["results"]?[0]?["value"]?[0]?["recommendation_id"]?.string)
        func item(_ item: String, _ price: String) -> String {
            #"{"engine_name":"bestsellers","item_id":"\#(item)","recommendation_id":"\#(id)","#
                + #""recommendation_variant_id":null,"price":\#(price)}"#
        }
        answer.expect(
            200,
            #"{"success":true,"results":[{"success":true,"value":[\#(item("item-1", "9.5")),\#(item("item-2", "14"))]}]}"#
        )
        expect(try await recommend(world, #""bestsellers""#).json["data"]?[0]?["recommendation_id"]?.string, is: id)
        try await ask(#""customer_ids":{"registered":"nobody"}"#, attribute).expect(
            404, #"{"success":false,"errors":{"_global":["Customer does not exist"]}}"#, "customer-not-found")
        try await ask(Content.anaIDs, #"{"type":"recommendation","id":"none"}"#)
            .expect(200, #"{"success":true,"results":[{"success":false,"error":"Not Found"}]}"#)
    }

    @Test(
        "a call for recommendations checks its fields",
        arguments: [
            (#"null"#, "Field 'engine_id' is required.", "missing-field"),
            (#"1"#, "Field 'engine_id' is invalid.", "invalid-field"),
            (
                #""bestsellers","fill_with_random":1,"size":"x""#, "Field 'fill_with_random' is invalid.",
                "invalid-field"
            ),
            (#""bestsellers","size":-1"#, "Field 'size' is invalid.", "invalid-field"),
            (#""bestsellers","size":1.5"#, "Field 'size' is invalid.", "invalid-field"),
            (#""bestsellers","items":[]"#, "Field 'items' is invalid.", "invalid-field"),
            (#""bestsellers","no_track":"yes""#, "Field 'no_track' is invalid.", "invalid-field"),
            (
                #""bestsellers","catalog_attributes_whitelist":"name""#,
                "Field 'catalog_attributes_whitelist' is invalid.", "invalid-field"
            ),
        ])
    func recommendationFields(_ members: String, _ text: String, _ failure: String) async throws {
        try await recommend(try await World(), members).expect(400, #"{"success":false,"error":"\#(text)"}"#, failure)
    }

    @Test("the token of a call for recommendations stands in for the ids") func recommendationAccess() async throws {
        let order = #"{"engine_id":"bestsellers"}"#
        try await World().call(.post, Content.recommendations, .streamBearer, order).expect(200)
    }

    @Test(
        "an attribute that is none is repeated as Python 2 shows it",
        arguments: [
            (#"{"type":"propertyrrr","property":"last_name"}"#, "{u'property': u'last_name', u'type': u'propertyrrr'}"),
            (
                #"{"type":"it's","a":[null,true,1.50,{"b":"é\u20ac\ud83d\ude00"}]}"#,
                #"{u'a': [None, True, 1.50, {u'b': u'\xe9\u20ac\U0001f600'}], u'type': u'it\'s'}"#
            ),
            (#"{"type":"a\"\\\n"}"#, #"{u'type': u'a"\\\n'}"#), (#""x""#, "u'x'"),
        ])
    func unreadable(_ attribute: String, _ shown: String) async throws {
        let answer = try await World().call(
            .post, Example.attributes, .token, #"{\#(Content.anaIDs),"attributes":[\#(attribute)]}"#)
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
        for (ids, value) in [(Content.anaIDs, anas), (Content.benIDs, others)] {
            try await world.call(
                .post, Example.attributes, .token,
                #"{\#(ids),"attributes":[{"type":"\#(type)","id":"\#(id)"}]}"#
            ).expect(200, #"{"success":true,"results":[{"success":true,"value":\#(value)}]}"#)
        }
    }

    @Test(
        "what is not there is unknown, in the words for its kind",
        arguments: [("segmentation", "Segmentation"), ("aggregate", "Aggregation"), ("prediction", "Prediction")])
    func unknownComputed(_ type: String, _ title: String) async throws {
        try await World().call(
            .post, Example.attributes, .token,
            #"{\#(Content.anaIDs),"attributes":[{"type":"\#(type)","id":"x"}]}"#
        ).expect(
            404, #"{"success":false,"errors":{"_global":["\#(title) with id x does not exist"]}}"#,
            "attribute-unknown-id")
    }
}
