import JSON
import Support
import Testing

/// A token opens only the record of the customer for whom it was signed.
@Suite("Bloomreach's tokens and the records of others")
struct RecordOwnerTests {
    private static let blocks = "inappcontentblocks?v=2"
    private static let asked = #""content_block_ids":["block-2"]"#
    private static let benWithMail = #"{"registered":"ben@example.test","email_id":"b"}"#

    /// The text of a block for the customer it identifies as the reader.
    private func greeting(
        _ world: World, _ place: String, _ fields: World.Fields, _ ids: String
    ) async throws -> ReceivedAnswer {
        try await world.call(.post, "/webxp/\(place)/\(Self.blocks)", fields, Example.body(ids, Self.asked))
    }

    private func world() async throws -> World {
        let world = try await World()
        try await world.call(
            .post, Example.customers, .token, Example.body(Self.benWithMail, #""properties":{"first_name":"Ben"}"#)
        ).expect(200)
        return world
    }

    @Test("a stream's token with somebody's cookie or hard id reads its own customer")
    func stream() async throws {
        let world = try await world()
        let own = try await greeting(world, "streams/demo-stream-1", .streamBearer, Example.ana)
        own.expect(200)
        let other = try await greeting(
            world, "streams/demo-stream-1", .streamBearer, #"{"cookie":"\#(Example.cookieBen)"}"#)
        other.expect(200, own.text)
        try await greeting(world, "streams/demo-stream-1", .streamBearer, #"{"email_id":"b"}"#).expect(200, own.text)
        try await world.call(
            .get, "/webxp/streams/demo-stream-1/segments?cookie=\(Example.cookieBen)", .streamBearer
        ).expect(401, Example.invalidToken, "stream-token-ids-mismatch")
    }

    @Test("a stream's token writes under ids that do not contradict it, whatever the records say")
    func streamWrites() async throws {
        let world = try await world()
        for ids in [#"{"cookie":"\#(Example.cookieBen)"}"#, #"{"email_id":"b"}"#] {
            try await world.call(
                .post, Example.streamEvents, .streamBearer, Example.body(ids, #""event_type":"view""#)
            ).expect(200)
        }
        #expect(try await world.customer(Example.ben).json["events"]?.array?.count == 2)
        try await world.call(
            .post, Example.streamEvents, .streamBearer, Example.body(Self.benWithMail, #""event_type":"view""#)
        ).expect(401, Example.invalidToken, "stream-token-ids-mismatch")
        let signedIn = #"{"cookie":"\#(Example.cookieGuest)","registered":"ana@example.test"}"#
        try await world.call(.post, Example.streamCustomers, .streamBearer, Example.body(signedIn)).expect(200)
        #expect(try await world.customer(Example.guest).json["number"] == 1)
    }

    @Test("an unknown hard id beside somebody's cookie is nobody", arguments: ["exact", "subset"])
    func unknownRegistered(_ binding: String) async throws {
        let world = try await world()
        try await world.set("bloomreach.customer-token-binding", binding)
        let token = try Forged.customer(claims: #"{"sub":{"registered":"new@example.test"},"exp":1800003600}"#)
        let nobody = try await greeting(world, "s/demo-project-1", .token, #"{"cookie":"none"}"#)
        let ids = #"{"cookie":"\#(Example.cookieBen)","registered":"new@example.test"}"#
        try await greeting(world, "s/demo-project-1", .bearer(token), ids).expect(200, nobody.text)
    }

    @Test("with switch subset, a hard id of another customer beside the token's opens nothing of that customer's")
    func subset() async throws {
        let world = try await world()
        try await world.set("bloomreach.customer-token-binding", "subset")
        let token = try Forged.customer(claims: #"{"sub":{"email_id":"new"},"exp":1800003600}"#)
        let ids = #"{"registered":"ana@example.test","email_id":"new"}"#
        let nobody = try await greeting(world, "s/demo-project-1", .token, #"{"cookie":"none"}"#)
        try await greeting(world, "s/demo-project-1", .bearer(token), ids).expect(200, nobody.text)
    }

    @Test(
        "a body that names exactly the token's ids passes, whatever the stored record says", arguments: [true, false])
    func exactIDs(_ namesThem: Bool) async throws {
        let world = try await world()
        // Ben's record has a different email_id than the token.
        let sub = #"{"registered":"ben@example.test","email_id":"other"}"#
        let token = try Forged.customer(claims: #"{"sub":\#(sub),"exp":1800003600}"#)
        let inbox = try await world.call(
            .post, Example.inbox, .bearer(token), namesThem ? Example.body(sub) : "{}")
        inbox.expect(200)
        #expect(inbox.json["messages"]?.array?.map { $0["id"] } == ["msg-push-2"])
        let own = try await greeting(world, "s/demo-project-1", .token, Self.benWithMail)
        let path = "/webxp/s/demo-project-1/\(Self.blocks)"
        let body = namesThem ? Example.body(sub, Self.asked) : "{\(Self.asked)}"
        try await world.call(.post, path, .bearer(token), body).expect(200, own.text)
    }

    @Test("a token whose ids have no name is one without ids")
    func nameless() async throws {
        let world = try await World()
        let stream = try Forged.stream(claims: #"{"exp":1800000900,"ids":{"":"x"}}"#)
        try await world.call(.post, Example.streamInbox, .bearer(stream), Example.body(Example.ana)).expect(
            401, Example.invalidToken, "stream-token-empty-ids")
        let customer = try Forged.customer(claims: #"{"exp":1800003600,"sub":{"":"x"}}"#)
        try await world.call(.post, Example.inbox, .bearer(customer), Example.body(Example.ana)).expect(
            401, Example.error("token has invalid claims: sub is not a map of customer ids"),
            "customer-token-bad-subject")
    }

    @Test("a customer without any id left is exported and comes back under its number")
    func anonymized() async throws {
        let world = try await World()
        let ids = #"{"registered":"new@example.test"}"#
        try await world.call(.post, Example.events, .token, Example.body(ids, #""event_type":"view""#)).expect(200)
        try await world.call(.post, Example.data + "/anonymize", .basic, Example.body(ids)).expect(200)
        let exported = try await world.control(.get, "state/bloomreach").text
        let put = try await world.control(.put, "state/bloomreach", exported)
        #expect(put.status == 200, "\(put.text)")
        #expect(try await world.control(.get, "state/bloomreach").text == exported)
        #expect(exported.contains(#""number":4"#))
    }
}
