import Emulation
import Expectations
import JSON
import Support
import Testing
import Understudy

@testable import Bloomreach

@Suite("Bloomreach's bounds") struct BoundsTests {
    private static func entry(_ number: Int, _ properties: JSONObject = [:]) -> BloomreachEventLog.Entry {
        BloomreachEventLog.Entry(BloomreachEvent(type: "view", properties: properties), sequence: number)
    }

    @Test("of one customer's events the oldest tenth goes when there are too many") func eventCount() {
        var log = BloomreachEventLog()
        for number in 1...(BloomreachEventLog.maximumCount + 1) { log.append(Self.entry(number)) }
        expect(log.entries.count, is: BloomreachEventLog.maximumCount * 9 / 10)
        expect(log.entries.last?.sequence, is: BloomreachEventLog.maximumCount + 1)
    }

    @Test("of one customer's events the oldest go when they are too long") func eventBytes() {
        var log = BloomreachEventLog()
        let text = JSON.string(String(repeating: "x", count: 100_000))
        for number in 1...100 { log.append(Self.entry(number, ["text": text])) }
        #expect(log.byteCount <= BloomreachEventLog.maximumBytes)
        #expect(log.byteCount > BloomreachEventLog.maximumBytes / 2)
        expect(log.entries.last?.sequence, is: 100)
        var other = BloomreachEventLog()
        other.append(Self.entry(0))
        other.merge(log)
        expect(other.entries.first?.sequence, is: 0)
        expect(other.entries.last?.sequence, is: 100)
    }

    @Test("what calls add counts as long as it is there, and properties for more than their text") func size() throws {
        var customers = BloomreachCustomerStore(fixtures: [BloomreachCustomer(number: 1)])
        let (ana, guest) = (customers.make(), customers.make())
        let empty = StateSize(records: 2, bytes: customers.size.bytes)
        expect(customers.size, is: empty)
        customers.give([BloomreachID(name: "registered", value: "ana")], to: ana)
        customers.give(cookie: "c", to: guest)
        for number in 0..<10 {
            customers.track(BloomreachEvent(type: "view", properties: ["n": JSON(number)]), by: guest)
        }
        let before = customers.size
        customers.change(ana) { $0.set(["text": .string(String(repeating: "x", count: 1000))]) }
        #expect((4000...5000).contains(customers.size.bytes - before.bytes))
        customers.merge(guest, into: ana)
        expect(customers.size.records, is: 1)
        customers.remove(ana)
        expect(customers.size, is: StateSize())
        let vendor = try Bloomreach(fixtures: VendorFixtures(store: Repository.fixtures, folder: "bloomreach"))
        var state = vendor.initialState
        let start = vendor.size(of: state)
        expect(start.records, is: 0)
        state.change("demo-project-1") { records in
            _ = records.customers.make()
            records.add(selfCheck: [:])
        }
        expect(vendor.size(of: state).records, is: 1)
        #expect(vendor.size(of: state).bytes > start.bytes + 50)
    }

    @Test("of clicks without a customer and of self-checks the newest thousand stay") func newest() {
        var newest = BloomreachNewest()
        for number in 0...BloomreachNewest.capacity { newest.append(JSON(number)) }
        expect(newest.all.count, is: BloomreachNewest.capacity)
        expect(newest.all.first, is: 1)
        expect(newest.byteCount, is: newest.texts.reduce(0) { $0 + $1.count + 48 })
    }

    @Test("what requests nested deeply leaves with the state and comes back") func depth() async throws {
        let world = try await World()
        let deep = String(repeating: "[", count: 60) + String(repeating: "]", count: 60)
        let body = Example.body(Example.ana, #""event_type":"x","properties":{"deep":\#(deep)}"#)
        try await world.call(.post, Example.events, .token, body).expect(200)
        try await world.call(.post, Example.clicks, .token, #"{"url":"u","properties":{"deep":\#(deep)}}"#).expect(200)
        let exported = try await world.control(.get, "state/bloomreach")
        let other = try await World()
        expect(try await other.control(.put, "state/bloomreach", exported.text).text, is: exported.text)
        #expect(try await other.customer(Example.ana).text.contains(deep))
    }

    @Test("cookies beyond the bound are forgotten, the oldest first") func cookies() {
        var customers = BloomreachCustomerStore()
        let ana = customers.make()
        for number in 0...BloomreachCustomer.maximumCookies { customers.give(cookie: "c-\(number)", to: ana) }
        expect(customers[ana]?.cookies.count, is: BloomreachCustomer.maximumCookies)
        expect(customers.owner(ofCookie: "c-0"), is: nil)
        expect(customers.owner(ofCookie: "c-1"), is: ana)
    }

    @Test("a customer takes so many properties and no more, and a refusal stores nothing")
    func properties() async throws {
        let world = try await World()
        func update(_ range: Range<Int>) async throws -> ReceivedAnswer {
            try await world.update(Example.guest, "{\(range.map { #""p\#($0)":1"# }.joined(separator: ","))}")
        }
        try await update(0..<1000).expect(200)
        let before = try await world.control(.get, "state/bloomreach").text
        try await update(1000..<1001).expect(413, Example.error("Request body too large"), "body-too-large")
        expect(try await world.control(.get, "state/bloomreach").text, is: before)
        // Existing properties may still change.
        try await update(0..<1000).expect(200)
    }
}

@Suite("Bloomreach's accounts") struct AccountsTests {
    @Test("a project's own answer to app-inbox-auth beats the switch") func project() async throws {
        let world = try await World.under(accounts: [
            ("  - token: \"demo-project-1\"", "  - token: \"demo-project-1\"\n    app_inbox_auth: \"advanced\"")
        ])
        try await world.set("bloomreach.app-inbox-auth", "any")
        try await world.call(.post, Example.inbox, .token, Example.body(Example.ana)).expect(
            401, Example.error("customer token required"), "customer-token-required")
    }

    @Test("a stream's own answer to require-jwt beats the switch") func stream() async throws {
        let world = try await World.under(accounts: [
            ("  - id: \"demo-stream-1\"", "  - id: \"demo-stream-1\"\n    require_jwt: \"all\"")
        ])
        let body = Example.body(Example.guest, #""event_type":"view""#)
        try await world.call(.post, Example.streamEvents, [], body).expect(
            401, Example.error("missing token"), "stream-token-missing")
    }

    @Test("events of the fixtures are there from the start, in the order of the file") func events() async throws {
        let events = """
            first_name: "Ana" }
                    events:
                      - { type: "first", timestamp: 5, properties: { n: 1.50 } }
                      - { type: "second", timestamp: 1.5 }
            """
        let world = try await World.under(accounts: [("first_name: \"Ana\" }", events)])
        try await world.track(Example.ana, "third").expect(200)
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

@Suite("Bloomreach's state, exported and imported") struct ExportTests {
    @Test("put into another sandbox, the numbers of customers count on behind those that were given out")
    func numbers() async throws {
        let (world, other) = (try await World(), try await World())
        try await BloomreachLife.live(world)
        let exported = try await world.control(.get, "state/bloomreach").text
        expect(try await other.control(.put, "state/bloomreach", exported).status, is: 200)
        expect(try await other.act("identify-customer", #"{"customer":"x"}"#).json["customer"], is: 5)
    }

    @Test("a customer of the fixtures that was given another number has it after a restart too")
    func otherNumber() async throws {
        let world = try await World(on: Stage(Emulator(fixtures: Repository.fixtures)))
        let exported = try await world.control(.get, "state/bloomreach").text
        #expect(exported.contains(#""number":1,"#))
        let put = try await world.control(
            .put, "state/bloomreach", exported.replacing(#""number":1,"#, with: #""number":77,"#))
        expect(put.status, is: 200)
        let again = world.moved(to: try world.stage.restarted())
        expect(try await again.control(.get, "state/bloomreach").text, is: put.text)
    }

    @Test("what nobody touched follows the fixtures of the new start") func otherFixtures() async throws {
        let world = try await World(on: Stage(Emulator(fixtures: Repository.fixtures)))
        try await world.update(#"{"registered":"new@example.test"}"#).expect(200)
        let fixtures = try OwnFixtures()
        try fixtures.put("bloomreach/accounts.yaml", [("first_name: \"Ana\"", "first_name: \"Anna\"")])
        let again = world.moved(to: try world.stage.restarted(fixtures.store))
        expect(try await again.customer(Example.ana).json["properties"], is: ["first_name": "Anna"])
        expect(try await again.customer(#""new@example.test""#).json["number"], is: 4)
    }
}

@Suite("Bloomreach's customers under new fixtures") struct ReloadTests {
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
            try await touched.update(ids, property).expect(200)
        }
        try await touched.track(Example.guest).expect(200)
        _ = try await untouched.customer(Example.ana)
        try fixtures.put(
            Self.accounts,
            [("first_name: \"Ana\"", "first_name: \"Anna\""), ("  - token: \"demo-project-2\"", Self.newcomer)])
        try emulator.reload(fixtures.store)
        for world in [touched, untouched] {
            expect(try await world.customer(Example.ana).json["properties"], is: ["first_name": "Anna"])
        }
        expect(try await touched.customer(Example.ben).json["properties"], is: ["x": 1])
        expect(try await touched.customer(Example.guest).json["events"]?.array?.map { $0["type"] }, is: ["view"])
        // The file's fourth customer comes after the one that a call created.
        expect(try await touched.customer(#""new@example.test""#).json["number"], is: 4)
        expect(try await touched.customer(#""cleo@example.test""#).json["number"], is: 5)
        expect(try await untouched.customer(#""cleo@example.test""#).json["number"], is: 4)
    }

    @Test("a customer who left the file goes, unless calls changed it; who was merged does not come back")
    func accountsGo() async throws {
        let fixtures = try OwnFixtures()
        try fixtures.put(Self.accounts, [("  - token: \"demo-project-2\"", Self.newcomer)])
        let emulator = try fixtures.emulator(of: "bloomreach")
        let stage = try Stage(emulator)
        let (changed, merged) = (try await World(on: stage), try await World(on: stage))
        let cleo = #"{"registered":"cleo@example.test"}"#
        try await changed.track(cleo).expect(200)
        try await merged.update(#"{"registered":"ana@example.test","cookie":"\#(Example.cookieGuest)"}"#).expect(200)
        expect(try await merged.customer(cleo).json["number"], is: 4)
        try fixtures.remove(Self.accounts)
        try emulator.reload(fixtures.store)
        expect(try await changed.customer(cleo).json["events"]?.array?.count, is: 1)
        expect(try await changed.customer(Example.guest).json["number"], is: 3)
        #expect(try await merged.customer(cleo).status != 200)
        expect(try await merged.customer(Example.guest).json["number"], is: 1)
    }

    @Test("the file's customer gives way where a call gave the id to another one") func collision() async throws {
        let fixtures = try OwnFixtures()
        let emulator = try fixtures.emulator(of: "bloomreach")
        let world = try await World(on: try Stage(emulator))
        try await world.update(#"{"registered":"cleo@example.test"}"#, #"{"x":1}"#).expect(200)
        try fixtures.put(Self.accounts, [("  - token: \"demo-project-2\"", Self.newcomer)])
        try emulator.reload(fixtures.store)
        let cleo = try await world.customer(#""cleo@example.test""#).json
        expect(cleo["number"], is: 4)
        expect(cleo["properties"], is: ["x": 1])
    }
}
