import Emulation
import JSON
import Support
import Testing

@testable import Bloomreach

/// Limits that keep a looping client from filling memory.
@Suite("Bloomreach's bounds")
struct BoundsTests {
    private static func entry(_ number: Int, _ properties: JSONObject = [:]) -> BloomreachEventLog.Entry {
        BloomreachEventLog.Entry(BloomreachEvent(type: "view", properties: properties), sequence: number)
    }

    @Test("of one customer's events the oldest tenth goes when there are too many")
    func eventCount() {
        var log = BloomreachEventLog()
        for number in 1...(BloomreachEventLog.maximumCount + 1) { log.append(Self.entry(number)) }
        #expect(log.entries.count == BloomreachEventLog.maximumCount * 9 / 10)
        #expect(log.entries.last?.sequence == BloomreachEventLog.maximumCount + 1)
    }

    @Test("of one customer's events the oldest go when they are too long")
    func eventBytes() {
        var log = BloomreachEventLog()
        let text = JSON.string(String(repeating: "x", count: 100_000))
        for number in 1...100 { log.append(Self.entry(number, ["text": text])) }
        #expect(log.byteCount <= BloomreachEventLog.maximumBytes)
        #expect(log.byteCount > BloomreachEventLog.maximumBytes / 2)
        #expect(log.entries.last?.sequence == 100)
        var other = BloomreachEventLog()
        other.append(Self.entry(0))
        other.merge(log)
        #expect(other.entries.first?.sequence == 0)
        #expect(other.entries.last?.sequence == 100)
    }

    @Test("what calls add counts as long as it is there, and properties for more than their text")
    func size() throws {
        var customers = BloomreachCustomerStore(fixtures: [BloomreachCustomer(number: 1)])
        let (ana, guest) = (customers.make(), customers.make())
        let empty = StateSize(records: 2, bytes: customers.size.bytes)
        #expect(customers.size == empty)
        customers.give(BloomreachID(name: "registered", value: "ana"), to: ana)
        customers.give(cookie: "c", to: guest)
        for number in 0..<10 { customers.track("view", ["n": JSON(number)], at: 0, by: guest) }
        let before = customers.size
        customers.change(ana) { $0.set(["text": .string(String(repeating: "x", count: 1000))]) }
        #expect((4000...5000).contains(customers.size.bytes - before.bytes))
        customers.merge(guest, into: ana)
        #expect(customers.size.records == 1)
        customers.remove(ana)
        #expect(customers.size == StateSize())
        let vendor = try Bloomreach(fixtures: VendorFixtures(store: Repository.fixtures, folder: "bloomreach"))
        var state = vendor.initialState
        let start = vendor.size(of: state)
        #expect(start.records == 0)
        state.change("demo-project-1") { records in
            _ = records.customers.make()
            records.add(selfCheck: [:])
        }
        #expect(vendor.size(of: state).records == 1)
        #expect(vendor.size(of: state).bytes > start.bytes + 50)
    }

    @Test("of clicks without a customer and of self-checks the newest thousand stay")
    func newest() {
        var newest = BloomreachNewest()
        for number in 0...BloomreachNewest.capacity { newest.append(JSON(number)) }
        #expect(newest.all.count == BloomreachNewest.capacity)
        #expect(newest.all.first == 1)
        #expect(newest.byteCount == newest.texts.reduce(0) { $0 + $1.count + 48 })
    }

    @Test("what requests nested deeply leaves with the state and comes back")
    func depth() async throws {
        let world = try await World()
        let deep = String(repeating: "[", count: 60) + String(repeating: "]", count: 60)
        let body = Example.body(Example.ana, #""event_type":"x","properties":{"deep":\#(deep)}"#)
        try await world.call(.post, Example.events, .token, body).expect(200)
        try await world.call(.post, Example.clicks, .token, #"{"url":"u","properties":{"deep":\#(deep)}}"#).expect(200)
        let exported = try await world.control(.get, "state/bloomreach")
        let other = try await World()
        #expect(try await other.control(.put, "state/bloomreach", exported.text).text == exported.text)
        #expect(try await other.customer(Example.ana).text.contains(deep))
    }

    @Test("cookies beyond the bound are forgotten, the oldest first")
    func cookies() {
        var customers = BloomreachCustomerStore()
        let ana = customers.make()
        for number in 0...BloomreachCustomer.maximumCookies { customers.give(cookie: "c-\(number)", to: ana) }
        #expect(customers[ana]?.cookies.count == BloomreachCustomer.maximumCookies)
        #expect(customers.owner(ofCookie: "c-0") == nil)
        #expect(customers.owner(ofCookie: "c-1") == ana)
    }

    @Test("a customer takes so many properties and no more, and a refusal stores nothing")
    func properties() async throws {
        let world = try await World()
        func update(_ range: Range<Int>) async throws -> ReceivedAnswer {
            let members = range.map { #""p\#($0)":1"# }.joined(separator: ",")
            return try await world.call(
                .post, Example.customers, .token, Example.body(Example.guest, #""properties":{\#(members)}"#))
        }
        try await update(0..<1000).expect(200)
        let before = try await world.control(.get, "state/bloomreach").text
        try await update(1000..<1001).expect(413, Example.error("Request body too large"), "body-too-large")
        #expect(try await world.control(.get, "state/bloomreach").text == before)
        // Existing properties may still change.
        try await update(0..<1000).expect(200)
    }

    @Test("a type of event has a bound too")
    func longType() async throws {
        let body = Example.body(Example.ana, #""event_type":"\#(String(repeating: "x", count: 257))""#)
        try await World().call(.post, Example.events, .token, body).expect(
            400, Example.errors("Field 'event_type' is invalid."), "invalid-field")
    }
}
