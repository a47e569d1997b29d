import Expectations
import JSON
import Support
import Testing

@Suite("Okta's direct authentication") struct DirectAuthenticationTests {
    private static let otp = "urn:okta:params:oauth:grant-type:otp"
    private static let oob = "urn:okta:params:oauth:grant-type:oob"
    private static let mfaOTP = "http://auth0.com/oauth/grant-type/mfa-otp"
    private static let mfaOOB = "http://auth0.com/oauth/grant-type/mfa-oob"
    private static let client = "client_id=\(Example.direct)"
    private static let ada = "ada@example.test"

    private static let pending =
        #"{"error":"authorization_pending","error_description":"No user response received on the out-of-band "#
        + #"authenticator yet. Continue polling to wait for a response."}"#
    private static let wrong =
        #"{"error":"invalid_grant","error_description":"The 'otp' provided is either empty or incorrect. Use the correct "#
        + #"OTP and try again."}"#
    private static let unusable =
        #"{"error":"access_denied","error_description":"The required authenticator cannot be used. Check if it is "#
        + #"required by policy and the user is enrolled in the authenticator and try again."}"#

    private static func expired(_ name: String) -> String {
        #"{"error":"access_denied","error_description":"'\#(name)' has expired. Use a new '\#(name)' and try again."}"#
    }

    /// Signs in by password, which a second factor must follow.
    private func password(
        _ world: World, _ rest: String = "", as name: String = ada, _ secret: String = "not-a-secret-1"
    ) async throws -> ReceivedAnswer {
        try await world.token(
            "\(Self.client)&grant_type=password&username=\(name)&password=\(secret)&scope=openid\(rest)")
    }

    private func mfaToken(_ world: World) async throws -> String {
        let answer = try await password(world)
        expect(answer.failure, is: "mfa-required")
        return try answer.text("mfa_token")
    }

    private func code(_ world: World, _ mfaToken: String, _ otp: String) async throws -> ReceivedAnswer {
        try await world.token("\(Self.client)&grant_type=\(Self.mfaOTP)&mfa_token=\(mfaToken)&otp=\(otp)")
    }

    private func challenge(_ world: World, _ rest: String) async throws -> ReceivedAnswer {
        try await world.submit("\(Self.client)&\(rest)", to: Example.custom + "/challenge")
    }

    private func poll(_ world: World, _ oobCode: String, _ rest: String) async throws -> ReceivedAnswer {
        try await world.token("\(Self.client)&grant_type=\(Self.mfaOOB)&oob_code=\(oobCode)&\(rest)")
    }

    private func primary(
        _ world: World, _ channel: String, for user: String = ada, hint: String = oob
    ) async throws -> ReceivedAnswer {
        try await world.submit(
            "\(Self.client)&login_hint=\(user)&channel_hint=\(channel)&challenge_hint=\(hint)",
            to: Example.custom + "/primary-authenticate")
    }

    // MARK: - First factors

    @Test("a one-time code comes first, and another factor must follow") func codeFirst() async throws {
        let world = try await World()
        let form = "\(Self.client)&grant_type=\(Self.otp)&scope=openid&login_hint=\(Self.ada)&otp=309848"
        let first = try await world.token(form)
        expect(first.failure, is: "mfa-required")
        let token = try first.text("mfa_token")
        let same = try await code(world, token, "489290")
        same.expect(403, Self.unusable, "direct-factor-unusable")
        expect(same.reason, is: "found otp as first factor; expected another one as second")
        let again = try await world.token(form)
        again.expect(400, Self.wrong, "direct-otp-wrong")
        expect(again.reason, is: "found a code of ostunderstudyada0001 that was used; expected the next one")
        try await world.token("\(Self.client)&grant_type=\(Self.otp)&scope=openid&login_hint=\(Self.ada)").expect(
            400, Self.wrong, "direct-otp-wrong")
    }

    @Test("a message to the phone comes first, and its code is typed", arguments: ["sms", "voice"])
    func messageFirst(_ channel: String) async throws {
        let world = try await World()
        if channel == "voice" {
            try await world.perform("enroll-factor", ["user": .string(Example.ada), "type": "call"]).expect(200)
        }
        let oobCode = try await primary(world, channel).text("oob_code")
        let form = "\(Self.client)&grant_type=\(Self.oob)&scope=openid&oob_code=\(oobCode)"
        try await world.token(form).expect(
            400,
            #"{"error":"invalid_request","error_description":"The required parameter 'binding_code' is missing."}"#,
            "parameter-missing")
        try await world.token(form + "&binding_code=000").expect(400, Self.wrong, "direct-otp-wrong")
        let kind = channel == "voice" ? "call" : "sms"
        let told = try await world.perform("factor-code", ["user": .string(Example.ada), "factor": .string(kind)])
        let sent = try told.text("code")
        let first = try await world.token(form + "&binding_code=" + sent)
        expect(first.failure, is: "mfa-required")
        let answer = try await code(world, try first.text("mfa_token"), "309848")
        answer.expect(200)
        let methods: JSON = channel == "voice" ? ["mfa", "otp", "tel"] : ["mfa", "otp", "sms"]
        expect(answer.claims(of: "id_token")["amr"], is: methods)
        try await world.token(form + "&binding_code=" + sent).expect(403, Self.expired("oob_code"), "direct-expired")
    }

    @Test("a number to choose on the phone is told to the app") func numberChallenge() async throws {
        let world = try await World()
        try await world.perform(
            "enroll-factor", ["user": .string(Example.cleo), "type": "push", "number_challenge": "95"]
        ).expect(200)
        let challenge = try await primary(world, "push", for: "cleo@example.test")
        let oobCode = try challenge.text("oob_code")
        challenge.expect(
            200,
            #"{"oob_code":"\#(oobCode)","expires_in":300,"interval":5,"channel":"push","binding_method":"transfer","#
                + #""binding_code":"95"}"#)
    }

    // MARK: - Second factors

    @Test("the app chooses the challenge, or gets the first one that the user can meet")
    func challengeTypes() async throws {
        let world = try await World()
        let token = try await mfaToken(world)
        for rest in ["", "&challenge_types_supported=\(Self.mfaOTP)", "&challenge_types_supported=x+\(Self.mfaOTP)"] {
            try await challenge(world, "mfa_token=\(token)\(rest)").expect(
                200, #"{"challenge_type":"\#(Self.mfaOTP)"}"#)
        }
    }

    @Test("an oob_code of a second factor is none of a first one, and need not name its mfa_token")
    func association() async throws {
        let world = try await World()
        let token = try await mfaToken(world)
        let oobCode = try await challenge(world, "mfa_token=\(token)&channel_hint=push").text("oob_code")
        let first = try await primary(world, "push").text("oob_code")
        expect(try await poll(world, first, "mfa_token=\(token)").failure, is: "direct-not-associated")
        let asFirst = try await world.token("\(Self.client)&grant_type=\(Self.oob)&scope=openid&oob_code=\(oobCode)")
        expect(asFirst.failure, is: "direct-not-associated")
        try await poll(world, oobCode, "").expect(400, Self.pending, "direct-oob-pending")
    }

    @Test("what was begun ends after five minutes") func expiry() async throws {
        let world = try await World()
        let token = try await mfaToken(world)
        let oobCode = try await challenge(world, "mfa_token=\(token)&channel_hint=push").text("oob_code")
        try await world.advance("300s")
        let late = try await code(world, token, "309848")
        late.expect(403, Self.expired("mfa_token"), "direct-expired")
        expect(
            late.reason,
            is: "found one that ended at 2027-01-15T08:05:00.000Z as mfa_token; expected one that is less "
                + "than 300 s old, used once")
        try await poll(world, oobCode, "").expect(403, Self.expired("oob_code"), "direct-expired")
    }

    @Test("nobody signs in who was suspended after the first factor") func suspended() async throws {
        let world = try await World()
        let token = try await mfaToken(world)
        try await world.perform("set-status", ["user": .string(Example.ada), "status": "SUSPENDED"]).expect(200)
        let answer = try await code(world, token, "309848")
        expect(answer.failure, is: "direct-expired")
        expect(answer.reason, is: "found a user who is SUSPENDED, \(Example.ada); expected ACTIVE")
    }
}
