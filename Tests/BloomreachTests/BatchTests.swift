import JSON
import Support
import Testing
import Tokens

/// Several commands in one request (section 9 of the vendor's spec).
@Suite("Bloomreach's batches")
struct BatchTests {
    private func results(_ world: World, _ fields: World.Fields, _ commands: [String]) async throws -> [String] {
        let answer = try await world.call(
            .post, Example.batch, fields, #"{"commands":[\#(commands.joined(separator: ","))]}"#)
        answer.expect(200)
        #expect(answer.json["success"] == true)
        return answer.json["results"]?.array?.map(\.text) ?? []
    }

    private static func command(_ name: String, _ data: String) -> String { #"{"name":"\#(name)","data":\#(data)}"# }

    @Test("more commands than the vendor's page allows are run, and the journal notes it")
    func size() async throws {
        let world = try await World()
        let command = #"{"name":"system/time"}"#
        for (count, outcome) in [(50, nil), (51, Finding.Outcome.noted)] {
            let commands = Array(repeating: command, count: count).joined(separator: ",")
            let answer = try await world.call(.post, Example.batch, .basic, #"{"commands":[\#(commands)]}"#)
            answer.expect(200)
            #expect(answer.json["results"]?.array?.count == count)
            #expect(answer.outcome(of: "batch-size") == outcome)
        }
    }

    @Test("each command has the complaint of the single call in its place", arguments: Depth.allCases)
    func complaints(_ depth: Depth) async throws {
        let world = try await World(depth)
        let ana = Example.body(Example.ana, #""event_type":"view""#)
        let results = try await results(
            world, .basic,
            [
                Self.command("customers/events", ana), Self.command("customers", "{}"),
                Self.command("customers/events", Example.body(Example.ana, #""properties":7"#)),
                Self.command("customers", "7"), Self.command("campaigns", "{}"), "7", "null",
                Self.command("customers", Example.body(#"{"registered":7}"#)),
                Self.command("customers/events", ana),
            ])
        let (done, unknown) = (#"{"success":true}"#, #"{"success":false,"errors":["Unknown command."]}"#)
        #expect(
            results == [
                done, #"{"success":false,"errors":["At least one id should be specified."]}"#,
                #"{"success":false,"errors":["Field 'properties' is invalid."]}"#,
                #"{"success":false,"errors":["Field 'data' is invalid."]}"#, unknown, unknown, unknown,
                #"{"success":false,"errors":["Field 'customer_ids' is invalid."]}"#, done,
            ])
        #expect(try await world.customer(Example.ana).json["events"]?.array?.count == 2)
    }

    @Test("refused commands stand in the journal, each with its failure, reason and findings", arguments: Depth.allCases)
    func parts(_ depth: Depth) async throws {
        let world = try await World(depth)
        let commands = [
            Self.command("customers/events", Example.body(Example.ana, #""event_type":"view""#)),
            Self.command("customers", "{}"), Self.command("campaigns", "{}"), "7",
            Self.command("customers", Example.body(#"{"registered":7}"#)),
        ]
        let answer = try await world.call(
            .post, Example.batch, .basic, #"{"commands":[\#(commands.joined(separator: ","))]}"#)
        answer.expect(200)
        let parts = try #require(answer.entry?.record.parts)
        #expect(parts.count == 4)
        #expect(parts.refused.map(\.number) == [2, 3, 4, 5])
        #expect(parts.refused.map(\.name) == ["customers", "campaigns", "", "customers"])
        #expect(
            parts.refused.map(\.failure) == ["no-customer-ids", "unknown-command", "unknown-command", "invalid-field"])
        #expect(
            parts.refused[1].reason == "found “campaigns”; expected one of customers, customers/events or system/time")
        #expect(parts.refused[2].reason?.hasPrefix("found no name; expected ") == true)
        #expect(parts.refused.allSatisfy { $0.reason?.isEmpty == false })
        #expect(answer.entry?.explanation == nil, "the request as a whole was answered")
        let shown = try await world.control(.get, "journal").json["entries"]?[0]?["parts"]
        #expect(shown?["refused"] == 4)
        #expect(shown?["first"]?[1]?["failure"] == "unknown-command")
        #expect(shown?["first"]?[1]?["findings"] == [])
    }

    @Test("of many refused commands the first hundred are kept")
    func manyParts() async throws {
        let world = try await World()
        let commands = Array(repeating: Self.command("nothing", "{}"), count: 200).joined(separator: ",")
        let answer = try await world.call(.post, Example.batch, .basic, #"{"commands":[\#(commands)]}"#)
        #expect(answer.entry?.record.parts?.count == 200)
        #expect(answer.entry?.record.parts?.refused.count == 100)
    }

    @Test("a key is judged for each command by itself")
    func permissions() async throws {
        let world = try await World()
        let results = try await results(
            world, .limited,
            [
                Self.command("customers", Example.body(Example.ana, #""properties":{"apple_push_notification_id":1}"#)),
                Self.command("customers/events", Example.body(Example.ana, #""event_type":"internal_audit""#)),
                Self.command("customers", Example.body(Example.ana, #""properties":{"x":1}"#)),
            ])
        #expect(
            results == [
                #"{"success":false,"errors":["not authorized to update specified customer properties"]}"#,
                #"{"success":false,"errors":["not authorized to track specified event"]}"#, #"{"success":true}"#,
            ])
    }

    @Test("a batch may be longer than other bodies")
    func long() async throws {
        let world = try await World()
        let text = String(repeating: "x", count: 4000)
        let command = Self.command(
            "customers/events", Example.body(Example.ana, #""event_type":"view","properties":{"text":"\#(text)"}"#))
        let results = try await results(world, .token, Array(repeating: command, count: 100))
        #expect(results == Array(repeating: #"{"success":true}"#, count: 100))
    }

    @Test(
        "a body without commands",
        arguments: ["{}", "[]", #"{"commands":null}"#, #"{"commands":7}"#, #"{"commands":[]}"#])
    func none(_ body: String) async throws {
        try await World().call(.post, Example.batch, .token, body).expect(
            400, #"{"success":false,"message":"No commands"}"#, "batch-no-commands")
    }
}
