import Emulation
import Support
import Testing
import Understudy

/// The accounts file: invalid files, and settings of individual projects and streams.
@Suite("Bloomreach's accounts")
struct AccountsTests {
    private static let file = "bloomreach/accounts.yaml"

    @Test("a project's own answer to app-inbox-auth beats the switch")
    func project() async throws {
        let fixtures = try OwnFixtures()
        try fixtures.put(
            Self.file,
            [("  - token: \"demo-project-1\"", "  - token: \"demo-project-1\"\n    app_inbox_auth: \"advanced\"")])
        let world = try await World(on: Stage(fixtures.emulator(of: "bloomreach")))
        try await world.set("bloomreach.app-inbox-auth", "any")
        try await world.call(.post, Example.inbox, .token, Example.body(Example.ana)).expect(
            401, Example.error("customer token required"), "customer-token-required")
    }

    @Test("a stream's own answer to require-jwt beats the switch")
    func stream() async throws {
        let fixtures = try OwnFixtures()
        try fixtures.put(
            Self.file, [("  - id: \"demo-stream-1\"", "  - id: \"demo-stream-1\"\n    require_jwt: \"all\"")])
        let world = try await World(on: Stage(fixtures.emulator(of: "bloomreach")))
        let body = Example.body(Example.guest, #""event_type":"view""#)
        try await world.call(.post, Example.streamEvents, [], body).expect(
            401, Example.error("missing token"), "stream-token-missing")
    }

    @Test("events of the fixtures are there from the start, in the order of the file")
    func events() async throws {
        let fixtures = try OwnFixtures()
        try fixtures.put(
            Self.file,
            [
                (
                    "first_name: \"Ana\" }",
                    """
                    first_name: "Ana" }
                            events:
                              - { type: "first", timestamp: 5, properties: { n: 1.50 } }
                              - { type: "second", timestamp: 1.5 }
                    """
                )
            ])
        let world = try await World(on: Stage(fixtures.emulator(of: "bloomreach")))
        try await world.call(.post, Example.events, .token, Example.body(Example.ana, #""event_type":"third""#))
            .expect(200)
        try await world.call(
            .post, Example.data + "/events", .basic,
            Example.body(Example.ana, #""event_types":["first","second","third"]"#)
        ).expect(
            200,
            #"{"success":true,"data":[{"type":"first","timestamp":5.0,"properties":{"n":1.50}},"#
                + #"{"type":"second","timestamp":1.5,"properties":{}},"#
                + #"{"type":"third","timestamp":1800000000.0,"properties":{}}]}"#)
    }
}
