import Support
import Testing

/// The ids that a token may act for (sections 2.3 and 2.4 of the vendor's spec).
@Suite("Tokens of Bloomreach and the ids of a request")
struct BindingTests {
    /// Ids of a request, and the outcome with Ana's token.
    struct Case: Sendable, CustomStringConvertible {
        let ids: String
        let exact: Bool
        let subset: Bool

        var description: String { ids }
    }

    private static let cases: [Case] = [
        Case(ids: Example.ana, exact: true, subset: true),
        Case(ids: #"{"registered":"ana@example.test"}"#, exact: true, subset: true),
        Case(ids: #"{"cookie":"other","registered":"ana@example.test"}"#, exact: true, subset: true),
        Case(ids: "{}", exact: true, subset: true), Case(ids: "null", exact: true, subset: true),
        Case(ids: #"{"registered":"ana@example.test","email_id":"x"}"#, exact: false, subset: true),
        Case(ids: #"{"registered":"ana@example.test","email_id":null}"#, exact: true, subset: true),
        Case(ids: #"{"registered":"ben@example.test"}"#, exact: false, subset: false),
        Case(ids: #"{"registered":"Ana@example.test"}"#, exact: false, subset: false),
        Case(ids: #"{"cookie":"\#(Example.cookieAna)"}"#, exact: false, subset: false),
    ]

    @Test("a customer token belongs to exactly its ids, or to more with switch subset", arguments: cases)
    func customerToken(_ example: Case) async throws {
        let world = try await World()
        for (value, passes) in [("exact", example.exact), ("subset", example.subset), ("off", true)] {
            try await world.set("bloomreach.customer-token-binding", value)
            let answer = try await world.call(.post, Example.inbox, .bearer, Example.body(example.ids))
            #expect(answer.failure == (passes ? nil : "customer-token-ids-mismatch"), "\(value)")
        }
    }

    @Test("a cookie in the token must be that of the request")
    func cookieInToken() async throws {
        let world = try await World()
        let token = try Forged.customer(
            claims: #"{"sub":{"registered":"ana@example.test","cookie":"\#(Example.cookieAna)"},"exp":1800003600}"#)
        try await world.call(.post, Example.inbox, .bearer(token), Example.body(Example.ana)).expect(200)
        for ids in [#"{"registered":"ana@example.test"}"#, #"{"registered":"ana@example.test","cookie":"x"}"#] {
            try await world.call(.post, Example.inbox, .bearer(token), Example.body(ids)).expect(
                401, Example.mismatch, "customer-token-ids-mismatch")
        }
    }

    @Test("linked ids are held against the token, since nothing else names the customer")
    func linkedIDs() async throws {
        let world = try await World()
        let path = "/webxp/projects/demo-project-1/cookies/\(Example.cookieGuest)/link-ids"
        try await world.call(.post, path, .bearer, #"{"external_ids":{"registered":"ben@example.test"}}"#).expect(
            401, Example.mismatch, "customer-token-ids-mismatch")
        try await world.call(.post, path, .bearer, #"{"external_ids":{"registered":"ana@example.test","cookie":"x"}}"#)
            .expect(200, Example.done)
        #expect(try await world.customer(Example.guest).json["number"] == 1)
    }

    @Test(
        "a stream's token allows what does not contradict it",
        arguments: [
            (Example.ana, true), (#"{"cookie":"x"}"#, true), (#"{"email_id":"x"}"#, true), (Example.ben, false),
        ])
    func streamToken(_ ids: String, _ passes: Bool) async throws {
        let world = try await World()
        let body = Example.body(ids, #""event_type":"view""#)
        let answer = try await world.call(.post, Example.streamEvents, .streamBearer, body)
        #expect(answer.failure == (passes ? nil : "stream-token-ids-mismatch"))
    }

    @Test("an id that needs a token may be used with one, and without one in a project")
    func signedOnly() async throws {
        let world = try await World()
        let body = Example.body(#"{"account_id":"a-1"}"#, #""event_type":"view""#)
        try await world.call(.post, Example.streamEvents, [], body).expect(
            403, Example.error("forbidden"), "stream-signature-required")
        try await world.call(.post, Example.streamEvents, .streamBearer, body).expect(200)
        try await world.call(.post, Example.events, .token, body).expect(200)
        try await world.call(
            .post, "/webxp/streams/demo-stream-1/cookies/c/link-ids", [], #"{"external_ids":{"account_id":"a-2"}}"#
        ).expect(403, Example.error("forbidden"), "stream-signature-required")
    }

    @Test("a token that is sent where none is needed must be good, and no other credential is taken there")
    func optionalToken() async throws {
        let world = try await World()
        let body = Example.body(Example.guest, #""event_type":"view""#)
        try await world.call(.post, Example.streamEvents, .bearer, body).expect(
            401, Example.invalidToken, "stream-token-wrong-algorithm")
        for fields in [World.Fields.token, .basic] {
            try await world.call(.post, Example.streamEvents, fields, body).expect(
                401, Example.notAccepted, "credential-not-accepted")
        }
    }
}
