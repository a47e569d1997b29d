import Emulation
import Expectations
import JSON
import Support
import Testing
import Tokens

@testable import Okta

@Suite("The factors of Okta's users") struct FactorTests {
    private static let path = "/api/v1/users/\(Example.cleo)/factors"
    private static let totp = "/api/v1/users/\(Example.ada)/factors/ostunderstudyada0001"

    @Test("the codes of the example world") func codes() throws {
        let codes = try #require(OktaTOTP(secret: "JBSWY3DPEHPK3PXP"))
        expect(codes.code(at: 60_000_000), is: "309848")
        expect(codes.code(at: 60_000_001), is: "489290")
        #expect(OktaTOTP(secret: "") == nil)
        #expect(OktaTOTP(secret: "0189") == nil)
    }

    @Test("each code is good once, in its step and the ones beside it") func steps() async throws {
        let world = try await World()
        func verify(_ code: String) async throws -> ReceivedAnswer {
            try await world.manage(.post, Self.totp + "/verify", ["passCode": .string(code)])
        }
        try await verify("309848").expect(200)
        try await verify("489290").expect(200)
        expect(try await verify("309848").failure, is: "factor-code-used")
        try await world.control(.post, "reset")
        try await world.freeze(at: 1_800_000_059)
        try await verify("309848").expect(200)
        try await world.control(.post, "reset")
        try await world.freeze(at: 1_800_000_060)
        expect(try await verify("309848").failure, is: "factor-code-wrong")
        try await verify("489290").expect(200)
        // A clock that is set back begins anew.
        try await world.freeze(at: World.exampleMoment - 3600)
        let code = try #require(OktaTOTP(secret: "JBSWY3DPEHPK3PXP")).code(at: 60_000_000 - 120)
        try await verify(code).expect(200)
        try await world.manage(.post, Self.totp + "/verify").refuses(
            400, "E0000001", "Api validation failed: passCode", "body-invalid")
    }

    @Test(
        "wrong enrollments name the member",
        arguments: [
            (#"{"provider":"OKTA"}"#, "factorType"), (#"{"factorType":"webauthn","provider":"OKTA"}"#, "factorType"),
            (#"{"factorType":"push"}"#, "provider"), (#"{"factorType":"push","provider":"GOOGLE"}"#, "provider"),
            (#"{"factorType":"push","provider":"OKTA"}"#, "publicKey"),
            (#"{"factorType":"push","provider":"OKTA","publicKey":{"kty":"oct","k":"AAAA"}}"#, "publicKey"),
            (#"{"factorType":"sms","provider":"OKTA","profile":{}}"#, "phoneNumber"),
            (#"{"factorType":"question","provider":"OKTA"}"#, "profile"),
            (#"{"factorType":"question","provider":"OKTA","profile":{"question":"first_award"}}"#, "answer"),
        ])
    func wrongEnrollments(_ body: String, _ member: String) async throws {
        let world = try await World()
        try await world.manage(.post, Self.path, try JSON.parse(body.utf8)).refuses(
            400, "E0000001", "Api validation failed: \(member)", "body-invalid")
    }

    @Test("the sign-in page asks a question as a second factor") func question() async throws {
        let world = try await World()
        try await world.act("enroll-factor", ["user": "cleo@example.test", "type": "question"])
        let page = try await world.openSignIn(.authorize.with("acr_values", "urn:okta:loa:2fa:any"))
        func send(_ name: String, _ value: String) async throws -> ReceivedAnswer {
            try await world.submit(page.form([(name, value)]), to: "/login/login.htm", page.fields)
        }
        let asked = try await send("user", "cleo@example.test")
        #expect(asked.text.contains("What is the food you least liked as a child?"), "\(asked.text)")
        expect(try await send("passcode", "toast").failure, is: "factor-code-wrong")
        let done = try await send("passcode", "not-a-secret-answer")
        expect(done.json["location"]?.string?.contains("?code="), is: true, "\(done.text)")
    }

    @Test("actions enroll factors, tell their codes and take them") func actions() async throws {
        let world = try await World()
        let user: JSON = "cleo@example.test"
        let added = try await world.act(
            "enroll-factor", ["user": user, "type": "token:software:totp", "secret": "jbsw y3dp ehpk 3pxp"])
        let told = try await world.act("factor-code", ["user": user])
        expect(told["code"], is: "309848")
        expect(told["factor"], is: added["factor"])
        try await world.act("remove-factor", ["factor": try #require(added["factor"])])
        #expect(try await world.refusal(of: "factor-code", ["user": user]).message.contains("no factor"))
        let stranger = try await world.refusal(of: "remove-factor", ["factor": "ost"]).message
        #expect(stranger.hasPrefix("no factor has the id ost; known are opfunderstudyada0001, "))
        let refused = try await world.refusal(
            of: "enroll-factor", ["user": user, "type": "token:software:totp", "secret": "0"])
        #expect(refused.message.contains("base32"))
        #expect(try await world.refusal(of: "enroll-factor", ["user": "x", "type": "sms"]).message.contains("login x"))
    }
}

@Suite("Challenges to devices") struct PushTests {
    @Test("an answer that is refused leaves the challenge and the jti as they were") func wrongContent() async throws {
        let world = try await World()
        let transaction = try await world.challenge()
        let answer = DeviceAnswer(transaction)
        try await world.answer(transaction, answer, #"{"result":"MAYBE"}"#).refuses(
            400, "E0000001", "Api validation failed: result", "body-invalid")
        try await world.answer("tx-9", answer).refuses(
            404, "E0000007", "Not found: Resource not found: tx-9 (Transaction)", "transaction-not-found")
        let other = try await world.challenge()
        try await world.answer(other, answer).refuses(
            404, "E0000007", "Not found: Resource not found: \(other) (Transaction)", "transaction-not-found")
        try await world.answer(transaction, answer, #"{"result":"APPROVE"}"#).expect(200)
    }

    @Test("unknown users and factors look like a wrong token to a device") func strangers() async throws {
        let world = try await World()
        _ = try await world.challenge()
        let paths = [
            "/api/v1/users/00unone/factors/\(Example.push)", "/api/v1/users/\(Example.ben)/factors/\(Example.push)",
            "/api/v1/users/\(Example.ada)/factors/opfnone", "/api/v1/users/\(Example.ada)/factors/ostunderstudyada0001",
        ]
        for path in paths {
            try await world.answer("tx-1", DeviceAnswer(), at: path).refuses(
                401, "E0000011", "Invalid token provided", "ssws-factor")
        }
    }

    @Test("a challenge waits for five minutes") func timeout() async throws {
        let world = try await World()
        let transaction = try await world.challenge()
        try await world.freeze(at: World.exampleMoment + 300)
        let late = DeviceAnswer(transaction).changed { answer in
            for name in ["iat", "nbf", "exp"] { answer.claims[name] = JSON((answer.claims[name]?.int ?? 0) + 300) }
        }
        expect(try await world.answer(transaction, late).failure, is: "transaction-closed")
        #expect(
            try await world.refusal(of: "answer-push", ["user": .string(Example.ada)]).message.contains("no challenge"))
    }

    @Test("an enrolled device signs with its own key; ssws-profile = devices lets it use ES256 and five minutes")
    func enrolled() async throws {
        let world = try await World()
        let key = Proof.key("dk1")
        let enrolled = try await world.manage(
            .post, "/api/v1/users/\(Example.ada)/factors",
            ["factorType": "push", "provider": "OKTA", "publicKey": try #require(key.publicJWK())])
        let id = try #require(enrolled.json["id"]?.string)
        enrolled.expect(200)
        expect(enrolled.json["status"], is: "ACTIVE")
        let factor = "/api/v1/users/\(Example.ada)/factors/\(id)"
        try await world.manage(.post, factor + "/verify").expect(201)
        let answer = DeviceAnswer(by: key).changed { answer in
            answer.algorithm = .es256
            answer.header = ["typ": "okta-devicebind+jwt", "alg": "ES256"]
            answer.claims["iss"] = .string(id)
            answer.claims["exp"] = JSON(World.exampleMoment + 300)
        }
        try await world.answer("tx-1", answer, at: factor).refuses(
            401, "E0000011", "Invalid token provided", "ssws-malformed")
        try await world.set("okta.ssws-profile", "devices")
        try await world.answer("tx-1", answer, at: factor).expect(200)
    }

    @Test("the action answers the newest challenge") func actions() async throws {
        let world = try await World()
        _ = try await world.challenge()
        let second = try await world.challenge()
        let told = try await world.act("answer-push", ["user": "ada@example.test", "result": "DENY"])
        expect(told.text, is: #"{"transaction":"\#(second)","factor":"opfunderstudyada0001","result":"DENY"}"#)
    }
}

@Suite("Global token revocation") struct GlobalLogoutTests {
    private static let path = "/oauth2/v1/global-token-revocation"

    @Test(
        "9.1: other subjects are refused without a body",
        arguments: [
            (#"{"sub_id":{"format":"x"}}"#, "expected opaque or iss_sub"),
            (#"{"sub_id":{"format":"opaque"}}"#, "it has no id"),
            (#"{"sub_id":{"format":"opaque","id":"00unone"}}"#, "names no user"),
            (#"{"sub_id":{"format":"iss_sub","iss":"http://a","sub":"ada@example.test"}}"#, "http://localhost:8080"),
        ])
    func subjects(_ example: (body: String, reason: String)) async throws {
        let (body, reason) = example
        let world = try await World()
        let token = try await world.issue("access_token")
        let answer = try await world.manage(.post, Self.path, try JSON.parse(body.utf8))
        answer.expect(400, "", "sub-id-invalid")
        expect(answer.entry?.explanation?.contains(reason), is: true, "\(answer.entry?.explanation ?? "")")
        #expect(try await AppClient.native(world).isActive(token))
        try await world.manage(.post, Self.path, [:]).refuses(
            400, "E0000001", "Api validation failed: sub_id", "body-invalid")
    }
}
