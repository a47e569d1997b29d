import JSON
import Support
import Testing

@Suite("Okta's direct authentication")
struct DirectAuthenticationTests {
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
        #expect(answer.failure == "mfa-required")
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

    // MARK: - The examples

    @Test("4.1: a one-time code follows the password", arguments: Depth.allCases)
    func passwordAndCode(_ depth: Depth) async throws {
        let world = try await World(depth)
        let first = try await password(world)
        let token = try first.text("mfa_token")
        #expect(token.utf8.count == 20)
        first.expect(
            403,
            #"{"error":"mfa_required","error_description":"Verify with an additional authenticator to complete the "#
                + #"sign-in process.","mfa_token":"\#(token)"}"#, "mfa-required")
        #expect(
            first.reason
                == "found pwd alone; expected a second factor, as the assurance of client \(Example.direct) is 2fa")
        let answer = try await code(world, token, "309848")
        answer.expect(200)
        #expect(answer.claims(of: "id_token")["amr"] == ["mfa", "otp", "pwd"])
        #expect(answer.claims(of: "id_token")["nonce"] == nil)
        #expect(answer["content-type"] == "application/json")
        let again = try await code(world, token, "489290")
        again.expect(403, Self.expired("mfa_token"), "direct-expired")
        #expect(
            again.reason == "found one that was used as mfa_token; expected one that is less than 300 s old, used once")
    }

    @Test("4.2: an approval on the phone follows the password", arguments: Depth.allCases)
    func passwordAndPush(_ depth: Depth) async throws {
        let world = try await World(depth)
        let token = try await mfaToken(world)
        let challenge = try await challenge(world, "mfa_token=\(token)&channel_hint=push")
        let oobCode = try challenge.text("oob_code")
        #expect(oobCode.wholeMatch(of: /ft[0-9A-Za-z]{32}/) != nil)
        challenge.expect(
            200,
            #"{"challenge_type":"\#(Self.mfaOOB)","oob_code":"\#(oobCode)","expires_in":300,"interval":5,"#
                + #""channel":"push","binding_method":"none"}"#)
        let waiting = try await poll(world, oobCode, "mfa_token=\(token)")
        waiting.expect(400, Self.pending, "direct-oob-pending")
        #expect(waiting.reason == "found transaction tx-1 unanswered; expected the answer of \(Example.push)")
        try await world.perform("answer-push", ["user": .string(Example.ada), "result": "APPROVE"]).expect(200)
        let answer = try await poll(world, oobCode, "mfa_token=\(token)")
        answer.expect(200)
        #expect(answer.claims(of: "id_token")["amr"] == ["mfa", "pwd", "swk"])
        try await poll(world, oobCode, "mfa_token=\(token)").expect(403, Self.expired("oob_code"), "direct-expired")
    }

    @Test("4.3: what the first request may ask for", arguments: Depth.allCases)
    func firstRequests(_ depth: Depth) async throws {
        let world = try await World(depth)
        let sms = try await primary(world, "sms")
        let oobCode = try sms.text("oob_code")
        sms.expect(200, #"{"oob_code":"\#(oobCode)","expires_in":300,"channel":"sms","binding_method":"prompt"}"#)
        let none = try await primary(world, "push", for: "cleo@example.test")
        none.expect(403, Self.unusable, "direct-factor-unusable")
        #expect(none.reason == "found no active factor push of \(Example.cleo); expected one that was enrolled")
        let email = try await primary(world, "email")
        email.expect(
            400,
            #"{"error":"invalid_request","error_description":"'email' is not supported as a 'channel_hint'. Try again "#
                + #"with another value."}"#, "direct-channel")
        #expect(email.reason == "found channel_hint email; expected push or sms or voice")
        let webAuthn = "urn:okta:params:oauth:grant-type:webauthn"
        try await primary(world, "push", hint: webAuthn).expect(
            400,
            #"{"error":"invalid_request","error_description":"'\#(webAuthn)' is not supported as a 'challenge_hint'. "#
                + #"Try again with another value."}"#, "direct-challenge-hint")
        let unnamed = try await world.submit(
            "\(Self.client)&channel_hint=push&challenge_hint=\(Self.oob)", to: Example.custom + "/primary-authenticate")
        unnamed.expect(
            400, #"{"error":"invalid_request","error_description":"A 'login_hint' is required for the request."}"#,
            "direct-hint-missing")
        let code = try await world.token(
            "\(Self.client)&grant_type=\(Self.otp)&scope=openid&login_hint=\(Self.ada)&otp=000000")
        code.expect(400, Self.wrong, "direct-otp-wrong")
        #expect(
            code.reason == "found a code that ostunderstudyada0001 does not have at 2027-01-15T08:00:00.000Z; expected "
                + "the one it has")
        let cleo = try await password(world, as: "cleo@example.test", "not-a-secret-2")
        cleo.expect(403, Self.unusable, "direct-factor-unusable")
        #expect(
            cleo.reason == "found no further active factor of \(Example.cleo); expected one for \(Self.mfaOTP) or "
                + Self.mfaOOB)
    }

    // MARK: - First factors

    @Test("a one-time code comes first, and another factor must follow")
    func codeFirst() async throws {
        let world = try await World()
        let form = "\(Self.client)&grant_type=\(Self.otp)&scope=openid&login_hint=\(Self.ada)&otp=309848"
        let first = try await world.token(form)
        #expect(first.failure == "mfa-required")
        let token = try first.text("mfa_token")
        let same = try await code(world, token, "489290")
        same.expect(403, Self.unusable, "direct-factor-unusable")
        #expect(same.reason == "found otp as first factor; expected another one as second")
        let again = try await world.token(form)
        again.expect(400, Self.wrong, "direct-otp-wrong")
        #expect(again.reason == "found a code of ostunderstudyada0001 that was used; expected the next one")
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
        #expect(first.failure == "mfa-required")
        let answer = try await code(world, try first.text("mfa_token"), "309848")
        answer.expect(200)
        let methods: JSON = channel == "voice" ? ["mfa", "otp", "tel"] : ["mfa", "otp", "sms"]
        #expect(answer.claims(of: "id_token")["amr"] == methods)
        try await world.token(form + "&binding_code=" + sent).expect(403, Self.expired("oob_code"), "direct-expired")
    }

    @Test("the older address works without challenge_hint, and a phone can refuse")
    func olderAddress() async throws {
        let world = try await World()
        let challenge = try await world.submit(
            "\(Self.client)&login_hint=\(Self.ada)&channel_hint=push", to: Example.custom + "/oob-authenticate")
        let oobCode = try challenge.text("oob_code")
        challenge.expect(
            200,
            #"{"oob_code":"\#(oobCode)","expires_in":300,"interval":5,"channel":"push","binding_method":"none"}"#)
        try await world.perform("answer-push", ["user": .string(Example.ada), "result": "DENY"]).expect(200)
        let refused = try await world.token("\(Self.client)&grant_type=\(Self.oob)&scope=openid&oob_code=\(oobCode)")
        refused.expect(
            400, #"{"error":"invalid_grant","error_description":"User rejected out-of-band authentication prompt."}"#,
            "direct-oob-rejected")
        #expect(refused.reason == "found transaction tx-1 denied; expected an approval")
    }

    @Test("a number to choose on the phone is told to the app")
    func numberChallenge() async throws {
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

    @Test("only users who can sign in are known", arguments: ["nobody@example.test", "ben@example.test"])
    func unknownUsers(_ name: String) async throws {
        let world = try await World()
        let answer = try await primary(world, "push", for: name)
        answer.expect(
            400,
            #"{"error":"invalid_grant","error_description":"The 'login_hint' does not uniquely identify a user."}"#,
            "direct-user-unknown")
        #expect(
            answer.reason
                == (name.hasPrefix("ben")
                    ? "found ben@example.test, who is SUSPENDED; expected ACTIVE"
                    : "found login_hint nobody@example.test; expected a user's id or login"))
    }

    // MARK: - Second factors

    @Test("the app says which second grants it knows")
    func supportedGrants() async throws {
        let world = try await World()
        #expect(try await password(world, "&grant_types_supported=password+\(Self.mfaOTP)").failure == "mfa-required")
        let answer = try await password(world, "&grant_types_supported=password")
        answer.expect(
            403,
            #"{"error":"access_denied","error_description":"The 'grant_types_supported' 'password' are not sufficient to "#
                + #"satisfy the authentication policy. Configure additional grant types for the client or revise the "#
                + #"authentication policy to allow the user to sign-in."}"#, "direct-grants-insufficient")
        #expect(
            answer.reason == "found grant_types_supported password; expected \(Self.mfaOTP) or \(Self.mfaOOB)")
    }

    @Test("the app chooses the challenge, or gets the first one that the user can meet")
    func challengeTypes() async throws {
        let world = try await World()
        let token = try await mfaToken(world)
        for rest in ["", "&challenge_types_supported=\(Self.mfaOTP)", "&challenge_types_supported=x+\(Self.mfaOTP)"] {
            try await challenge(world, "mfa_token=\(token)\(rest)").expect(
                200, #"{"challenge_type":"\#(Self.mfaOTP)"}"#)
        }
        let webAuthn = "urn:okta:params:oauth:grant-type:mfa-webauthn"
        let foreign = try await challenge(world, "mfa_token=\(token)&challenge_types_supported=\(webAuthn)")
        foreign.expect(
            400,
            #"{"error":"invalid_request","error_description":"\#(webAuthn) is not supported as a 'challenge_type'. Try "#
                + #"again with another value."}"#, "direct-challenge-type")
        #expect(
            foreign.reason
                == "found challenge_types_supported \(webAuthn); expected \(Self.mfaOTP) or \(Self.mfaOOB)")
        let scope = try await challenge(world, "mfa_token=\(token)&scope=openid")
        scope.expect(
            400,
            #"{"error":"invalid_scope","error_description":"The 'scope' parameter is unsupported on this endpoint. Try "#
                + #"again without this parameter."}"#, "direct-scope-here")
        try await challenge(world, "mfa_token=x").expect(403, Self.expired("mfa_token"), "direct-expired")
    }

    @Test("the switches change what the app is told")
    func switches() async throws {
        let world = try await World()
        try await world.set("okta.mfa-challenge-types", "on")
        let first = try await password(world)
        let token = try first.text("mfa_token")
        #expect(first.json["supported_challenge_types"] == [.string(Self.mfaOTP), .string(Self.mfaOOB)])
        #expect(try await challenge(world, "mfa_token=\(token)&channel_hint=sms").json["interval"] == nil)
        try await world.set("okta.oob-interval", "always")
        #expect(try await challenge(world, "mfa_token=\(token)&channel_hint=sms").json["interval"] == 5)
    }

    @Test("an oob_code belongs to its mfa_token, which need not be named")
    func association() async throws {
        let world = try await World()
        let (token, other) = (try await mfaToken(world), try await mfaToken(world))
        let oobCode = try await challenge(world, "mfa_token=\(token)&channel_hint=push").text("oob_code")
        let misfit = try await poll(world, oobCode, "mfa_token=\(other)")
        misfit.expect(
            400,
            #"{"error":"invalid_request","error_description":"The 'oob_code' and the 'mfa_token' provided are not "#
                + #"associated with each other. Review the values and try again."}"#, "direct-not-associated")
        #expect(
            misfit.reason == "found an oob_code that was begun with another mfa_token; expected one of this mfa_token")
        let first = try await primary(world, "push").text("oob_code")
        #expect(try await poll(world, first, "mfa_token=\(token)").failure == "direct-not-associated")
        let asFirst = try await world.token("\(Self.client)&grant_type=\(Self.oob)&scope=openid&oob_code=\(oobCode)")
        #expect(asFirst.failure == "direct-not-associated")
        try await poll(world, oobCode, "").expect(400, Self.pending, "direct-oob-pending")
    }

    @Test("the second request is of the same client, server and scopes as the first")
    func sameRequest() async throws {
        let world = try await World()
        let token = try await mfaToken(world)
        let form = "grant_type=\(Self.mfaOTP)&mfa_token=\(token)&otp=309848"
        let server = try await world.token("\(Self.client)&" + form, at: Example.org)
        server.expect(
            400,
            #"{"error":"invalid_request","error_description":"The authorization server id 'org' in the url_path parameter "#
                + #"does not match the authorization server id in the original request 'default'. Use the original "#
                + #"authorization server id and try again."}"#, "direct-server")
        let scope = try await world.token("\(Self.client)&\(form)&scope=openid+email")
        scope.expect(
            400,
            #"{"error":"invalid_scope","error_description":"The requested scopes 'openid email' do not match the scopes "#
                + #"requested in the original request 'openid'. Use the originally requested scopes and try again."}"#,
            "direct-scope")
        let client = try await world.submit(
            "client_id=\(Example.native)&mfa_token=\(token)", to: Example.custom + "/challenge")
        client.expect(
            401,
            #"{"error":"invalid_client","error_description":"The client_id '\#(Example.native)' does not match the "#
                + #"client_id in the original request '\#(Example.direct)'. Use the original client id and try again."}"#,
            "direct-client")
        try await world.token("\(Self.client)&\(form)&scope=openid").expect(200)
    }

    @Test("what was begun ends after five minutes")
    func expiry() async throws {
        let world = try await World()
        let token = try await mfaToken(world)
        let oobCode = try await challenge(world, "mfa_token=\(token)&channel_hint=push").text("oob_code")
        try await world.advance("300s")
        let late = try await code(world, token, "309848")
        late.expect(403, Self.expired("mfa_token"), "direct-expired")
        #expect(
            late.reason == "found one that ended at 2027-01-15T08:05:00.000Z as mfa_token; expected one that is less "
                + "than 300 s old, used once")
        try await poll(world, oobCode, "").expect(403, Self.expired("oob_code"), "direct-expired")
    }

    @Test("nobody signs in who was suspended after the first factor")
    func suspended() async throws {
        let world = try await World()
        let token = try await mfaToken(world)
        try await world.perform("set-status", ["user": .string(Example.ada), "status": "SUSPENDED"]).expect(200)
        let answer = try await code(world, token, "309848")
        #expect(answer.failure == "direct-expired")
        #expect(answer.reason == "found a user who is SUSPENDED, \(Example.ada); expected ACTIVE")
    }

    @Test("the Interaction Code flow is not enabled", arguments: Depth.allCases)
    func interaction(_ depth: Depth) async throws {
        let world = try await World(depth)
        let answer = try await world.submit("client_id=\(Example.native)", to: Example.custom + "/interact")
        answer.expect(
            400,
            #"{"error":"access_denied","error_description":"The requested feature (Interaction Code flow) isn't enabled "#
                + #"in this environment. Ensure that you have Okta Identity Engine enabled and the Interaction Code flow "#
                + #"enabled for this application and authorization server."}"#, "interact-not-enabled")
    }

    @Test("sign-ins that wait survive a restart")
    func restart() async throws {
        let world = try await World.restartable()
        let token = try await mfaToken(world)
        let oobCode = try await challenge(world, "mfa_token=\(token)&channel_hint=push").text("oob_code")
        let again = try world.restarted()
        try await again.perform("answer-push", ["user": .string(Example.ada)]).expect(200)
        try await poll(again, oobCode, "mfa_token=\(token)").expect(200)
        #expect(try await code(again, token, "309848").failure == "direct-expired")
    }
}
