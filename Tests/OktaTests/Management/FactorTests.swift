import JSON
import Support
import Testing
import Tokens

@testable import Okta

@Suite("The factors of Okta's users")
struct FactorTests {
    private static let path = "/api/v1/users/\(Example.cleo)/factors"
    private static let adas = "/api/v1/users/\(Example.ada)/factors"
    private static let totp = "/api/v1/users/\(Example.ada)/factors/ostunderstudyada0001"

    @Test("the codes of the example world")
    func codes() throws {
        let codes = try #require(OktaTOTP(secret: "JBSWY3DPEHPK3PXP"))
        #expect(codes.code(at: 60_000_000) == "309848")
        #expect(codes.code(at: 60_000_001) == "489290")
        #expect(OktaTOTP(secret: "") == nil)
        #expect(OktaTOTP(secret: "0189") == nil)
    }

    @Test("factors are listed with their user")
    func list() async throws {
        let world = try await World()
        try await world.manage(.get, Self.adas).expect(
            200,
            #"[{"id":"opfunderstudyada0001","factorType":"push","provider":"OKTA","status":"ACTIVE"},"#
                + #"{"id":"ostunderstudyada0001","factorType":"token:software:totp","provider":"OKTA","status":"ACTIVE","#
                + #""profile":{"credentialId":"ada@example.test"}},"#
                + #"{"id":"smsunderstudyada0001","factorType":"sms","provider":"OKTA","status":"ACTIVE","#
                + #""profile":{"phoneNumber":"+15550100"}}]"#)
        try await world.manage(.get, Self.path).expect(200, "[]")
    }

    @Test("10.3: an authenticator app is enrolled by the first right code", arguments: Depth.allCases)
    func totp(_ depth: Depth) async throws {
        let world = try await World(depth)
        let enrolled = try await world.manage(
            .post, Self.path, ["factorType": "token:software:totp", "provider": "OKTA"])
        let id = try #require(enrolled.json["id"]?.string)
        let secret = try #require(enrolled.json["_embedded"]?["activation"]?["sharedSecret"]?.string)
        #expect(id.hasPrefix("ost") && id.utf8.count == 20)
        enrolled.expect(
            200,
            #"{"id":"\#(id)","factorType":"token:software:totp","provider":"OKTA","status":"PENDING_ACTIVATION","#
                + #""profile":{"credentialId":"cleo@example.test"},"_embedded":{"activation":{"timeStep":30,"#
                + #""sharedSecret":"\#(secret)","encoding":"base32","keyLength":6}}}"#)
        #expect(!world.shown(enrolled.entry).contains(secret))
        let factor = "\(Self.path)/\(id)"
        try await world.manage(.post, factor + "/verify", ["passCode": "000000"]).refuses(
            400, "E0000001", "Api validation failed: status", "user-status")
        let code = try #require(OktaTOTP(secret: secret)).code(at: 60_000_000)
        let wrong = code == "000000" ? "000001" : "000000"
        try await world.manage(.post, factor + "/lifecycle/activate", ["passCode": .string(wrong)]).refuses(
            403, "E0000068", "Invalid Passcode/Answer", "factor-code-wrong")
        try await world.manage(.post, factor + "/lifecycle/activate", [:]).refuses(
            400, "E0000001", "Api validation failed: passCode", "body-invalid")
        try await world.manage(.post, factor + "/lifecycle/activate", ["passCode": .string(code)]).expect(
            200,
            #"{"id":"\#(id)","factorType":"token:software:totp","provider":"OKTA","status":"ACTIVE","#
                + #""profile":{"credentialId":"cleo@example.test"}}"#)
        try await world.manage(.post, factor + "/lifecycle/activate", ["passCode": .string(code)]).refuses(
            400, "E0000001", "Api validation failed: status", "user-status")
    }

    @Test("each code is good once, in its step and the ones beside it")
    func steps() async throws {
        let world = try await World()
        func verify(_ code: String) async throws -> ReceivedAnswer {
            try await world.manage(.post, Self.totp + "/verify", ["passCode": .string(code)])
        }
        try await verify("309848").expect(200, #"{"factorResult":"SUCCESS"}"#)
        try await verify("309848").refuses(
            403, "E0000082", "Each code can only be used once. Please wait for a new code and try again.",
            "factor-code-used")
        try await verify("489290").expect(200)
        try await verify("309848").refuses(
            403, "E0000082", "Each code can only be used once. Please wait for a new code and try again.",
            "factor-code-used")
        try await world.control(.post, "reset")
        try await world.freeze(at: 1_800_000_059)
        try await verify("309848").expect(200)
        try await world.control(.post, "reset")
        try await world.freeze(at: 1_800_000_060)
        try await verify("309848").refuses(403, "E0000068", "Invalid Passcode/Answer", "factor-code-wrong")
        try await verify("489290").expect(200)
        // A clock that is set back begins anew.
        try await world.freeze(at: World.exampleMoment - 3600)
        let code = try #require(OktaTOTP(secret: "JBSWY3DPEHPK3PXP")).code(at: 60_000_000 - 120)
        try await verify(code).expect(200)
        try await world.manage(.post, Self.totp + "/verify").refuses(
            400, "E0000001", "Api validation failed: passCode", "body-invalid")
    }

    @Test("a phone gets codes, which only the action tells")
    func phone() async throws {
        let world = try await World()
        let enrolled = try await world.manage(
            .post, Self.path,
            ["factorType": "sms", "provider": "OKTA", "profile": ["phoneNumber": "+15550123"]])
        let id = try #require(enrolled.json["id"]?.string)
        enrolled.expect(
            200,
            #"{"id":"\#(id)","factorType":"sms","provider":"OKTA","status":"PENDING_ACTIVATION","#
                + #""profile":{"phoneNumber":"+15550123"}}"#)
        func told() async throws -> JSON {
            let told = try await world.act("factor-code", ["user": "cleo@example.test", "factor": "sms"])
            #expect(told["factor"]?.string == id)
            return try #require(told["code"])
        }
        try await world.manage(.post, "\(Self.path)/\(id)/lifecycle/activate", ["passCode": try await told()])
            .expect(200)
        try await world.manage(.post, "\(Self.path)/\(id)/verify").expect(200, #"{"factorResult":"CHALLENGE"}"#)
        let code = try await told()
        try await world.manage(.post, "\(Self.path)/\(id)/verify", ["passCode": code]).expect(
            200, #"{"factorResult":"SUCCESS"}"#)
        try await world.manage(.post, "\(Self.path)/\(id)/verify", ["passCode": code]).refuses(
            403, "E0000068", "Invalid Passcode/Answer", "factor-code-wrong")
    }

    @Test(
        "wrong enrollments name the member",
        arguments: [
            (#"{"provider":"OKTA"}"#, "factorType"), (#"{"factorType":"webauthn","provider":"OKTA"}"#, "factorType"),
            (#"{"factorType":"push"}"#, "provider"), (#"{"factorType":"push","provider":"GOOGLE"}"#, "provider"),
            (#"{"factorType":"push","provider":"OKTA"}"#, "publicKey"),
            (#"{"factorType":"push","provider":"OKTA","publicKey":{"kty":"oct","k":"AAAA"}}"#, "publicKey"),
            (#"{"factorType":"sms","provider":"OKTA","profile":{}}"#, "phoneNumber"),
        ])
    func wrongEnrollments(_ body: String, _ member: String) async throws {
        let world = try await World()
        try await world.manage(.post, Self.path, try JSON.parse(body.utf8)).refuses(
            400, "E0000001", "Api validation failed: \(member)", "body-invalid")
    }

    @Test("a factor is its user's alone")
    func owner() async throws {
        let world = try await World()
        try await world.manage(.post, "\(Self.path)/\(Example.push)/verify").refuses(
            404, "E0000007", "Not found: Resource not found: \(Example.push) (UserFactor)", "factor-not-found")
    }

    @Test("actions enroll factors, tell their codes and take them")
    func actions() async throws {
        let world = try await World()
        let user: JSON = "cleo@example.test"
        let added = try await world.act(
            "enroll-factor", ["user": user, "type": "token:software:totp", "secret": "jbsw y3dp ehpk 3pxp"])
        let told = try await world.act("factor-code", ["user": user])
        #expect(told["code"] == "309848")
        #expect(told["factor"] == added["factor"])
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
