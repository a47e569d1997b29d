import JSON
import Support
import Testing

/// Names that look alike belong to different people.
@Suite("Rezolve compares names by code points")
struct ExactNameTests {
    private static let composed = "zo\u{E9}"
    private static let decomposed = "zoe\u{301}"

    private func register(_ user: String, _ world: World) async throws -> ReceivedAnswer {
        let token = try await world.mint("rezolve/registration", ["partner_entity_id": .string(user)])
        return try await world.call(
            .post, "/api/v1/authentication/register", .keyN.bearer(token), #"{"email":"z@example.test"}"#)
    }

    @Test("two users of core are two customers, and the token of one does not open the other")
    func customers() async throws {
        let world = try await World()
        var entities: [String] = []
        for user in [Self.composed, Self.decomposed] {
            let answer = try await register(user, world)
            answer.expect(200)
            entities.append(answer.json["entity_id"]?.string ?? "")
        }
        #expect(entities[0] != entities[1])
        #expect(try await register(Self.composed, world).failure == "registration-duplicate")
        let token = try await world.mint(
            "rezolve/login", ["customer": .string(entities[0]), "partner_entity_id": .string(Self.decomposed)])
        let answer = try await world.call(
            .get, "/api/v1/partner/317/customer/\(entities[0])/profile", .keyN.bearer(token).device(Example.device))
        answer.expectDenied("masked-other-user")
        let reason = answer.entry?.explanation ?? ""
        #expect(reason.contains("zo\\u00e9"), "\(reason)")
        #expect(reason.contains("zoe\\u0301"), "\(reason)")
    }

    @Test("an entity id in another normalization is nobody's")
    func entities() async throws {
        let world = try await World()
        for (entity, user) in [(Self.composed, "user-8"), (Self.decomposed, "user-9")] {
            try await world.control(
                .post, "state/rezolve/register-customer",
                JSON.object(["entity": .string(entity), "partner_entity_id": .string(user)]).text
            ).expect(200)
        }
        let token = try await world.mint("rezolve/login", ["customer": .string(Self.composed)])
        let fields = World.Fields.keyN.bearer(token).device(Example.device)
        let path = "/api/v1/partner/317/customer/"
        try await world.call(.get, path + "zo%C3%A9/addressbook", fields).expect(200, "[]")
        try await world.call(.get, path + "zoe%CC%81/addressbook", fields).expectDenied("masked-other-user")
    }

    @Test("two users of RUA have two names and two passwords")
    func users() async throws {
        let world = try await World()
        for name in [Self.composed, Self.decomposed] {
            try await world.call(
                .post, "/v2/credentials/register", .keyN,
                #"{"username":"\#(name)","password":"pw-\#(name.utf8.count)"}"#
            ).expect(201)
        }
        func logIn(_ name: String, _ password: String) async throws -> Int {
            try await world.call(
                .post, "/v2/credentials/login", .keyN,
                #"{"username":"\#(name)","password":"\#(password)","deviceId":"d"}"#
            ).status
        }
        #expect(try await logIn(Self.composed, "pw-4") == 200)
        #expect(try await logIn(Self.decomposed, "pw-5") == 200)
        #expect(try await logIn(Self.composed, "pw-5") == 401)
        #expect(try await logIn(Self.decomposed, "pw-4") == 401)
    }

    @Test("a change of nothing but the normalization is a change, and is exported")
    func exported() async throws {
        let world = try await World()
        for name in [Self.composed, Self.decomposed] {
            try await world.call(.put, Example.ada + "/profile", .ada, #"{"name":"\#(name)"}"#).expect(200)
        }
        let state = try await world.control(.get, "state/rezolve")
        #expect(state.text.utf8.count(where: { $0 == 0xCC }) == 1, "\(state.text)")
    }
}
