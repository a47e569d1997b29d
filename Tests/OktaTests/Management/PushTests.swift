import JSON
import Support
import Testing
import Tokens

@Suite("Challenges to devices")
struct PushTests {
    private static let invalid = (401, "E0000011", "Invalid token provided")

    @Test("26: a device answers a challenge", arguments: Depth.allCases)
    func answer(_ depth: Depth) async throws {
        let world = try await World(depth)
        let poll = "\(World.factor)/transactions/tx-1"
        try await world.manage(.post, World.factor + "/verify").expect(
            201,
            #"{"factorResult":"WAITING","expiresAt":"2027-01-15T08:05:00.000Z","_links":{"poll":{"href":"#
                + #""http://localhost:8080\#(poll)"}}}"#)
        try await world.manage(.get, World.factor + "/transactions").expect(
            200,
            #"{"challenges":[{"transactionId":"tx-1","factorId":"opfunderstudyada0001","#
                + #""userId":"00uunderstudyada0001","host":"localhost:8080","createdAt":1800000000,"#
                + #""expiresAt":1800000300}]}"#)
        for path in [poll, poll + "/verify"] {
            try await world.manage(.get, path).expect(
                200, #"{"factorResult":"WAITING","expiresAt":"2027-01-15T08:05:00.000Z"}"#)
        }
        try await world.answer("tx-1", DeviceAnswer()).expect(200, #"{"factorResult":"SUCCESS"}"#)
        try await world.manage(.get, poll).expect(200, #"{"factorResult":"SUCCESS"}"#)
        try await world.manage(.get, World.factor + "/transactions").expect(200, #"{"challenges":[]}"#)
    }

    @Test("27: an answer counts once, and only by the right token", arguments: Depth.allCases)
    func refusals(_ depth: Depth) async throws {
        let world = try await World(depth)
        _ = try await world.challenge()
        try await world.answer("tx-1", DeviceAnswer()).expect(200)
        try await world.answer("tx-1", DeviceAnswer(id: "j2")).refuses(
            403, "E0000079", "This operation is not allowed in the current authentication state.", "transaction-closed")
        try await world.answer("tx-1", DeviceAnswer()).refuses(
            401, "E0000011", "Invalid token provided", "ssws-replayed")
        let transaction = try await world.challenge()
        let fresh = DeviceAnswer(transaction, id: "j3")
        let cases: [(DeviceAnswer?, String)] = [
            (fresh.changed { $0.key = DeviceAnswer.key("ck1") }, "ssws-signature"),
            (fresh.changed { $0.claims["sub"] = .string(Example.ben) }, "ssws-subject"),
            (fresh.changed { $0.claims["aud"] = "x" }, "ssws-audience"),
            (fresh.changed { $0.claims["exp"] = JSON(World.exampleMoment) }, "ssws-expired"),
            (fresh.changed { $0.claims["iat"] = JSON(World.exampleMoment + 61) }, "ssws-not-yet-valid"),
            (fresh.changed { $0.claims["jti"] = "j1" }, "ssws-replayed"), (nil, "ssws-missing"),
        ]
        for (answer, failure) in cases {
            try await world.answer(transaction, answer).refuses(
                Self.invalid.0, Self.invalid.1, Self.invalid.2, failure)
        }
        // None of these used up the jti.
        try await world.answer(transaction, fresh, #"{"result":"DENY"}"#).expect(200, #"{"factorResult":"REJECTED"}"#)
        try await world.manage(.get, "\(World.factor)/transactions/\(transaction)").expect(
            200, #"{"factorResult":"REJECTED"}"#)
    }

    @Test("an answer that is refused leaves the challenge and the jti as they were")
    func wrongContent() async throws {
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

    @Test("unknown users and factors look like a wrong token to a device")
    func strangers() async throws {
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
        try await world.call(
            .post, "\(World.factor)/transactions/tx-1/verify", [("authorization", "SSWS " + World.apiToken)]
        ).refuses(401, "E0000011", "Invalid token provided", "ssws-malformed")
    }

    @Test("a challenge waits for five minutes")
    func timeout() async throws {
        let world = try await World()
        let transaction = try await world.challenge()
        try await world.freeze(at: World.exampleMoment + 300)
        try await world.manage(.get, "\(World.factor)/transactions/\(transaction)").expect(
            200, #"{"factorResult":"TIMEOUT"}"#)
        let late = DeviceAnswer(transaction).changed { answer in
            for name in ["iat", "nbf", "exp"] {
                answer.claims[name] = JSON((answer.claims[name]?.int ?? 0) + 300)
            }
        }
        try await world.answer(transaction, late).refuses(
            403, "E0000079", "This operation is not allowed in the current authentication state.", "transaction-closed")
        #expect(
            try await world.refusal(of: "answer-push", ["user": .string(Example.ada)]).message.contains("no challenge"))
    }

    @Test("an enrolled device signs with its own key; ssws-profile = devices lets it use ES256 and five minutes")
    func enrolled() async throws {
        let world = try await World()
        let key = DeviceAnswer.key("dk1")
        let enrolled = try await world.manage(
            .post, "/api/v1/users/\(Example.ada)/factors",
            ["factorType": "push", "provider": "OKTA", "publicKey": try #require(key.publicJWK())])
        let id = try #require(enrolled.json["id"]?.string)
        enrolled.expect(200, #"{"id":"\#(id)","factorType":"push","provider":"OKTA","status":"ACTIVE"}"#)
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

    @Test("the action answers the newest challenge, and a minted token the device's")
    func actions() async throws {
        let world = try await World()
        let first = try await world.challenge()
        let second = try await world.challenge()
        let told = try await world.act("answer-push", ["user": "ada@example.test", "result": "DENY"])
        #expect(told.text == #"{"transaction":"\#(second)","factor":"opfunderstudyada0001","result":"DENY"}"#)
        let minted = try await world.mint("okta/ssws", ["transaction": .string(first)])
        try await world.call(
            .post, "\(World.factor)/transactions/\(first)/verify", [("authorization", "SSWS " + minted)]
        ).expect(200, #"{"factorResult":"SUCCESS"}"#)
    }

    @Test("challenges and used ids survive a restart, and new ones get new numbers")
    func export() async throws {
        let world = try await World()
        _ = try await world.challenge()
        try await world.answer("tx-1", DeviceAnswer()).expect(200)
        try await world.restore(world.changes.object ?? [:])
        try await world.answer("tx-1", DeviceAnswer()).refuses(
            401, "E0000011", "Invalid token provided", "ssws-replayed")
        #expect(try await world.challenge() == "tx-2")
    }
}
