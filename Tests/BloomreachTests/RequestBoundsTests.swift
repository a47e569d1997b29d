import JSON
import Support
import Testing

@testable import Bloomreach

/// Limits on a request's content and on what it may ask for.
@Suite("Bounds of a request to Bloomreach")
struct RequestBoundsTests {
    private static func list(_ range: Range<Int>, _ element: (Int) -> String) -> String {
        range.map(element).joined(separator: ",")
    }

    private static func ids(_ range: Range<Int>) -> String { "{\(list(range) { #""id\#($0)":"v""# })}" }

    @Test("a request names fifty hard ids at most, and a customer has no more")
    func hardIDs() async throws {
        let world = try await World()
        let invalid = Example.errors("Field 'customer_ids' is invalid.")
        try await world.call(.post, Example.customers, .token, Example.body(Self.ids(0..<51))).expect(
            400, invalid, "invalid-field")
        try await world.call(.post, Example.customers, .token, Example.body(Self.ids(0..<50))).expect(200)
        let more = #"{"id0":"v","other":"v"}"#
        try await world.call(.post, Example.customers, .token, Example.body(more)).expect(
            400, invalid, "invalid-field")
        try await world.call(.post, Example.customers, .token, Example.body(Self.ids(0..<50))).expect(200)
    }

    @Test("properties beyond the number that is kept are refused before they are looked at")
    func properties() {
        var customer = BloomreachCustomer(number: 1)
        customer.set(["a": 1])
        let many = JSONObject((0..<1001).map { _ in ("a", 1) })
        #expect(throws: BloomreachRefusal.self) { try BloomreachCustomer.checkRoom(for: many, besides: customer) }
    }

    @Test("properties are set in the order in which they came, the last of one name counts")
    func order() {
        var customer = BloomreachCustomer(number: 1)
        customer.set(["a": 1, "b": 2])
        customer.set(["c": 3, "a": 4, "c": 5])
        #expect(customer.properties == ["a": 4, "b": 2, "c": 5])
    }

    @Test("a call asks for a hundred attributes at most")
    func attributes() async throws {
        let world = try await World()
        func ask(_ count: Int) async throws -> ReceivedAnswer {
            let list = Self.list(0..<count) { _ in #"{"type":"property","property":"first_name"}"# }
            return try await world.call(
                .post, Example.attributes, .token, Example.body(Example.ana, #""attributes":[\#(list)]"#))
        }
        try await ask(100).expect(200)
        try await ask(101).expect(
            400, Example.errors("attributes", "Field 'attributes' is invalid."), "invalid-field")
    }

    @Test("an answer has a bound, whatever its entries are")
    func longAnswer() async throws {
        let world = try await World()
        let text = String(repeating: "x", count: 200_000)
        try await world.call(
            .post, Example.customers, .token, Example.body(Example.ana, #""properties":{"long":"\#(text)"}"#)
        ).expect(200)
        let list = Self.list(0..<100) { _ in #"{"type":"property","property":"long"}"# }
        try await world.call(
            .post, Example.attributes, .token, Example.body(Example.ana, #""attributes":[\#(list)]"#)
        ).expect(413, Example.error("Request body too large"), "body-too-large")
    }

    @Test("each asked block has its entry, repeats included")
    func blocks() async throws {
        let answer = try await World().call(
            .post, "/webxp/s/demo-project-1/inappcontentblocks?v=2", .token,
            Example.body(Example.ana, #""content_block_ids":["block-2","none","block-2","none"]"#))
        answer.expect(200)
        #expect(answer.json["data"]?.array?.map { $0["id"] } == ["block-2", "none", "block-2", "none"])
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
            #expect(try await world.control(.put, "state/bloomreach", state).status == 200)
        }
        try await put(10)
        let answer = try await world.call(.post, Example.data + "/export", .basic, "{}")
        answer.expect(200)
        #expect(answer.json["fields"]?.array?.count == 2 + 999)
        // In byte order: the letter with a combining character first, the composed one last.
        #expect(answer.json["data"]?[0]?[2] == 2)
        #expect(answer.json["data"]?[0]?[1000] == 1)
        #expect(answer.json["data"]?[0]?[1] == ["a"])
        try await put(500)
        try await world.call(.post, Example.data + "/export", .basic, "{}").expect(
            413, Example.error("Request body too large"), "body-too-large")
    }

    @Test("a batch has a thousand commands at most, and each has its complaint")
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
        #expect(answer.json["results"]?.array == (0..<1000).map { $0 % 2 == 0 ? nobody : unknown })
        try await send(1001).expect(400, Example.errors("Field 'commands' is invalid."), "invalid-field")
    }

    @Test("a command of a batch is as long as the call itself may be")
    func longCommand() async throws {
        let text = String(repeating: "x", count: 300_000)
        let data = Example.body(Example.ana, #""event_type":"view","properties":{"text":"\#(text)"}"#)
        let answer = try await World().call(
            .post, Example.batch, .token,
            #"{"commands":[{"name":"customers/events","data":\#(data)},{"name":"system/time"}]}"#)
        answer.expect(200)
        #expect(answer.json["results"]?[0]?["errors"] == ["Request body too large"])
        #expect(answer.json["results"]?[1]?["success"] == true)
    }

    @Test("a guest who is merged brings as many properties as there is room for, and what does not grow is taken")
    func merged() {
        var customers = BloomreachCustomerStore()
        let (ana, guest) = (customers.make(), customers.make())
        customers.change(ana) { $0.set(JSONObject((0..<999).map { ("a\($0)", 1) })) }
        customers.change(guest) { $0.set(["a0": 2, "g0": 2, "g1": 2]) }
        customers.merge(guest, into: ana)
        #expect(customers[ana]?.properties.count == 1000)
        #expect(customers[ana]?.properties["a0"] == 1)
        #expect(customers[ana]?.properties["g0"] == 2)
        #expect(customers[ana]?.properties["g1"] == nil)
    }

    @Test("a change that does not make a record longer is taken, however long it is")
    func notLonger() throws {
        var customer = BloomreachCustomer(number: 1)
        customer.set(["long": .string(String(repeating: "x", count: 300_000))])
        try BloomreachCustomer.checkRoom(for: ["long": "short"], besides: customer)
        #expect(throws: BloomreachRefusal.self) {
            try BloomreachCustomer.checkRoom(for: ["more": 1], besides: customer)
        }
    }

    @Test("project_id in the query names a project on the self-check only")
    func projectID() async throws {
        let body = Example.body(Example.guest, #""event_type":"view""#)
        let path = "/track/u/v1/customers/events?project_id=demo-project-1"
        try await World().call(.post, path, .token, body).expect(
            400, Example.error("Invalid project id"), "invalid-project-id")
    }

    @Test("nobody has tracked no event")
    func nobody() async throws {
        let world = try await World()
        let order = #"{"customer":"none@example.test","event_type":"view","#
        let none = try await world.control(.post, "state/bloomreach/expect-event", order + #""exactly":0}"#)
        #expect(none.status == 200, "\(none.text)")
        let one = try await world.control(.post, "state/bloomreach/expect-event", order + #""exactly":1}"#)
        #expect(one.text.contains("nobody in project demo-project-1"))
    }
}
