import Support
import Testing

/// If several things are wrong with a request, the answer covers the first in the vendor's order (section 2.6 of the
/// vendor's spec); the journal lists the others.
@Suite("Bloomreach's order of checks")
struct CheckOrderTests {
    /// A request with several faults; the others come after the one that is answered.
    struct Case: Sendable, CustomStringConvertible {
        let failure: String
        let path: String
        let fields: World.Fields
        let body: String

        var description: String { failure }
    }

    @Test("the first fault in the vendor's order answers", arguments: cases)
    func order(_ example: Case) async throws {
        let world = try await World()
        let answer = try await world.call(.post, example.path, example.fields, example.body)
        #expect(answer.failure == example.failure)
    }

    private static let gzip: World.Fields = [("content-encoding", "gzip")]
    private static let badProject = "/track/v2/projects/a_b/customers/events"
    private static let denied = Example.body(Example.ana, #""event_type":"internal_audit""#)
    private static let foreign = #"{"cookie":"x","registered":"ben@example.test"}"#

    private static let cases: [Case] = [
        Case(failure: "compressed-body", path: badProject, fields: gzip, body: "{"),
        Case(failure: "invalid-project-id", path: badProject, fields: [], body: "{"),
        Case(
            failure: "unknown-project", path: "/track/v2/projects/none/customers", fields: .authorization("Token x"),
            body: "{"),
        Case(failure: "missing-authorization", path: Example.events, fields: [], body: "{"),
        Case(failure: "malformed-authorization", path: Example.events, fields: .authorization("Token"), body: "{"),
        Case(failure: "credential-not-accepted", path: Example.events, fields: .bearer("x.y"), body: "{"),
        Case(failure: "unknown-key", path: Example.events, fields: .authorization("Token x"), body: "{"),
        Case(failure: "customer-token-malformed", path: Example.inbox, fields: .bearer("x.y"), body: "{"),
        Case(failure: "customer-token-expired", path: Example.inbox, fields: .bearer(Example.jwtAnaOld), body: "{"),
        Case(failure: "no-permission", path: Example.inbox, fields: .limited, body: "{"),
        Case(failure: "bad-request-body", path: Example.events, fields: .limited, body: "{"),
        Case(failure: "no-customer-ids", path: Example.events, fields: .limited, body: #"{"timestamp":"x"}"#),
        Case(
            failure: "missing-event-type", path: Example.streamEvents, fields: .streamBearer,
            body: Example.body(foreign)),
        Case(failure: "no-permission", path: Example.events, fields: .limited, body: denied),
        Case(
            failure: "customer-token-ids-mismatch", path: Example.inbox, fields: .bearer,
            body: Example.body(foreign, #""sync_token":"abc""#)),
        Case(
            failure: "sync-token-unknown", path: Example.inbox, fields: .bearer,
            body: Example.body(Example.ana, #""sync_token":"abc""#)),
    ]

    @Test("an armed failure answers before every other check but route and method")
    func armed() async throws {
        let world = try await World()
        try await world.arm("rate-limited", at: "track.events")
        try await world.call(.post, badProjectPath, Self.gzip, "{").expect(
            429, Example.error("Too many requests"), "rate-limited")
        try await world.arm("rate-limited", at: "track.events")
        let answer = try await world.call(.get, Example.events)
        #expect(answer.failure == "method-not-allowed")
    }

    private var badProjectPath: String { Self.badProject }

    @Test("the journal tells every check that was made, not only the one that answered")
    func journal() async throws {
        let world = try await World()
        let token = try await world.mint(
            "bloomreach/customer-token", ["defect": "expired", "customer": "ben@example.test"])
        let answer = try await world.call(.post, Example.inbox, .bearer(token), Example.body(Example.ana))
        answer.expect(401, Example.expired, "customer-token-expired")
        for check in ["project-id", "project-known", "credential-form", "credential-kind", "key-known", "signature"] {
            #expect(answer.outcome(of: check) == .passed, "\(check)")
        }
        #expect(answer.outcome(of: "expiry") == .failed)
        #expect(answer.outcome(of: "claim-sub-ids") == .passed)
        #expect(answer.findings.allSatisfy { $0.source != nil || $0.check == "size" || $0.outcome == .noted })
    }
}
