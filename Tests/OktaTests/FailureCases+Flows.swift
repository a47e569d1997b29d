import JSON
import Support
import Testing

/// The failures of devices, bound tokens, direct authentication and exchanges.
extension FailureCase {
    // MARK: - Devices

    private static func poll(
        _ name: String, _ status: Int, _ error: String, _ text: String,
        _ happens: @escaping @Sendable (World, Parameters) async throws -> Void
    ) -> FailureCase {
        .oauth(name, status, error, text) { world in
            let started = try await world.startDevice()
            let form: Parameters = [
                ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"), ("client_id", Example.tv),
                ("device_code", started.device),
            ]
            try await happens(world, [("user_code", started.user)] + form)
            return try await world.token(form)
        }
    }

    static let devices: [FailureCase] = [
        .oauth("device-code-invalid", 400, "invalid_grant", "The device code is invalid or has expired.") {
            try await $0.token([
                ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"), ("client_id", Example.tv),
                ("device_code", "nope"),
            ])
        },
        poll("device-code-expired", 400, "expired_token", "The device code has expired.") { world, _ in
            try await world.advance("601s")
        },
        poll(
            "device-denied", 403, "access_denied", "The resource owner or authorization server denied the request."
        ) { world, asked in
            try await world.perform("deny-device", ["user_code": .string(asked[0].1)]).expect(200)
        },
        .oauth("device-slow-down", 400, "slow_down", "Slow down the polling frequency. Please try again later.") {
            world in
            // The longest interval, since the pace counts only while the clock runs.
            try await world.set("okta.device-interval", "600")
            let started = try await world.startDevice()
            try await world.control(.put, "clock", #"{"freeze":false}"#).expect(200)
            let form: Parameters = [
                ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"), ("client_id", Example.tv),
                ("device_code", started.device),
            ]
            _ = try await world.token(form)
            return try await world.token(form)
        },
        poll(
            "device-pending", 400, "authorization_pending",
            "The device authorization is pending. Please try again later."
        ) { _, _ in },
        .oauth("user-code-invalid", 400, "invalid_user_code", "The user code is invalid or has expired.") {
            let page = try await $0.activation()
            return try await $0.submit(page.form([("user_code", "AAAAAAAA")]), to: "/activate", page.fields)
        },
        .oauth(
            "user-codes-too-many", 429, "too_many_user_codes",
            "Too many user codes generated. Please try again later."
        ) {
            try await $0.arm("user-codes-too-many", at: "device.authorize")
            return try await $0.submit(
                [("client_id", Example.tv), ("scope", "openid")], to: Example.custom + "/device/authorize")
        },
    ]

    // MARK: - Proofs

    /// A failure of a proof at the token endpoint; the proof has the server's nonce.
    private static func proof(
        _ name: String, _ text: String, _ error: String = "invalid_dpop_proof",
        _ change: @escaping @Sendable (inout Proof) -> Void
    ) -> FailureCase {
        .oauth(name, 400, error, text) { world in
            let code = try await world.bankCode()
            return try await world.redeem(code, Proof(nonce: try await world.nonce()).changed(change))
        }
    }

    /// A failure of a proof at userinfo, for a token that is bound to DK1.
    private static func resource(
        _ name: String, _ error: String, _ text: String,
        _ ask: @escaping @Sendable (World, String) async throws -> ReceivedAnswer
    ) -> FailureCase {
        .challenge(name, 400, "DPoP", error, text) { try await ask($0, $0.bankToken()) }
    }

    static let proofs: [FailureCase] = [
        .oauth("dpop-missing", 400, "invalid_dpop_proof", "The DPoP proof JWT header is missing.") {
            try await $0.redeem($0.bankCode())
        },
        .oauth("dpop-multiple", 400, "invalid_dpop_proof", "Multiple DPoP proof JWT headers are not allowed.") {
            try await $0.redeem($0.bankCode(), lines: [try Proof().text, try Proof().text])
        },
        .oauth("dpop-malformed", 400, "invalid_dpop_proof", "The DPoP proof JWT cannot be parsed.") {
            try await $0.redeem($0.bankCode(), lines: ["x.y"])
        },
        proof("dpop-typ", "'typ' must be 'dpop+jwt' in the DPoP proof JWT.") { $0.header["typ"] = "JWT" },
        proof("dpop-algorithm", "The DPoP proof JWT signature algorithm is invalid.") { $0.header["alg"] = "HS256" },
        proof("dpop-key", "The DPoP proof JWT is invalid.") { $0.header["jwk"] = nil },
        proof("dpop-signature", "The DPoP proof JWT signature is invalid.") { $0.key = Proof.dk2 },
        proof("dpop-htm", "'htm' claim in the DPoP proof JWT is invalid.") { $0.claims["htm"] = "GET" },
        proof("dpop-htu", "'htu' claim in the DPoP proof JWT is invalid.") {
            $0.claims["htu"] = "http://localhost:8080/"
        },
        proof("dpop-iat", "'iat' claim in the DPoP proof JWT is invalid.") { $0.claims["iat"] = nil },
        proof("dpop-future", "The DPoP proof JWT is issued in the future.") { $0.claims["iat"] = 1_800_000_061 },
        proof("dpop-too-old", "The DPoP proof JWT is issued more than five minutes in the past.") {
            $0.claims["iat"] = 1_799_999_699
        },
        proof("dpop-expired", "The DPoP proof JWT is expired.") { $0.claims["exp"] = 1_800_000_000 },
        proof("dpop-nonce", "Authorization server requires nonce in DPoP proof.", "use_dpop_nonce") {
            $0.claims["nonce"] = nil
        },
        proof("dpop-jti", "'jti' claim in the DPoP proof JWT is invalid.") { $0.claims["jti"] = 7 },
        .oauth("dpop-replayed", 400, "invalid_dpop_proof", "The DPoP proof JWT has already been used.") {
            let proof = Proof(nonce: try await $0.nonce())
            try await $0.redeem($0.bankCode(), proof).expect(200)
            return try await $0.redeem($0.bankCode(), proof)
        },
        .oauth("dpop-refresh-key", 400, "invalid_dpop_proof", "Invalid DPoP Public Key binding in refresh token") {
            let nonce = try await $0.nonce()
            let answer = try await $0.redeem($0.bankCode(), Proof(nonce: nonce))
            return try await $0.refresh(
                answer.json["refresh_token"]?.string ?? "", Proof(by: Proof.dk2, nonce: nonce))
        },
        resource(
            "dpop-scheme", "invalid_request",
            "The resource request must use the DPoP authentication scheme when using a DPoP bound token."
        ) { try await $0.userinfo("Bearer", $1, nil) },
        resource("dpop-proof-required", "invalid_request", "The resource request requires a DPoP proof.") {
            try await $0.userinfo("DPoP", $1, nil)
        },
        .challenge(
            "dpop-not-bound", 401, "DPoP", "invalid_token", "The presented access_token is not DPoP bound."
        ) {
            let token = try await $0.issue("access_token")
            return try await $0.userinfo("DPoP", token, Proof("GET", Example.custom + "/userinfo", token: token))
        },
        resource(
            "dpop-ath", "invalid_dpop_proof",
            "'ath' claim in the DPoP proof does not match the presented access_token."
        ) { try await $0.userinfo("DPoP", $1, Proof("GET", Example.custom + "/userinfo", token: "another")) },
        resource(
            "dpop-key-mismatch", "invalid_dpop_proof", "The access_token is not bound to the provided DPoP proof."
        ) {
            try await $0.userinfo("DPoP", $1, Proof("GET", Example.custom + "/userinfo", by: Proof.dk2, token: $1))
        },
    ]

    // MARK: - Direct authentication

    private static let direct: Parameters = [("client_id", Example.direct)]
    private static let mfaOTP = "http://auth0.com/oauth/grant-type/mfa-otp"
    private static let mfaOOB = "http://auth0.com/oauth/grant-type/mfa-oob"

    /// A failure of the first request out of band.
    private static func primary(
        _ name: String, _ status: Int, _ error: String, _ text: String, _ changed: String, _ value: String?
    ) -> FailureCase {
        let form: Parameters =
            direct + [
                ("login_hint", "ada@example.test"), ("channel_hint", "push"),
                ("challenge_hint", "urn:okta:params:oauth:grant-type:oob"),
            ]
        return .oauth(name, status, error, text) {
            try await $0.submit(form.with(changed, value), to: Example.custom + "/primary-authenticate")
        }
    }

    /// A failure of the challenge for the second factor.
    private static func challenge(
        _ name: String, _ status: Int, _ error: String, _ text: String, at server: String = Example.custom,
        _ more: Parameters, by client: String = Example.direct
    ) -> FailureCase {
        .oauth(name, status, error, text) {
            let form: Parameters = [("client_id", client), ("mfa_token", try await $0.mfaToken())]
            return try await $0.submit(form + more, to: server + "/challenge")
        }
    }

    /// A failure of a challenge to the device, after the user's answer.
    private static func outOfBand(
        _ name: String, _ error: String, _ text: String, answer: String? = nil, isOfAnother: Bool = false
    ) -> FailureCase {
        .oauth(name, 400, error, text) { world in
            let token = try await world.mfaToken()
            let begun = try await world.submit(
                direct + [("mfa_token", token), ("channel_hint", "push")], to: Example.custom + "/challenge")
            if let answer {
                try await world.perform("answer-push", ["user": .string(Example.ada), "result": .string(answer)])
            }
            let other = isOfAnother ? try await world.mfaToken() : token
            let code = begun.json["oob_code"]?.string ?? ""
            return try await world.token(
                direct + [("grant_type", mfaOOB), ("mfa_token", other), ("oob_code", code)])
        }
    }

    static let directs: [FailureCase] = [
        FailureCase(
            "mfa-required", status: 403,
            body: #"{"error":"mfa_required","error_description":"Verify with an additional authenticator to complete "#
                + #"the sign-in process.","mfa_token":"understudy-mfa-token"}"#,
            keepsState: false
        ) { try await $0.token(direct + .password) },
        .oauth(
            "mfa-not-possible", 400, "invalid_grant",
            "Resource owner password credentials cannot be used with MFA enabled."
        ) {
            // Each client of the example world that needs two factors has the grants for the second one.
            try await $0.arm("mfa-not-possible", at: "token.create")
            return try await $0.token(direct + .password)
        },
        client(
            "direct-grants-insufficient", 403, "access_denied",
            "The 'grant_types_supported' 'password' are not sufficient to satisfy the authentication policy. "
                + "Configure additional grant types for the client or revise the authentication policy to allow the "
                + "user to sign-in.",
            direct + .password + [("grant_types_supported", "password")]),
        client(
            "direct-otp-wrong", 400, "invalid_grant",
            "The 'otp' provided is either empty or incorrect. Use the correct OTP and try again.",
            direct + [
                ("grant_type", "urn:okta:params:oauth:grant-type:otp"), ("login_hint", "ada@example.test"),
                ("otp", "000000"), ("scope", "openid"),
            ]),
        outOfBand(
            "direct-oob-pending", "authorization_pending",
            "No user response received on the out-of-band authenticator yet. Continue polling to wait for a response."),
        outOfBand(
            "direct-oob-rejected", "invalid_grant", "User rejected out-of-band authentication prompt.", answer: "DENY"),
        client(
            "direct-expired", 403, "access_denied",
            "'mfa_token' has expired. Use a new 'mfa_token' and try again.",
            direct + [("grant_type", mfaOTP), ("mfa_token", "nope"), ("otp", "309848")]),
        outOfBand(
            "direct-not-associated", "invalid_request",
            "The 'oob_code' and the 'mfa_token' provided are not associated with each other. Review the values and "
                + "try again.",
            isOfAnother: true),
        challenge(
            "direct-scope-here", 400, "invalid_scope",
            "The 'scope' parameter is unsupported on this endpoint. Try again without this parameter.",
            [("scope", "openid")]),
        challenge(
            "direct-client", 401, "invalid_client",
            "The client_id '\(Example.native)' does not match the client_id in the original request "
                + "'\(Example.direct)'. Use the original client id and try again.",
            [], by: Example.native),
        challenge(
            "direct-server", 400, "invalid_request",
            "The authorization server id 'org' in the url_path parameter does not match the authorization server id "
                + "in the original request 'default'. Use the original authorization server id and try again.",
            at: Example.org, []),
        .oauth(
            "direct-scope", 400, "invalid_scope",
            "The requested scopes 'openid email' do not match the scopes requested in the original request 'openid'. "
                + "Use the originally requested scopes and try again."
        ) {
            let form = direct + [("grant_type", mfaOTP), ("mfa_token", try await $0.mfaToken()), ("otp", "309848")]
            return try await $0.token(form + [("scope", "openid email")])
        },
        primary(
            "direct-factor-unusable", 403, "access_denied",
            "The required authenticator cannot be used. Check if it is required by policy and the user is enrolled in "
                + "the authenticator and try again.",
            "login_hint", "cleo@example.test"),
        primary(
            "direct-hint-missing", 400, "invalid_request", "A 'login_hint' is required for the request.", "login_hint",
            nil),
        primary(
            "direct-user-unknown", 400, "invalid_grant", "The 'login_hint' does not uniquely identify a user.",
            "login_hint", "nobody@example.test"),
        primary(
            "direct-channel", 400, "invalid_request",
            "'email' is not supported as a 'channel_hint'. Try again with another value.", "channel_hint", "email"),
        primary(
            "direct-challenge-hint", 400, "invalid_request",
            "'x' is not supported as a 'challenge_hint'. Try again with another value.", "challenge_hint", "x"),
        challenge(
            "direct-challenge-type", 400, "invalid_request",
            "x is not supported as a 'challenge_type'. Try again with another value.",
            [("challenge_types_supported", "x")]),
        .oauth(
            "interact-not-enabled", 400, "access_denied",
            "The requested feature (Interaction Code flow) isn't enabled in this environment. Ensure that you have "
                + "Okta Identity Engine enabled and the Interaction Code flow enabled for this application and "
                + "authorization server."
        ) { try await $0.submit(direct, to: Example.custom + "/interact") },
    ]

    // MARK: - Token exchange and JWT bearer

    private static let accessType = "urn:ietf:params:oauth:token-type:access_token"

    /// The exchange of a service that acts for a user.
    private static func onBehalf(_ token: String) -> Parameters {
        [
            ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"), ("subject_token", token),
            ("subject_token_type", accessType), ("scope", "trips.read"), ("audience", "api://default"),
        ]
    }

    private static func exchange(
        _ name: String, _ status: Int, _ error: String, _ text: String, at server: String = Example.custom,
        of issuer: String = Example.custom, _ fields: World.Fields = .asAPI,
        _ change: @escaping @Sendable (Parameters) -> Parameters = { $0 }
    ) -> FailureCase {
        .oauth(name, status, error, text) {
            let token = try await $0.issue("access_token", at: issuer)
            return try await $0.token(change(onBehalf(token)), at: server, fields)
        }
    }

    /// A failure of the exchange between two apps of a device.
    private static func native(_ name: String, _ text: String, _ type: String) -> FailureCase {
        .oauth(name, 400, "invalid_request", text) {
            let tokens = try await $0.tokens(.authorize.with("scope", "openid offline_access device_sso"))
            let form = onBehalf(tokens["id_token"]?.string ?? "")
                .with("subject_token_type", "urn:ietf:params:oauth:token-type:id_token")
                .with("client_id", Example.tv).with("scope", "openid")
            return try await $0.token(form + [("actor_token", "nope"), ("actor_token_type", type)])
        }
    }

    static let exchanges: [FailureCase] = [
        exchange("exchange-subject", 400, "invalid_request", "'subject_token' is invalid.") {
            $0.with("subject_token", "x.y.z")
        },
        exchange(
            "exchange-subject-type", 400, "invalid_request", "'subject_token_type' is invalid or not supported."
        ) { $0.with("subject_token_type", "x") },
        native(
            "exchange-actor", "'actor_token' is invalid.", "urn:x-oath:params:oauth:token-type:device-secret"),
        native("exchange-actor-type", "'actor_token_type' is invalid or not supported.", "x"),
        exchange(
            "exchange-requested-type", 400, "invalid_request", "'requested_token_type' is invalid or not supported."
        ) { $0.with("requested_token_type", "x") },
        .oauth(
            "exchange-subject-expired", 400, "invalid_grant",
            "The 'subject_token' either expired or the session associated with it was terminated."
        ) {
            let token = try await $0.mint("okta/access", ["expires_in": 0])
            return try await $0.token(onBehalf(token), .asAPI)
        },
        exchange(
            "exchange-audience", 400, "invalid_target",
            "Token Exchange requests must include a valid audience of the authorization server."
        ) { $0.with("audience", "x") },
        exchange(
            "exchange-not-trusted", 403, "access_denied",
            "The 'subject_token' issuer isn't a trusted authorization server.", of: Example.org),
        exchange(
            "exchange-not-service", 400, "invalid_request", "Only service clients may use on-behalf token exchange.", []
        ) { $0.with("client_id", Example.tv) },
        exchange(
            "exchange-openid", 400, "invalid_scope",
            "Can't request 'openid' scopes using the Token Exchange flow for a service app."
        ) { $0.with("scope", "openid") },
        exchange(
            "exchange-org", 400, "unsupported_grant_type",
            "'urn:ietf:params:oauth:grant-type:token-exchange' grant type is not supported.", at: Example.org),
    ]

    // MARK: - Browsers

    static let origins: [FailureCase] = [
        .oauth(
            "origin-not-redirect", 400, "invalid_request",
            "Browser requests to the token endpoint must be part of at least one whitelisted redirect_uri."
        ) { try await $0.token(.redeem($0.code()), [("origin", "http://evil.example")]) },
        .oauth(
            "origin-not-trusted", 400, "invalid_request",
            "Browser requests to the token endpoint must be made from one of the registered Trusted Origins."
        ) { try await $0.token(.refresh("x", Example.tv), [("origin", "http://evil.example")]) },
        .oauth(
            "browser-needs-pkce", 401, "invalid_client",
            "Browser requests to the token endpoint must use Proof Key for Code Exchange."
        ) {
            try await $0.token(
                .redeem($0.code()).with("code_verifier", nil), [("origin", "http://localhost:3000")])
        },
    ]
}

extension World {
    /// Gives a device its codes.
    func startDevice() async throws -> (device: String, user: String) {
        let answer = try await submit(
            [("client_id", Example.tv), ("scope", "openid offline_access")], to: Example.custom + "/device/authorize")
        return (answer.json["device_code"]?.string ?? "", answer.json["user_code"]?.string ?? "")
    }
}
