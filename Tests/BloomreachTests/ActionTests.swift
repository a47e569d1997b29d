import JSON
import Support
import Testing

/// Changes to customers without a call of the app, and expectations that a test can check.
@Suite("Bloomreach's actions")
struct ActionTests {
    private func act(_ world: World, _ action: String, _ members: String) async throws -> ReceivedAnswer {
        try await world.control(.post, "state/bloomreach/" + action, members)
    }

    @Test("a customer is made, changed, made anonymous and removed", arguments: Depth.allCases)
    func life(_ depth: Depth) async throws {
        let world = try await World(depth)
        let made = try await act(
            world, "identify-customer", #"{"customer":"new@example.test","properties":{"city":"Brno"}}"#)
        #expect(made.status == 200)
        #expect(made.json["result"]?["customer"] ?? made.json["customer"] == 4)
        #expect(try await world.customer(#""new@example.test""#).json["properties"] == ["city": "Brno"])
        #expect(try await act(world, "anonymize-customer", #"{"customer":"ana@example.test"}"#).status == 200)
        #expect(try await world.customer(#""ana@example.test""#).status != 200)
        #expect(
            try await act(world, "delete-customer", #"{"customer":{"cookie":"\#(Example.cookieGuest)"}}"#).status == 200
        )
        let customers = try await world.control(.get, "state/bloomreach").json["projects"]?[0]?["customers"]
        #expect(customers?.array?.map { $0["number"] } == [1, 2, 4])
    }

    @Test("an event is tracked as the backend would")
    func track() async throws {
        let world = try await World()
        let order =
            #"{"customer":"ana@example.test","event_type":"campaign","properties":{"status":"sent"},"timestamp":5}"#
        #expect(try await act(world, "track-event", order).status == 200)
        let event = try await world.customer(Example.ana).json["events"]?[0]
        #expect(event?["type"] == "campaign")
        #expect(event?["timestamp"]?.number?.double == 5)
        #expect(event?["properties"] == ["status": "sent"])
    }

    @Test(
        "an order that cannot be done says why",
        arguments: [
            ("identify-customer", #"{"customer":{}}"#, "names nobody"),
            ("identify-customer", #"{"customer":{"registered":7}}"#, "not a map of ids"),
            (
                "identify-customer", #"{"customer":{"registered":"ana@example.test","cookie":"x"},"project":"demo"}"#,
                "demo-project-1"
            ),
            ("delete-customer", #"{"customer":"anna@example.test"}"#, "did you mean “ana@example.test”"),
            ("track-event", #"{"customer":"a","event_type":""}"#, "event_type must have"),
            ("track-event", #"{"customer":"a","event_type":"x","timestamp":"soon"}"#, "invalid-field"),
            ("track-event", #"{"customer":"a","event_type":"x","properties":7}"#, "expected an object"),
            ("read-customer", "{}", "needs the member customer"),
            ("expect-event", #"{"exactly":1,"at_least":1}"#, "cannot be combined"),
            ("expect-event", #"{"at_least":3,"at_most":2}"#, "nothing can be both"),
            ("expect-event", #"{"properties":{"x":{}}}"#, "demands nothing"),
        ])
    func refused(_ action: String, _ order: String, _ part: String) async throws {
        let world = try await World()
        let before = try await world.control(.get, "state/bloomreach").text
        let answer = try await act(world, action, order)
        #expect(answer.status >= 400)
        #expect(answer.text.contains(part), "\(answer.text)")
        #expect(try await world.control(.get, "state/bloomreach").text == before)
    }

    private func purchases() async throws -> World {
        let world = try await World()
        for (ids, total) in [(Example.ana, "12.5"), (Example.ana, "99"), (Example.ben, "12.5")] {
            let body = Example.body(
                ids, #""event_type":"purchase","properties":{"total":\#(total),"currency":"EUR"}"#)
            try await world.call(.post, Example.events, .token, body).expect(200)
        }
        return world
    }

    @Test(
        "this app tracked `purchase` once with these properties",
        arguments: [
            #"{"customer":"ana@example.test","event_type":"purchase","properties":{"total":12.5},"exactly":1}"#,
            #"{"customer":"ana@example.test","event_type":"purchase","exactly":2}"#,
            #"{"event_type":"purchase","exactly":3}"#,
            #"{"event_type":"purchase","properties":{"total":12.50},"exactly":2}"#,
            #"{"event_type":{"like":"purch*"},"properties":{"total":{"over":50},"currency":{"not":"USD"}},"exactly":1}"#,
            #"{"properties":{"coupon":{"present":false}},"at_least":3}"#, #"{"event_type":"refund","at_most":0}"#,
            #"{"event_type":"purchase","timestamp":{"over":1799999999},"at_least":1,"at_most":3}"#, "{}",
        ])
    func expected(_ order: String) async throws {
        let answer = try await act(try await purchases(), "expect-event", order)
        #expect(answer.status == 200, "\(answer.text)")
    }

    @Test(
        "an expectation that does not hold is told what comes closest",
        arguments: [
            (
                #"{"customer":"ana@example.test","event_type":"purchase","properties":{"total":13},"exactly":1}"#,
                "expected exactly 1 event, found 0; the nearest is purchase of customer 1 at 1800000000.0: total is 99, not 13"
            ),
            (
                #"{"event_type":"purchase","properties":{"coupon":"x","total":12.5},"exactly":2}"#,
                "the nearest is purchase of customer 2 at 1800000000.0: coupon is absent, not \\\"x\\\""
            ),
            (
                #"{"event_type":"purchase","at_most":2}"#,
                "expected at most 2 events, found 3; the latest: purchase of customer 2"
            ),
            (
                #"{"event_type":"refund"}"#,
                "expected at least 1 event, found 0; tracked were events of other types: purchase"
            ),
            (#"{"customer":{"cookie":"\#(Example.cookieGuest)"}}"#, "found 0; nothing else was tracked"),
        ])
    func unexpected(_ order: String, _ message: String) async throws {
        let answer = try await act(try await purchases(), "expect-event", order)
        #expect(answer.status >= 400)
        #expect(answer.text.contains(message), "\(answer.text)")
    }

    @Test("clicks of nobody count where nobody is named")
    func clicks() async throws {
        let world = try await World()
        try await world.call(.post, Example.clicks, .token, #"{"url":"https://a.example.test"}"#).expect(200)
        let order = #"{"event_type":"campaign_click","properties":{"url":{"contains":"a.example"}},"exactly":1}"#
        #expect(try await act(world, "expect-event", order).status == 200)
    }

    @Test("no action is without a test of its name")
    func coverage() async throws {
        let bloomreach = try #require(try await World().emulator.vendors.first { $0.identity.id == "bloomreach" })
        let tested = [
            "identify-customer", "track-event", "delete-customer", "anonymize-customer", "read-customer",
            "expect-event",
        ]
        let content = [
            "add-inbox-message", "delete-inbox-message", "expire-inbox-message", "read-inbox-message", "clear-inbox",
            "set-segments", "set-consent",
        ]
        #expect(Set(bloomreach.actions.map(\.name)) == Set(tested + content))
    }
}
