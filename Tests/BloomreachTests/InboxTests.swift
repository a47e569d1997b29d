import Emulation
import Expectations
import JSON
import Support
import Testing

@testable import Bloomreach

@Suite("Bloomreach's app inbox") struct InboxTests {
    private typealias Content = ContentExample

    // MARK: - Ownership

    @Test("another project's customer of the same ids has another one") func otherProject() async throws {
        let world = try await World()
        try await world.call(
            .post, "/webxp/projects/demo-project-2/appinbox/fetch", [("authorization", "Token pubkey-demo-2")],
            Content.ofAna()
        ).expect(200, Content.noMessages)
    }

    // MARK: - Listed messages

    @Test("messages for another application are left out, and come to it") func applications() async throws {
        let world = try await World()
        try await world.act(
            "add-inbox-message",
            #"{"customer":"ana@example.test","message":{"id":"m","type":"push","application_id":"tv","content":{}}}"#)
        expect(try await world.fetchInbox().messageIDs, is: ["msg-push-1", "msg-html-1"])
        expect(
            try await world.fetchInbox(#""application_id":"default-application""#).messageIDs,
            is: ["msg-push-1", "msg-html-1"])
        expect(try await world.fetchInbox(#""application_id":"tv""#).messageIDs, is: ["m", "msg-push-1", "msg-html-1"])
    }

    @Test("messages that expired are left out, from their very moment on") func expiry() async throws {
        let world = try await World()
        expect(try await world.fetchInbox().messageIDs.count, is: 2)
        try await world.freeze(at: 1_802_591_999)
        expect(try await world.fetchInbox().messageIDs.count, is: 2)
        try await world.freeze(at: 1_802_592_000)
        try await world.fetchInbox().expect(200, #"{"success":true,"messages":[],"sync_token":"v1.1.1.2"}"#)
    }

    @Test("messages of the fixtures are fresh in any year: their times count from the sandbox's first request")
    func freshness() async throws {
        let world = try await World(at: 2_000_000_000)
        let fetched = try await world.fetchInbox()
        expect(fetched.messageIDs, is: ["msg-push-1", "msg-html-1"])
        let message = fetched.json["messages"]?[0]
        expect(message?["create_time"]?.text, is: "1999999900.5")
        expect(message?["expire_time"]?.text, is: "2002592000")
        // Later messages are newer, and time passes for all of them.
        try await world.freeze(at: 2_000_000_010)
        try await world.act(
            "add-inbox-message",
            #"{"customer":"ana@example.test","message":{"id":"m","type":"push","expire_time":"40d","content":{}}}"#)
        expect(try await world.fetchInbox().messageIDs, is: ["m", "msg-push-1", "msg-html-1"])
        try await world.freeze(at: 2_002_592_000)
        let late = try await world.fetchInbox()
        expect(late.messageIDs, is: ["m"])
        expect(late.json["messages"]?[0]?["expire_time"]?.text, is: "2003456010")
        // A reset starts over.
        try await world.control(.post, "reset")
        try await world.freeze(at: 2_002_592_000)
        expect(try await world.fetchInbox().messageIDs, is: ["msg-push-1", "msg-html-1"])
    }

    @Test("the beginning of a sandbox leaves with its inboxes, and comes back with them")
    func beginning() async throws {
        let (world, other) = (try await World(), try await World(at: 1_900_000_000))
        let before = try await world.fetchInbox().text
        let exported = try await world.control(.get, "state/bloomreach")
        expect(exported.json["content"]?["started_at"]?.number?.double, is: 1_800_000_000)
        #expect(exported.text.contains(#""create_time":"-99.5s","expire_time":"2592000s""#), "\(exported.text)")
        expect(try await other.control(.put, "state/bloomreach", exported.text).status, is: 200)
        expect(try await other.fetchInbox().messageIDs, is: [], "they expired in the meantime")
        try await other.freeze(at: World.exampleMoment)
        expect(try await other.fetchInbox().text, is: before)
    }

    @Test("the newest comes first, and of one time the one that was added last") func order() async throws {
        let world = try await World()
        for (id, time) in [("old", 1), ("first", 1_800_000_000), ("second", 1_800_000_000)] {
            let message = #"{"id":"\#(id)","type":"push","create_time":\#(time),"content":{"title":"t"}}"#
            let added = try await world.act(
                "add-inbox-message", #"{"customer":"ana@example.test","message":\#(message)}"#)
            expect(added.status, is: 200, "\(added.text)")
        }
        expect(try await world.fetchInbox().messageIDs, is: ["second", "first", "msg-push-1", "msg-html-1", "old"])
    }

    // MARK: - Changes of the customer

    @Test("a guest who signs in finds that of the customer") func signIn() async throws {
        let world = try await World()
        let ids = #"{"cookie":"\#(Example.cookieGuest)","registered":"ana@example.test"}"#
        try await world.update(ids).expect(200)
        let inbox = try await world.call(.post, Example.inbox, .token, Example.body(ids))
        inbox.expect(200, try await Content.anasInbox())
    }

    @Test("a customer who becomes anonymous loses it, and old tokens are stale for whoever gets the ids back")
    func anonymized() async throws {
        let world = try await World()
        try await world.call(.post, Example.data + "/anonymize", .basic, Content.ofAna()).expect(200, Example.done)
        try await world.fetchInbox().expect(200, Content.noMessages)
        try await world.update(Example.ana).expect(200)
        try await world.fetchInbox(#""sync_token":"v1.1.1.2""#).expect(410, Content.staleToken, "sync-token-stale")
    }
}

@Suite("Bloomreach's sync tokens and read flags") struct SyncTokenTests {
    private typealias Content = ContentExample

    // MARK: - Sync tokens

    @Test(
        "a token of this inbox that is ahead, one of another inbox, an empty one and null bring all messages",
        arguments: ["v1.1.1.9", "v1.1.2.0", "v1.1.9.99", "v1.2.1.1", "v1.77.5.0", "v1.2.1.999", ""].map { "\"\($0)\"" }
            + ["null"])
    func lenient(_ token: String) async throws {
        try await World().fetchInbox(#""sync_token":\#(token)"#).expect(200, try await Content.anasInbox())
    }

    @Test(
        "a string of any other form is refused",
        arguments: [
            "abc", "v1", "v1.1.1", "v1.1.1.2.3", "v2.1.1.2", "V1.1.1.2", "v1.1.1.-2", "v1.1.1.+2", "v1.01.1.2",
            "v1.1.1.", "v1..1.2", "v1.0.1.2", "v1.1.0.2", " v1.1.1.2", "v1.1.1.99999999999999999999", "v1.1.1.2\\n",
            "v1.१.1.2",
        ])
    func unreadable(_ token: String) async throws {
        let world = try await World()
        let answer = try await world.fetchInbox(#""sync_token":"\#(token)""#)
        answer.expect(410, Content.staleToken, "sync-token-unknown")
        expect(answer.outcome(of: "sync-token"), is: .failed)
        try await world.markAsRead(#"["msg-push-1"]"#, token: #""\#(token)""#)
            .expect(410, Content.staleToken, "sync-token-unknown")
    }

    @Test("the first token is any of this epoch: what is stamped higher comes")
    func deltas() async throws {
        let world = try await World()
        expect(try await world.fetchInbox(#""sync_token":"v1.1.1.0""#).messageIDs, is: ["msg-push-1", "msg-html-1"])
        expect(try await world.fetchInbox(#""sync_token":"v1.1.1.1""#).messageIDs, is: ["msg-html-1"])
        expect(try await world.fetchInbox(#""sync_token":"v1.1.1.2""#).messageIDs, is: [])
    }

    @Test("with full-resync nothing is refused, everything comes, and a message is marked whatever token comes with it")
    func fullResync() async throws {
        let world = try await World()
        try await world.set("bloomreach.sync-token-check", "full-resync")
        try await world.fetchInbox(#""sync_token":"abc""#).expect(200, try await Content.anasInbox())
        try await world.markAsRead(#"["msg-push-1"]"#, token: #""abc""#).expect(200, Example.done)
        try await world.act("clear-inbox", #"{"customer":"ana@example.test"}"#)
        try await world.fetchInbox(#""sync_token":"v1.1.1.2""#)
            .expect(200, #"{"success":true,"messages":[],"sync_token":"v1.1.2.3"}"#)
        try await world.set("bloomreach.sync-token-check", "gone")
        try await world.fetchInbox(#""sync_token":"v1.1.1.2""#).expect(410, Content.staleToken, "sync-token-stale")
    }

    // MARK: - Marking

    @Test("what is read already takes no new number, and one message may be named twice")
    func markTwice() async throws {
        let world = try await World()
        for _ in 0..<2 { try await world.markAsRead(#"["msg-push-1","msg-push-1"]"#).expect(200, Example.done) }
        expect(try await world.fetchInbox().json["sync_token"], is: "v1.1.1.3")
    }

    @Test("an unknown message has none marked")
    func unknownMessage() async throws {
        let world = try await World()
        let answer = try await world.markAsRead(#"["msg-push-1","msg-push-2"]"#)
        answer.expect(400, #"{"success":false,"error":"unknown message id"}"#, "message-not-found")
        expect(answer.entry?.record.reason?.contains("msg-push-2"), is: true)
        try await world.fetchInbox().expect(200, try await Content.anasInbox())
    }

    @Test("the token that came with a message may be old, and of another customer")
    func oldTokens() async throws {
        let world = try await World()
        for token in [#""v1.1.1.0""#, #""v1.9.9.9""#] {
            try await world.markAsRead(#"["msg-push-1"]"#, token: token).expect(200, Example.done)
        }
    }

    @Test("a token is read in the one form that it is written in")
    func tokenForm() {
        expect(SyncToken("v1.3.2.10"), is: SyncToken(customer: 3, epoch: 2, counter: 10))
        expect(SyncToken(customer: 3, epoch: 2, counter: 10).text, is: "v1.3.2.10")
        #expect(SyncToken("v1.3.2.0") != nil)
    }
}
