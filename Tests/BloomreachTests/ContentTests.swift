import HTTPTypes
import JSON
import Support
import Testing

/// The rules of messages, blocks, consents, segments and recommendations beyond the spec's examples.
@Suite("Bloomreach's messages, blocks, consents, segments and recommendations")
struct ContentTests {
    private typealias Content = ContentExample

    // MARK: - In-app messages

    @Test(
        "rich messages come to those alone who say that they read them",
        arguments: [
            ("", 1), ("?v=1", 1), ("?v=2", 1), ("?compatibility=2", 1), ("?compatibility=", 1), ("?compatibility=x", 1),
            ("?compatibility=3", 2), ("?compatibility=4", 2), ("?other=1&compatibility=3", 2),
        ])
    func compatibility(_ query: String, _ count: Int) async throws {
        let answer = try await World().call(.post, Content.messages + query, Content.key, Content.ofGuest())
        answer.expect(200)
        #expect(answer.json["data"]?.array?.count == count)
    }

    @Test("a message with an audience comes to those it names, in their own words")
    func audience() async throws {
        let world = try await World()
        let ana = try await world.call(.post, Content.messages, Content.key, Content.ofAna(#""device":"ios""#))
        #expect(ana.json["data"]?.array?.map { $0["id"] } == ["inapp-1", "inapp-html-1"])
        #expect(ana.text.contains("<h1>Happy birthday, Ana</h1>"))
        #expect(ana.json["data"]?[1]?["close_timeout"] == .null, "what the fixture leaves out is null")
        #expect(ana.json["data"]?[1]?["date_filter"]?.text == #"{"enabled":false,"from_date":null,"to_date":null}"#)
        #expect(ana.json["data"]?[1]?["audience"] == nil)
        let ben = try await world.call(.post, Content.messages, Content.key, Content.ofBen())
        #expect(ben.json["data"]?.array?.map { $0["id"] } == ["inapp-1"])
    }

    @Test("personal words are those of the moment, and nothing in them ends a string")
    func changedProperty() async throws {
        let world = try await World()
        try await world.call(
            .post, "/track/v2/projects/demo-project-1/customers", Content.key,
            Content.ofAna(#""properties":{"first_name":"A\"}]<b>"}"#)
        ).expect(200)
        let ana = try await world.call(.post, Content.messages, Content.key, Content.ofAna())
        #expect(
            ana.json["data"]?[1]?["payload_html"]?.string?.contains(#"<h1>Happy birthday, A"}]<b></h1>"#) == true)
    }

    @Test("somebody unknown gets what everybody gets")
    func unknownReader() async throws {
        try await World().call(.post, Content.messages, Content.key, #"{"customer_ids":{"registered":"x"}}"#)
            .expect(200, #"{"success":true,"data":[\#(Content.welcome)]}"#)
    }

    @Test("a stream answers without a token", arguments: Depth.allCases)
    func messagesOfStream(_ depth: Depth) async throws {
        try await World(depth).call(
            .post, "/webxp/streams/demo-stream-1/inappmessages?v=1", [], Content.ofGuest()
        ).expect(200, #"{"success":true,"data":[\#(Content.welcome)]}"#)
    }

    @Test("a project without messages answers with none")
    func noMessages() async throws {
        try await World().call(
            .post, "/webxp/s/demo-project-2/inappmessages", [("authorization", "Token pubkey-demo-2")], Content.ofAna()
        ).expect(200, #"{"success":true,"data":[]}"#)
    }

    @Test(
        "a call for messages checks its fields",
        arguments: [
            (#"{}"#, "Must specify at least one customer ID", "no-customer-ids"),
            (Content.ofAna(#""device":"windows""#), "Field 'device' is invalid.", "invalid-field"),
            (Content.ofAna(#""device":1"#), "Field 'device' is invalid.", "invalid-field"),
        ])
    func messageFields(_ body: String, _ text: String, _ failure: String) async throws {
        try await World().call(.post, Content.messages, Content.key, body)
            .expect(400, #"{"success":false,"error":"\#(text)"}"#, failure)
    }

    // MARK: - Content blocks

    private static let bundle =
        #"{"success":true,"in_app_content_blocks":[{"id":"block-1","name":"Home banner","date_filter":{"enabled":false,"#
        + #""from_date":null,"to_date":null},"frequency":"always","load_priority":1,"content_type":"html","#
        + #""content":{"html":"<div>Hello</div>"},"consent_category_tracking":null,"placeholders":["home_top"]},"#
        + #"{"id":"block-2","name":"Personal banner","date_filter":{"enabled":true,"from_date":1799000000,"#
        + #""to_date":1802592000},"frequency":"only_once","load_priority":2,"content_type":null,"content":null,"#
        + #""consent_category_tracking":null,"placeholders":["home_top","basket"]}]}"#

    @Test(
        "the bundle is open to all, under each of its names",
        arguments: [
            "/wxstatic/projects/demo-project-1/bundle-ios.json?v=2",
            "/wxstatic/projects/demo-project-1/bundle-android.json?v=2",
            "/wxstatic/streams/demo-stream-1/bundle-ios.json?v=2",
            "/wxstatic/streams/demo-stream-1/bundle-android.json",
        ], Depth.allCases)
    func bundle(_ path: String, _ depth: Depth) async throws {
        try await World(depth).call(.get, path).expect(200, Self.bundle)
    }

    @Test("a credential that comes with it is judged, but no ids")
    func bundleCredential() async throws {
        let world = try await World()
        try await world.call(.get, Content.bundle, Content.key).expect(200, Self.bundle)
        try await world.call(.get, Content.bundle, Content.ana).expect(200, Self.bundle)
        try await world.call(.get, Content.bundle, [("authorization", "Token nope")])
            .expect(401, #"{"success":false,"error":"access key not found"}"#, "unknown-key")
    }

    private static let anasBlock =
        #"{"id":"block-2","status":"OK","ttl_seconds":60,"variant_id":0,"variant_name":"Variant A","#
        + #""has_tracking_consent":true,"content_type":"html","content":{"html":"<div>Hello Ana</div>"}}"#

    @Test("personal content comes in the order of the ids, each time that one is named", arguments: Depth.allCases)
    func personalBlocks(_ depth: Depth) async throws {
        let world = try await World(depth)
        let unknown = #"{"id":"block-x","status":"does_not_exist","ttl_seconds":60}"#
        try await world.call(
            .post, Content.blocks, Content.key, Content.ofAna(#""content_block_ids":["block-2","block-x"]"#)
        ).expect(200, #"{"success":true,"data":[\#(Self.anasBlock),\#(unknown)]}"#)
        try await world.call(
            .post, Content.blocks, Content.ana,
            Content.ofAna(#""content_block_ids":["block-x","block-2","block-x"]"#)
        ).expect(200, #"{"success":true,"data":[\#(unknown),\#(Self.anasBlock),\#(unknown)]}"#)
        try await world.call(.post, Content.blocks, Content.key, Content.ofAna(#""content_block_ids":[]"#))
            .expect(200, #"{"success":true,"data":[]}"#)
    }

    @Test("a block is not for others, and speaks to each of its readers")
    func blockAudience() async throws {
        let world = try await World()
        let asked = #""content_block_ids":["block-2"]"#
        try await world.call(.post, Content.blocks, Content.key, Content.ofGuest(asked)).expect(
            200, #"{"success":true,"data":[{"id":"block-2","status":"filter_not_matched","ttl_seconds":60}]}"#)
        let ben = try await world.call(.post, Content.blocks, Content.key, Content.ofBen(asked))
        #expect(ben.json["data"]?[0]?["content"]?["html"] == "<div>Hello there</div>")
    }

    @Test("a client that has the answer gets 304 and nothing", arguments: Depth.allCases)
    func entityTags(_ depth: Depth) async throws {
        let world = try await World(depth)
        let body = Content.ofAna(#""content_block_ids":["block-2"]"#)
        let first = try await world.call(.post, Content.blocks, Content.key, body)
        let tag = try #require(first["etag"])
        for known in [tag, "W/" + tag, "\"other\", \(tag)", "*"] {
            let answer = try await world.call(
                .post, Content.blocks, Content.key + [("if-none-match", known)], body)
            answer.expect(304, "")
            #expect(answer["etag"] == tag)
            #expect(answer["content-type"] == nil)
        }
        try await world.call(.post, Content.blocks, Content.key + [("if-none-match", "\"other\"")], body)
            .expect(200, first.text)
        let ben = try await world.call(
            .post, Content.blocks, Content.key + [("if-none-match", tag)],
            Content.ofBen(#""content_block_ids":["block-2"]"#))
        ben.expect(200)
        #expect(ben["etag"] != tag)
    }

    @Test(
        "a call for blocks checks its fields",
        arguments: [
            (#"{"content_block_ids":["block-2"]}"#, "Must specify at least one customer ID", "no-customer-ids"),
            (Content.ofAna(), "Field 'content_block_ids' is required.", "missing-field"),
            (Content.ofAna(#""content_block_ids":{}"#), "Field 'content_block_ids' is invalid.", "invalid-field"),
            (Content.ofAna(#""content_block_ids":[null]"#), "Field 'content_block_ids' is invalid.", "invalid-field"),
            (
                Content.ofAna(#""content_block_ids":[\#(String(repeating: "\"a\",", count: 500))"a"]"#),
                "Field 'content_block_ids' is invalid.", "invalid-field"
            ),
        ])
    func blockFields(_ body: String, _ text: String, _ failure: String) async throws {
        try await World().call(.post, Content.blocks, Content.key, body)
            .expect(400, #"{"success":false,"error":"\#(text)"}"#, failure)
    }

    @Test("a customer token must be of the ids that ask for a block")
    func blockBinding() async throws {
        let answer = try await World().call(
            .post, Content.blocks, Content.ana, Content.ofBen(#""content_block_ids":["block-2"]"#))
        #expect(answer.failure == "customer-token-ids-mismatch")
    }

    // MARK: - Consents

    @Test("a body is not looked at", arguments: ["", "{", "[]", "null"])
    func consentBody(_ body: String) async throws {
        try await World().call(.post, Content.consents, Content.key, body).expect(200, Content.consentCategories)
    }

    @Test("with get-only POST is refused, as in the observed profile", arguments: Depth.allCases)
    func getOnly(_ depth: Depth) async throws {
        let world = try await World(depth)
        let refused = #"{"success":false,"error":"Method not allowed"}"#
        try await world.set("bloomreach.consents-method", "get-only")
        let answer = try await world.call(.post, Content.consents, Content.key, "{}")
        answer.expect(405, refused, "method-not-allowed")
        #expect(answer["allow"] == "GET")
        try await world.call(.get, Content.consents, Content.key).expect(200, Content.consentCategories)
        try await world.set("bloomreach.consents-method", "post-and-get")
        try await world.call(.post, Content.consents, Content.key).expect(200, Content.consentCategories)
    }

    @Test("a stream has those of its project, and a private key reads them too")
    func consentAccess() async throws {
        let world = try await World()
        for method in [HTTPRequest.Method.get, .post] {
            try await world.call(method, "/data/v2/streams/demo-stream-1/consent/categories")
                .expect(200, Content.consentCategories)
        }
        try await world.call(.get, Content.consents, Content.privateKey).expect(200, Content.consentCategories)
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
            try await world.call(.post, Content.attributes, Content.key, "{\(ids),\(asked)}").text
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
            try await world.call(.get, Content.segments + query, Content.key).expect(200, Self.anasSegments)
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
        try await World().call(.get, "\(Content.segments)?cookie=\(cookie)", Content.key).expect(200, "{}")
    }

    @Test("a cookie must be there", arguments: ["", "?cookie=", "?cookie", "?Cookie=a"])
    func noCookie(_ query: String) async throws {
        try await World().call(.get, Content.segments + query, Content.key)
            .expect(400, Content.missing("cookie"), "missing-field")
    }

    @Test("a customer token must be of whoever has the cookie; of an unknown one nobody can tell")
    func segmentBinding() async throws {
        let world = try await World()
        try await world.call(.get, Content.segments + Self.anasCookie, Content.ana).expect(200, Self.anasSegments)
        try await world.call(.get, Content.segments + "?cookie=none", Content.ana).expect(200, "{}")
        let ben = Content.segments + "?cookie=c0000000-0000-4000-8000-00000000000b"
        let refused = try await world.call(.get, ben, Content.ana)
        #expect(refused.status == 401)
        #expect(refused.failure == "customer-token-ids-mismatch")
        try await world.set("bloomreach.customer-token-binding", "off")
        try await world.call(.get, ben, Content.ana).expect(200, "{}")
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
        try await world.call(.get, Content.segments + query, Content.key).expect(200, segments)
        try await world.call(
            .post, "/track/v2/projects/demo-project-1/customers", Content.key,
            #"{"customer_ids":{"cookie":"c0000000-0000-4000-8000-00000000000c","registered":"ben@example.test"}}"#
        ).expect(200)
        try await world.call(
            .get, Content.segments + "?cookie=c0000000-0000-4000-8000-00000000000b", Content.key
        ).expect(200, segments)
    }

    // MARK: - Recommendations

    private func recommend(_ world: World, _ members: String) async throws -> ReceivedAnswer {
        try await world.call(
            .post, Content.recommendations, Content.streamAna, "{\(Content.anaIDs),\"engine_id\":\(members)}")
    }

    @Test("the items of an engine come in order, with an id that stays", arguments: Depth.allCases)
    func recommendations(_ depth: Depth) async throws {
        let world = try await World(depth)
        let answer = try await recommend(world, #""also-bought""#)
        let id = try #require(answer.json["data"]?[0]?["recommendation_id"]?.string)
        #expect(id.wholeMatch(of: /[0-9a-f]{24}/) != nil)
        func item(_ item: String, _ name: String, _ price: String) -> String {
            #"{"engine_name":"also-bought","item_id":"\#(item)","recommendation_id":"\#(id)","#
                + #""recommendation_variant_id":"variant-a","name":"\#(name)","price":\#(price)}"#
        }
        let items = [item("item-3", "Red cup", "8.25"), item("item-2", "Blue plate", "14")]
        answer.expect(200, #"{"data":[\#(items.joined(separator: ","))],"errors":"[]","success":true}"#)
        try await recommend(world, #""also-bought","size":1"#)
            .expect(200, #"{"data":[\#(items[0])],"errors":"[]","success":true}"#)
        try await recommend(world, #""also-bought","size":0"#).expect(200, #"{"data":[],"errors":"[]","success":true}"#)
        let filled = try await recommend(
            world, #""also-bought","fill_with_random":true,"items":{"a":1},"no_track":false"#)
        #expect(filled.json["data"]?.array?.map { $0["item_id"] } == ["item-3", "item-2", "item-1"])
        #expect(
            try await recommend(world, #""bestsellers""#).json["data"]?[0]?["recommendation_id"]?.string != id)
    }

    @Test("the same recommendations are an attribute of a project, and of somebody unknown too")
    func recommendationAttribute() async throws {
        let world = try await World()
        func ask(_ ids: String, _ attribute: String) async throws -> ReceivedAnswer {
            try await world.call(
                .post, Content.attributes, Content.key, #"{\#(ids),"attributes":[\#(attribute)]}"#)
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
        #expect(try await recommend(world, #""bestsellers""#).json["data"]?[0]?["recommendation_id"]?.string == id)
        let unknown = try await ask(#""customer_ids":{"registered":"nobody"}"#, attribute)
        #expect(unknown.json["results"]?[0]?["value"]?.array?.count == 2)
        try await ask(Content.anaIDs, #"{"type":"recommendation","id":"none"}"#)
            .expect(200, #"{"success":true,"results":[{"success":false,"error":"Not Found"}]}"#)
    }

    @Test(
        "a call for recommendations checks its fields",
        arguments: [
            (#"null"#, "Field 'engine_id' is required.", "missing-field"),
            (#"1"#, "Field 'engine_id' is invalid.", "invalid-field"),
            (#""none""#, "Field 'engine_id' is invalid.", "invalid-field"),
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
        try await recommend(try await World(), members)
            .expect(400, #"{"success":false,"error":"\#(text)"}"#, failure)
    }

    @Test("recommendations of a stream need a token, which stands in for the ids")
    func recommendationAccess() async throws {
        let world = try await World()
        try await world.call(.post, Content.recommendations, [], Content.ofAna(#""engine_id":"bestsellers""#))
            .expect(401, #"{"success":false,"error":"missing token"}"#, "stream-token-missing")
        try await world.call(.post, Content.recommendations, Content.streamAna, #"{"engine_id":"bestsellers"}"#)
            .expect(200)
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
                .post, Content.attributes, Content.key,
                #"{\#(ids),"attributes":[{"type":"\#(type)","id":"\#(id)"}]}"#
            ).expect(200, #"{"success":true,"results":[{"success":true,"value":\#(value)}]}"#)
        }
    }

    @Test(
        "what is not there is unknown, in the words for its kind",
        arguments: [
            ("segmentation", "Segmentation"), ("expression", "Expression"), ("aggregate", "Aggregation"),
            ("prediction", "Prediction"),
        ])
    func unknownComputed(_ type: String, _ title: String) async throws {
        try await World().call(
            .post, Content.attributes, Content.key,
            #"{\#(Content.anaIDs),"attributes":[{"type":"\#(type)","id":"x"}]}"#
        ).expect(
            404, #"{"success":false,"errors":{"_global":["\#(title) with id x does not exist"]}}"#,
            "attribute-unknown-id")
    }
}
