import JSON
import Support
import Testing

/// The spec's acceptance examples for content that apps show, with the spec's numbers.
@Suite("Bloomreach's acceptance examples: content")
struct AcceptanceOfContentTests {
    private typealias Content = ContentExample

    @Test("9: consents are answered alike to POST and to GET", arguments: Depth.allCases)
    func consents(_ depth: Depth) async throws {
        let world = try await World(depth)
        try await world.call(.post, Content.consents, .token, "{}").expect(200, Content.consentCategories)
        try await world.call(.get, Content.consents, .token).expect(200, Content.consentCategories)
    }

    @Test("10: rich in-app messages come to those who can read them", arguments: Depth.allCases)
    func messages(_ depth: Depth) async throws {
        let world = try await World(depth)
        try await world.call(.post, Content.messages + "?v=1", .token, Content.ofGuest())
            .expect(200, #"{"success":true,"data":[\#(Content.welcome)]}"#)
        let rich = try await world.call(.post, Content.messages + "?compatibility=3", .token, Content.ofGuest())
        rich.expect(200)
        #expect(rich.json["data"]?.array?.map { $0["is_rich_text"] } == [false, true])
        #expect(rich.text.hasPrefix(#"{"success":true,"data":[\#(Content.welcome),"#))
    }

    @Test("13: the first fetch of an inbox", arguments: Depth.allCases)
    func fetch(_ depth: Depth) async throws {
        let world = try await World(depth)
        try await world.call(.post, Example.inbox, .token, Content.ofAna()).expect(200, Content.anasInbox)
    }

    @Test("14, 15: a message is read, and a delta tells so", arguments: Depth.allCases)
    func markAsRead(_ depth: Depth) async throws {
        let world = try await World(depth)
        try await world.fetchInbox().expect(200, Content.anasInbox)
        try await world.call(
            .post, Example.markAsRead, .token,
            Content.ofAna(#""message_ids":["msg-push-1"]"#, #""sync_token":"v1.1.1.2""#)
        ).expect(200, Content.done)
        try await world.fetchInbox(#""sync_token":"v1.1.1.2""#).expect(
            200, #"{"success":true,"messages":[\#(Content.pushMessage(isRead: true))],"sync_token":"v1.1.1.3"}"#)
        try await world.fetchInbox(#""sync_token":"v1.1.1.3""#)
            .expect(200, #"{"success":true,"messages":[],"sync_token":"v1.1.1.3"}"#)
    }

    @Test("16: a message is deleted, and the old token is over", arguments: Depth.allCases)
    func deletion(_ depth: Depth) async throws {
        let world = try await World(depth)
        try await world.fetchInbox().expect(200, Content.anasInbox)
        let deleted = try await world.act(
            "delete-inbox-message", #"{"customer":"ana@example.test","message":"msg-html-1"}"#)
        #expect(deleted.status == 200, "\(deleted.text)")
        try await world.fetchInbox(#""sync_token":"v1.1.1.2""#).expect(410, Content.staleToken, "sync-token-stale")
        try await world.fetchInbox()
            .expect(200, #"{"success":true,"messages":[\#(Content.pushMessage())],"sync_token":"v1.1.2.2"}"#)
    }

    @Test("17: another customer's token means nothing, and what is no token is refused", arguments: Depth.allCases)
    func foreignTokens(_ depth: Depth) async throws {
        let world = try await World(depth)
        let ben = try await world.call(
            .post, Example.inbox, .token, Content.ofBen(#""sync_token":"v1.1.1.2""#))
        ben.expect(200)
        #expect(ben.messageIDs == ["msg-push-2"])
        #expect(ben.json["sync_token"]?.string?.hasPrefix("v1.2.") == true)
        try await world.fetchInbox(#""sync_token":"abc""#).expect(410, Content.staleToken, "sync-token-unknown")
    }

    @Test("18: a guest has no inbox", arguments: Depth.allCases)
    func guest(_ depth: Depth) async throws {
        let world = try await World(depth)
        try await world.call(.post, Example.inbox, .token, Content.ofGuest()).expect(200, Content.noMessages)
    }

    @Test("19: a customer token opens the inbox, with ids and without", arguments: Depth.allCases)
    func customerToken(_ depth: Depth) async throws {
        let world = try await World(depth)
        try await world.call(.post, Example.inbox, .bearer, Content.ofAna()).expect(200, Content.anasInbox)
        try await world.call(.post, Example.inbox, .bearer, "{}").expect(200, Content.anasInbox)
    }

    @Test("24: a key without the permission, and a key where a customer token is wanted", arguments: Depth.allCases)
    func permission(_ depth: Depth) async throws {
        let world = try await World(depth)
        try await world.call(.post, Example.inbox, .limited, Content.ofAna())
            .expect(403, #"{"success":false,"error":"No permission"}"#, "no-permission")
        try await world.set("bloomreach.app-inbox-auth", "advanced")
        let wanted = #"{"success":false,"error":"customer token required"}"#
        try await world.call(.post, Example.inbox, .token, Content.ofAna())
            .expect(401, wanted, "customer-token-required")
        try await world.call(
            .post, Example.markAsRead, .token, Content.ofAna(#""message_ids":["msg-push-1"]"#)
        ).expect(401, wanted, "customer-token-required")
        try await world.call(.post, Example.inbox, .bearer, Content.ofAna()).expect(200, Content.anasInbox)
    }
}
