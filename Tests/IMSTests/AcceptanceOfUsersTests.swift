import JSON
import Support
import Testing

/// The spec's acceptance examples for users, onboarding and trips, with the spec's numbers.
@Suite("IMS's acceptance examples: users, onboarding and trips")
struct AcceptanceOfUsersTests {
    private func activate(
        _ world: World, _ body: String = Example.activation, as subject: String = "EMP-0002",
        at moment: Int = World.exampleMoment
    ) async throws -> ReceivedAnswer {
        let token = try Forged(.uat, at: moment, [("sub", .string(subject))]).text()
        return try await world.call(.post, "/ims/v1/activation", .bearer(token), body)
    }

    @Test("15: a user activates the app once", arguments: Depth.allCases)
    func activation(_ depth: Depth) async throws {
        let world = try await World(depth)
        let answer = try await activate(world)
        answer.expect(200)
        #expect(answer.json["state"] == "active")
        try await world.me(Forged(.uat, [("sub", "EMP-0002")])).expect(200, answer.text)
        try await activate(world).expectRefusal(409, "activation-code-used")
    }

    @Test("16: what does not match does not activate", arguments: Depth.allCases)
    func mismatches(_ depth: Depth) async throws {
        let world = try await World(depth)
        try await activate(world, Example.activation.replacing("48291357", with: "00000000"))
            .expectRefusal(400, "activation-code-wrong")
        try await activate(world, Example.activation.replacing("ben@", with: "x@"))
            .expectRefusal(400, "activation-email-mismatch")
        try await activate(world, as: "EMP-0001").expectRefusal(403, "subject-mismatch")
        try await world.freeze(at: 1_800_259_200)
        try await activate(world, at: 1_800_259_200).expectRefusal(410, "activation-code-expired")
    }

    @Test("17: an activation links the subject, unless it is somebody else's", arguments: Depth.allCases)
    func linking(_ depth: Depth) async throws {
        let world = try await World(depth)
        try await activate(world, Example.cleo, as: "EMP-0004").expect(200)
        let user = try await world.call(.get, "/ims/v1/users/usr-4", .operatorKey)
        user.expect(200)
        #expect(user.json["enterprise_id"] == "EMP-0004")
        #expect(user.json["state"] == "active")
        #expect(user.json["activation_code"] == JSON.null)
        try await activate(try await World(depth), Example.cleo, as: "EMP-0001").expectRefusal(409, "subject-taken")
    }

    @Test("26: what is onboarded is public, allowed, new, and the operator's wish", arguments: Depth.allCases)
    func onboarding(_ depth: Depth) async throws {
        let world = try await World(depth)
        let create = "/ims/v1/issuers"
        let privateKey: JSON = ["type": "pem-public-key", "pem": .string(try Forged.key(1).privatePEM ?? "")]
        try await world.call(.post, create, .operatorKey, Example.issuer("new", iss: "https://new.test", privateKey))
            .expectRefusal(400, "private-key-refused")
        let far: JSON = ["type": "jwks-url", "url": "http://example.com/jwks.json"]
        try await world.call(.post, create, .operatorKey, Example.issuer("new", iss: "https://new.test", far))
            .expectRefusal(400, "jwks-url-not-allowed")
        let taken = Example.issuer("new", iss: Forged.Issuer.uat.rawValue, try Example.publicKey())
        try await world.call(.post, create, .operatorKey, taken).expectRefusal(409, "issuer-exists", field: "issuer")
        try await world.call(.post, create, [], taken).expectRefusal(401, "operator-key-missing")
    }

    @Test("27: a trip is kept once, listed and summed up", arguments: Depth.allCases)
    func trips(_ depth: Depth) async throws {
        let world = try await World(depth)
        let fields = World.Fields.bearer(try Forged().text())
        try await world.call(.post, "/ims/v1/trips", fields, Example.trip).expect(201, Example.tripAnswer)
        try await world.call(.post, "/ims/v1/trips", fields, Example.trip).expect(200, Example.tripAnswer)
        try await world.call(.post, "/ims/v1/trips", fields, Example.trip.replacing("21000", with: "1"))
            .expectRefusal(409, "trip-conflict")
        try await world.call(.get, "/ims/v1/trips", fields)
            .expect(200, #"{"trips":[\#(Example.tripAnswer)],"next_cursor":null}"#)
        try await world.call(.get, "/ims/v1/driving-summary", fields).expect(
            200,
            #"{"trip_count":1,"distance_meters":21000,"duration_seconds":1800,"#
                + #""first_trip_at":"2027-01-15T07:00:00Z","last_trip_at":"2027-01-15T07:30:00Z"}"#)
    }

    @Test("28: a user is deactivated and activated again", arguments: Depth.allCases)
    func deactivation(_ depth: Depth) async throws {
        let world = try await World(depth)
        try await world.call(.post, "/ims/v1/users/usr-1/deactivate", .operatorKey).expect(200)
        try await world.me(Forged()).expectRefusal(403, "user-deactivated")
        try await world.call(.post, "/ims/v1/users/usr-1/activate", .operatorKey).expect(200)
        try await world.me(Forged()).expect(200)
    }
}
