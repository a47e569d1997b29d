import Expectations
import JSON
import Support
import Testing

/// The customer a write applies to, and conflicts between owners of the ids (section 5.3 of the vendor's spec).
@Suite("Bloomreach's customers") struct StateTests {
    private func customers(_ world: World) async throws -> [JSON] {
        try await world.control(.get, "state/bloomreach").json["projects"]?[0]?["customers"]?.array ?? []
    }

    private static let conflict = Example.errors("Customer ids belong to different customers.")

    @Test("hard ids of two customers are refused, and nothing is stored") func twoOwners() async throws {
        let world = try await World()
        try await world.update(#"{"registered":"ana@example.test","email_id":"e1"}"#).expect(200)
        let before = try await customers(world)
        try await world.update(#"{"registered":"ben@example.test","email_id":"e1"}"#, #"{"x":1}"#).expect(
            400, Self.conflict, "customer-ids-conflict")
        // The customer already has a different value for this name.
        try await world.update(#"{"registered":"ana@example.test","email_id":"e2"}"#, #"{"x":1}"#).expect(
            400, Self.conflict, "customer-ids-conflict")
        expect(try await customers(world), is: before)
    }

    @Test("a new cookie and a new hard id are added to the customer") func added() async throws {
        let world = try await World()
        try await world.update(#"{"registered":"ana@example.test","cookie":"new","email_id":"e1"}"#).expect(200)
        let ana = try await customers(world)[0]
        expect(ana["ids"], is: ["registered": "ana@example.test", "email_id": "e1"])
        expect(ana["cookies"], is: [.string(Example.cookieAna), "new"])
    }

    @Test("a guest is merged: the customer's own properties win, events stand in the order of their arrival")
    func merged() async throws {
        let world = try await World()
        try await world.update(Example.guest, #"{"first_name":"Guest","city":"Brno"}"#).expect(200)
        for (ids, type) in [(Example.ana, "a1"), (Example.guest, "g1"), (Example.ana, "a2"), (Example.guest, "g2")] {
            try await world.track(ids, type).expect(200)
        }
        try await world.update(#"{"registered":"ana@example.test","cookie":"\#(Example.cookieGuest)"}"#).expect(200)
        let ana = try await customers(world)[0]
        expect(ana["properties"], is: ["first_name": "Ana", "city": "Brno"])
        expect(ana["events"]?.array?.map { $0["type"] }, is: ["a1", "g1", "a2", "g2"])
        expect(try await customers(world).map { $0["number"] }, is: [1, 2])
    }

    @Test("of another customer with hard ids, only the cookie moves") func movedCookie() async throws {
        let world = try await World()
        try await world.update(#"{"registered":"ana@example.test","cookie":"\#(Example.cookieBen)"}"#).expect(200)
        let (ana, ben) = (try await customers(world)[0], try await customers(world)[1])
        expect(ana["cookies"], is: [.string(Example.cookieAna), .string(Example.cookieBen)])
        expect(ben["cookies"], is: [])
        expect(ben["ids"], is: ["registered": "ben@example.test"])
    }

    @Test("a guest who gets hard ids keeps record and history") func identified() async throws {
        let world = try await World()
        try await world.update(Example.guest, #"{"city":"Brno"}"#).expect(200)
        try await world.update(#"{"registered":"new@example.test","cookie":"\#(Example.cookieGuest)"}"#).expect(200)
        let guest = try await customers(world)[2]
        expect(guest["number"], is: 3)
        expect(guest["ids"], is: ["registered": "new@example.test"])
        expect(guest["properties"], is: ["city": "Brno"])
    }

    @Test("somebody else on the same device is a new customer, to whom the cookie moves")
    func sharedDevice() async throws {
        let world = try await World()
        try await world.update(#"{"registered":"new@example.test","cookie":"\#(Example.cookieAna)"}"#).expect(200)
        let all = try await customers(world)
        expect(all[0]["cookies"], is: [])
        expect(all[3]["number"], is: 4)
        expect(all[3]["cookies"], is: [.string(Example.cookieAna)])
        // Reading by hard ids still finds both.
        expect(try await world.customer(#""ana@example.test""#).json["number"], is: 1)
    }

    @Test("other id names are added to the owner of the cookie, and a cookie of nobody makes a guest")
    func otherNames() async throws {
        let world = try await World()
        try await world.update(#"{"email_id":"e1","cookie":"\#(Example.cookieAna)"}"#).expect(200)
        try await world.update(#"{"cookie":"new"}"#).expect(200)
        let all = try await customers(world)
        expect(all[0]["ids"], is: ["registered": "ana@example.test", "email_id": "e1"])
        expect(all[3]["ids"], is: [:])
        expect(all[3]["cookies"], is: ["new"])
    }

    @Test("nulls and empty ids are left out, and null is a property's value like others") func nulls() async throws {
        let world = try await World()
        try await world.update(
            #"{"registered":"ana@example.test","cookie":null,"email_id":""}"#, #"{"first_name":null}"#
        ).expect(200)
        let ana = try await customers(world)[0]
        expect(ana["ids"], is: ["registered": "ana@example.test"])
        expect(ana["properties"], is: ["first_name": nil])
    }

    @Test("reading makes nobody and merges nobody") func reading() async throws {
        let world = try await World()
        let before = try await customers(world)
        let ids = #"{"registered":"ana@example.test","cookie":"\#(Example.cookieGuest)"}"#
        try await world.attributes(#"{"type":"id","id":"registered"}"#, of: ids)
            .expect(200, #"{"success":true,"results":[{"success":true,"value":"ana@example.test"}]}"#)
        for path in ["/export-one", "/events"] {
            let answer = try await world.call(
                .post, Example.data + path, .basic, Example.body(#"{"cookie":"none"}"#, #""event_types":[]"#))
            expect(answer.failure, is: "customer-not-found")
        }
        expect(try await customers(world), is: before)
    }

    @Test("an anonymized customer keeps cookies and events, and nothing else") func anonymized() async throws {
        let world = try await World()
        try await world.track(Example.ana).expect(200)
        try await world.call(.post, Example.data + "/anonymize", .basic, Example.body(Example.ana))
            .expect(200, Example.done)
        let ana = try await customers(world)[0]
        expect(ana["ids"], is: [:])
        expect(ana["properties"], is: [:])
        expect(ana["cookies"], is: [.string(Example.cookieAna)])
        expect(ana["events"]?.array?.count, is: 1)
        // The address is available to another customer.
        try await world.update(#"{"registered":"ana@example.test"}"#).expect(200)
        expect(try await world.customer(#""ana@example.test""#).json["number"], is: 4)
    }

    @Test("events of the wanted types are read in the order of their arrival, whatever their timestamps are")
    func events() async throws {
        let world = try await World()
        for (type, timestamp) in [("b", "1800000002"), ("a", "1800000001.5"), ("b", #""2027-01-15T08:00:00Z""#)] {
            try await world.call(
                .post, Example.events, .token,
                Example.body(Example.ana, #""timestamp":\#(timestamp),"event_type":"\#(type)","properties":{"n":1.50}"#)
            ).expect(200)
        }
        try await world.call(
            .post, Example.data + "/events", .basic, Example.body(Example.ana, #""event_types":["b","c"]"#)
        ).expect(
            200,
            #"{"success":true,"data":[{"type":"b","timestamp":1800000002.0,"properties":{"n":1.50}},"#
                + #"{"type":"b","timestamp":1800000000.0,"properties":{"n":1.50}}]}"#)
    }

    @Test(
        "a timestamp is seconds, or a date and time of ISO 8601, or in a looser form that the vendor shows",
        arguments: [
            ("null", 1_800_000_000.0), ("1.5", 1.5), (#""2027-01-15T08:00:00Z""#, 1_800_000_000.0),
            (#""2027-01-15T08:00:00.250""#, 1_800_000_000.25), (#""2027-1-15 08:00:00""#, 1_800_000_000.0),
            (#""2027-1-15t08:00:00.5z""#, 1_800_000_000.5), (#""2024-2-29 00:00:00Z""#, 1_709_164_800.0),
            (#""2027-01-15T09:00:00+01:00""#, 1_800_000_000.0), (#""2027-01-15T07:00-01:00""#, 1_800_000_000.0),
            (#""2027-01-15T08:00Z""#, 1_800_000_000.0), (#""2027-01-15""#, 1_799_971_200.0),
        ])
    func timestamps(_ text: String, _ seconds: Double) async throws {
        let world = try await World()
        let body = Example.body(Example.ana, #""timestamp":\#(text),"event_type":"x""#)
        try await world.call(.post, Example.events, .token, body).expect(200)
        let event = try await world.customer(Example.ana).json["events"]?[0]
        expect(event?["timestamp"]?.number?.double, is: seconds)
    }

    @Test(
        "what is not a moment is refused",
        arguments: [
            #""1800000000""#, "true", #""yesterday""#, "-1", "1e400", #"["x"]"#, "300000000000",
            #""20270115T080000Z""#, #""2027-01-15T0800""#, #""2027-01-15T08:00:00+0100""#, #""2027-01-15T""#,
            #""2027-02-29T08:00:00Z""#, #""2027-02-29""#, #""2027-01-15T25:00Z""#, #""2027-01-15  08:00:00""#,
            #""2027-W02-5T08:00:00Z""#,
        ])
    func wrongTimestamps(_ text: String) async throws {
        let world = try await World()
        let body = Example.body(Example.ana, #""timestamp":\#(text),"event_type":"x""#)
        try await world.call(.post, Example.events, .token, body).expect(
            400, Example.errors("Field 'timestamp' is invalid."), "invalid-field")
    }

    @Test("a click with ids is an event of the customer") func click() async throws {
        let world = try await World()
        let body = Example.body(Example.ana, #""url":"https://a.example.test","properties":{"platform":"iOS"}"#)
        try await world.call(.post, Example.clicks, .token, body).expect(200, Example.tracked)
        let event = try await world.customer(Example.ana).json["events"]?[0]
        expect(event?["type"], is: "campaign_click")
        expect(event?["properties"], is: ["platform": "iOS", "url": "https://a.example.test"])
    }

    @Test("a stream works on the customers of its project") func stream() async throws {
        let world = try await World()
        try await world.call(
            .post, Example.streamCustomers, .streamBearer, Example.body(Example.ana, #""properties":{"via":"stream"}"#)
        ).expect(200, Example.tracked)
        expect(try await world.customer(Example.ana).json["properties"]?["via"], is: "stream")
    }
}
