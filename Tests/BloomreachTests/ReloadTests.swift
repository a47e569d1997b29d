import Emulation
import JSON
import Support
import Testing
import Understudy

/// Fixtures replaced while the server runs.
@Suite("Bloomreach's customers under new fixtures")
struct ReloadTests {
    private static let accounts = "bloomreach/accounts.yaml"
    private static let newcomer = """
              - ids: { registered: "cleo@example.test" }
                cookies: ["c-cleo"]
          - token: "demo-project-2"
        """

    @Test("what calls made or changed stays with its number, the rest follows the file")
    func accountsChange() async throws {
        let fixtures = try OwnFixtures()
        let emulator = try fixtures.emulator(of: "bloomreach")
        let stage = try Stage(emulator)
        let (touched, untouched) = (try await World(on: stage), try await World(on: stage))
        for (ids, property) in [(Example.ben, #"{"x":1}"#), (#"{"registered":"new@example.test"}"#, "{}")] {
            try await touched.call(
                .post, Example.customers, .token, Example.body(ids, #""properties":\#(property)"#)
            ).expect(200)
        }
        try await touched.call(.post, Example.events, .token, Example.body(Example.guest, #""event_type":"view""#))
            .expect(200)
        _ = try await untouched.customer(Example.ana)
        try fixtures.put(
            Self.accounts,
            [("first_name: \"Ana\"", "first_name: \"Anna\""), ("  - token: \"demo-project-2\"", Self.newcomer)])
        try emulator.reload(fixtures.store)
        for world in [touched, untouched] {
            #expect(try await world.customer(Example.ana).json["properties"] == ["first_name": "Anna"])
        }
        #expect(try await touched.customer(Example.ben).json["properties"] == ["x": 1])
        #expect(try await touched.customer(Example.guest).json["events"]?.array?.map { $0["type"] } == ["view"])
        // The file's fourth customer comes after the one that a call created.
        #expect(try await touched.customer(#""new@example.test""#).json["number"] == 4)
        #expect(try await touched.customer(#""cleo@example.test""#).json["number"] == 5)
        #expect(try await untouched.customer(#""cleo@example.test""#).json["number"] == 4)
    }

    @Test("a customer who left the file goes, unless calls changed it; who was merged does not come back")
    func accountsGo() async throws {
        let fixtures = try OwnFixtures()
        try fixtures.put(Self.accounts, [("  - token: \"demo-project-2\"", Self.newcomer)])
        let emulator = try fixtures.emulator(of: "bloomreach")
        let stage = try Stage(emulator)
        let (changed, merged) = (try await World(on: stage), try await World(on: stage))
        let cleo = #"{"registered":"cleo@example.test"}"#
        try await changed.call(.post, Example.events, .token, Example.body(cleo, #""event_type":"view""#)).expect(200)
        let ids = #"{"registered":"ana@example.test","cookie":"\#(Example.cookieGuest)"}"#
        try await merged.call(.post, Example.customers, .token, Example.body(ids)).expect(200)
        #expect(try await merged.customer(cleo).json["number"] == 4)
        try fixtures.remove(Self.accounts)
        try emulator.reload(fixtures.store)
        #expect(try await changed.customer(cleo).json["events"]?.array?.count == 1)
        #expect(try await changed.customer(Example.guest).json["number"] == 3)
        #expect(try await merged.customer(cleo).status != 200)
        #expect(try await merged.customer(Example.guest).json["number"] == 1)
    }

    @Test("the file's customer gives way where a call gave the id to another one")
    func collision() async throws {
        let fixtures = try OwnFixtures()
        let emulator = try fixtures.emulator(of: "bloomreach")
        let world = try await World(on: try Stage(emulator))
        try await world.call(
            .post, Example.customers, .token,
            Example.body(#"{"registered":"cleo@example.test"}"#, #""properties":{"x":1}"#)
        ).expect(200)
        try fixtures.put(Self.accounts, [("  - token: \"demo-project-2\"", Self.newcomer)])
        try emulator.reload(fixtures.store)
        let cleo = try await world.customer(#""cleo@example.test""#).json
        #expect(cleo["number"] == 4)
        #expect(cleo["properties"] == ["x": 1])
    }
}
