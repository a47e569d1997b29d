import Expectations
import HTTPTypes
import JSON
import Support
import Testing
import Tokens

/// The sample sign-in server: its credentials (section 2.4 of the vendor's spec) and its sessions (section 6).
@Suite("RUA") struct RUATests {
    private let ping = "/v2/credentials/ping"
    private let logout = "/v1/user/logout"
    private let password = "/v1/user/password"

    private func invalid(_ message: String) -> String {
        #"{"type":"Unauthorized. Token is invalid","code":6,"message":"\#(message)"}"#
    }

    @Test("the token may come with Bearer, without, or with it twice", arguments: ["", "Bearer ", "bearer Bearer "])
    func schemes(_ prefix: String) async throws {
        try await World().call(.get, ping, World.Fields().authorization(prefix + Example.jwtAda)).expect(200)
    }

    @Test(
        "a token that cannot be verified is invalid on every route",
        arguments: ["not.a.token", Example.jwtAda + "=", Example.regNew, Example.seedJWT, "Basic x"])
    func invalidTokens(_ token: String) async throws {
        let world = try await World()
        for (method, path) in [("GET", ping), ("POST", logout), ("POST", password)] {
            try await world.call(try #require(.init(method)), path, .keyN.authorization(token))
                .expect(401, invalid("Token is invalid."), "rua-token-invalid")
        }
    }

    @Test("a ping takes a token of any age, the other routes none that is over") func expiry() async throws {
        let world = try await World()
        let ancient = try Forged.token(claims: Forged.adaClaims(exp: "1"))
        try await world.call(.get, ping, .keyN.bearer(ancient)).expect(200)
        for path in [logout, password] {
            try await world.call(.post, path, .keyN.bearer(ancient), "{}")
                .expect(401, invalid("Token is expired."), "rua-token-expired")
        }
    }

    @Test("an api key at a ping must be the partner's") func apiKeys() async throws {
        let world = try await World()
        for key in [Example.apiKeyS, "123jlklk"] {
            let answer = try await world.call(
                .get, ping, World.Fields().bearer(Example.jwtAda) + [("x-rezolve-partner-apikey", key)])
            expect(answer.status, is: 500)
            expect(answer.failure, is: "rua-api-key-wrong")
        }
    }

    @Test("whoever registered at core renews by a ping under the partner's own token, and has no other session")
    func coreCustomer() async throws {
        let world = try await World()
        let entity = try await world.register(Example.regNew).json["entity_id"]?.string ?? ""
        let token = try await world.mint("rezolve/login", ["customer": .string(entity), "expires_in": -60])
        let answer = try await world.call(.get, ping, World.Fields().bearer(token))
        answer.expect(200)
        let renewed = World.Fields.keyN.authorization(answer.json["accessToken"]?.string ?? "").device(Example.device)
        try await world.call(.get, Example.customer(entity) + "/addressbook", renewed).expect(200, "[]")
        for (method, path) in [
            (HTTPRequest.Method.post, logout), (.post, "/v1/user/password"), (.put, "/v1/user/details"),
        ] {
            let refused = try await world.call(method, path, renewed, "{}")
            refused.expect(401, invalid("Token is invalid."), "rua-token-invalid")
            let reason = refused.entry?.explanation ?? ""
            #expect(reason.contains("\(entity), who has none"), "\(reason)")
        }
        let other = try Forged.token(
            secret: Array("secret".utf8), claims: Forged.adaClaims(entity: "\"\(entity)\"", user: #""user-2001""#))
        try await world.call(.get, ping, World.Fields().bearer(other))
            .expect(401, invalid("Token is invalid."), "rua-token-invalid")
    }

    @Test("details change what is sent, and nobody is found by the old ones any more") func details() async throws {
        let world = try await World()
        let session = World.Fields.keyN.bearer(Example.jwtAda)
        try await world.call(.put, "/v1/user/details", session, #"{"email":"new@example.test","firstName":"Eda"}"#)
            .expect(200)
        try await world.call(.post, "/v1/credentials/forget", .keyN, #"{"email":"new@example.test"}"#).expect(200, "{}")
        expect(
            try await world.call(.post, "/v1/credentials/forget", .keyN, #"{"email":"ada@example.test"}"#).failure,
            is: "rua-user-not-found")
        try await world.call(
            .post, "/v2/credentials/register", .keyN, #"{"username":"b","password":"p","phone":"+15550109"}"#
        ).expect(201)
        let taken = try await world.call(.put, "/v1/user/details", session, #"{"phone":"+15550109"}"#)
        expect(taken.failure, is: "rua-user-exists")
        expect(taken.entry?.explanation, is: "user 1002 has the phone +15550109 already; expected an unused one")
        expect(try await world.call(.put, "/v1/user/details", session, #"{"phone":7}"#).failure, is: "rua-body-invalid")
        let state = try await world.control(.get, "state/rezolve")
        let other = try await World()
        try await other.control(.put, "state/rezolve", state.text).expect(200)
        try await other.call(.post, "/v1/credentials/forget", .keyN, #"{"email":"new@example.test"}"#).expect(200, "{}")
    }

    @Test("a renewed token is a login JWT for the same device and 30 minutes") func renewedToken() async throws {
        let world = try await World()
        try await world.advance("45m")
        let answer = try await world.call(.get, ping, World.Fields().bearer(Example.jwtAda))
        let token = CompactToken(String(try #require(answer.json["accessToken"]?.string).dropFirst(7)))
        expect(token.header, is: ["auth": "v2", "alg": "HS512", "typ": "JWT"])
        expect(
            token.claims,
            is: [
                "rezolve_entity_id": "entity123", "partner_entity_id": "user-1001", "exp": 1_800_004_500,
                "device_id": .string(Example.device),
            ])
    }

    @Test("a logout closes one device's session, and a login opens it again") func sessions() async throws {
        let world = try await World()
        try await world.set("rezolve.ping-after-logout", "unauthorized")
        let other = try await world.mint("rezolve/login", ["device_id": "dev-2"])
        try await world.call(.post, logout, .keyN.bearer(other)).expect(200, "{}")
        let refused = try await world.call(.get, ping, .keyN.bearer(other))
        refused.expect(401, invalid("Token is invalid."), "rua-token-invalid")
        expect(refused.outcome(of: "session-open"), is: .failed)
        try await world.call(.post, logout, .keyN.bearer(other))
            .expect(401, invalid("Token is invalid."), "rua-token-invalid")
        try await world.call(.get, ping, .keyN.bearer(Example.jwtAda)).expect(200)
        try await world.call(
            .post, "/v2/credentials/login", .keyN, Example.login.replacing("dev-1", with: "dev-2")
        ).expect(200)
        try await world.call(.get, ping, .keyN.bearer(other)).expect(200)
    }

    @Test("a user without a name is named by the phone") func phoneName() async throws {
        let answer = try await World().call(
            .post, "/v2/credentials/register", .keyN, #"{"password":"not-a-secret-2","phone":"+15550101"}"#)
        answer.expect(201)
        expect(answer.json["username"], is: "+15550101")
        expect(answer.json["email"], is: "")
    }

    @Test("RUA gives no id away that a partner has used already") func ownIDs() async throws {
        let world = try await World()
        let token = try Forged.registration(#""rua-1002""#)
        let entity = try #require(try await world.register(token).json["entity_id"]?.string)
        let user = try await world.call(
            .post, "/v2/credentials/register", .keyN, #"{"username":"c","password":"not-a-secret-2"}"#)
        user.expect(201)
        expect(user.json["id"], is: 1003)
        try await world.call(.get, Example.customer(entity) + "/wallet", .keyN.bearer(token)).expect(200, "[]")
    }

    @Test(
        "username, email and phone are each given once",
        arguments: [
            (#"{"username":"ada@example.test","password":"x"}"#, 422),
            (#"{"username":"other","password":"x","email":"ada@example.test"}"#, 422),
            (#"{"username":"other","password":"x","phone":"+15550100"}"#, 422),
            (#"{"username":"other","password":"x","email":"","phone":""}"#, 201),
        ])
    func taken(_ body: String, _ status: Int) async throws {
        let answer = try await World().call(.post, "/v2/credentials/register", .keyN, body)
        expect(answer.status, is: status)
        expect(answer.failure, is: (status == 422 ? "rua-user-exists" : nil))
    }

    @Test(
        "wrong bodies are invalid",
        arguments: [
            ("/v2/credentials/register", ""), ("/v2/credentials/register", "[]"), ("/v2/credentials/register", "{}"),
            ("/v2/credentials/register", #"{"password":"x"}"#), ("/v2/credentials/register", #"{"username":"x"}"#),
            ("/v2/credentials/register", #"{"username":"x","password":"x","phone":1}"#),
            ("/v2/credentials/register", #"{"username":"x","password":"x","email":null}"#),
            ("/v2/credentials/register", #"{"password":"x","phone":""}"#),
            ("/v2/credentials/register", #"{"username":"","password":"x"}"#),
            ("/v2/credentials/login", "{"), ("/v2/credentials/login", #"{"username":"x","password":"x"}"#),
            ("/v2/credentials/login", #"{"username":1,"password":"x","deviceId":"d"}"#),
            ("/v2/credentials/login", #"{"username":"x","password":null,"deviceId":"d"}"#),
            ("/v2/credentials/register/guest", #"{"deviceId":"d"}"#), ("/v2/credentials/register/guest", "[]"),
            ("/v2/credentials/register/guest", #"{"deviceId":"d","entityId":1}"#),
            ("/v1/credentials/forget", "{}"), ("/v1/credentials/forget", #"{"email":1}"#),
        ])
    func invalidBodies(_ path: String, _ body: String) async throws {
        try await World().call(.post, path, .keyN, body).expect(
            400, #"{"type":"Bad Request","code":5,"message":"Request body is invalid."}"#, "rua-body-invalid")
    }

    @Test("users of one partner are unknown to another") func otherPartner() async throws {
        let world = try await World()
        expect(
            try await world.call(.post, "/v2/credentials/login", .keyS, Example.login).failure,
            is: "rua-wrong-credentials")
        expect(
            try await world.call(.get, "/v1/credentials/confirm/000000/1001", .keyS).failure, is: "rua-user-not-found")
        expect(
            try await world.call(.post, "/v1/credentials/forget", .keyS, #"{"email":"ada@example.test"}"#).failure,
            is: "rua-user-not-found")
    }
}

@Suite("Rezolve's guest login") struct GuestLoginTests {
    private let path = "/api/v2/authentication/login/guest"

    private func guest(_ world: World) async throws -> (entity: String, body: String) {
        let guest = try await world.call(.post, "/api/v2/authentication/register/guest", .keyN)
        let entity = try #require(guest.json["sdkEntity"]?.string)
        return (entity, #"{"deviceId":"dev-1","entityId":"\#(entity)"}"#)
    }

    private func token(_ entity: String, user: String? = nil) throws -> String {
        try Forged.token(claims: Forged.adaClaims(entity: #""\#(entity)""#, user: #""\#(user ?? entity)""#))
    }

    @Test("the guest's own login JWT needs its device; a registration JWT does not") func tokens() async throws {
        let world = try await World()
        let (entity, body) = try await guest(world)
        let own = World.Fields.keyN.bearer(try token(entity))
        try await world.call(.post, path, own, body).expectDenied("masked-device-mismatch")
        try await world.call(.post, path, own.device(Example.device), body).expect(200)
        try await world.call(.post, path, .keyN.bearer(Example.regNew), body).expect(200)
    }

    @Test("another's login JWT is another's, whatever its device") func otherLogin() async throws {
        let world = try await World()
        let (entity, body) = try await guest(world)
        try await world.call(.post, path, .ada, body).expectDenied("masked-other-user")
        try await world.call(.post, path, .keyN.bearer(Example.jwtAda), body).expectDenied("masked-other-user")
        for other in try [token(entity, user: "user-1001"), token("nobody")] {
            try await world.call(.post, path, .core(other), body).expectDenied("masked-other-user")
        }
    }

    @Test("token and content are judged in the order of all routes") func order() async throws {
        let world = try await World()
        let (entity, body) = try await guest(world)
        try await world.call(.post, path, World.Fields().bearer(Example.regNew), body).expectDenied("masked-api-key")
        try await world.call(.post, path, .keyN, body).expectDenied("masked-token-missing")
        try await world.call(.post, path, .keyS.bearer(Example.regNew), body).expectDenied("masked-signature")
        let own = World.Fields.core(try token(entity))
        try await world.call(.post, path, own, "{").expect(400, Example.malformed, "body-malformed")
        expect(try await world.call(.post, path, own, "{}").failure, is: "body-missing-fields")
        expect(
            try await world.call(.post, path, own, #"{"deviceId":1,"entityId":"x"}"#).failure, is: "masked-other-user")
        try await world.freeze(at: 1_800_001_800)
        try await world.call(.post, path, .keyN.bearer(Example.regNew), body).expectExpired()
    }

    @Test("a guest of another partner is no guest here") func otherPartner() async throws {
        let world = try await World()
        let guest = try await world.call(.post, "/api/v2/authentication/register/guest", .keyS)
        let entity = try #require(guest.json["sdkEntity"]?.string)
        try await world.call(
            .post, path, .keyN.bearer(Example.regNew), #"{"deviceId":"dev-1","entityId":"\#(entity)"}"#
        ).expectDenied("masked-other-user")
    }
}
