import JSON
import Support
import Testing

/// The rules of recommendations and of computed attributes.
@Suite("Bloomreach's recommendations and computed attributes")
struct RecommendationTests {
    private typealias Content = ContentExample

    // MARK: - Recommendations

    private func recommend(_ world: World, _ members: String) async throws -> ReceivedAnswer {
        try await world.call(
            .post, Content.recommendations, .streamBearer, "{\(Content.anaIDs),\"engine_id\":\(members)}")
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
                .post, Example.attributes, .token, #"{\#(ids),"attributes":[\#(attribute)]}"#)
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
        try await world.call(.post, Content.recommendations, .streamBearer, #"{"engine_id":"bestsellers"}"#)
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
                .post, Example.attributes, .token,
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
            .post, Example.attributes, .token,
            #"{\#(Content.anaIDs),"attributes":[{"type":"\#(type)","id":"x"}]}"#
        ).expect(
            404, #"{"success":false,"errors":{"_global":["\#(title) with id x does not exist"]}}"#,
            "attribute-unknown-id")
    }
}
