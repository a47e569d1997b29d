import Emulation
import Expectations
import JSON
import Support
import Testing

@testable import Bloomreach

@Suite("Bloomreach's actions on content") struct ContentActionTests {
    private static let ana = #""customer":"ana@example.test""#
    private static let message = #""message":{"id":"m","type":"push","content":{"title":"t"}}"#

    @Test("each action is there and does something") func all() async throws {
        let world = try await World()
        let orders = [
            ("add-inbox-message", "{\(Self.ana),\(Self.message)}", "v1.1.1.3"),
            ("read-inbox-message", #"{\#(Self.ana),"message":"m"}"#, "v1.1.1.4"),
            ("expire-inbox-message", #"{\#(Self.ana),"message":"m"}"#, "v1.1.1.4"),
            ("delete-inbox-message", #"{\#(Self.ana),"message":"m"}"#, "v1.1.2.4"),
            ("clear-inbox", "{\(Self.ana)}", "v1.1.3.4"),
        ]
        for (action, order, token) in orders {
            let answer = try await world.act(action, order)
            expect(answer.status, is: 200, "\(action): \(answer.text)")
            expect(answer.json["sync_token"], is: .string(token), "\(action)")
        }
        try await world.fetchInbox().expect(200, #"{"success":true,"messages":[],"sync_token":"v1.1.3.4"}"#)
        let others = [
            ("set-segments", #"{\#(Self.ana),"segments":{}}"#),
            ("set-consent", #"{\#(Self.ana),"category":"newsletter","value":false}"#),
        ]
        for (action, order) in others { expect(try await world.act(action, order).status, is: 200) }
        expect(
            Set(Bloomreach.contentActions.map(\.listing.name)), is: Set(orders.map(\.0) + others.map(\.0)),
            "an action without a case")
    }

    @Test("a message gets an id and its times unless it has them") func defaults() async throws {
        let world = try await World()
        let added = try await world.act(
            "add-inbox-message", #"{\#(Self.ana),"message":{"type":"html","content":{"message":"<p>"}}}"#)
        let id = try #require(added.json["message"]?.string)
        #expect(id.hasPrefix("msg-"))
        let first = try await world.fetchInbox(#""sync_token":"v1.1.1.2""#)
        first.expect(
            200,
            #"{"success":true,"messages":[{"id":"\#(id)","type":"html","is_read":false,"create_time":1800000000,"#
                + #""expire_time":1802592000,"content":{"message":"<p>"}}],"sync_token":"v1.1.1.3"}"#)
        let read = try await world.act(
            "add-inbox-message",
            #"{\#(Self.ana),"message":{"id":"r","type":"push","is_read":true,"create_time":1,"expire_time":1900000000.5,"#
                + #""content":{}}}"#)
        expect(read.status, is: 200)
        expect(
            try await world.fetchInbox(#""sync_token":"v1.1.1.3""#).json["messages"]?[0]?.text,
            is: #"{"id":"r","type":"push","is_read":true,"create_time":1,"expire_time":1900000000.5,"content":{}}"#)
    }

    @Test("a message that expires is left out without a new epoch") func expiry() async throws {
        let world = try await World()
        try await world.act("expire-inbox-message", #"{\#(Self.ana),"message":"msg-push-1"}"#)
        expect(try await world.fetchInbox().messageIDs, is: ["msg-html-1"])
        expect(try await world.fetchInbox(#""sync_token":"v1.1.1.2""#).status, is: 200)
    }

    @Test("a customer may be named by any id, and of any project") func customers() async throws {
        let world = try await World()
        let cookie = #"{"customer":{"cookie":"\#(Example.cookieBen)"},\#(Self.message)}"#
        expect(try await world.act("add-inbox-message", cookie).json["customer"], is: 2)
        let other = #"{"project":"demo-project-2",\#(Self.ana),\#(Self.message)}"#
        let refused = try await world.act("add-inbox-message", other)
        expect(refused.status, is: 400)
        #expect(refused.text.contains("has one of the ids"))
    }

    @Test(
        "an order of any action that cannot be done says why, and changes nothing",
        arguments: [
            ("identify-customer", #"{"customer":{}}"#, "names no id"),
            ("identify-customer", #"{"customer":{"registered":7}}"#, "not a map of ids"),
            ("identify-customer", #"{\#(ana),"project":"demo"}"#, "demo-project-1"),
            ("delete-customer", #"{"customer":"anna@example.test"}"#, "did you mean “ana@example.test”"),
            ("track-event", #"{"customer":"a","event_type":""}"#, "event_type must have"),
            ("track-event", #"{"customer":"a","event_type":"x","timestamp":"soon"}"#, "invalid-field"),
            ("track-event", #"{"customer":"a","event_type":"x","properties":7}"#, "expected an object"),
            ("read-customer", "{}", "needs the member customer"),
            ("expect-event", #"{"exactly":1,"at_least":1}"#, "cannot be combined"),
            ("expect-event", #"{"at_least":3,"at_most":2}"#, "nothing can be both"),
            ("expect-event", #"{"properties":{"x":{}}}"#, "demands nothing"),
            ("add-inbox-message", #"{"customer":"nobody",\#(message)}"#, "has one of the ids"),
            ("add-inbox-message", #"{"customer":{"a":1},\#(message)}"#, "not a map of ids"),
            ("add-inbox-message", #"{\#(message)}"#, "customer"),
            (
                "add-inbox-message", #"{"project":"demo-project-3",\#(ana),\#(message)}"#,
                "no project has the token demo-project-3"
            ),
            (
                "add-inbox-message", #"{"customer":\#(Example.guest),\#(message)}"#,
                "no hard id, and so no app inbox"
            ),
            ("add-inbox-message", #"{\#(ana),"message":"m"}"#, "member “type” is missing"),
            (
                "add-inbox-message", #"{\#(ana),"message":{"type":"sms","content":{}}}"#,
                "“sms” is not one of push, html"
            ),
            (
                "add-inbox-message", #"{\#(ana),"message":{"type":"html","content":{}}}"#,
                "content: member “message” is missing"
            ),
            (
                "add-inbox-message", #"{\#(ana),"message":{"type":"push","content":{},"stamp":9}}"#,
                "unknown member “stamp”"
            ),
            (
                "add-inbox-message", #"{\#(ana),"message":{"id":"msg-push-1","type":"push","content":{}}}"#,
                "the inbox has a message msg-push-1 already"
            ),
            (
                "add-inbox-message",
                #"{\#(ana),"message":{"type":"push","content":{"title":"\#(String(repeating: "x", count: 66_000))"}}}"#,
                "expected at most 65536"
            ),
            (
                "delete-inbox-message", #"{\#(ana),"message":"msg-push-2"}"#,
                "no message msg-push-2; did you mean “msg-push-1”?"
            ),
            ("expire-inbox-message", #"{\#(ana),"message":"x"}"#, "no message x"),
            ("read-inbox-message", #"{\#(ana)}"#, "message"),
            ("clear-inbox", #"{"customer":"nobody"}"#, "nobody"),
            ("set-segments", #"{\#(ana),"segments":{"content":[{"id":1}]}}"#, "content[0].id"),
            (
                "set-segments",
                #"{\#(ana),"segments":{"content":[{"id":"\#(String(repeating: "x", count: 17_000))"}]}}"#,
                "expected at most 16384"
            ),
            ("set-consent", #"{\#(ana),"category":"x","value":true}"#, "no consent category x"),
            ("set-consent", #"{\#(ana),"category":"newsletter","value":1}"#, "expected true or false"),
        ])
    func refusals(_ action: String, _ order: String, _ text: String) async throws {
        let world = try await World()
        let before = try await world.control(.get, "state/bloomreach").text
        let answer = try await world.act(action, order)
        expect(answer.status, is: 400, "\(answer.text)")
        #expect(answer.text.contains(text), "\(answer.text)")
        expect(try await world.control(.get, "state/bloomreach").text, is: before)
    }

    @Test("an inbox takes so many messages and no more") func capacity() async throws {
        let world = try await World()
        for number in 3...Inbox.capacity {
            let order = #"{\#(Self.ana),"message":{"id":"m\#(number)","type":"push","content":{}}}"#
            expect(try await world.act("add-inbox-message", order).status, is: 200)
        }
        let full = try await world.act("add-inbox-message", "{\(Self.ana),\(Self.message)}")
        expect(full.status, is: 400)
        #expect(full.text.contains("the inbox is full"))
        expect(try await world.fetchInbox().messageIDs.count, is: Inbox.capacity)
        try await world.act("delete-inbox-message", #"{\#(Self.ana),"message":"m3"}"#)
        expect(try await world.act("add-inbox-message", "{\(Self.ana),\(Self.message)}").status, is: 200)
    }
}

@Suite("Bloomreach's content blocks") struct ContentBlockTests {
    private typealias Content = ContentExample

    @Test("a client that has the answer gets 304 and nothing") func entityTags() async throws {
        let world = try await World()
        let body = Content.ofAna(#""content_block_ids":["block-2"]"#)
        let first = try await world.call(.post, Content.blocks, .token, body)
        let tag = try #require(first["etag"])
        for known in [tag, "W/" + tag, "\"other\", \(tag)", "*"] {
            let answer = try await world.call(.post, Content.blocks, .token + [("if-none-match", known)], body)
            answer.expect(304, "")
            expect(answer["etag"], is: tag)
            expect(answer["content-type"], is: nil)
        }
        try await world.call(.post, Content.blocks, .token + [("if-none-match", "\"other\"")], body)
            .expect(200, first.text)
        let ben = try await world.call(
            .post, Content.blocks, .token + [("if-none-match", tag)],
            Content.ofBen(#""content_block_ids":["block-2"]"#))
        ben.expect(200)
        #expect(ben["etag"] != tag)
    }

    @Test("a customer token must be of the ids that ask for a block") func blockBinding() async throws {
        let answer = try await World().call(
            .post, Content.blocks, .bearer, Content.ofBen(#""content_block_ids":["block-2"]"#))
        expect(answer.failure, is: "customer-token-ids-mismatch")
    }
}

@Suite("Bloomreach's in-app messages") struct InAppMessageTests {
    private typealias Content = ContentExample

    @Test("a message with an audience comes to those it names, in their own words") func audience() async throws {
        let world = try await World()
        let ana = try await world.call(.post, Content.messages, .token, Content.ofAna(#""device":"ios""#))
        expect(ana.json["data"]?.array?.map { $0["id"] }, is: ["inapp-1", "inapp-html-1"])
        #expect(ana.text.contains("<h1>Happy birthday, Ana</h1>"))
        expect(ana.json["data"]?[1]?["close_timeout"], is: .null, "what the fixture leaves out is null")
        expect(ana.json["data"]?[1]?["date_filter"]?.text, is: #"{"enabled":false,"from_date":null,"to_date":null}"#)
        expect(ana.json["data"]?[1]?["audience"], is: nil)
        let ben = try await world.call(.post, Content.messages, .token, Content.ofBen())
        expect(ben.json["data"]?.array?.map { $0["id"] }, is: ["inapp-1"])
    }

    @Test("personal words are those of the moment, and nothing in them ends a string")
    func changedProperty() async throws {
        let world = try await World()
        try await world.update(Example.ana, #"{"first_name":"A\"}]<b>"}"#).expect(200)
        let ana = try await world.call(.post, Content.messages, .token, Content.ofAna())
        expect(ana.json["data"]?[1]?["payload_html"]?.string?.contains(#"<h1>Happy birthday, A"}]<b></h1>"#), is: true)
    }

    @Test("somebody unknown gets what everybody gets") func unknownReader() async throws {
        let world = try await World()
        // Whole in the contract case of in-app messages.
        let guests = try await world.call(.post, Content.messages + "?v=1", .token, Example.body(Example.guest))
        try await world.call(.post, Content.messages, .token, Example.body(#"{"registered":"x"}"#))
            .expect(200, guests.text)
    }

    @Test("a project without messages answers with none") func noMessages() async throws {
        try await World().call(
            .post, "/webxp/s/demo-project-2/inappmessages", [("authorization", "Token pubkey-demo-2")], Content.ofAna()
        ).expect(200, #"{"success":true,"data":[]}"#)
    }
}
