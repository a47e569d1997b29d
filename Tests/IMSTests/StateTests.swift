import Emulation
import Expectations
import JSON
import Support
import Testing

@testable import IMS

@Suite("IMS's state") struct StateTests {
    @Test("whose code is missing has none after an import of changes, and keeps it after one of a whole state")
    func missingCode() {
        var known = IMSUser()
        known.activation = IMSUser.Activation(code: "00000001", expires: Moment(unixSeconds: 1_800_000_000))
        var (whole, changed) = (IMSUser(), IMSUser())
        whole.keepSecrets(of: known, fromWhole: true)
        changed.keepSecrets(of: known, fromWhole: false)
        expect(whole.activation?.code, is: "00000001")
        expect(changed.activation?.code, is: nil)
    }

    @Test("an activation is judged in the order of the spec") func activationOrder() async throws {
        let world = try await World()
        func submit(_ body: String) async throws -> ReceivedAnswer {
            try await world.call(.post, "/ims/v1/activation", .ada, body)
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

    @Test("a user who was imported without a code is told so") func noCode() async throws {
        let world = try await World()
        let user: JSON = [
            "id": "usr-9", "tenant": "demo", "enterprise_id": "EMP-0009", "activation_id": "nine",
            "email": "n@example.test", "state": "enrolled", "created_at": 1_800_000_000,
        ]
        var document = try await world.control(.get, "state/ims").json.object ?? [:]
        document["users"] = .array((document["users"]?.array ?? []) + [user])
        try await world.control(.put, "state/ims", JSON.object(document).text).expect(200)
        let answer = try await world.call(
            .post, "/ims/v1/activation", .bearer(try Forged(.uat, [("sub", "EMP-0009")]).text()),
            #"{"activation_id":"nine","activation_code":"12345678","email":"n@example.test"}"#)
        answer.expectRefusal(400, "activation-code-wrong")
        let reason = answer.entry?.explanation ?? ""
        #expect(reason.contains("usr-9 has no activation code") && !reason.contains("another"), "\(reason)")
    }

    @Test("states change as the spec says, and nothing else does") func states() async throws {
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
        expect(active.json["activation_code"], is: .null)
        expect(active.json["deactivated_at"], is: .null)
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

    @Test("two issuers of a tenant share its users") func tenants() async throws {
        let world = try await World()
        try await world.call(.post, "/ims/v1/trips", .ada, Example.trip).expect(201)
        try await world.call(.get, "/ims/v1/trips/t-1", .bearer(Forged(.rotating).text())).expect(200)
    }

    @Test("trips come in pages, the newest first, and within times") func pages() async throws {
        let world = try await World()
        for hour in 1...5 {
            let trip = Example.trip.replacing("t-1", with: "t-\(hour)").replacing("T07:", with: "T0\(hour):")
            try await world.call(.post, "/ims/v1/trips", .ada, trip).expect(201)
        }
        func list(_ query: String) async throws -> (ids: [String], next: String?) {
            let answer = try await world.call(.get, "/ims/v1/trips?" + query, .ada)
            answer.expect(200)
            let ids = answer.json["trips"]?.array?.compactMap { $0["trip_id"]?.string } ?? []
            return (ids, answer.json["next_cursor"]?.string)
        }
        var (ids, next) = try await list("limit=2")
        expect(ids, is: ["t-5", "t-4"])
        (ids, next) = try await list("limit=2&cursor=\(next ?? "")")
        expect(ids, is: ["t-3", "t-2"])
        (ids, next) = try await list("limit=2&cursor=\(next ?? "")")
        expect(ids, is: ["t-1"])
        expect(next, is: nil)
        expect(try await list("from=2027-01-15T02:00:00Z&to=2027-01-15T05:00:00+01:00").ids, is: ["t-3", "t-2"])
    }

    @Test("a trip keeps its points, and is the same whatever the form of its numbers") func points() async throws {
        let world = try await World()
        let point = #"{"at":"2027-01-15T07:00:00.5+01:00","lat":49.2,"lon":16.6,"speed_mps":13.9,"extra":1}"#
        let trip = String(Example.trip.dropLast()) + #","vehicle_id":"v","points":[\#(point)]}"#
        try await world.call(.post, "/ims/v1/trips", .ada, trip).expect(201)
        let same = trip.replacing("21000", with: "2.1e4").replacing("13.9", with: "13.90")
        try await world.call(.post, "/ims/v1/trips", .ada, same).expect(200)
        try await world.call(.post, "/ims/v1/trips", .ada, trip.replacing("16.6", with: "16.7"))
            .expectRefusal(409, "trip-conflict")
        let read = try await world.call(.get, "/ims/v1/trips/t-1", .ada)
        expect(read.json["point_count"], is: 1)
        expect(read.json["points"]?.text, is: "[\(point.replacing(#","extra":1"#, with: ""))]")
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
        try await World().call(.post, "/ims/v1/trips", .ada, Example.trip.replacing(old, with: new))
            .expectRefusal(400, "body-invalid", field: field)
    }

    @Test(
        "an invitation is by account or by vehicle, to an email or a phone",
        arguments: [
            (#"{"name":"B","phone":"1"}"#, "kind"), (#"{"kind":"house","name":"B","phone":"1"}"#, "kind"),
            (#"{"kind":"account","phone":"1"}"#, "name"), (#"{"kind":"account","name":"B"}"#, "email"),
            (#"{"kind":"account","name":"B","email":"nobody"}"#, "email"),
            (#"{"kind":"account","name":"B","phone":"1","account_ids":[7]}"#, "account_ids.0"),
        ])
    func wrongInvitation(_ body: String, _ field: String) async throws {
        let world = try await World()
        try await world.call(.post, "/ims/v1/invitations", .ada, body).expectRefusal(400, "body-invalid", field: field)
        try await world.call(.get, "/ims/v1/invitations", .ada).expect(200, #"{"invitations":[]}"#)
    }

    @Test(
        "what a user changes of itself is text", arguments: ["first_name", "last_name", "phone", "locale"],
        ["null", "7", "[]"])
    func wrongProfile(_ name: String, _ value: String) async throws {
        try await World().call(.patch, Example.me, .ada, #"{"\#(name)":\#(value)}"#)
            .expectRefusal(400, "body-invalid", field: name)
    }

    /// A file and its result: an answer, or a failure with its field.
    private static let files: [(String, String, String?)] = [
        ("email\r\na@b.test\r\n\r\n\"c@\"\"d\"\r\n", #"{"enrolled":2,"activated":0,"errors":[]}"#, nil),
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

    @Test("an import says which member of which line is wrong") func importLines() async throws {
        let file = """
            email,enterprise_id,activate
            new@example.test,EMP-10,true
            ada@example.test,EMP-11,false
            none,EMP-12,false
            ,EMP-13,false
            x@example.test,,true
            y@example.test,EMP-14,perhaps
            z@example.test
            """
        let answer = try await World().call(
            .post, "/ims/v1/users/import?tenant=demo", .operatorKey + [("content-type", "text/csv")], file)
        answer.expect(
            200,
            #"{"enrolled":1,"activated":1,"errors":[{"line":3,"code":"enrollment-exists"},{"line":4,"code":"body-invalid"},"#
                + #"{"line":5,"code":"body-invalid"},{"line":6,"code":"state-conflict"},{"line":7,"code":"body-invalid"},"#
                + #"{"line":8,"code":"body-invalid"}]}"#)
        let notes = answer.findings.filter { $0.check == "import-line" }.compactMap(\.note)
        expect(
            notes.map { String($0.prefix { $0 != ";" && $0 != "," }) },
            is: [
                "Line 3: usr-1 of tenant demo has the same email", "Line 4: email is “none”", "Line 5: email is empty",
                "Line 6: activate needs an enterprise_id", "Line 7: activate is “perhaps”", "Line 8: 1 fields",
            ], "\(notes)")
    }
}

@Suite("IMS's bounds") struct BoundsTests {
    @Test("a use of a token id is forgotten when its token is over") func endOfUses() async throws {
        var uses = IMSTokenUses()
        expect(uses.use("j", of: "i", by: "d", until: 100, at: 50), is: nil)
        expect(uses.use("j", of: "i", by: "e", until: 100, at: 99), is: "d")
        expect(uses.use("j", of: "other", by: "e", until: 100, at: 99), is: nil)
        expect(uses.use("j", of: "i", by: "e", until: 200, at: 100), is: nil)
        expect(uses.use("j", of: "i", by: "f", until: 200, at: 100), is: "e")
    }

    @Test("uses that are over make room, and beyond the bound the earliest go") func manyUses() {
        let capacity = 4000
        var uses = IMSTokenUses(capacity: capacity)
        for number in 0..<2000 { _ = uses.use("j\(number)", of: "i", by: "", until: 100, at: Double(number / 20)) }
        for number in 0..<2000 { _ = uses.use("k\(number)", of: "i", by: "", until: 300, at: 150) }
        #expect(uses.count < 3000)
        for number in 0..<(capacity * 2) { _ = uses.use("l\(number)", of: "i", by: "", until: 300, at: 200) }
        #expect(uses.count <= capacity)
        expect(uses.use("l\(capacity * 2 - 1)", of: "i", by: "", until: 300, at: 200), is: "")
        expect(uses.use("l0", of: "i", by: "", until: 300, at: 200), is: nil)
    }

    @Test("long token ids count by their length") func longUses() {
        var uses = IMSTokenUses()
        let long = String(repeating: "x", count: 10_000)
        for number in 0..<2000 { _ = uses.use("\(number)\(long)", of: "i", by: "", until: 300, at: 200) }
        #expect(uses.count * 10_000 <= IMSTokenUses.byteCapacity)
    }

    @Test("a replay is judged by the sandbox's clock") func clock() async throws {
        let world = try await World()
        try await world.replaceUAT(["replay": "single-use", "expiry_leeway_seconds": 60])
        let token = Forged(.uat, [("jti", "j")])
        try await world.me(token).expect(200)
        try await world.freeze(at: 1_800_000_630)
        try await world.me(token).expectRefusal(401, "token-replayed")
        let next = Forged(.uat, at: 1_800_000_660, [("jti", "j")])
        try await world.freeze(at: 1_800_000_660)
        try await world.me(next).expect(200)
    }

    @Test("a request that an earlier rule refuses does not use up the token id, one of an unknown user does")
    func refusedUse() async throws {
        let world = try await World()
        try await world.replaceUAT(["replay": "single-use"])
        let token = Forged(.uat, [("jti", "j")])
        try await world.freeze(at: 1_799_999_900)
        try await world.me(token).expectRefusal(401, "token-not-yet-valid", field: "iat")
        try await world.freeze(at: 1_800_000_000)
        try await world.me(token).expect(200)
        let stranger = Forged(.uat, [("jti", "k"), ("sub", "nobody")])
        try await world.me(stranger).expectRefusal(403, "user-unknown")
        try await world.me(stranger).expectRefusal(401, "token-replayed")
    }

    @Test("what calls add counts as long as it is there: issuers, users, trips and invitations") func size() throws {
        let vendor = try IMS(fixtures: VendorFixtures(store: Repository.fixtures, folder: "ims"))
        var state = vendor.initialState
        expect(vendor.size(of: state), is: StateSize())
        let draft = IMSUser(tenant: "demo", activationID: "new@b.test", email: "new@b.test")
        let user = state.users.enroll(draft, IdentifierSource(seed: 1), at: Moment(unixSeconds: 1))
        let trip = try JSON.parse(Example.trip.utf8)
        try state.trips.add(
            Fields<IMS>(trip.object ?? [:]).read { IMSTrip(&$0, of: user.number, received: Moment(unixSeconds: 1)) })
        try state.invitations.store(
            Fields<IMS>(["kind": "account", "name": "n", "email": "a@b.test"]).read {
                IMSInvitation(&$0, number: 1, user: user.number, created: Moment(unixSeconds: 1))
            })
        expect(vendor.size(of: state).records, is: 3)
        state.users.remove(user.number)
        state.forgetStrays()
        expect(vendor.size(of: state), is: StateSize())
    }
}

@Suite("IMS's failures") struct FailureTests {
    @Test("the time to wait is that of the cool-down") func retryAfter() async throws {
        let world = try await World()
        try await world.set("ims.jwks-cooldown-seconds", "90")
        try await world.drill("rotating", "break")
        let answer = try await world.me(Forged(.rotating))
        answer.expectRefusal(503, "keys-unavailable")
        expect(answer["retry-after"], is: "90")
        try await world.arm("keys-unavailable", at: "me.get")
        expect(try await world.me(Forged())["retry-after"], is: "30", "armed, it has its standard")
    }

    @Test("what a bad token says, it does not say before its signature holds") func order() async throws {
        let world = try await World()
        let claims: [(String, JSON?)] = [("exp", 1), ("sub", "nobody"), ("iat", nil)]
        try await world.me(Forged(.uat, claims).signed(by: 2)).expectRefusal(401, "signature-invalid")
        try await world.me(Forged(.uat, claims)).expectRefusal(401, "claim-missing", field: "nbf")
        let answer = try await world.me(Forged(.uat, [("exp", 1), ("sub", "nobody")]))
        answer.expectRefusal(401, "token-expired")
        expect(answer.outcome(of: "user-known"), is: .failed, "the journal knows all the same")
        expect(answer.outcome(of: "signature"), is: .passed)
    }
}
