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

    private func code(_ world: World, _ mfaToken: String, _ otp: String) async throws -> ReceivedAnswer {
        try await world.token("\(Self.client)&grant_type=\(Self.mfaOTP)&mfa_token=\(mfaToken)&otp=\(otp)")
    }

    private func challenge(_ world: World, _ rest: String) async throws -> ReceivedAnswer {
        try await world.submit("\(Self.client)&\(rest)", to: Example.custom + "/challenge")
    }

    private func poll(_ world: World, _ oobCode: String, _ rest: String) async throws -> ReceivedAnswer {
        try await world.token("\(Self.client)&grant_type=\(Self.mfaOOB)&oob_code=\(oobCode)&\(rest)")
    }

    private func primary(_ world: World, _ channel: String, for user: String = ada) async throws -> ReceivedAnswer {
        try await world.submit(
            "\(Self.client)&login_hint=\(user)&channel_hint=\(channel)&challenge_hint=\(Self.oob)",
            to: Example.custom + "/primary-authenticate")
    }

    // MARK: - First factors

    @Test("a one-time code comes first, and another factor must follow") func codeFirst() async throws {
        let world = try await World()
        let form = "\(Self.client)&grant_type=\(Self.otp)&scope=openid&login_hint=\(Self.ada)&otp=309848"
        let first = try await world.token(form)
        let same = try await code(world, try first.text("mfa_token"), "489290")
        expect(same.failure, is: "direct-factor-unusable")
        expect(same.reason, is: "found otp as first factor; expected another one as second")
        let again = try await world.token(form)
        expect(again.failure, is: "direct-otp-wrong")
        expect(again.reason, is: "found a code of ostunderstudyada0001 that was used; expected the next one")
        let none = try await world.token(form.replacing("309848", with: ""))
        expect(none.failure, is: "direct-otp-wrong")
    }

    @Test("a message to the phone comes first, and its code is typed", arguments: ["sms", "voice"])
    func messageFirst(_ channel: String) async throws {
        let world = try await World()
        if channel == "voice" {
            try await world.perform("enroll-factor", ["user": .string(Example.ada), "type": "call"]).expect(200)
        }
        let oobCode = try await primary(world, channel).text("oob_code")
        let form = "\(Self.client)&grant_type=\(Self.oob)&scope=openid&oob_code=\(oobCode)"
        try await world.token(form).refuses(
            400, error: "invalid_request", "The required parameter 'binding_code' is missing.", "parameter-missing")
        expect(try await world.token(form + "&binding_code=000").failure, is: "direct-otp-wrong")
        let kind = channel == "voice" ? "call" : "sms"
        let told = try await world.perform("factor-code", ["user": .string(Example.ada), "factor": .string(kind)])
        let sent = try told.text("code")
        let first = try await world.token(form + "&binding_code=" + sent)
        let answer = try await code(world, try first.text("mfa_token"), "309848")
        answer.expect(200)
        let methods: JSON = channel == "voice" ? ["mfa", "otp", "tel"] : ["mfa", "otp", "sms"]
        expect(answer.claims(of: "id_token")["amr"], is: methods)
        let text = "'oob_code' has expired. Use a new 'oob_code' and try again."
        try await world.token(form + "&binding_code=" + sent).refuses(
            403, error: "access_denied", text, "direct-expired")
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
        let token = try await world.mfaToken()
        for rest in ["", "&challenge_types_supported=\(Self.mfaOTP)", "&challenge_types_supported=x+\(Self.mfaOTP)"] {
            try await challenge(world, "mfa_token=\(token)\(rest)").expect(
                200, #"{"challenge_type":"\#(Self.mfaOTP)"}"#)
        }
    }

    @Test("an oob_code of a second factor is none of a first one, and need not name its mfa_token")
    func association() async throws {
        let world = try await World()
        let token = try await world.mfaToken()
        let oobCode = try await challenge(world, "mfa_token=\(token)&channel_hint=push").text("oob_code")
        let first = try await primary(world, "push").text("oob_code")
        expect(try await poll(world, first, "mfa_token=\(token)").failure, is: "direct-not-associated")
        let asFirst = try await world.token("\(Self.client)&grant_type=\(Self.oob)&scope=openid&oob_code=\(oobCode)")
        expect(asFirst.failure, is: "direct-not-associated")
        expect(try await poll(world, oobCode, "").failure, is: "direct-oob-pending")
    }

    @Test("what was begun ends after five minutes") func expiry() async throws {
        let world = try await World()
        let token = try await world.mfaToken()
        let oobCode = try await challenge(world, "mfa_token=\(token)&channel_hint=push").text("oob_code")
        try await world.advance("300s")
        let late = try await code(world, token, "309848")
        expect(late.failure, is: "direct-expired")
        expect(
            late.reason,
            is: "found one that ended at 2027-01-15T08:05:00.000Z as mfa_token; expected one that is less "
                + "than 300 s old, used once")
        expect(try await poll(world, oobCode, "").failure, is: "direct-expired")
    }

    @Test("nobody signs in who was suspended after the first factor") func suspended() async throws {
        let world = try await World()
        let token = try await world.mfaToken()
        try await world.perform("set-status", ["user": .string(Example.ada), "status": "SUSPENDED"]).expect(200)
        let answer = try await code(world, token, "309848")
        expect(answer.failure, is: "direct-expired")
        expect(answer.reason, is: "found a user who is SUSPENDED, \(Example.ada); expected ACTIVE")
    }
}
