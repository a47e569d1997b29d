import JSON
import Support
import Testing

/// The rules of the app inbox beyond the spec's examples.
@Suite("Bloomreach's app inbox")
struct InboxTests {
    private typealias Content = ContentExample

    // MARK: - Ownership

    @Test("it is shared by the devices of a customer, and read flags stay")
    func shared() async throws {
        let world = try await World()
        try await world.markAsRead(#"["msg-html-1"]"#, owner: #""customer_ids":{"registered":"ana@example.test"}"#)
            .expect(200, Content.done)
        let other = try await world.call(
            .post, Example.inbox, .token,
            #"{"customer_ids":{"cookie":"another-device","registered":"ana@example.test"}}"#)
        #expect(other.json["messages"]?.array?.map { $0["is_read"] } == [false, true])
        #expect(other.json["sync_token"] == "v1.1.1.3")
    }

    @Test("a cookie alone opens none, not even that of a known customer")
    func cookieAlone() async throws {
        let world = try await World()
        let body = #"{"customer_ids":{"cookie":"c0000000-0000-4000-8000-00000000000a"}}"#
        try await world.call(.post, Example.inbox, .token, body).expect(200, Content.noMessages)
        try await world.call(.post, Example.inbox, .token, #"{"customer_ids":{"registered":"nobody"}}"#)
            .expect(200, Content.noMessages)
        try await world.markAsRead(#"["msg-push-1"]"#, owner: String(body.dropFirst().dropLast()))
            .expect(400, #"{"success":false,"error":"unknown message id"}"#, "message-not-found")
    }

    @Test("another project's customer of the same ids has another one")
    func otherProject() async throws {
        let world = try await World()
        try await world.call(
            .post, "/webxp/projects/demo-project-2/appinbox/fetch", [("authorization", "Token pubkey-demo-2")],
            Content.ofAna()
        ).expect(200, Content.noMessages)
    }

    @Test("a stream shows that of its project to a token", arguments: Depth.allCases)
    func stream(_ depth: Depth) async throws {
        let world = try await World(depth)
        try await world.call(.post, Example.streamInbox, .streamBearer, Content.ofAna())
            .expect(200, Content.anasInbox)
        try await world.call(.post, Example.streamInbox, .streamBearer, "{}").expect(200, Content.anasInbox)
        try await world.call(
            .post, "/webxp/streams/demo-stream-1/appinbox/markasread", .streamBearer,
            #"{"message_ids":["msg-push-1"],"sync_token":"v1.1.1.2"}"#
        ).expect(200, Content.done)
        #expect(try await world.fetchInbox(#""sync_token":"v1.1.1.2""#).messageIDs == ["msg-push-1"])
    }

    // MARK: - Listed messages

    @Test("messages for another application are left out, and come to it")
    func applications() async throws {
        let world = try await World()
        try await world.act(
            "add-inbox-message",
            #"{"customer":"ana@example.test","message":{"id":"m","type":"push","application_id":"tv","content":{}}}"#)
        #expect(try await world.fetchInbox().messageIDs == ["msg-push-1", "msg-html-1"])
        #expect(
            try await world.fetchInbox(#""application_id":"default-application""#).messageIDs
                == ["msg-push-1", "msg-html-1"])
        #expect(
            try await world.fetchInbox(#""application_id":"tv""#).messageIDs == ["m", "msg-push-1", "msg-html-1"])
    }

    @Test("messages that expired are left out, from their very moment on")
    func expiry() async throws {
        let world = try await World()
        try await world.fetchInbox().expect(200, Content.anasInbox)
        try await world.freeze(at: 1_802_591_999)
        #expect(try await world.fetchInbox().messageIDs.count == 2)
        try await world.freeze(at: 1_802_592_000)
        try await world.fetchInbox().expect(200, #"{"success":true,"messages":[],"sync_token":"v1.1.1.2"}"#)
    }

    @Test("messages of the fixtures are fresh in any year: their times count from the sandbox's first request")
    func freshness() async throws {
        let world = try await World(at: 2_000_000_000)
        let fetched = try await world.fetchInbox()
        #expect(fetched.messageIDs == ["msg-push-1", "msg-html-1"])
        let message = fetched.json["messages"]?[0]
        #expect(message?["create_time"]?.text == "1999999900.5")
        #expect(message?["expire_time"]?.text == "2002592000")
        // Later messages are newer, and time passes for all of them.
        try await world.freeze(at: 2_000_000_010)
        try await world.act(
            "add-inbox-message",
            #"{"customer":"ana@example.test","message":{"id":"m","type":"push","expire_time":"40d","content":{}}}"#)
        #expect(try await world.fetchInbox().messageIDs == ["m", "msg-push-1", "msg-html-1"])
        try await world.freeze(at: 2_002_592_000)
        let late = try await world.fetchInbox()
        #expect(late.messageIDs == ["m"])
        #expect(late.json["messages"]?[0]?["expire_time"]?.text == "2003456010")
        // A reset starts over.
        try await world.control(.post, "reset")
        try await world.freeze(at: 2_002_592_000)
        #expect(try await world.fetchInbox().messageIDs == ["msg-push-1", "msg-html-1"])
    }

    @Test("the beginning of a sandbox leaves with its inboxes, and comes back with them")
    func beginning() async throws {
        let (world, other) = (try await World(), try await World(at: 1_900_000_000))
        let before = try await world.fetchInbox().text
        let exported = try await world.control(.get, "state/bloomreach")
        #expect(exported.json["content"]?["started_at"]?.number?.double == 1_800_000_000)
        #expect(exported.text.contains(#""create_time":"-99.5s","expire_time":"2592000s""#), "\(exported.text)")
        #expect(try await other.control(.put, "state/bloomreach", exported.text).status == 200)
        #expect(try await other.fetchInbox().messageIDs == [], "they expired in the meantime")
        try await other.freeze(at: World.exampleMoment)
        #expect(try await other.fetchInbox().text == before)
    }

    @Test("the newest comes first, and of one time the one that was added last")
    func order() async throws {
        let world = try await World()
        for (id, time) in [("old", 1), ("first", 1_800_000_000), ("second", 1_800_000_000)] {
            let message = #"{"id":"\#(id)","type":"push","create_time":\#(time),"content":{"title":"t"}}"#
            let added = try await world.act(
                "add-inbox-message", #"{"customer":"ana@example.test","message":\#(message)}"#)
            #expect(added.status == 200, "\(added.text)")
        }
        #expect(
            try await world.fetchInbox().messageIDs == ["second", "first", "msg-push-1", "msg-html-1", "old"])
    }

    // MARK: - Changes of the customer

    @Test("a customer who becomes anonymous loses it, and old tokens are stale for whoever gets the ids back")
    func anonymized() async throws {
        let world = try await World()
        try await world.call(
            .post, "/data/v2/projects/demo-project-1/customers/anonymize", .basic, Content.ofAna()
        ).expect(200, Content.done)
        try await world.call(.post, Example.inbox, .token, Content.ofAna()).expect(200, Content.noMessages)
        try await world.call(
            .post, "/track/v2/projects/demo-project-1/customers", .token, Content.ofAna(#""properties":{}"#)
        ).expect(200)
        try await world.fetchInbox(#""sync_token":"v1.1.1.2""#).expect(410, Content.staleToken, "sync-token-stale")
    }

    @Test("a guest who signs in finds that of the customer")
    func signIn() async throws {
        let world = try await World()
        let ids = #""customer_ids":{"cookie":"c0000000-0000-4000-8000-00000000000c","registered":"ana@example.test"}"#
        try await world.call(
            .post, "/track/v2/projects/demo-project-1/customers", .token, #"{\#(ids),"properties":{}}"#
        ).expect(200)
        try await world.call(.post, Example.inbox, .token, "{\(ids)}").expect(200, Content.anasInbox)
    }

    @Test("a token that is minted for other ids does not open it")
    func binding() async throws {
        let world = try await World()
        let body = #"{"error":"token does not belong to these customer ids","success":false}"#
        let answer = try await world.call(.post, Example.inbox, .bearer, Content.ofBen())
        #expect(answer.status == 401)
        #expect(answer.json.isEquivalent(to: try JSON.parse(body.utf8)))
        #expect(answer.failure == "customer-token-ids-mismatch")
        let marked = try await world.call(
            .post, Example.markAsRead, .bearer,
            Content.ofBen(#""message_ids":["msg-push-2"],"sync_token":"v1.2.1.1""#))
        #expect(marked.failure == "customer-token-ids-mismatch")
    }
}
