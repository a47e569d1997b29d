import Emulation
import JSON
import Support
import Testing

@testable import Bloomreach

/// What sync tokens tell clients, and how messages are marked as read.
@Suite("Bloomreach's sync tokens and read flags")
struct SyncTokenTests {
    private typealias Content = ContentExample

    // MARK: - Sync tokens

    @Test(
        "a token of this inbox that is ahead, or of another one, brings all messages",
        arguments: ["v1.1.1.9", "v1.1.2.0", "v1.1.9.99", "v1.2.1.1", "v1.77.5.0", "v1.2.1.999"])
    func lenient(_ token: String) async throws {
        try await World().fetchInbox(#""sync_token":"\#(token)""#).expect(200, Content.anasInbox)
    }

    @Test("no token, an empty one and null bring all messages", arguments: ["null", #""""#])
    func absent(_ token: String) async throws {
        try await World().fetchInbox(#""sync_token":\#(token)"#).expect(200, Content.anasInbox)
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
        #expect(answer.outcome(of: "sync-token") == .failed)
        try await world.markAsRead(#"["msg-push-1"]"#, token: #""\#(token)""#)
            .expect(410, Content.staleToken, "sync-token-unknown")
    }

    @Test("the first token is any of this epoch: what is stamped higher comes")
    func deltas() async throws {
        let world = try await World()
        #expect(try await world.fetchInbox(#""sync_token":"v1.1.1.0""#).messageIDs == ["msg-push-1", "msg-html-1"])
        #expect(try await world.fetchInbox(#""sync_token":"v1.1.1.1""#).messageIDs == ["msg-html-1"])
        #expect(try await world.fetchInbox(#""sync_token":"v1.1.1.2""#).messageIDs == [])
    }

    @Test("with full-resync nothing is refused, and everything comes")
    func fullResync() async throws {
        let world = try await World()
        try await world.set("bloomreach.sync-token-check", "full-resync")
        try await world.fetchInbox(#""sync_token":"abc""#).expect(200, Content.anasInbox)
        try await world.act("clear-inbox", #"{"customer":"ana@example.test"}"#)
        try await world.fetchInbox(#""sync_token":"v1.1.1.2""#)
            .expect(200, #"{"success":true,"messages":[],"sync_token":"v1.1.2.2"}"#)
        try await world.set("bloomreach.sync-token-check", "gone")
        try await world.fetchInbox(#""sync_token":"v1.1.1.2""#).expect(410, Content.staleToken, "sync-token-stale")
    }

    @Test("with full-resync a message is marked whatever token comes with it")
    func fullResyncMarks() async throws {
        let world = try await World()
        try await world.set("bloomreach.sync-token-check", "full-resync")
        try await world.markAsRead(#"["msg-push-1"]"#, token: #""abc""#).expect(200, Content.done)
    }

    // MARK: - Marking

    @Test("what is read already takes no new number, and one message may be named twice")
    func markTwice() async throws {
        let world = try await World()
        for _ in 0..<2 { try await world.markAsRead(#"["msg-push-1","msg-push-1"]"#).expect(200, Content.done) }
        #expect(try await world.fetchInbox().json["sync_token"] == "v1.1.1.3")
    }

    @Test("an unknown message has none marked")
    func unknownMessage() async throws {
        let world = try await World()
        let answer = try await world.markAsRead(#"["msg-push-1","msg-push-2"]"#)
        answer.expect(400, #"{"success":false,"error":"unknown message id"}"#, "message-not-found")
        #expect(answer.entry?.record.reason?.contains("msg-push-2") == true)
        try await world.fetchInbox().expect(200, Content.anasInbox)
    }

    @Test("the token that came with a message may be old, and of another customer")
    func oldTokens() async throws {
        let world = try await World()
        for token in [#""v1.1.1.0""#, #""v1.9.9.9""#] {
            try await world.markAsRead(#"["msg-push-1"]"#, token: token).expect(200, Content.done)
        }
    }

    @Test(
        "fields are checked in their order",
        arguments: [
            (
                #"{"message_ids":["m"],"sync_token":"v1.1.1.2"}"#, #"Must specify at least one customer ID"#,
                "no-customer-ids"
            ),
            (#"{"customer_ids":3}"#, "Field 'customer_ids' is invalid.", "invalid-field"),
            (#"{"customer_ids":{"registered":1}}"#, "Field 'customer_ids' is invalid.", "invalid-field"),
            (Content.ofAna(), "Field 'message_ids' is required.", "missing-field"),
            (Content.ofAna(#""message_ids":null"#), "Field 'message_ids' is required.", "missing-field"),
            (Content.ofAna(#""message_ids":"m""#), "Field 'message_ids' is invalid.", "invalid-field"),
            (Content.ofAna(#""message_ids":[]"#), "Field 'message_ids' is invalid.", "invalid-field"),
            (Content.ofAna(#""message_ids":["m",1]"#), "Field 'message_ids' is invalid.", "invalid-field"),
            (
                Content.ofAna(#""message_ids":[\#(String(repeating: "\"m\",", count: 200))"m"]"#),
                "Field 'message_ids' is invalid.", "invalid-field"
            ),
            (Content.ofAna(#""message_ids":["m"]"#), "Field 'sync_token' is required.", "missing-field"),
            (Content.ofAna(#""message_ids":["m"],"sync_token":1"#), "Field 'sync_token' is invalid.", "invalid-field"),
        ])
    func markFields(_ body: String, _ text: String, _ failure: String) async throws {
        try await World().call(.post, Example.markAsRead, .token, body)
            .expect(400, #"{"success":false,"error":"\#(text)"}"#, failure)
    }

    @Test(
        "a fetch checks its fields too",
        arguments: [
            (#"{}"#, #"Must specify at least one customer ID"#, "no-customer-ids"),
            (Content.ofAna(#""application_id":1"#), "Field 'application_id' is invalid.", "invalid-field"),
            (Content.ofAna(#""sync_token":1"#), "Field 'sync_token' is invalid.", "invalid-field"),
            (
                Content.ofAna(#""application_id":1,"sync_token":1"#), "Field 'application_id' is invalid.",
                "invalid-field"
            ),
        ])
    func fetchFields(_ body: String, _ text: String, _ failure: String) async throws {
        try await World().call(.post, Example.inbox, .token, body)
            .expect(400, #"{"success":false,"error":"\#(text)"}"#, failure)
    }

    // MARK: - Values

    @Test("a token is read in the one form that it is written in")
    func tokenForm() {
        #expect(SyncToken("v1.3.2.10") == SyncToken(customer: 3, epoch: 2, counter: 10))
        #expect(SyncToken(customer: 3, epoch: 2, counter: 10).text == "v1.3.2.10")
        #expect(SyncToken("v1.3.2.0") != nil)
    }
}
