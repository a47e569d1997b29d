import JSON
import Support
import Testing

/// Users, trips and invitations beyond the acceptance examples.
@Suite("IMS's state")
struct StateTests {
    private func ada() throws -> World.Fields { .bearer(try Forged().text()) }

    @Test("an enrolled user has a code of eight digits for three days, and a new one makes the old one wrong")
    func codes() async throws {
        let world = try await World()
        let user = try await world.call(
            .post, "/ims/v1/users", .operatorKey,
            #"{"tenant":"demo","email":"dora@example.test","enterprise_id":"EMP-5","first_name":"Dora"}"#)
        user.expect(201)
        let code = try #require(user.json["activation_code"]?.string)
        #expect(code.utf8.count == 8 && code.allSatisfy(\.isNumber))
        #expect(
            user.text
                == #"{"id":"usr-5","tenant":"demo","enterprise_id":"EMP-5","activation_id":"dora@example.test","#
                + #""email":"dora@example.test","first_name":"Dora","last_name":"","state":"enrolled","#
                + #""activation_code":"\#(code)","activation_code_expires_at":1800259200,"created_at":1800000000,"#
                + #""activated_at":null,"deactivated_at":null}"#)
        try await world.advance("60s")
        let renewed = try await world.call(.post, "/ims/v1/users/usr-5/activation-code", .operatorKey)
        #expect(renewed.json["activation_code_expires_at"] == 1_800_259_260)
        let token = World.Fields.bearer(try Forged(.uat, [("sub", "EMP-5")]).text())
        func body(_ code: String) -> String {
            #"{"activation_id":"dora@example.test","activation_code":"\#(code)","email":"DORA@example.test"}"#
        }
        if renewed.json["activation_code"]?.string != code {
            try await world.call(.post, "/ims/v1/activation", token, body(code)).expectRefusal(
                400, "activation-code-wrong")
        }
        let fresh = renewed.json["activation_code"]?.string ?? ""
        try await world.call(.post, "/ims/v1/activation", token, body(fresh)).expect(200)
        try await world.call(.post, "/ims/v1/users/usr-5/activation-code", .operatorKey).expectRefusal(
            409, "state-conflict")
    }

    @Test("a code is repeatable with a seed")
    func seed() async throws {
        var codes: [JSON?] = []
        for _ in 1...2 {
            let world = try await World()
            try await world.set(seed: 7)
            codes.append(
                try await world.call(.post, "/ims/v1/users/usr-2/activation-code", .operatorKey).json["activation_code"]
            )
        }
        #expect(codes[0] == codes[1])
    }

    @Test("an activation is judged in the order of the spec")
    func activationOrder() async throws {
        let world = try await World()
        let token = World.Fields.bearer(try Forged(.uat, [("sub", "EMP-0001")]).text())
        func submit(_ body: String) async throws -> ReceivedAnswer {
            try await world.call(.post, "/ims/v1/activation", token, body)
        }
        try await submit("{}").expectRefusal(400, "body-invalid", field: "activation_id")
        try await submit(#"{"activation_id":"x","activation_code":7,"email":"e"}"#)
            .expectRefusal(400, "body-invalid", field: "activation_code")
        try await submit(#"{"activation_id":"ada.driver","activation_code":"x","email":"x"}"#)
            .expectRefusal(409, "activation-code-used")
        try await submit(#"{"activation_id":"eve.driver","activation_code":"x","email":"x"}"#)
            .expectRefusal(403, "user-deactivated")
        try await submit(#"{"activation_id":"ben.driver","activation_code":"x","email":"x"}"#)
            .expectRefusal(400, "activation-email-mismatch")
        try await submit(#"{"activation_id":"ben.driver","activation_code":"x","email":"BEN@example.test"}"#)
            .expectRefusal(400, "activation-code-wrong")
        try await submit(Example.activation).expectRefusal(403, "subject-mismatch")
        let other = World.Fields.bearer(try Forged(.stranger).text())
        try await world.call(.post, "/ims/v1/activation", other, Example.activation).expectRefusal(
            404, "activation-unknown")
    }

    @Test("states change as the spec says, and nothing else does")
    func states() async throws {
        let world = try await World()
        func post(_ path: String) async throws -> ReceivedAnswer {
            try await world.call(.post, "/ims/v1/users/" + path, .operatorKey)
        }
        try await post("usr-4/activate").expectRefusal(409, "state-conflict")
        try await post("usr-4/deactivate").expect(200)
        try await post("usr-4/deactivate").expectRefusal(409, "state-conflict")
        try await post("usr-4/activate").expectRefusal(409, "state-conflict")
        try await post("usr-3/activate").expect(200)
        try await post("usr-2/deactivate").expect(200)
        let active = try await post("usr-2/activate")
        #expect(active.json["activation_code"] == .null)
        #expect(active.json["deactivated_at"] == .null)
        try await world.me(Forged(.uat, [("sub", "EMP-0002")])).expect(200)
        try await world.call(
            .post, "/ims/v1/users", .operatorKey, #"{"tenant":"demo","email":"a@b.test","activate":true}"#
        )
        .expectRefusal(409, "state-conflict")
    }

    @Test(
        "what is taken in a tenant is named, and other tenants do not matter",
        arguments: [
            (#""enterprise_id":"EMP-0001","email":"n@example.test""#, "enterprise_id"),
            (#""activation_id":"ada.driver","email":"n@example.test""#, "activation_id"),
            (#""email":"ADA@EXAMPLE.TEST""#, "email"),
        ])
    func taken(_ members: String, _ field: String) async throws {
        let world = try await World()
        try await world.call(.post, "/ims/v1/users", .operatorKey, #"{"tenant":"demo",\#(members)}"#)
            .expectRefusal(409, "enrollment-exists", field: field)
        try await world.call(.post, "/ims/v1/users", .operatorKey, #"{"tenant":"other",\#(members)}"#).expect(201)
    }

    @Test("two issuers of a tenant share its users")
    func tenants() async throws {
        let world = try await World()
        try await world.call(.post, "/ims/v1/trips", try ada(), Example.trip).expect(201)
        let other = World.Fields.bearer(try Forged(.rotating).text())
        try await world.call(.get, "/ims/v1/trips/t-1", other).expect(200)
    }

    @Test("trips come in pages, the newest first, and within times")
    func pages() async throws {
        let world = try await World()
        for hour in 1...5 {
            let trip = Example.trip.replacing("t-1", with: "t-\(hour)").replacing("T07:", with: "T0\(hour):")
            try await world.call(.post, "/ims/v1/trips", try ada(), trip).expect(201)
        }
        func list(_ query: String) async throws -> (ids: [String], next: String?) {
            let answer = try await world.call(.get, "/ims/v1/trips?" + query, try ada())
            answer.expect(200)
            let ids = answer.json["trips"]?.array?.compactMap { $0["trip_id"]?.string } ?? []
            return (ids, answer.json["next_cursor"]?.string)
        }
        var (ids, next) = try await list("limit=2")
        #expect(ids == ["t-5", "t-4"])
        (ids, next) = try await list("limit=2&cursor=\(next ?? "")")
        #expect(ids == ["t-3", "t-2"])
        (ids, next) = try await list("limit=2&cursor=\(next ?? "")")
        #expect(ids == ["t-1"])
        #expect(next == nil)
        #expect(try await list("from=2027-01-15T02:00:00Z&to=2027-01-15T05:00:00+01:00").ids == ["t-3", "t-2"])
        for query in ["limit=0", "limit=101", "limit=x", "cursor=x", "cursor=nan_1", "from=yesterday", "to=1800000000"]
        {
            let name = String(query.prefix { $0 != "=" })
            try await world.call(.get, "/ims/v1/trips?" + query, try ada()).expectRefusal(
                400, "body-invalid", field: name)
        }
    }

    @Test("a trip keeps its points, and is the same whatever the form of its numbers")
    func points() async throws {
        let world = try await World()
        let point = #"{"at":"2027-01-15T07:00:00.5+01:00","lat":49.2,"lon":16.6,"speed_mps":13.9,"extra":1}"#
        let trip = String(Example.trip.dropLast()) + #","vehicle_id":"v","points":[\#(point)]}"#
        try await world.call(.post, "/ims/v1/trips", try ada(), trip).expect(201)
        let same = trip.replacing("21000", with: "2.1e4").replacing("13.9", with: "13.90")
        try await world.call(.post, "/ims/v1/trips", try ada(), same).expect(200)
        try await world.call(.post, "/ims/v1/trips", try ada(), trip.replacing("16.6", with: "16.7"))
            .expectRefusal(409, "trip-conflict")
        let read = try await world.call(.get, "/ims/v1/trips/t-1", try ada())
        #expect(read.json["point_count"] == 1)
        #expect(read.json["points"]?.text == "[\(point.replacing(#","extra":1"#, with: ""))]")
    }

    /// A change that makes the sample trip invalid, and the path of the problem.
    private static let wrongTrips: [(String, String, String)] = [
        (#""trip_id":"t-1","#, "", "trip_id"), ("t-1", "", "trip_id"),
        ("t-1", String(repeating: "t", count: 65), "trip_id"), ("07:00:00Z", "07:00:00", "started_at"),
        ("2027-01-15T07:00", "2027-02-29T07:00", "started_at"), ("07:30", "06:30", "ended_at"),
        ("21000", "-1", "distance_meters"), ("21000", "1e400", "distance_meters"),
        ("21000", #""21000""#, "distance_meters"), ("21000", #"1,"vehicle_id":null"#, "vehicle_id"),
        ("21000", #"1,"points":{}"#, "points"), ("21000", #"1,"points":[7]"#, "points.0"),
        ("21000", #"1,"points":[{"at":"x"}]"#, "points.0.at"),
        (
            "21000",
            #"1,"points":[{"at":"2027-01-15T07:00:00Z","lat":0,"lon":0},{"at":"2027-01-15T07:00:00Z","lat":0,"lon":181}]"#,
            "points.1.lon"
        ),
    ]

    @Test("a wrong trip is refused by the path of what is wrong", arguments: wrongTrips)
    func wrongTrip(_ old: String, _ new: String, _ field: String) async throws {
        let world = try await World()
        try await world.call(.post, "/ims/v1/trips", try ada(), Example.trip.replacing(old, with: new))
            .expectRefusal(400, "body-invalid", field: field)
    }

    @Test("invitations are by account or by vehicle, to an email or a phone")
    func invitations() async throws {
        let world = try await World()
        let vehicle = #"{"kind":"vehicle","name":"B","phone":"+1555","vehicle_ids":["v1","v2"]}"#
        try await world.call(.post, "/ims/v1/invitations", try ada(), vehicle).expect(
            201,
            #"{"kind":"vehicle","name":"B","email":"","phone":"+1555","vehicle_ids":["v1","v2"],"#
                + #""invitation_id":"inv-1","from_user_id":"usr-1","status":"sent","created_at":1800000000}"#)
        for (body, field) in [
            (#"{"name":"B","phone":"1"}"#, "kind"), (#"{"kind":"house","name":"B","phone":"1"}"#, "kind"),
            (#"{"kind":"account","phone":"1"}"#, "name"), (#"{"kind":"account","name":"B"}"#, "email"),
            (#"{"kind":"account","name":"B","email":"nobody"}"#, "email"),
            (#"{"kind":"account","name":"B","phone":"1","account_ids":[7]}"#, "account_ids.0"),
        ] {
            try await world.call(.post, "/ims/v1/invitations", try ada(), body).expectRefusal(
                400, "body-invalid", field: field)
        }
        #expect(try await world.call(.get, "/ims/v1/invitations", try ada()).json["invitations"]?.array?.count == 1)
    }

    @Test(
        "what a user changes of itself is text", arguments: ["first_name", "last_name", "phone", "locale"],
        ["null", "7", "[]"])
    func wrongProfile(_ name: String, _ value: String) async throws {
        let world = try await World()
        try await world.call(.patch, Example.me, try ada(), #"{"\#(name)":\#(value)}"#)
            .expectRefusal(400, "body-invalid", field: name)
    }

    /// A file and its result: an answer, or a failure with its field.
    private static let files: [(String, String, String?)] = [
        ("email\r\na@b.test\r\n\r\n\"c@\"\"d\"\r\n", #"{"enrolled":2,"activated":0,"errors":[]}"#, nil),
        (
            "email,activate\nnone,\na@b.test,true\nb@b.test,yes\nc@b.test\n",
            #"{"enrolled":0,"activated":0,"errors":[{"line":2,"code":"body-invalid"},{"line":3,"code":"state-conflict"},"#
                + #"{"line":4,"code":"body-invalid"},{"line":5,"code":"body-invalid"}]}"#, nil
        ),
        (
            "\u{FEFF}first_name,email\n\"A,\nB\",a@b.test\nC,a@b.test\n",
            #"{"enrolled":1,"activated":0,"errors":[{"line":4,"code":"enrollment-exists"}]}"#, nil
        ),
        ("email\n\"open", "body-malformed", nil), ("em\"ail\n", "body-malformed", nil), ("", "body-malformed", nil),
        ("email,mail\n", "body-invalid", "mail"), ("email,email\n", "body-invalid", "email"),
        ("first_name\n", "body-invalid", "email"),
    ]

    @Test("a file of users is read as RFC 4180 has it", arguments: files)
    func file(_ text: String, _ answer: String, _ field: String?) async throws {
        let world = try await World()
        let fields = World.Fields.operatorKey + [("content-type", "text/csv")]
        let received = try await world.call(.post, "/ims/v1/users/import?tenant=demo", fields, text)
        if answer.hasPrefix("{") {
            received.expect(200, answer)
        } else {
            received.expectRefusal(400, answer, field: field)
        }
        try await world.call(.post, "/ims/v1/users/import", fields, text).expectRefusal(
            400, "body-invalid", field: "tenant")
    }

    @Test("codes and operator keys stay out of the journal")
    func secrets() async throws {
        let world = try await World()
        try await world.call(.get, "/ims/v1/users", .operatorKey).expect(200)
        let token = World.Fields.bearer(try Forged(.uat, [("sub", "EMP-0002")]).text())
        try await world.call(.post, "/ims/v1/activation", token, Example.activation).expect(200)
        let journal = try await world.control(.get, "journal").text
        #expect(!journal.contains("48291357") && !journal.contains("11223344"))
        #expect(!journal.contains("ims-operator-test-key"))
    }
}
