import JSON
import Support
import Testing
import Tokens

@testable import Bloomreach

/// Data dropped for lack of room is counted, and checks that count events report it.
@Suite("What Bloomreach forgets")
struct ForgettingTests {
    private static func body(_ type: String, _ length: Int) -> String {
        Example.body(
            Example.ana, #""event_type":"\#(type)","properties":{"text":"\#(String(repeating: "x", count: length))"}"#)
    }

    /// A customer with eleven long events, not all of which fit; the tests only read.
    private static let crowded = Task { try await crowd() }

    private static func crowd() async throws -> (world: World, forgotten: Int, noted: [Finding], last: ReceivedAnswer) {
        let world = try await World()
        try await world.call(.post, Example.events, .token, body("first", 1)).expect(200)
        var last: ReceivedAnswer?
        for _ in 0..<10 {
            last = try await world.call(.post, Example.events, .token, body("long", 250_000))
            last?.expect(200)
        }
        let kept = try await world.customer(Example.ana).json["events"]?.array?.count ?? 0
        // Now, since others may push so long a journal out.
        let noted = world.sandbox.journal.entries().flatMap(\.record.findings).filter { $0.check == "room" }
        return (world, 11 - kept, noted, try #require(last))
    }

    private func expect(_ world: World, _ order: String) async throws -> ReceivedAnswer {
        try await world.control(.post, "state/bloomreach/expect-event", order)
    }

    @Test("events that had to make room are told by an expectation that fails, and by one that holds")
    func expectation() async throws {
        let (world, forgotten, _, _) = try await Self.crowded.value
        #expect((2..<11).contains(forgotten))
        let gone = "; not counted, since they had to make room, are \(forgotten) events"
        for order in [
            #"{"customer":"ana@example.test","event_type":"first"}"#, #"{"event_type":"first"}"#,
            #"{"event_type":"long","at_least":10}"#,
        ] {
            let answer = try await expect(world, order)
            #expect(answer.status == 400)
            #expect(answer.json["error"]?["message"]?.string?.hasSuffix(gone) == true, "\(answer.text)")
        }
        let holds = try await expect(world, #"{"event_type":"first","at_most":0}"#)
        #expect(holds.status == 200)
        let counts = #"{"customers":0,"events":\#(forgotten),"clicks":0,"self_checks":0}"#
        #expect(holds.json["forgotten"]?.text == counts)
        // Nothing of other customers is lost.
        let other = try await expect(world, #"{"customer":"ben@example.test","at_most":0}"#)
        #expect(other.json["forgotten"] == nil)
        #expect(try await expect(world, #"{"customer":"nobody"}"#).text.contains("nobody in project"))
    }

    @Test("the journal says which request took the room")
    func journal() async throws {
        // Nine tenths remain after each removal, so the last one may have had room.
        let (_, _, noted, last) = try await Self.crowded.value
        #expect(!noted.isEmpty)
        #expect(noted.allSatisfy { $0.outcome == .noted })
        #expect(last.status == 200)
    }

    @Test("the counts leave with the state, and come back with it")
    func export() async throws {
        let (world, forgotten, _, _) = try await Self.crowded.value
        let exported = try await world.control(.get, "state/bloomreach")
        let project = exported.json["projects"]?[0]
        #expect(project?["customers"]?[0]?["forgotten_events"]?.int == forgotten)
        #expect(project?["forgotten"]?["events"]?.int == forgotten)
        let other = try await World()
        #expect(try await other.control(.put, "state/bloomreach", exported.text).text == exported.text)
        #expect(
            try await expect(other, #"{"event_type":"first"}"#).text.contains("are \(forgotten) events"))
        let untouched = try await World().control(.get, "state/bloomreach")
        #expect(!untouched.text.contains("forgotten"))
    }

    @Test("more forgotten events than anybody could have tracked are refused, and sums of them stay numbers")
    func absurd() async throws {
        func state(_ forgotten: Int, _ count: Int) -> String {
            let customers = (1...count).map { number in
                #"{"number":\#(number),"ids":{"registered":"c\#(number)"},"forgotten_events":\#(forgotten)}"#
            }
            return #"{"projects":[{"token":"demo-project-1","customers":[\#(customers.joined(separator: ","))]}]}"#
        }
        let world = try await World()
        let answer = try await world.control(.put, "state/bloomreach", state(4_503_599_627_370_496, 1))
        #expect(answer.status == 400)
        #expect(answer.text.contains("forgotten_events: 4503599627370496 is more than 1000000000"), "\(answer.text)")
        let most = try await world.control(.put, "state/bloomreach", state(1_000_000_000, 2100))
        #expect(most.status == 200, "\(most.text.prefix(300))")
        let again = try await world.control(.put, "state/bloomreach", most.text)
        #expect(again.text == most.text)
    }

    @Test("a customer who is merged brings the count along, and it is counted once")
    func merged() {
        var customers = BloomreachCustomerStore()
        let (ana, guest) = (customers.make(), customers.make())
        for number in 0...BloomreachEventLog.maximumCount {
            customers.track("view", ["n": JSON(number)], at: 0, by: guest)
        }
        let gone = BloomreachEventLog.maximumCount / 10 + 1
        #expect(customers.forgotten.events == gone)
        customers.track("view", [:], at: 0, by: ana)
        customers.merge(guest, into: ana)
        #expect(customers[ana]?.events.forgottenCount == gone)
        #expect(customers.forgotten.events == gone)
    }

    @Test("customers who had to make room are counted with their events")
    func customers() {
        var customers = BloomreachCustomerStore()
        for _ in 0...BloomreachCustomerStore.capacity {
            let made = customers.make()
            customers.track("view", [:], at: 0, by: made)
            _ = customers.shrink(sparing: made)
        }
        let gone = BloomreachCustomerStore.capacity + 1 - customers.all.count
        #expect(gone > 1)
        #expect(customers.forgotten.customers == gone)
        #expect(customers.forgotten.events == gone)
    }

    @Test("clicks and self-checks have a bound in bytes, and what goes is counted")
    func latest() {
        var latest = BloomreachLatest()
        let long = JSON.string(String(repeating: "x", count: 250_000))
        for number in 0..<100 { latest.append(["number": JSON(number), "text": long]) }
        #expect(latest.byteCount <= BloomreachLatest.maximumBytes)
        #expect(latest.count > 10)
        #expect(latest.count + latest.forgottenCount == 100)
        #expect(latest.all.last?["number"] == 99)
        // An entry longer than the limit is kept on its own.
        latest.append(.string(String(repeating: "x", count: BloomreachLatest.maximumBytes)))
        #expect(latest.count == 1)
        #expect(latest.forgottenCount == 100)
    }

    @Test("clicks that are gone are told, too")
    func clicks() async throws {
        let world = try await World()
        for number in 0...BloomreachLatest.maximumCount {
            try await world.call(.post, Example.clicks, .token, #"{"url":"u-\#(number)"}"#).expect(200)
        }
        let answer = try await expect(world, #"{"event_type":"campaign_click","exactly":1001}"#)
        #expect(answer.text.contains("found 900"), "\(answer.text)")
        #expect(answer.text.contains("; not counted, since they had to make room, are 101 clicks"), "\(answer.text)")
    }

    @Test("properties weigh more than their text")
    func weight() {
        var customer = BloomreachCustomer(number: 1)
        let empty = customer.byteCount
        customer.set(JSONObject((0..<100).map { ("p\($0)", JSON(1)) }))
        #expect(customer.byteCount - empty > 4 * customer.propertyByteCount)
        customer.removeProperties()
        #expect(customer.byteCount == empty)
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
}
