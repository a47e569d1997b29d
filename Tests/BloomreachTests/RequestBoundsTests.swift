import Expectations
import JSON
import Support
import Testing
import Tokens

@testable import Bloomreach

@Suite("Bounds of a request to Bloomreach") struct RequestBoundsTests {
    private static func list(_ range: Range<Int>, _ element: (Int) -> String) -> String {
        range.map(element).joined(separator: ",")
    }

    private static func ids(_ range: Range<Int>) -> String { "{\(list(range) { #""id\#($0)":"v""# })}" }

    @Test("a request names fifty hard ids at most, and a customer has no more") func hardIDs() async throws {
        let world = try await World()
        let invalid = Example.errors("Field 'customer_ids' is invalid.")
        try await world.update(Self.ids(0..<51)).expect(400, invalid, "invalid-field")
        try await world.update(Self.ids(0..<50)).expect(200)
        try await world.update(#"{"id0":"v","other":"v"}"#).expect(400, invalid, "invalid-field")
        try await world.update(Self.ids(0..<50)).expect(200)
    }

    @Test("properties beyond the number that is kept are refused before they are looked at") func properties() {
        var customer = BloomreachCustomer(number: 1)
        customer.set(["a": 1])
        let many = JSONObject((0..<1001).map { _ in ("a", 1) })
        #expect(throws: Bloomreach.Refused.self) { try BloomreachCustomer.checkRoom(for: many, besides: customer) }
    }

    @Test("properties are set in the order in which they came, the last of one name counts") func order() {
        var customer = BloomreachCustomer(number: 1)
        customer.set(["a": 1, "b": 2])
        customer.set(["c": 3, "a": 4, "c": 5])
        expect(customer.properties, is: ["a": 4, "b": 2, "c": 5])
    }

    @Test("a call asks for a hundred attributes at most") func attributes() async throws {
        let world = try await World()
        func ask(_ count: Int) async throws -> ReceivedAnswer {
            let list = Self.list(0..<count) { _ in #"{"type":"property","property":"first_name"}"# }
            return try await world.attributes(list, of: Example.ana)
        }
        try await ask(100).expect(200)
        try await ask(101).expect(400, Example.errors("attributes", "Field 'attributes' is invalid."), "invalid-field")
    }

    @Test("an answer has a bound, whatever its entries are") func longAnswer() async throws {
        let world = try await World()
        let text = String(repeating: "x", count: 200_000)
        try await world.update(Example.ana, #"{"long":"\#(text)"}"#).expect(200)
        let list = Self.list(0..<100) { _ in #"{"type":"property","property":"long"}"# }
        try await world.attributes(list, of: Example.ana).expect(
            413, Example.error("Request body too large"), "body-too-large")
    }

    @Test("a table of all customers has a bound, and names of properties are compared byte for byte")
    func table() async throws {
        let world = try await World()
        func put(_ guests: Int) async throws {
            let properties = Self.list(0..<997) { #""p\#($0)":1"# } + #","\u00e9":1,"e\u0301":2"#
            let list =
                #"{"cookies":["a"],"properties":{\#(properties)}},"#
                + Self.list(0..<guests) { #"{"cookies":["c\#($0)"]}"# }
            let state = #"{"projects":[{"token":"demo-project-1","customers":[\#(list)]}]}"#
            expect(try await world.control(.put, "state/bloomreach", state).status, is: 200)
        }
        try await put(10)
        let answer = try await world.call(.post, Example.data + "/export", .basic, "{}")
        answer.expect(200)
        expect(answer.json["fields"]?.array?.count, is: 2 + 999)
        // In byte order: the letter with a combining character first, the composed one last.
        expect(answer.json["data"]?[0]?[2], is: 2)
        expect(answer.json["data"]?[0]?[1000], is: 1)
        expect(answer.json["data"]?[0]?[1], is: ["a"])
        try await put(500)
        try await world.call(.post, Example.data + "/export", .basic, "{}").expect(
            413, Example.error("Request body too large"), "body-too-large")
    }

    @Test("a batch has a thousand commands at most, each has its complaint, and the journal has the first hundred")
    func batch() async throws {
        let world = try await World()
        func send(_ count: Int) async throws -> ReceivedAnswer {
            let list = Self.list(0..<count) { $0 % 2 == 0 ? #"{"name":"customers","data":{}}"# : "7" }
            return try await world.call(.post, Example.batch, .token, #"{"commands":[\#(list)]}"#)
        }
        let answer = try await send(1000)
        answer.expect(200)
        let nobody: JSON = ["success": false, "errors": ["At least one id should be specified."]]
        let unknown: JSON = ["success": false, "errors": ["Unknown command."]]
        expect(answer.json["results"]?.array, is: (0..<1000).map { $0 % 2 == 0 ? nobody : unknown })
        expect(answer.entry?.record.parts?.count, is: 1000)
        expect(answer.entry?.record.parts?.refused.count, is: 100)
        try await send(1001).expect(400, Example.errors("Field 'commands' is invalid."), "invalid-field")
    }

    @Test("a batch may be longer than other bodies, and each of its commands as long as the call itself may be")
    func longCommand() async throws {
        let text = String(repeating: "x", count: 300_000)
        let data = Example.body(Example.ana, #""event_type":"view","properties":{"text":"\#(text)"}"#)
        let answer = try await World().call(
            .post, Example.batch, .token,
            #"{"commands":[{"name":"customers/events","data":\#(data)},{"name":"system/time"}]}"#)
        answer.expect(200)
        expect(answer.json["results"]?[0]?["errors"], is: ["Request body too large"])
        expect(answer.json["results"]?[1]?["success"], is: true)
    }

    @Test("a guest who is merged brings as many properties as there is room for, and what does not grow is taken")
    func merged() {
        var customers = BloomreachCustomerStore()
        let (ana, guest) = (customers.make(), customers.make())
        customers.change(ana) { $0.set(JSONObject((0..<999).map { ("a\($0)", 1) })) }
        customers.change(guest) { $0.set(["a0": 2, "g0": 2, "g1": 2]) }
        customers.merge(guest, into: ana)
        expect(customers[ana]?.properties.count, is: 1000)
        expect(customers[ana]?.properties["a0"], is: 1)
        expect(customers[ana]?.properties["g0"], is: 2)
        expect(customers[ana]?.properties["g1"], is: nil)
    }

    @Test("a change that does not make a record longer is taken, however long it is") func notLonger() throws {
        var customer = BloomreachCustomer(number: 1)
        customer.set(["long": .string(String(repeating: "x", count: 300_000))])
        try BloomreachCustomer.checkRoom(for: ["long": "short"], besides: customer)
        #expect(throws: Bloomreach.Refused.self) {
            try BloomreachCustomer.checkRoom(for: ["more": 1], besides: customer)
        }
    }
}

/// Several commands in one request (section 9 of the vendor's spec).
@Suite("Bloomreach's batches") struct BatchTests {
    private func send(
        _ commands: [String], _ fields: World.Fields = .basic, in world: World
    ) async throws -> ReceivedAnswer {
        let answer = try await world.call(
            .post, Example.batch, fields, #"{"commands":[\#(commands.joined(separator: ","))]}"#)
        answer.expect(200)
        expect(answer.json["success"], is: true)
        return answer
    }

    private static func command(_ name: String, _ data: String) -> String { #"{"name":"\#(name)","data":\#(data)}"# }

    @Test("more commands than the vendor's page allows are run, and the journal notes it") func size() async throws {
        let world = try await World()
        for (count, outcome) in [(50, nil), (51, Finding.Outcome.noted)] {
            let answer = try await send(Array(repeating: #"{"name":"system/time"}"#, count: count), in: world)
            expect(answer.json["results"]?.array?.count, is: count)
            expect(answer.outcome(of: "batch-size"), is: outcome)
        }
    }

    @Test("each command has the complaint of the single call in its place, and the journal its failure and reason")
    func complaints() async throws {
        let world = try await World()
        let ana = Example.body(Example.ana, #""event_type":"view""#)
        let answer = try await send(
            [
                Self.command("customers/events", ana), Self.command("customers", "{}"),
                Self.command("customers/events", Example.body(Example.ana, #""properties":7"#)),
                Self.command("customers", "7"), Self.command("campaigns", "{}"), "7", "null",
                Self.command("customers", Example.body(#"{"registered":7}"#)),
                Self.command("customers/events", ana),
            ], in: world)
        let (done, unknown) = (#"{"success":true}"#, #"{"success":false,"errors":["Unknown command."]}"#)
        expect(
            answer.json["results"]?.array?.map(\.text),
            is: [
                done, #"{"success":false,"errors":["At least one id should be specified."]}"#,
                #"{"success":false,"errors":["Field 'properties' is invalid."]}"#,
                #"{"success":false,"errors":["Field 'data' is invalid."]}"#, unknown, unknown, unknown,
                #"{"success":false,"errors":["Field 'customer_ids' is invalid."]}"#, done,
            ])
        expect(try await world.customer(Example.ana).json["events"]?.array?.count, is: 2)
        let parts = try #require(answer.entry?.record.parts)
        expect(parts.count, is: 7)
        expect(parts.refused.map(\.number), is: Array(2...8))
        expect(
            parts.refused.map(\.name),
            is: ["customers", "customers/events", "customers", "campaigns", "", "", "customers"])
        expect(
            parts.refused.map(\.failure),
            is: [
                "no-customer-ids", "invalid-field", "invalid-field", "unknown-command", "unknown-command",
                "unknown-command", "invalid-field",
            ])
        expect(
            parts.refused[3].reason, is: "found “campaigns”; expected one of customers, customers/events or system/time"
        )
        expect(parts.refused[4].reason?.hasPrefix("found no name; expected "), is: true)
        #expect(parts.refused.allSatisfy { $0.reason?.isEmpty == false })
        expect(answer.entry?.explanation, is: nil, "the request as a whole was answered")
        let shown = try await world.control(.get, "journal").json["entries"]?[0]?["parts"]
        expect(shown?["refused"], is: 7)
        expect(shown?["first"]?[3]?["failure"], is: "unknown-command")
        expect(shown?["first"]?[3]?["findings"], is: [])
    }

    @Test("a key is judged for each command by itself") func permissions() async throws {
        let world = try await World()
        let answer = try await send(
            [
                Self.command("customers", Example.body(Example.ana, #""properties":{"apple_push_notification_id":1}"#)),
                Self.command("customers/events", Example.body(Example.ana, #""event_type":"internal_audit""#)),
                Self.command("customers", Example.body(Example.ana, #""properties":{"x":1}"#)),
            ], .limited, in: world)
        expect(
            answer.json["results"]?.array?.map(\.text),
            is: [
                #"{"success":false,"errors":["not authorized to update specified customer properties"]}"#,
                #"{"success":false,"errors":["not authorized to track specified event"]}"#, #"{"success":true}"#,
            ])
    }
}

@Suite("Bloomreach's secrets in the wrong place") struct SecrecyTests {
    @Test("a kid that holds a secret", arguments: [Example.secret, "x \(Example.streamSecret)"])
    func kid(_ kid: String) async throws {
        let world = try await World()
        let customer = try Forged.customer(header: #"{"alg":"HS256","typ":"JWT","kid":"\#(kid)"}"#)
        let stream = try Forged.stream(header: #"{"alg":"HS512","typ":"JWT","kid":"\#(kid)"}"#)
        for (path, token) in [(Example.inbox, customer), (Example.streamInbox, stream)] {
            let answer = try await world.call(.post, path, .bearer(token), Example.body(Example.ana))
            expect(answer.failure?.hasSuffix("-token-unknown-key"), is: true)
            #expect(!"\(answer.findings)".contains(kid))
        }
    }
}
