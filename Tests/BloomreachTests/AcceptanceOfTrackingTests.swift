import JSON
import Support
import Testing

/// The spec's acceptance examples for tracking, with the spec's numbers.
@Suite("Bloomreach's acceptance examples: tracking")
struct AcceptanceOfTrackingTests {
    private static let city = #""properties":{"city":"Brno"},"timestamp":1800000000.5"#

    @Test("1: a property is added to those that are there", arguments: Depth.allCases)
    func properties(_ depth: Depth) async throws {
        let world = try await World(depth)
        try await world.call(.post, Example.customers, .token, Example.body(Example.ana, Self.city))
            .expect(200, Example.tracked)
        let ana = try await world.customer(Example.ana)
        #expect(ana.json["properties"] == ["first_name": "Ana", "city": "Brno"])
        let state = try await world.control(.get, "state/bloomreach")
        #expect(state.json["projects"]?[0]?["customers"]?[0] == ana.json)
    }

    @Test("2, 3: an event needs a type and a customer", arguments: Depth.allCases)
    func incompleteEvents(_ depth: Depth) async throws {
        let world = try await World(depth)
        try await world.call(.post, Example.events, .token, Example.body(Example.ana)).expect(
            400, Example.errors("Field 'event_type' is required."), "missing-event-type")
        try await world.call(.post, Example.events, .token, #"{"customer_ids":{},"event_type":"x"}"#).expect(
            400, Example.errors("At least one id should be specified."), "no-customer-ids")
    }

    @Test("4: a click that names nobody is stored all the same", arguments: Depth.allCases)
    func anonymousClick(_ depth: Depth) async throws {
        let world = try await World(depth)
        let body =
            #"{"url":"https://a.example.test/?xnpe_cmp=1","timestamp":1800000000.5,"properties":{"platform":"Android"}}"#
        try await world.call(.post, Example.clicks, .token, body).expect(200, Example.tracked)
        let project = try await world.control(.get, "state/bloomreach").json["projects"]?[0]
        #expect(
            project?["clicks"] == [
                [
                    "type": "campaign_click", "timestamp": 1800000000.5,
                    "properties": ["platform": "Android", "url": "https://a.example.test/?xnpe_cmp=1"],
                ]
            ])
        #expect(project?["customers"]?.array?.count == 3)
    }

    @Test("5, 6: without a key, and with one of nobody or of another project", arguments: Depth.allCases)
    func keys(_ depth: Depth) async throws {
        let world = try await World(depth)
        let body = Example.body(Example.ana, Self.city)
        try await world.call(.post, Example.customers, [], body).expect(
            401, Example.noAccessKey, "missing-authorization")
        for key in ["nope", "pubkey-demo-2"] {
            try await world.call(.post, Example.customers, .authorization("Token " + key), body).expect(
                401, Example.error("access key not found"), "unknown-key")
        }
    }

    @Test("7: a project that does not exist, one that cannot, and none", arguments: Depth.allCases)
    func projects(_ depth: Depth) async throws {
        let world = try await World(depth)
        let body = Example.body(Example.ana, Self.city)
        func send(_ project: String) async throws -> ReceivedAnswer {
            try await world.call(.post, "/track/v2/projects/\(project)/customers", .token, body)
        }
        try await send("demo-project-9").expect(400, Example.error("Could not authenticate"), "unknown-project")
        try await send("demo_project").expect(400, Example.error("Invalid project id"), "invalid-project-id")
        try await send("").expect(404, Example.notFound, "unknown-route")
    }

    @Test("8: a property that is denied to the key is not stored", arguments: Depth.allCases)
    func deniedProperty(_ depth: Depth) async throws {
        let world = try await World(depth)
        let before = try await world.control(.get, "state/bloomreach").text
        let body = Example.body(Example.ana, #""properties":{"apple_push_notification_id":"t"}"#)
        try await world.call(.post, Example.customers, .limited, body).expect(
            403, Example.errors("not authorized to update specified customer properties"), "no-permission")
        #expect(try await world.control(.get, "state/bloomreach").text == before)
    }

    @Test("27: a guest who signs in brings events and cookie along, and is gone", arguments: Depth.allCases)
    func guestSignsIn(_ depth: Depth) async throws {
        let world = try await World(depth)
        try await world.call(.post, Example.events, .token, Example.body(Example.guest, #""event_type":"view""#))
            .expect(200, Example.tracked)
        let ids = #"{"cookie":"\#(Example.cookieGuest)","registered":"ana@example.test"}"#
        try await world.call(.post, Example.customers, .token, Example.body(ids)).expect(200, Example.tracked)
        let ana = try await world.customer(#""ana@example.test""#).json
        #expect(ana["number"] == 1)
        #expect(ana["cookies"] == [.string(Example.cookieAna), .string(Example.cookieGuest)])
        #expect(ana["events"]?.array?.map { $0["type"] } == ["view"])
        let customers = try await world.control(.get, "state/bloomreach").json["projects"]?[0]?["customers"]
        #expect(customers?.array?.map { $0["number"] } == [1, 2])
    }

    @Test("29: a batch runs in order, each command with its own result", arguments: Depth.allCases)
    func batch(_ depth: Depth) async throws {
        let world = try await World(depth)
        let commands = """
            {"commands":[
            {"name":"customers","data":\(Example.body(Example.ana, Self.city))},
            {"name":"customers/events","data":\(Example.body(Example.ana))},
            {"name":"system/time"}]}
            """
        try await world.call(.post, Example.batch, .basic, commands).expect(
            200,
            #"{"success":true,"start_time":1800000000.0,"end_time":1800000000.0,"results":[{"success":true},"#
                + #"{"success":false,"errors":["Field 'event_type' is required."]},"#
                + #"{"success":true,"time":1800000000.0}]}"#)
        #expect(try await world.customer(Example.ana).json["properties"]?["city"] == "Brno")
        try await world.call(.post, Example.batch, .basic, #"{"commands":[]}"#).expect(
            400, #"{"success":false,"message":"No commands"}"#, "batch-no-commands")
    }
}
