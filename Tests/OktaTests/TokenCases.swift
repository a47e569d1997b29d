import JSON
import Support
import Testing

extension TokenCase {
    static let all: [TokenCase] = [access, id, ssws, clientAssertion, dpopProof]

    /// Defects of the signature or form.
    private static let forged = [
        "wrong-alg", "alg-none", "wrong-key", "public-key-as-secret", "tampered-payload", "bad-signature",
        "truncated-signature", "padded-base64", "two-parts", "four-parts",
    ]
    /// An asymmetric key is no secret.
    private static let secretDefects = ["wrong-secret", "secret-base64-decoded", "secret-hex-decoded"]

    private static func all(_ names: [String], _ failure: String?) -> [(String, String?)] {
        names.map { ($0, failure) }
    }

    private static let ownKeys = [
        "unknown-kid", "retired-key", "missing-kid", "missing-alg", "wrong-issuer", "missing-iss",
    ]

    private static let access = TokenCase(
        "access",
        defects: all(forged + ownKeys, "access-token-invalid") + [
            ("expired", "access-token-expired"), ("missing-exp", "access-token-invalid"),
            ("string-exp", "access-token-invalid"), ("fractional-exp", nil), ("milliseconds", nil),
            ("issued-in-future", nil), ("iat-milliseconds", nil), ("next-key", nil), ("wrong-audience", nil),
            ("aud-array", nil), ("typ-other", nil),
        ],
        // No rule reads nbf here.
        refused: secretDefects + ["not-yet-valid"],
        words: ["unknown-kid": "kid", "retired-key": "key-published", "wrong-issuer": "iss"]
    ) { world, order in
        try await world.call(.get, Example.custom + "/userinfo", .bearer(try await world.mint("okta/access", order)))
    }

    private static let id = TokenCase(
        "id",
        defects: all(forged + ownKeys, "id-token-hint-invalid") + [
            // A logout works with an expired hint.
            ("expired", nil), ("fractional-exp", nil), ("milliseconds", nil), ("issued-in-future", nil),
            ("iat-milliseconds", nil), ("next-key", nil), ("aud-array", nil), ("typ-other", nil),
            ("wrong-nonce", nil), ("string-exp", nil),
            // A hint's audience says only which client's addresses are good.
            ("wrong-audience", nil),
        ],
        // No rule reads nbf here.
        refused: secretDefects + ["not-yet-valid"],
        words: ["unknown-kid": "kid", "retired-key": "key-published", "wrong-issuer": "iss"]
    ) { world, order in
        let token = try await world.mint("okta/id", order)
        return try await world.call(.get, "\(Example.custom)/logout?id_token_hint=\(token)", .json)
    }

    private static let ssws = TokenCase(
        "ssws",
        defects: all(["wrong-key", "tampered-payload", "bad-signature", "truncated-signature"], "ssws-signature")
            + all(["padded-base64", "two-parts", "four-parts"], "ssws-malformed")
            + all(["wrong-alg", "alg-none", "public-key-as-secret", "missing-alg"], "ssws-algorithm")
            + all(
                ["missing-sub", "missing-aud", "missing-exp", "missing-iat", "missing-nbf", "missing-jti"],
                "ssws-claims")
            + [
                ("expired", "ssws-expired"), ("not-yet-valid", "ssws-not-yet-valid"), ("string-exp", "ssws-claims"),
                ("fractional-exp", nil), ("milliseconds", "ssws-not-yet-valid"),
                ("issued-in-future", "ssws-not-yet-valid"), ("iat-milliseconds", "ssws-not-yet-valid"),
                ("wrong-issuer", "ssws-factor"), ("missing-iss", "ssws-factor"), ("wrong-audience", "ssws-audience"),
                ("missing-tx", "ssws-claims"),
            ],
        refused: secretDefects,
        words: [
            "wrong-issuer": "iss", "wrong-audience": "aud", "issued-in-future": "not-before", "iat-milliseconds": "iat",
        ]
    ) { world, order in
        try await world.challengeDevice()
        return try await world.answerChallenge(order)
    }

    private static let clientAssertion = TokenCase(
        "client-assertion",
        defects: all(["wrong-key", "tampered-payload", "bad-signature", "truncated-signature"], "assertion-signature")
            + all(["padded-base64", "two-parts", "four-parts"], "assertion-malformed")
            + all(["alg-none", "missing-alg"], "assertion-algorithm")
            + [
                ("expired", "assertion-expired"), ("not-yet-valid", "assertion-too-far"),
                ("string-exp", "assertion-no-expiry"),
                ("missing-exp", "assertion-no-expiry"), ("fractional-exp", nil), ("milliseconds", "assertion-too-far"),
                ("issued-in-future", "assertion-too-far"), ("iat-milliseconds", "assertion-iat-future"),
                ("unknown-kid", "assertion-key"), ("wrong-issuer", "assertion-issuer"),
                ("missing-iss", "assertion-issuer"), ("missing-sub", "assertion-subject"),
                ("wrong-audience", "assertion-audience"), ("missing-aud", "assertion-audience"),
                ("public-key-as-secret", "assertion-signature"),
            ],
        // A client with one key need not name it, and any of the six algorithms is good.
        refused: secretDefects + ["missing-kid", "wrong-alg"],
        words: [
            "unknown-kid": "kid", "wrong-issuer": "iss", "wrong-audience": "aud", "not-yet-valid": "lifetime",
            "issued-in-future": "lifetime", "iat-milliseconds": "iat", "public-key-as-secret": "signature",
        ]
    ) { world, order in try await world.token(.service() + world.assertion(order)) }

    private static let dpopProof = TokenCase(
        "dpop-proof",
        defects: all(["tampered-payload", "bad-signature", "truncated-signature", "wrong-key"], "dpop-signature")
            + all(["padded-base64", "two-parts", "four-parts"], "dpop-malformed")
            + all(["alg-none", "missing-alg"], "dpop-algorithm")
            + [
                ("expired", "dpop-expired"),
                ("milliseconds", "dpop-future"), ("typ-other", "dpop-typ"), ("missing-typ", "dpop-typ"),
                ("private-jwk", "dpop-key"), ("missing-jwk", "dpop-key"), ("wrong-htm", "dpop-htm"),
                ("missing-htm", "dpop-htm"), ("wrong-htu", "dpop-htu"), ("missing-htu", "dpop-htu"),
                ("missing-iat", "dpop-iat"), ("missing-jti", "dpop-jti"), ("too-old", "dpop-too-old"),
                ("wrong-alg", "dpop-key"), ("public-key-as-secret", "dpop-algorithm"),
                ("wrong-ath", "dpop-ath"), ("missing-ath", "dpop-ath"),
            ],
        // A proof has neither nbf nor exp.
        refused: secretDefects + ["not-yet-valid", "string-exp", "fractional-exp"],
        words: [
            "private-jwk": "jwk", "wrong-htm": "htm", "wrong-htu": "htu", "wrong-ath": "ath", "too-old": "proof-age",
            "typ-other": "typ",
        ]
    ) { world, order in
        let token = try await world.bankToken()
        var order = order
        order["access_token"] = .string(token)
        return try await world.call(
            .get, Example.custom + "/userinfo",
            [("authorization", "DPoP " + token), ("DPoP", try await world.mint("okta/dpop-proof", order))])
    }
}

extension SwitchCase {
    static let all =
        keyCases + tokenCases + authorizeCases + redirectCases + pushCases + proofCases + directCases + answerCases
        + judgementCases

    private static let keys: World.Send = {
        try await $0.call(.get, Example.custom + "/keys")
    }

    private static let keyCases: [SwitchCase] = [
        SwitchCase("keys-cache-control", "long", shows: "max-age=3832304, must-revalidate", keys),
        SwitchCase("keys-cache-control", "short", shows: "max-age=60, must-revalidate", keys),
        SwitchCase("keys-cache-control", "none", shows: "no-cache, no-store", keys),
        // A zero byte in front makes the text begin with a letter A.
        SwitchCase("modulus-leading-zero", "on", shows: #""n":"A"#, keys),
        SwitchCase("modulus-leading-zero", "off", shows: "another letter") {
            .heard([try await keys($0).text.contains(#""n":"A"#) ? "the letter A" : "another letter"])
        },
        SwitchCase("modulus-leading-zero", "off", note: "whose modulus has 342 characters", shows: "length 342") {
            let modulus = try await keys($0).json["keys"]?[0]?["n"]?.string ?? ""
            return .heard(["length \(modulus.count)"])
        },
        SwitchCase("keys-extra-members", "on", shows: "x5c", keys),
        SwitchCase("keys-extra-members", "off", shows: #""use":"sig"}]"#, keys),
    ]

    private static func claims(of token: String, _ parameters: Parameters = .authorize) -> World.Send {
        { world in
            let answer = try await world.token(.redeem(world.code(parameters)))
            return .heard([JSON.object(answer.claims(of: token)).text])
        }
    }

    /// What a second refresh with the first refresh token gives.
    private static let refreshTwice: World.Send = { world in
        let first = try await world.issue("refresh_token")
        let answer = try await world.token(.refresh(first))
        let isSame = answer.json["refresh_token"]?.string == first
        return .heard([isSame ? "the same token" : "another token"])
    }

    private static let spaRefresh: World.Send = { world in
        let address = "http://localhost:3000/spa"
        let code = try await world.code(.authorizing(Example.spa, address, scope: "openid offline_access"))
        let form = Parameters.redeem(code).with("redirect_uri", address).with("client_id", Example.spa)
        let first = try await world.token(form).json["refresh_token"]?.string ?? ""
        let answer = try await world.token(.refresh(first, Example.spa))
        return .heard([answer.json["refresh_token"]?.string == first ? "the same token" : "another token"])
    }

    private static let openIDAlone: World.Send = { world in
        let token = try await world.issue("access_token", .authorize.with("scope", "openid"))
        return try await world.call(.get, Example.custom + "/userinfo", .bearer(token))
    }

    private static let tokenCases: [SwitchCase] = [
        SwitchCase("userinfo-openid-alone", "on", shows: #"{"sub":"\#(Example.ada)"}"#, openIDAlone),
        SwitchCase("userinfo-openid-alone", "off", failure: "scope-insufficient", openIDAlone),
        SwitchCase("access-token-sub", "login", shows: #""sub":"ada@example.test""#, claims(of: "access_token")),
        SwitchCase("access-token-sub", "user-id", shows: #""sub":"\#(Example.ada)""#, claims(of: "access_token")),
        SwitchCase("auth-time-lag", "1", shows: #""auth_time":1799999999"#, claims(of: "id_token")),
        SwitchCase("auth-time-lag", "0", shows: #""auth_time":1800000000"#, claims(of: "id_token")),
        SwitchCase("auth-time-lag", "60", shows: #""auth_time":1799999940"#, claims(of: "id_token")),
        SwitchCase("refresh-rotation", "per-client", note: "of an app", shows: "the same token", refreshTwice),
        SwitchCase("refresh-rotation", "per-client", note: "of a page", shows: "another token", spaRefresh),
        SwitchCase("refresh-rotation", "on", note: "of an app", shows: "another token", refreshTwice),
        SwitchCase("refresh-rotation", "off", note: "of a page", shows: "the same token", spaRefresh),
    ]

    private static func authorize(_ parameters: Parameters) -> World.Send { { try await $0.authorize(parameters) } }

    private static let plainWeb = Parameters.authorizing(Example.web, "http://localhost:3000/callback")
        .withoutPKCE
    private static let plainNative = Parameters.authorize.withoutPKCE

    private static let authorizeCases: [SwitchCase] = [
        SwitchCase("login-mode", "auto", shows: "Location: com.example.app:/callback?code=", authorize(.authorize)),
        SwitchCase("login-mode", "page", shows: "Location: /login/login.htm?tx=", authorize(.authorize)),
        SwitchCase("pkce", "per-client", note: "who must", failure: "pkce-challenge-missing", authorize(plainNative)),
        SwitchCase("pkce", "per-client", note: "who need not", shows: "?code=", authorize(plainWeb)),
        SwitchCase("pkce", "always", failure: "pkce-challenge-missing", authorize(plainWeb)),
        SwitchCase("pkce", "never", shows: "?code=", authorize(plainNative)),
        SwitchCase(
            "par-required", "per-client", failure: "par-required",
            authorize(.authorizing(Example.bank, "http://localhost:3000/bank"))),
        SwitchCase("par-required", "all", failure: "par-required", authorize(.authorize)),
        SwitchCase("par-required", "all", note: "in discovery", shows: #""require_pushed_authorization_requests":true"#)
        {
            try await $0.call(.get, "/.well-known/openid-configuration")
        },
        SwitchCase(
            "par-required", "never", shows: "?code=",
            authorize(.authorizing(Example.bank, "http://localhost:3000/bank"))),
    ]

    private static let redirectCases: [SwitchCase] = [
        SwitchCase(
            "redirect-uris", "registered", failure: "redirect-uri-illegal",
            authorize(.authorizing(Example.spa, "http://localhost:5173/spa"))),
        SwitchCase(
            "redirect-uris", "any-localhost", shows: "?code=",
            authorize(.authorizing(Example.spa, "http://localhost:5173/spa"))),
    ]

    private static let push: World.Send = {
        try await $0.submit(.authorize, to: Example.custom + "/par")
    }

    private static func useAfter(_ seconds: Int) -> World.Send {
        { world in
            let request = try await world.pushed()
            try await world.advance("\(seconds)s")
            return try await world.authorize(request)
        }
    }

    private static let device: World.Send = {
        try await $0.submit([("client_id", Example.tv), ("scope", "openid")], to: Example.custom + "/device/authorize")
    }

    private static let pushCases: [SwitchCase] = [
        SwitchCase("par-status", "200", shows: "200\n", push),
        SwitchCase("par-status", "201", shows: "201\n", push),
        SwitchCase("par-lifetime", "3600", shows: #""expires_in":3600"#, push),
        SwitchCase("par-lifetime", "90", note: "in time", shows: "?code=", useAfter(89)),
        SwitchCase("par-lifetime", "90", note: "too late", failure: "request-uri-invalid", useAfter(90)),
        SwitchCase("device-interval", "5", shows: #""interval":5"#, device),
        SwitchCase("device-interval", "1", shows: #""interval":1"#, device),
    ]

    private static func redeem(_ change: @escaping @Sendable (inout Proof) -> Void) -> World.Send {
        { world in
            let code = try await world.bankCode()
            return try await world.redeem(code, Proof().changed(change))
        }
    }

    private static let resource: World.Send = { world in
        let token = try await world.bankToken()
        return try await world.userinfo("DPoP", token, Proof("GET", Example.custom + "/userinfo", token: token))
    }

    private static let optionalProof: World.Send = { world in
        let nonce = try await world.nonce()
        return try await world.redeemNative([("DPoP", try Proof(nonce: nonce).text)])
    }

    private static let oldProof: World.Send = { world in
        let code = try await world.bankCode()
        let nonce = try await world.nonce()
        return try await world.redeem(code, Proof(nonce: nonce).changed { $0.claims["iat"] = 1_700_000_000 })
    }

    private static let proofCases: [SwitchCase] = [
        SwitchCase("dpop-nonce", "require", failure: "dpop-nonce", redeem { _ in }),
        SwitchCase("dpop-nonce", "off", shows: #""token_type":"DPoP""#, redeem { _ in }),
        SwitchCase("dpop-resource-nonce", "off", shows: Example.ada, resource),
        SwitchCase("dpop-resource-nonce", "require", failure: "dpop-nonce", resource),
        SwitchCase("dpop-optional", "ignore", shows: #""token_type":"Bearer""#, optionalProof),
        SwitchCase("dpop-optional", "bind", shows: #""token_type":"DPoP""#, optionalProof),
        SwitchCase("dpop-iat", "enforce", failure: "dpop-too-old", oldProof),
        SwitchCase("dpop-iat", "off", shows: #""token_type":"DPoP""#, oldProof),
    ]

    private static let text: World.Send = { world in
        let token = try await world.mfaToken()
        let answer = try await world.submit(
            [("client_id", Example.direct), ("mfa_token", token), ("channel_hint", "sms")],
            to: Example.custom + "/challenge")
        return .heard([answer.json["interval"] == nil ? "without interval" : "with interval"])
    }

    private static let firstFactor: World.Send = { world in
        let answer = try await world.token([("client_id", Example.direct)] + .password)
        return .heard([answer.json["supported_challenge_types"] == nil ? "without types" : "with types"])
    }

    private static let directCases: [SwitchCase] = [
        SwitchCase("oob-interval", "push", shows: "without interval", text),
        SwitchCase("oob-interval", "always", shows: "with interval", text),
        SwitchCase("mfa-challenge-types", "off", shows: "without types", firstFactor),
        SwitchCase("mfa-challenge-types", "on", shows: "with types", firstFactor),
    ]

    private static func second(quota: Int) -> World.Send {
        { world in
            try await world.set("okta.rate-limit-quota", String(quota))
            _ = try await world.call(.get, "/api/v1/users", .apiToken)
            return try await world.call(.get, "/api/v1/users", .apiToken)
        }
    }

    private static let list: World.Send = {
        try await $0.call(.get, "/api/v1/users", .apiToken)
    }

    private static let stranger: World.Send = { world in
        try await world.token(.redeem(try await world.code()), [("origin", "http://evil.example")])
    }

    private static func signIn(
        _ status: String, _ login: String = "ada@example.test", _ password: String = "not-a-secret-1"
    ) -> World.Send {
        { world in
            try await world.perform("set-status", ["user": .string(login), "status": .string(status)])
            return try await world.authenticate(login, password)
        }
    }

    private static let twoCredentials: World.Send = { world in
        let secret = [("client_secret", Example.serviceSecret)]
        return try await world.token(.service() + secret, .basic(Example.service, Example.serviceSecret))
    }

    private static let pushProfile: World.Send = { world in
        try await world.submit(.authorize.with("scope", "profile"), to: Example.custom + "/par")
    }

    private static let answerCases: [SwitchCase] = [
        SwitchCase("rate-limit", "count", shows: "Remaining: 0", second(quota: 1)),
        SwitchCase("rate-limit", "enforce", failure: "rate-limited", second(quota: 1)),
        SwitchCase("rate-limit", "off", shows: "no count") {
            let answer = try await second(quota: 1)($0)
            return .heard([answer["x-rate-limit-limit"] == nil ? "no count" : "a count"])
        },
        SwitchCase("rate-limit-quota", "600", shows: "Limit: 600", list),
        SwitchCase("rate-limit-quota", "7", shows: "Limit: 7", list),
        SwitchCase("authn-mfa", "off", shows: #""status":"SUCCESS""#, signIn("ACTIVE")),
        SwitchCase("authn-mfa", "enrolled", shows: #""status":"MFA_REQUIRED""#, signIn("ACTIVE")),
        SwitchCase(
            "authn-mfa", "required", shows: #""status":"MFA_ENROLL""#,
            signIn("ACTIVE", "cleo@example.test", "not-a-secret-2")),
        SwitchCase("authn-password-warning", "off", shows: #""status":"SUCCESS""#, signIn("ACTIVE")),
        SwitchCase("authn-password-warning", "on", shows: #""status":"PASSWORD_WARN""#, signIn("ACTIVE")),
        SwitchCase("authn-lockout", "hide", failure: "authn-failed", signIn("LOCKED_OUT")),
        SwitchCase("authn-lockout", "show", shows: #""status":"LOCKED_OUT""#, signIn("LOCKED_OUT")),
        SwitchCase("error-lists", "codes", failure: "client-credentials-multiple", shows: "401", twoCredentials),
        SwitchCase("error-lists", "api", failure: "client-credentials-multiple", shows: "400", twoCredentials),
        SwitchCase("error-lists", "codes", failure: "scope-openid-required", shows: "invalid_scope", pushProfile),
        SwitchCase("error-lists", "api", failure: "scope-openid-required", shows: "access_denied", pushProfile),
        SwitchCase("cors", "enforce", failure: "origin-not-redirect", stranger),
        SwitchCase("cors", "any", shows: #""token_type":"Bearer""#, stranger),
    ]

    /// What the validator says to an ID token whose `exp` is no number.
    private static let explain: World.Send = { world in
        let token = try await world.mint("okta/id", ["claims": ["exp": "soon"]])
        return try await world.control(
            .post, "tokens/explain", JSON.object(["token": .string(token), "vendor": "okta"]).text)
    }

    private static let signedLong: World.Send = { world in
        try await world.challengeDevice()
        return try await world.answerChallenge(["expires_in": 300])
    }

    private static let judgementCases: [SwitchCase] = [
        SwitchCase("ssws-profile", "okta-verify", failure: "ssws-lifetime", signedLong),
        SwitchCase("ssws-profile", "devices", shows: "SUCCESS", signedLong),
        SwitchCase("validator-profile", "documented", shows: "jwt-expiry-missing", explain),
        SwitchCase("validator-profile", "observed", shows: #""valid":true"#, explain),
    ]
}
