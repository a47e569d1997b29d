import Expectations
import HTTPTypes
import JSON
import Support
import Testing
import Tokens

@Suite("Bloomreach's actions") struct ActionTests {
    @Test("a customer is made, changed, made anonymous and removed") func life() async throws {
        let world = try await World()
        let made = try await world.act(
            "identify-customer", #"{"customer":"new@example.test","properties":{"city":"Brno"}}"#)
        expect(made.status, is: 200)
        expect(made.json["customer"], is: 4)
        expect(try await world.customer(#""new@example.test""#).json["properties"], is: ["city": "Brno"])
        expect(try await world.act("anonymize-customer", #"{"customer":"ana@example.test"}"#).status, is: 200)
        #expect(try await world.customer(#""ana@example.test""#).status != 200)
        expect(try await world.act("delete-customer", #"{"customer":\#(Example.guest)}"#).status, is: 200)
        let customers = try await world.control(.get, "state/bloomreach").json["projects"]?[0]?["customers"]
        expect(customers?.array?.map { $0["number"] }, is: [1, 2, 4])
    }

    @Test("an event is tracked as the backend would") func track() async throws {
        let world = try await World()
        let order =
            #"{"customer":"ana@example.test","event_type":"campaign","properties":{"status":"sent"},"timestamp":5}"#
        expect(try await world.act("track-event", order).status, is: 200)
        let event = try await world.customer(Example.ana).json["events"]?[0]
        expect(event?["type"], is: "campaign")
        expect(event?["timestamp"]?.number?.double, is: 5)
        expect(event?["properties"], is: ["status": "sent"])
    }

    private func purchases() async throws -> World {
        let world = try await World()
        for (ids, total) in [(Example.ana, "12.5"), (Example.ana, "99"), (Example.ben, "12.5")] {
            let body = Example.body(ids, #""event_type":"purchase","properties":{"total":\#(total),"currency":"EUR"}"#)
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
            #"{"customer":"none@example.test","event_type":"purchase","exactly":0}"#,
        ])
    func expected(_ order: String) async throws {
        let answer = try await purchases().act("expect-event", order)
        expect(answer.status, is: 200, "\(answer.text)")
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
                "expected at least 1 event, found 0; events of other types were tracked: purchase"
            ),
            (
                #"{"customer":\#(Example.guest)}"#,
                #"found 0; 3 such events are of other customers: registered \"ana@example.test\", registered \"ben@example.test\""}"#
            ),
            (#"{"customer":\#(Example.guest),"timestamp":1}"#, "found 0; nothing else was tracked of this customer"),
            (
                #"{"customer":"none@example.test","event_type":"purchase"}"#,
                #"no customer of project demo-project-1 has one of the ids {\"registered\":\"none@example.test\"}"#
            ),
            (
                #"{"customer":"Ben@example.test ","event_type":"purchase"}"#,
                "did you mean “ben@example.test”?; expected at least 1 event, found 0; "
                    + "3 such events are of other customers: registered \\\"ana@example.test\\\", "
                    + "registered \\\"ben@example.test\\\" (only blanks or quotes and capitals differ)"
            ),
        ])
    func unexpected(_ order: String, _ message: String) async throws {
        let answer = try await purchases().act("expect-event", order)
        expect(answer.status, is: 400)
        #expect(answer.text.contains(message), "\(answer.text)")
    }

    @Test("events under an id that was mistyped are noted when tracked, and found where they are")
    func otherCustomers() async throws {
        let world = try await World()
        let notes = [
            (#"{"registered":"ana@example.test"}"#, nil),
            (
                #"{"emailId":"s@example.test"}"#,
                "id-name: demo-project-1 defines no id emailId; did you mean “email_id”?"
            ),
            (
                #"{"registered":"Ana@Example.Test"}"#,
                #"id-value: registered "Ana@Example.Test" is new, but customer 1 has "ana@example.test". Only capitals differ"#
            ),
            (
                #"{"registered":"ana@example.test "}"#,
                #"id-value: registered "ana@example.test " is new, but customer 1 has "ana@example.test". "#
                    + "Only blanks or quotes differ"
            ),
            (#"{"registered":"carl@example.test"}"#, nil), (#"{"registered":"Ana@Example.Test"}"#, nil),
        ]
        for (ids, note) in notes {
            let type = note == nil ? "other" : "view_item"
            let answer = try await world.track(ids, type)
            answer.expect(200, Example.tracked)
            expect(answer.entry.flatMap { world.masked($0)["note"]?.string }, is: note)
        }
        let order = #"{"event_type":"view_item","customer":{"registered":"ana@example.test"}}"#
        expect(
            try await world.act("expect-event", order).json["error"]?["message"]?.string,
            is: "expected at least 1 event, found 0; events of other types were tracked: other; "
                + #"3 such events are of other customers: emailId "s@example.test", registered "Ana@Example.Test" "#
                + #"(only capitals differ), registered "ana@example.test " (only blanks or quotes differ)"#)
    }

    @Test(
        "an age in seconds makes the time of an event, and is noted", arguments: [Example.events, Example.streamEvents])
    func age(_ path: String) async throws {
        let world = try await World()
        let fields = path == Example.events ? World.Fields.token : .streamBearer
        let body = Example.body(Example.ana, #""event_type":"x","timestamp":5,"age":3600"#)
        let answer = try await world.call(.post, path, fields, body)
        answer.expect(200, Example.tracked)
        expect(answer.outcome(of: "event-age"), is: .noted)
        expect(
            try await world.customer(Example.ana).json["events"]?[0]?["timestamp"]?.number?.double, is: 1_799_996_400)
        for age in ["-1", "\"x\"", "1800000001"] {
            let body = Example.body(Example.ana, #""event_type":"x","age":\#(age)"#)
            try await world.call(.post, path, fields, body).expect(
                400, Example.errors("Field 'age' is invalid."), "invalid-field")
        }
    }

    @Test("clicks of nobody count where nobody is named") func clicks() async throws {
        let world = try await World()
        try await world.call(.post, Example.clicks, .token, #"{"url":"https://a.example.test"}"#).expect(200)
        let order = #"{"event_type":"campaign_click","properties":{"url":{"contains":"a.example"}},"exactly":1}"#
        expect(try await world.act("expect-event", order).status, is: 200)
    }
}

@Suite("Bloomreach's scenarios") struct ScenarioTests {
    private func world(_ scenario: String) async throws -> World {
        let world = try await World()
        let answer = try await world.control(.put, "scenarios", #"{"scenario":"bloomreach-\#(scenario)"}"#)
        expect(answer.status, is: 200, "\(answer.text)")
        return world
    }

    /// An app with advanced authorization that requests a new token from its backend when its own is refused.
    struct App {
        let world: World
        var token: String
        var renewals = 0

        init(_ world: World) async throws {
            self.world = world
            token = try await Self.signIn(world)
        }

        static func signIn(_ world: World) async throws -> String {
            let answer = try await world.call(
                .post, Example.mint, [],
                #"{"project_id":"demo-project-1","kid":"privkey-demo-1","sub":{"registered":"ana@example.test"},"#
                    + #""exp":\#(World.exampleMoment + 600)}"#)
            let token = try #require(answer.json["customer_token"]?.string)
            expect(answer.json["expire_time"], is: CompactToken(token).claims?["exp"])
            return token
        }

        mutating func fetch() async throws -> ReceivedAnswer {
            let first = try await send()
            guard first.status == 401, first.json["token_expired"] == true else { return first }
            renewals += 1
            token = try await Self.signIn(world)
            return try await send()
        }

        func send() async throws -> ReceivedAnswer {
            try await world.call(.post, Example.inbox, .bearer(token), ContentExample.ofAna())
        }
    }

    @Test("a customer token expires, and an app that asks for another one goes on") func renewal() async throws {
        let world = try await world("customer-token-expires")
        var app = try await App(world)
        let inbox = try await ContentExample.anasInbox()
        for _ in 1...3 { try await app.fetch().expect(200, inbox) }
        expect(app.renewals, is: 1)
        let entries = world.sandbox.journal.entries()
        let fetches = entries.filter { $0.record.route == "appinbox.fetch" }
        expect(fetches.map(\.response.status.code), is: [200, 401, 200, 200])
        expect(fetches[1].record.failure, is: "customer-token-expired")
        expect(
            fetches[1].explanation,
            is: "scenario bloomreach-customer-token-expires in fresh at call 2, to expired: "
                + "fail customer-token-expired; waits for a call of appinbox.* with a newer token")
    }

    @Test("an app that repeats with the same token is refused again") func noRenewal() async throws {
        let app = try await App(try await world("customer-token-expires"))
        try await app.send().expect(200)
        for _ in 1...2 {
            try await app.send().expect(401, Example.expired, "customer-token-expired")
        }
    }
}

extension ScenarioPlay {
    private static func fetch(_ world: World, _ token: String) async throws -> ReceivedAnswer {
        let fields = token.isEmpty ? World.Fields.token : .bearer(token)
        return try await world.call(.post, Example.inbox, fields, ContentExample.ofAna())
    }

    static let all = [
        ScenarioPlay("bloomreach-customer-token-expires", calls: 6, signIn: ScenarioTests.App.signIn, call: fetch),
        ScenarioPlay("bloomreach-inbox-message-arrives", call: fetch),
        ScenarioPlay("bloomreach-sync-token-stale", call: fetch),
        ScenarioPlay("bloomreach-tracking-recovers") { world, _ in try await world.track(Example.ana) },
    ]
}
