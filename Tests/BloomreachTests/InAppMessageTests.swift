import JSON
import Support
import Testing

/// The rules of in-app messages beyond the spec's examples.
@Suite("Bloomreach's in-app messages")
struct InAppMessageTests {
    private typealias Content = ContentExample

    @Test(
        "rich messages come to those alone who say that they read them",
        arguments: [
            ("", 1), ("?v=1", 1), ("?v=2", 1), ("?compatibility=2", 1), ("?compatibility=", 1), ("?compatibility=x", 1),
            ("?compatibility=3", 2), ("?compatibility=4", 2), ("?other=1&compatibility=3", 2),
        ])
    func compatibility(_ query: String, _ count: Int) async throws {
        let answer = try await World().call(.post, Content.messages + query, .token, Content.ofGuest())
        answer.expect(200)
        #expect(answer.json["data"]?.array?.count == count)
    }

    @Test("a message with an audience comes to those it names, in their own words")
    func audience() async throws {
        let world = try await World()
        let ana = try await world.call(.post, Content.messages, .token, Content.ofAna(#""device":"ios""#))
        #expect(ana.json["data"]?.array?.map { $0["id"] } == ["inapp-1", "inapp-html-1"])
        #expect(ana.text.contains("<h1>Happy birthday, Ana</h1>"))
        #expect(ana.json["data"]?[1]?["close_timeout"] == .null, "what the fixture leaves out is null")
        #expect(ana.json["data"]?[1]?["date_filter"]?.text == #"{"enabled":false,"from_date":null,"to_date":null}"#)
        #expect(ana.json["data"]?[1]?["audience"] == nil)
        let ben = try await world.call(.post, Content.messages, .token, Content.ofBen())
        #expect(ben.json["data"]?.array?.map { $0["id"] } == ["inapp-1"])
    }

    @Test("personal words are those of the moment, and nothing in them ends a string")
    func changedProperty() async throws {
        let world = try await World()
        try await world.call(
            .post, "/track/v2/projects/demo-project-1/customers", .token,
            Content.ofAna(#""properties":{"first_name":"A\"}]<b>"}"#)
        ).expect(200)
        let ana = try await world.call(.post, Content.messages, .token, Content.ofAna())
        #expect(
            ana.json["data"]?[1]?["payload_html"]?.string?.contains(#"<h1>Happy birthday, A"}]<b></h1>"#) == true)
    }

    @Test("somebody unknown gets what everybody gets")
    func unknownReader() async throws {
        try await World().call(.post, Content.messages, .token, #"{"customer_ids":{"registered":"x"}}"#)
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
        try await World().call(.post, Content.messages, .token, body)
            .expect(400, #"{"success":false,"error":"\#(text)"}"#, failure)
    }
}
