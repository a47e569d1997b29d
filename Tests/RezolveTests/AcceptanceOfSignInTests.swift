import JSON
import Support
import Testing
import Tokens

/// The spec's acceptance examples for RUA and guests, with the spec's numbers.
@Suite("Rezolve's acceptance examples: sign-in")
struct AcceptanceOfSignInTests {
    private let ping = "/v2/credentials/ping"

    /// Signs Ada in on device `dev-1` and returns the value of `Authorization`.
    private func logIn(_ world: World) async throws -> String {
        let answer = try await world.call(.post, "/v2/credentials/login", .keyN, Example.login)
        answer.expect(200, Example.ruaAda(timesLoggedIn: "1"))
        return try #require(answer["authorization"])
    }

    private func addressBook(_ world: World, _ authorization: String) async throws -> ReceivedAnswer {
        try await world.call(.get, Example.addresses, .keyN.authorization(authorization).device("dev-1"))
    }

    @Test("22: a login's token opens core", arguments: Depth.allCases)
    func login(_ depth: Depth) async throws {
        let world = try await World(depth)
        let authorization = try await logIn(world)
        try await addressBook(world, authorization).expect(200)
    }

    @Test("23: an expired token is renewed by a ping", arguments: Depth.allCases)
    func renewal(_ depth: Depth) async throws {
        let world = try await World(depth)
        let authorization = try await logIn(world)
        try await world.advance("31m")
        try await addressBook(world, authorization).expectExpired()
        let renewed = try await world.call(.get, ping, World.Fields().authorization(authorization))
        let accessToken = try #require(renewed.json["accessToken"]?.string)
        renewed.expect(200, #"{"accessToken":"\#(accessToken)"}"#)
        #expect(accessToken.hasPrefix("Bearer ey"))
        #expect(renewed["authorization"] == accessToken)
        try await addressBook(world, accessToken).expect(200)
    }

    @Test("24: a logout hands out an expired token and revokes nothing", arguments: Depth.allCases)
    func logout(_ depth: Depth) async throws {
        let world = try await World(depth)
        let authorization = try await logIn(world)
        let token = World.Fields().authorization(authorization)
        try await world.call(.post, "/v1/user/logout", token).expect(200, "{}")
        let answer = try await world.call(.get, ping, token)
        answer.expect(200)
        let accessToken = try #require(answer.json["accessToken"]?.string)
        #expect(CompactToken(String(accessToken.dropFirst(7))).claims?["exp"] == 1_799_999_940)
        try await addressBook(world, accessToken).expectExpired()
        try await addressBook(world, authorization).expect(200)
    }

    @Test("25: what RUA refuses", arguments: Depth.allCases)
    func refusals(_ depth: Depth) async throws {
        let world = try await World(depth)
        let login = "/v2/credentials/login"
        try await world.call(
            .post, login, .keyN, #"{"username":"ada@example.test","password":"wrong","deviceId":"dev-1"}"#
        ).expect(
            401, #"{"type":"Incorrect username or password","code":4,"message":"Username or password is wrong."}"#,
            "rua-wrong-credentials")
        let several = #"{"type":"RUA instance has more than one partner, please provide a apikey","code":18,"message":"#
        try await world.call(.post, login, [("x-rezolve-partner-apikey", "123jlklk")], Example.login).expect(
            500, several + #""No partners found. Please provide a correct apikey"}"#, "rua-api-key-wrong")
        try await world.call(.post, login, [], Example.login).expect(
            500, several + #""Multiple partners found. Please provide an apikey"}"#, "rua-api-key-missing")
        try await world.call(
            .post, "/v2/credentials/register", .keyN, #"{"username":"ada@example.test","password":"x"}"#
        ).expect(
            422, #"{"type":"Cannot process registration for user","code":3,"message":"User exists already."}"#,
            "rua-user-exists")
        try await world.call(.post, "/v1/credentials/forget", .keyN, #"{"email":"no@example.test"}"#).expect(
            404, #"{"type":"User not found","code":7,"message":"User not found."}"#, "rua-user-not-found")
    }

    @Test("26: a guest registers, signs in and has an empty address book", arguments: Depth.allCases)
    func guest(_ depth: Depth) async throws {
        let world = try await World(depth)
        let registered = try await world.call(.post, "/api/v2/authentication/register/guest", .keyN, "{}")
        registered.expect(200)
        #expect(registered.json["guest"] == true)
        #expect(registered.json["timesLoggedIn"] == .null)
        let entity = try #require(registered.json["sdkEntity"]?.string)
        #expect(registered.json["username"] == .string(entity))
        let answer = try await world.call(
            .post, "/api/v2/authentication/login/guest", .keyN.bearer(Example.regNew),
            #"{"deviceId":"dev-1","entityId":"\#(entity)"}"#)
        answer.expect(200)
        #expect(answer.json["timesLoggedIn"] == 1)
        let authorization = try #require(answer["authorization"])
        try await world.call(
            .get, "/api/v1/partner/317/customer/\(entity)/addressbook",
            .keyN.authorization(authorization).device("dev-1")
        ).expect(200, "[]")
    }
}
