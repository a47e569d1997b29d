import JSON
import Support
import Testing

/// The spec's acceptance examples for tokens and keys, with the spec's numbers.
@Suite("Bloomreach's acceptance examples: credentials")
struct AcceptanceOfCredentialsTests {
    @Test("20: a token does not follow a customer who is identified or made anonymous", arguments: Depth.allCases)
    func otherIDs(_ depth: Depth) async throws {
        let world = try await World(depth)
        for ids in [
            #"{"cookie":"\#(Example.cookieAna)","registered":"ben@example.test"}"#,
            #"{"cookie":"c0000000-0000-4000-8000-0000000000ff"}"#,
        ] {
            let answer = try await world.call(.post, Example.inbox, .bearer, Example.body(ids))
            answer.expect(401, Example.mismatch, "customer-token-ids-mismatch")
            #expect(answer.outcome(of: "token-ids") == .failed)
        }
    }

    @Test("21: an expired token says so", arguments: Depth.allCases)
    func expired(_ depth: Depth) async throws {
        let world = try await World(depth)
        try await world.call(.post, Example.inbox, .bearer(Example.jwtAnaOld), Example.body(Example.ana)).expect(
            401, Example.expired, "customer-token-expired")
    }

    @Test("22: a token that was changed, one without signature, and one of an unknown key", arguments: Depth.allCases)
    func forged(_ depth: Depth) async throws {
        let world = try await World(depth)
        let none = #"{"alg":"none","typ":"JWT","kid":"privkey-demo-1"}"#
        let unsigned = try Forged.customer(header: none).split(separator: ".").dropLast().joined(separator: ".") + "."
        let stranger = try Forged.customer(header: #"{"alg":"HS256","typ":"JWT","kid":"privkey-demo-9"}"#)
        for (token, failure) in [
            (Example.jwtAna.replacing(".1xM9", with: ".2xM9"), "customer-token-bad-signature"),
            (unsigned, "customer-token-malformed"), (stranger, "customer-token-unknown-key"),
        ] {
            try await world.call(.post, Example.inbox, .bearer(token), Example.body(Example.ana)).expect(
                401, Example.invalidToken, failure)
        }
    }

    @Test("23: a credential that is right for another route", arguments: Depth.allCases)
    func wrongKind(_ depth: Depth) async throws {
        let world = try await World(depth)
        let event = Example.body(Example.ana, #""event_type":"x""#)
        try await world.call(.post, Example.events, .bearer, event).expect(
            401, Example.notAccepted, "credential-not-accepted")
        try await world.call(.post, Example.inbox, .basic, Example.body(Example.ana)).expect(
            401, Example.notAccepted, "credential-not-accepted")
    }

    @Test("28: the example app's call gives Ana's token byte for byte", arguments: Depth.allCases)
    func exampleApp(_ depth: Depth) async throws {
        let world = try await World(depth)
        let answer = try await world.call(
            .post, Example.mint, [],
            #"{"project_id":"demo-project-1","kid":"privkey-demo-1","sub":{"registered":"ana@example.test"},"#
                + #""exp":1800003600}"#)
        answer.expect(200, #"{"customer_token":"\#(Example.jwtAna)","expire_time":1800003600}"#)
        let entry = world.shown(answer.entry)
        let signature = try #require(Example.jwtAna.split(separator: ".").last)
        #expect(!entry.contains(signature), "the journal must not hold a usable token")
    }

    @Test("30: a stream, with its token, without, and where none is needed", arguments: Depth.allCases)
    func stream(_ depth: Depth) async throws {
        let world = try await World(depth)
        let body = Example.body(Example.ana)
        let viaProject = try await world.call(.post, Example.inbox, .token, body)
        let viaStream = try await world.call(.post, Example.streamInbox, .streamBearer, body)
        viaStream.expect(200, viaProject.text)
        #expect(viaStream.json["sync_token"] == "v1.1.1.2")
        try await world.call(.post, Example.streamInbox, [], body).expect(
            401, Example.error("missing token"), "stream-token-missing")
        let event = Example.body(Example.guest, #""event_type":"view""#)
        try await world.call(.post, "/" + Example.streamEvents, [], event).expect(200, Example.tracked)
        #expect(try await world.customer(Example.guest).json["events"]?.array?.count == 1)
    }
}
