import HTTPTypes
import JSON
import Support
import Testing
import Tokens

/// The sample sign-in server: its credentials (section 2.4 of the vendor's spec) and its sessions (section 6).
@Suite("RUA")
struct RUATests {
    private let ping = "/v2/credentials/ping"
    private let logout = "/v1/user/logout"
    private let password = "/v1/user/password"
    private static let unauthorized = "Unauthorized. Token is invalid"

    private func invalid(_ message: String) -> String {
        #"{"type":"Unauthorized. Token is invalid","code":6,"message":"\#(message)"}"#
    }

    @Test("the token may come with Bearer, without, or with it twice", arguments: ["", "Bearer ", "bearer Bearer "])
    func schemes(_ prefix: String) async throws {
        let world = try await World()
        try await world.call(.get, ping, World.Fields().authorization(prefix + Example.jwtAda)).expect(200)
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

    @Test(
        "a token with a member missing is invalid",
        arguments: [Forged.adaClaims(exp: nil), Forged.adaClaims(device: nil)])
    func missingMember(_ claims: String) async throws {
        let world = try await World()
        try await world.call(.get, ping, .keyN.bearer(try Forged.token(claims: claims)))
            .expect(401, invalid("Token is invalid."), "rua-token-invalid")
    }

    @Test("a ping takes a token of any age, the other routes none that is over")
    func expiry() async throws {
        let world = try await World()
        let ancient = try Forged.token(claims: Forged.adaClaims(exp: "1"))
        try await world.call(.get, ping, .keyN.bearer(ancient)).expect(200)
        for path in [logout, password] {
            try await world.call(.post, path, .keyN.bearer(ancient), "{}")
                .expect(401, invalid("Token is expired."), "rua-token-expired")
        }
    }

    @Test("an api key may be absent at a ping, and must be the partner's when it is there")
    func apiKeys() async throws {
        let world = try await World()
        try await world.call(.get, ping, World.Fields().bearer(Example.jwtAda)).expect(200)
        for key in [Example.apiKeyS, "123jlklk"] {
            let answer = try await world.call(
                .get, ping, World.Fields().bearer(Example.jwtAda) + [("x-rezolve-partner-apikey", key)])
            #expect(answer.status == 500)
            #expect(answer.failure == "rua-api-key-wrong")
        }
    }

    @Test("a customer without a RUA user has no session")
    func noUser() async throws {
        let world = try await World()
        let token = try await world.mint("rezolve/login", ["customer": "entity456"])
        let answer = try await world.call(.post, logout, .keyN.bearer(token))
        answer.expect(401, invalid("Token is invalid."), "rua-token-invalid")
        #expect(answer.outcome(of: "rua-user") == .failed)
    }

    @Test("whoever registered at core renews by a ping under the partner's own token, and has no other session")
    func coreCustomer() async throws {
        let world = try await World()
        let registered = try await world.call(
            .post, "/api/v1/authentication/register", .keyN.bearer(Example.regNew), #"{"email":"n@example.test"}"#)
        let entity = registered.json["entity_id"]?.string ?? ""
        let token = try await world.mint("rezolve/login", ["customer": .string(entity), "expires_in": -60])
        let answer = try await world.call(.get, ping, World.Fields().bearer(token))
        answer.expect(200)
        let renewed = World.Fields.keyN.authorization(answer.json["accessToken"]?.string ?? "").device(Example.device)
        let books = "/api/v1/partner/317/customer/\(entity)/addressbook"
        try await world.call(.get, books, renewed).expect(200, "[]")
        for (method, path) in [
            (HTTPRequest.Method.post, logout), (.post, "/v1/user/password"), (.put, "/v1/user/details"),
        ] {
            let refused = try await world.call(method, path, renewed, "{}")
            refused.expect(401, invalid("Token is invalid."), "rua-token-invalid")
            let reason = refused.entry?.explanation ?? ""
            #expect(reason.contains("\(entity), who has none"), "\(reason)")
        }
        let other = try Forged.token(
            claims: Forged.adaClaims(entity: "\"\(entity)\"", user: #""user-2001""#), by: "secret")
        try await world.call(.get, ping, World.Fields().bearer(other))
            .expect(401, invalid("Token is invalid."), "rua-token-invalid")
    }

    @Test("an empty device id is refused wherever a session begins")
    func emptyDevice() async throws {
        let world = try await World()
        let body = #"{"type":"Bad Request","code":5,"message":"Request body is invalid."}"#
        try await world.call(.post, "/v2/credentials/login", .keyN, Example.login.replacing("dev-1", with: ""))
            .expect(400, body, "rua-body-invalid")
        let entity =
            try await world.call(.post, "/v2/credentials/register/guest", .keyN).json["sdkEntity"]?.string ?? ""
        let guest = #"{"deviceId":"","entityId":"\#(entity)"}"#
        try await world.call(.post, "/v2/credentials/register/guest", .keyN, guest).expect(
            400, body, "rua-body-invalid")
        try await world.call(.post, "/api/v2/authentication/login/guest", .keyN.bearer(Example.regNew), guest)
            .expect(400, Example.malformed, "body-too-short")
    }

    @Test("details change what is sent, and nobody is found by the old ones any more")
    func details() async throws {
        let world = try await World()
        let session = World.Fields.keyN.bearer(Example.jwtAda)
        try await world.call(.put, "/v1/user/details", session, #"{"email":"new@example.test","firstName":"Eda"}"#)
            .expect(200)
        try await world.call(.post, "/v1/credentials/forget", .keyN, #"{"email":"new@example.test"}"#).expect(200, "{}")
        #expect(
            try await world.call(.post, "/v1/credentials/forget", .keyN, #"{"email":"ada@example.test"}"#).failure
                == "rua-user-not-found")
        try await world.call(
            .post, "/v2/credentials/register", .keyN, #"{"username":"b","password":"p","phone":"+15550109"}"#
        ).expect(201)
        let taken = try await world.call(.put, "/v1/user/details", session, #"{"phone":"+15550109"}"#)
        #expect(taken.failure == "rua-user-exists")
        #expect(taken.entry?.explanation == "user 1002 has the phone +15550109 already; expected one that nobody has")
        #expect(
            try await world.call(.put, "/v1/user/details", session, #"{"phone":7}"#).failure == "rua-body-invalid")
        let state = try await world.control(.get, "state/rezolve")
        let other = try await World()
        try await other.control(.put, "state/rezolve", state.text).expect(200)
        try await other.call(.post, "/v1/credentials/forget", .keyN, #"{"email":"new@example.test"}"#).expect(200, "{}")
    }

    @Test("the codes of RUA's refusals are integers, armed ones and those of a partner without auth key included")
    func integerCodes() async throws {
        let world = try await World()
        try await world.arm("service-unavailable", at: "rua.login")
        let down = try await world.call(.post, "/v2/credentials/login", .keyN, Example.login)
        #expect(down.json["code"] == 7)
        let large = try await world.call(
            .post, "/v2/credentials/login", .keyN, String(repeating: " ", count: 1 << 20 | 1))
        #expect(large.json["code"] == 5)
    }

    @Test("a renewed token is a login JWT for the same device and 30 minutes")
    func renewedToken() async throws {
        let world = try await World()
        try await world.advance("45m")
        let answer = try await world.call(.get, ping, World.Fields().bearer(Example.jwtAda))
        let token = CompactToken(String(try #require(answer.json["accessToken"]?.string).dropFirst(7)))
        #expect(token.header == ["auth": "v2", "alg": "HS512", "typ": "JWT"])
        #expect(
            token.claims == [
                "rezolve_entity_id": "entity123", "partner_entity_id": "user-1001", "exp": 1_800_004_500,
                "device_id": .string(Example.device),
            ])
    }

    @Test("a logout closes one device's session, and a login opens it again")
    func sessions() async throws {
        let world = try await World()
        try await world.set("rezolve.ping-after-logout", "unauthorized")
        let other = try await world.mint("rezolve/login", ["device_id": "dev-2"])
        try await world.call(.post, logout, .keyN.bearer(other)).expect(200, "{}")
        let refused = try await world.call(.get, ping, .keyN.bearer(other))
        refused.expect(401, invalid("Token is invalid."), "rua-token-invalid")
        #expect(refused.outcome(of: "session-open") == .failed)
        try await world.call(.post, logout, .keyN.bearer(other))
            .expect(401, invalid("Token is invalid."), "rua-token-invalid")
        try await world.call(.get, ping, .keyN.bearer(Example.jwtAda)).expect(200)
        try await world.call(
            .post, "/v2/credentials/login", .keyN, Example.login.replacing("dev-1", with: "dev-2")
        ).expect(200)
        try await world.call(.get, ping, .keyN.bearer(other)).expect(200)
    }

    @Test("sign-ins are counted")
    func counter() async throws {
        let world = try await World()
        for times in 1...3 {
            try await world.call(.post, "/v2/credentials/login", .keyN, Example.login)
                .expect(200, Example.ruaAda(timesLoggedIn: "\(times)"))
        }
        try await world.call(.get, "/v1/credentials/confirm/000000/1001", .keyN)
            .expect(200, Example.ruaAda(timesLoggedIn: "3"))
    }

    @Test("a registered user is a customer, signs in unconfirmed, and is confirmed by the code")
    func registration() async throws {
        let world = try await World()
        let answer = try await world.call(
            .post, "/v2/credentials/register", .keyN,
            #"{"username":"c@example.test","password":"not-a-secret-2","firstName":"C","lastName":"D","#
                + #""phone":"+15550101","email":"c@example.test"}"#)
        let entity = try #require(answer.json["sdkEntity"]?.string)
        answer.expect(
            201,
            #"{"id":1002,"username":"c@example.test","title":null,"firstName":"C","lastName":"D","#
                + #""email":"c@example.test","phone":"+15550101","language":"en","sdkEntity":"\#(entity)","#
                + #""sdkPartner":"317","createdAt":"2027-01-15T08:00:00.000","updatedAt":"2027-01-15T08:00:00.000","#
                + #""enabled":true,"partnerId":"317","applicationId":null,"timesLoggedIn":null,"#
                + #""roles":[{"role":"ROLE_USER"}],"socialProviders":null,"guest":false,"accountNonExpired":true,"#
                + #""accountNonLocked":true,"credentialsNonExpired":true,"timezone":"GMT"}"#)
        let login = try await world.call(
            .post, "/v2/credentials/login", .keyN,
            #"{"username":"c@example.test","password":"not-a-secret-2","deviceId":"d"}"#)
        login.expect(200)
        let token = CompactToken(String(try #require(login["authorization"]).dropFirst(7)))
        #expect(token.claims?["partner_entity_id"] == "rua-1002")
        let profile = try await world.call(
            .get, "/api/v1/partner/317/customer/\(entity)/profile",
            .keyN.authorization(login["authorization"] ?? "").device("d"))
        #expect(profile.json["email"] == "c@example.test")
        try await world.call(.get, "/v1/credentials/confirm/000000/1002", .keyN).expect(200)
    }

    @Test("a user without a name is named by the phone")
    func phoneName() async throws {
        let world = try await World()
        let answer = try await world.call(
            .post, "/v2/credentials/register", .keyN, #"{"password":"not-a-secret-2","phone":"+15550101"}"#)
        answer.expect(201)
        #expect(answer.json["username"] == "+15550101")
        #expect(answer.json["email"] == "")
    }

    @Test("RUA gives no id away that a partner has used already")
    func ownIDs() async throws {
        let world = try await World()
        let token = try Forged.token(
            header: Forged.registrationHeader, claims: Forged.registrationClaims(user: #""rua-1002""#))
        let first = try await world.call(
            .post, "/api/v1/authentication/register", .keyN.bearer(token), #"{"email":"a@example.test"}"#)
        let entity = try #require(first.json["entity_id"]?.string)
        let user = try await world.call(
            .post, "/v2/credentials/register", .keyN, #"{"username":"c","password":"not-a-secret-2"}"#)
        user.expect(201)
        #expect(user.json["id"] == 1003)
        try await world.call(.get, "/api/v1/partner/317/customer/\(entity)/wallet", .keyN.bearer(token))
            .expect(200, "[]")
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
        #expect(answer.status == status)
        #expect(answer.failure == (status == 422 ? "rua-user-exists" : nil))
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

    @Test("a password is changed by who knows it, and tokens stay valid")
    func passwords() async throws {
        let world = try await World()
        let fields = World.Fields.keyN.bearer(Example.jwtAda)
        for body in ["{}", #"{"currentPassword":"not-a-secret-1"}"#, #"{"newPassword":"x"}"#] {
            #expect(try await world.call(.post, password, fields, body).failure == "rua-body-invalid")
        }
        try await world.call(
            .post, password, fields, #"{"currentPassword":"not-a-secret-1","newPassword":"not-a-secret-9"}"#
        ).expect(200, "{}")
        #expect(
            try await world.call(.post, "/v2/credentials/login", .keyN, Example.login).failure
                == "rua-wrong-credentials")
        try await world.call(
            .post, "/v2/credentials/login", .keyN,
            Example.login.replacing("not-a-secret-1", with: "not-a-secret-9")
        ).expect(200)
        try await world.call(.get, ping, fields).expect(200)
    }

    @Test("a forgotten password leaves one entry in the journal, with a note of the mail")
    func forgotten() async throws {
        let world = try await World()
        let answer = try await world.call(
            .post, "/v1/credentials/forget", .keyN, #"{"email":"ada@example.test"}"#)
        answer.expect(200, "{}")
        #expect(answer.outcome(of: "mail") == .noted)
        #expect(world.sandbox.journal.count == 1)
    }

    @Test("users of one partner are unknown to another")
    func otherPartner() async throws {
        let world = try await World()
        #expect(
            try await world.call(.post, "/v2/credentials/login", .keyS, Example.login).failure
                == "rua-wrong-credentials")
        #expect(
            try await world.call(.get, "/v1/credentials/confirm/000000/1001", .keyS).failure == "rua-user-not-found")
        #expect(
            try await world.call(.post, "/v1/credentials/forget", .keyS, #"{"email":"ada@example.test"}"#).failure
                == "rua-user-not-found")
    }

    @Test("only a guest of the partner signs in as one", arguments: ["entity123", "nobody"])
    func noGuest(_ entity: String) async throws {
        let world = try await World()
        let body = #"{"deviceId":"dev-1","entityId":"\#(entity)"}"#
        #expect(
            try await world.call(.post, "/v2/credentials/register/guest", .keyN, body).failure == "rua-user-not-found")
        try await world.call(.post, "/api/v2/authentication/login/guest", .keyN.bearer(Example.regNew), body)
            .expectDenied("masked-other-user")
    }
}
