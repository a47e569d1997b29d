import Emulation
import JSON
import Support
import Testing
import Understudy

@Suite("Bloomreach's failures")
struct FailureTests {
    @Test("a method that a path does not know is told which ones it does", arguments: Depth.allCases)
    func allow(_ depth: Depth) async throws {
        let world = try await World(depth)
        let answer = try await world.call(.put, Example.customers, .token, "{}")
        answer.expect(405, Example.error("Method not allowed"), "method-not-allowed")
        #expect(answer["allow"] == "POST")
    }

    /// An invalid request body, and the answer in the form of its family.
    struct Shape: Sendable, CustomStringConvertible {
        let path: String
        var fields = World.Fields.token
        let body: String
        let answer: String
        let failure: String

        var description: String { "\(path) \(body)" }
    }

    @Test("each family of calls has its own shape of error", arguments: shapes)
    func shape(_ example: Shape) async throws {
        let world = try await World()
        try await world.call(.post, example.path, example.fields, example.body).expect(
            400, example.answer, example.failure)
    }

    private static let shapes: [Shape] = [
        Shape(
            path: Example.customers, body: #"{"customer_ids":7}"#,
            answer: Example.errors("Field 'customer_ids' is invalid."), failure: "invalid-field"),
        Shape(
            path: Example.customers, body: Example.body(#"{"registered":7}"#),
            answer: Example.errors("Field 'customer_ids' is invalid."), failure: "invalid-field"),
        Shape(
            path: Example.customers, body: Example.body(Example.ana, #""properties":[]"#),
            answer: Example.errors("Field 'properties' is invalid."), failure: "invalid-field"),
        Shape(
            path: Example.events, body: Example.body(Example.ana, #""event_type":7"#),
            answer: Example.errors("Field 'event_type' is invalid."), failure: "invalid-field"),
        Shape(
            path: Example.events, body: Example.body(Example.ana, #""event_type":"""#),
            answer: Example.errors("Field 'event_type' is required."), failure: "missing-event-type"),
        Shape(
            path: Example.clicks, body: Example.body(Example.ana, #""url":7"#),
            answer: Example.errors("Field 'url' is invalid."), failure: "invalid-field"),
        Shape(
            path: Example.attributes, body: Example.body(Example.ana),
            answer: Example.errors("attributes", "Field 'attributes' is required."), failure: "missing-field"),
        Shape(
            path: Example.attributes, body: Example.body(Example.ana, #""attributes":[]"#),
            answer: Example.errors("attributes", "Field 'attributes' is invalid."), failure: "invalid-field"),
        Shape(
            path: Example.attributes, body: #"{"attributes":[{"type":"id","id":"cookie"}]}"#,
            answer: Example.errors("customer_ids", "Must specify at least one customer ID"),
            failure: "no-customer-ids"),
        Shape(
            path: Example.data + "/events", fields: .basic, body: Example.body(Example.ana),
            answer: Example.errors("event_types", "Field 'event_types' is required."), failure: "missing-field"),
        Shape(
            path: Example.data + "/events", fields: .basic, body: Example.body(Example.ana, #""event_types":[7]"#),
            answer: Example.errors("event_types", "Field 'event_types' is invalid."), failure: "invalid-field"),
        Shape(
            path: Example.data + "/export", fields: .basic, body: #"{"format":"csv"}"#,
            answer: Example.errors("format", "Field 'format' is invalid."), failure: "invalid-field"),
        Shape(
            path: Example.selfCheck, body: Example.body(Example.ana, #""push_notification_id":"t""#),
            answer: Example.error("Field 'platform' is required."), failure: "missing-field"),
        Shape(
            path: Example.selfCheck,
            body: Example.body(Example.ana, #""push_notification_id":"t","platform":"windows""#),
            answer: Example.error("Field 'platform' is invalid."), failure: "invalid-field"),
        Shape(
            path: Example.selfCheck, body: "{}", answer: Example.error("Must specify at least one customer ID"),
            failure: "no-customer-ids"),
        Shape(
            path: "/webxp/projects/demo-project-1/cookies/c/link-ids", body: "{}",
            answer: Example.error("Field 'external_ids' is required."), failure: "missing-field"),
        Shape(
            path: "/webxp/projects/demo-project-1/cookies/c/link-ids", body: #"{"external_ids":{"cookie":"x"}}"#,
            answer: Example.error("Field 'external_ids' is invalid."), failure: "invalid-field"),
        Shape(
            path: Example.mint, fields: [], body: #"{"project_id":"demo-project-1"}"#,
            answer: Example.error("Field 'kid' is required."), failure: "missing-field"),
        Shape(
            path: Example.mint, fields: [],
            body: #"{"project_id":"demo-project-1","kid":"privkey-demo-1","sub":{"registered":"a"},"exp":"soon"}"#,
            answer: Example.error("Field 'exp' is invalid."), failure: "invalid-field"),
        Shape(
            path: Example.mint, fields: [], body: "{}", answer: Example.error("Invalid project id"),
            failure: "invalid-project-id"),
        Shape(
            path: Example.mint, fields: [], body: #"{"project_id":"none"}"#,
            answer: Example.error("Could not authenticate"), failure: "unknown-project"),
    ]

    @Test(
        "what a key lacks is told in the shape of the call",
        arguments: [
            (Example.customers, Example.errors("not authorized to update specified customer properties"), "customers"),
            (Example.events, Example.errors("not authorized to track specified event"), "events"),
            (Example.clicks, Example.errors("not authorized to track specified event"), "campaigns"),
            (Example.attributes, Example.error("No permission"), "attributes"),
            (Example.selfCheck, Example.error("No permission"), "selfcheck"),
            ("/webxp/projects/demo-project-1/cookies/c/link-ids", Example.error("No permission"), "segments"),
            (Example.inbox, Example.error("No permission"), "appinbox"),
        ])
    func permission(_ path: String, _ body: String, _ permission: String) async throws {
        let fixtures = try OwnFixtures()
        try fixtures.put(
            "bloomreach/accounts.yaml",
            [(#"- key: "pubkey-demo-1""#, "- key: \"pubkey-demo-1\"\n        permissions: []")])
        let world = try await World(on: Stage(fixtures.emulator(of: "bloomreach")))
        let answer = try await world.call(.post, path, .token, Example.body(Example.ana))
        answer.expect(403, body, "no-permission")
        #expect(answer.findings.first { $0.check == "permission" }?.expected == .text(permission))
    }
}
