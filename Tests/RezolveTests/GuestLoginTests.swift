import JSON
import Support
import Testing

/// The tokens that open a guest's session on core.
@Suite("Rezolve's guest login")
struct GuestLoginTests {
    private let path = "/api/v2/authentication/login/guest"

    /// A guest's entity id and the body that signs the guest in.
    private func guest(_ world: World) async throws -> (entity: String, body: String) {
        let guest = try await world.call(.post, "/api/v2/authentication/register/guest", .keyN)
        let entity = try #require(guest.json["sdkEntity"]?.string)
        return (entity, #"{"deviceId":"dev-1","entityId":"\#(entity)"}"#)
    }

    private func token(_ entity: String, user: String? = nil) throws -> String {
        try Forged.token(claims: Forged.adaClaims(entity: #""\#(entity)""#, user: #""\#(user ?? entity)""#))
    }

    @Test("the guest's own login JWT needs its device; a registration JWT does not")
    func tokens() async throws {
        let world = try await World()
        let (entity, body) = try await guest(world)
        let own = World.Fields.keyN.bearer(try token(entity))
        try await world.call(.post, path, own, body).expectDenied("masked-device-mismatch")
        try await world.call(.post, path, own.device(Example.device), body).expect(200)
        try await world.call(.post, path, .keyN.bearer(Example.regNew), body).expect(200)
    }

    @Test("another's login JWT is another's, whatever its device")
    func otherLogin() async throws {
        let world = try await World()
        let (entity, body) = try await guest(world)
        try await world.call(.post, path, .ada, body).expectDenied("masked-other-user")
        try await world.call(.post, path, .keyN.bearer(Example.jwtAda), body).expectDenied("masked-other-user")
        let wrongUser = World.Fields.keyN.bearer(try token(entity, user: "user-1001")).device(Example.device)
        try await world.call(.post, path, wrongUser, body).expectDenied("masked-other-user")
        let unknown = World.Fields.keyN.bearer(try token("nobody")).device(Example.device)
        try await world.call(.post, path, unknown, body).expectDenied("masked-other-user")
    }

    @Test("token and content are judged in the order of all routes")
    func order() async throws {
        let world = try await World()
        let (entity, body) = try await guest(world)
        try await world.call(.post, path, World.Fields().bearer(Example.regNew), body).expectDenied("masked-api-key")
        try await world.call(.post, path, .keyN, body).expectDenied("masked-token-missing")
        try await world.call(.post, path, .keyS.bearer(Example.regNew), body).expectDenied("masked-signature")
        let own = World.Fields.keyN.bearer(try token(entity)).device(Example.device)
        try await world.call(.post, path, own, "{").expect(400, Example.malformed, "body-malformed")
        #expect(try await world.call(.post, path, own, "{}").failure == "body-missing-fields")
        #expect(
            try await world.call(.post, path, own, #"{"deviceId":1,"entityId":"x"}"#).failure == "masked-other-user")
        try await world.freeze(at: 1_800_001_800)
        try await world.call(.post, path, .keyN.bearer(Example.regNew), body).expectExpired()
    }

    @Test("a guest of another partner is no guest here")
    func otherPartner() async throws {
        let world = try await World()
        let guest = try await world.call(.post, "/api/v2/authentication/register/guest", .keyS)
        let entity = try #require(guest.json["sdkEntity"]?.string)
        try await world.call(
            .post, path, .keyN.bearer(Example.regNew), #"{"deviceId":"dev-1","entityId":"\#(entity)"}"#
        ).expectDenied("masked-other-user")
    }

    @Test("registering a guest takes an api key and an object, or nothing")
    func registration() async throws {
        let world = try await World()
        let path = "/api/v2/authentication/register/guest"
        try await world.call(.post, path).expectDenied("masked-api-key")
        try await world.call(.post, path, [("x-rezolve-partner-apikey", "123jlklk")]).expectDenied("masked-api-key")
        for body in ["", "{}", #"{"anything":1}"#] { try await world.call(.post, path, .keyN, body).expect(200) }
        try await world.call(.post, path, .keyN, "[]").expect(400, Example.malformed, "body-malformed")
    }
}
