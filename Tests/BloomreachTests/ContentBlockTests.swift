import JSON
import Support
import Testing

/// The rules of content blocks.
@Suite("Bloomreach's content blocks")
struct ContentBlockTests {
    private typealias Content = ContentExample

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
        try await world.call(.get, Content.bundle, .token).expect(200, Self.bundle)
        try await world.call(.get, Content.bundle, .bearer).expect(200, Self.bundle)
        try await world.call(.get, Content.bundle, [("authorization", "Token nope")])
            .expect(401, #"{"success":false,"error":"access key not found"}"#, "unknown-key")
    }

    private static let anasBlock =
        #"{"id":"block-2","status":"OK","ttl_seconds":60,"variant_id":0,"variant_name":"Variant A","#
        + #""has_tracking_consent":true,"content_type":"html","content":{"html":"<div>Hello Ana</div>"}}"#

    @Test("personal content comes in the order of the ids, repeats included", arguments: Depth.allCases)
    func personalBlocks(_ depth: Depth) async throws {
        let world = try await World(depth)
        let unknown = #"{"id":"block-x","status":"does_not_exist","ttl_seconds":60}"#
        try await world.call(
            .post, Content.blocks, .token, Content.ofAna(#""content_block_ids":["block-2","block-x"]"#)
        ).expect(200, #"{"success":true,"data":[\#(Self.anasBlock),\#(unknown)]}"#)
        try await world.call(
            .post, Content.blocks, .bearer,
            Content.ofAna(#""content_block_ids":["block-x","block-2","block-x"]"#)
        ).expect(200, #"{"success":true,"data":[\#(unknown),\#(Self.anasBlock),\#(unknown)]}"#)
        try await world.call(.post, Content.blocks, .token, Content.ofAna(#""content_block_ids":[]"#))
            .expect(200, #"{"success":true,"data":[]}"#)
    }

    @Test("a block is not for others, and speaks to each of its readers")
    func blockAudience() async throws {
        let world = try await World()
        let asked = #""content_block_ids":["block-2"]"#
        try await world.call(.post, Content.blocks, .token, Content.ofGuest(asked)).expect(
            200, #"{"success":true,"data":[{"id":"block-2","status":"filter_not_matched","ttl_seconds":60}]}"#)
        let ben = try await world.call(.post, Content.blocks, .token, Content.ofBen(asked))
        #expect(ben.json["data"]?[0]?["content"]?["html"] == "<div>Hello there</div>")
    }

    @Test("a client that has the answer gets 304 and nothing", arguments: Depth.allCases)
    func entityTags(_ depth: Depth) async throws {
        let world = try await World(depth)
        let body = Content.ofAna(#""content_block_ids":["block-2"]"#)
        let first = try await world.call(.post, Content.blocks, .token, body)
        let tag = try #require(first["etag"])
        for known in [tag, "W/" + tag, "\"other\", \(tag)", "*"] {
            let answer = try await world.call(
                .post, Content.blocks, .token + [("if-none-match", known)], body)
            answer.expect(304, "")
            #expect(answer["etag"] == tag)
            #expect(answer["content-type"] == nil)
        }
        try await world.call(.post, Content.blocks, .token + [("if-none-match", "\"other\"")], body)
            .expect(200, first.text)
        let ben = try await world.call(
            .post, Content.blocks, .token + [("if-none-match", tag)],
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
        try await World().call(.post, Content.blocks, .token, body)
            .expect(400, #"{"success":false,"error":"\#(text)"}"#, failure)
    }

    @Test("a customer token must be of the ids that ask for a block")
    func blockBinding() async throws {
        let answer = try await World().call(
            .post, Content.blocks, .bearer, Content.ofBen(#""content_block_ids":["block-2"]"#))
        #expect(answer.failure == "customer-token-ids-mismatch")
    }
}
