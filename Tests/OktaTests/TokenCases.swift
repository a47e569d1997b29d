import JSON
import Support
import Testing

/// Each kind of token that is minted, with the failure of each defect.
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
        defects: all(
            ["wrong-key", "tampered-payload", "bad-signature", "truncated-signature"], "ssws-signature")
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
        defects: all(
            ["wrong-key", "tampered-payload", "bad-signature", "truncated-signature"], "assertion-signature")
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
        defects: all(
            ["tampered-payload", "bad-signature", "truncated-signature", "wrong-key"], "dpop-signature")
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
