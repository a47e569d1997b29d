import JSON

/// Claim rules with names of their own, for the mistakes that clients are known to check for.
enum OktaPreparedRules {
    /// The rule of that name; `nil` for none.
    static func rule(_ name: String) -> OktaClaimRule? { all.first { $0.name.hasSameBytes(as: name) } }

    static let all = idToken + bothTokens + answers

    private static let idToken = [
        rule("wrong-nonce", of: .id, set: ["nonce": .string(OktaPreparedValue.nonce)]),
        rule("no-nonce", of: .id, removing: ["nonce"]),
        rule("wrong-issuer", of: .id, set: ["iss": .string(OktaPreparedValue.issuer)]),
        rule("wrong-audience", of: .id, set: ["aud": .string(OktaPreparedValue.audience)]),
        rule("audience-array", of: .id, set: ["aud": ["append": .string(OktaPreparedValue.audience)]]),
        rule("wrong-at-hash", of: .id, set: ["at_hash": .string(OktaTokenMaker.hash(of: "another token"))]),
        rule("old-auth-time", of: .id, set: ["auth_time": ["add": -86_400]]),
        rule("other-acr", of: .id, set: ["acr": "urn:okta:loa:1fa:any"]),
        rule("no-subject", of: .id, removing: ["sub"]),
        rule("other-subject", of: .id, set: ["sub": .string(OktaPreparedValue.subject)]),
    ]

    private static let bothTokens = [
        rule("expired-at-birth", of: .both, set: ["iat": ["add": -7200], "exp": ["add": -3600, "to": "iat"]]),
        rule("expires-before-issue", of: .both, set: ["exp": ["add": -1, "to": "iat"]]),
        rule("issued-in-future", of: .both, set: ["iat": ["add": 3600], "exp": ["add": 3600]]),
        rule("bad-signature", of: .both, defect: "bad-signature"),
        rule("unknown-kid", of: .both, defect: "unknown-kid"),
        rule("alg-hs256", of: .both, defect: "public-key-as-secret"),
        rule("no-scp", of: .access, removing: ["scp"]),
        rule("scp-as-text", of: .access, set: ["scp": ["join": " "]]),
    ]

    private static let answers = [
        rule("no-id-token", of: .response, removing: ["id_token"]),
        rule("no-refresh-token", of: .response, removing: ["refresh_token"]),
        rule("bearer-instead-of-dpop", of: .response, set: ["token_type": "Bearer"]),
        rule("other-state", of: .redirect, set: ["state": .string(OktaPreparedValue.state)]),
        rule("no-state", of: .redirect, removing: ["state"]),
        // RFC 9207.
        rule("other-issuer", of: .redirect, set: ["iss": .string(OktaPreparedValue.issuer)]),
    ]

    private static func rule(
        _ name: String, of target: OktaClaimRule.Target, set: JSON = [:], removing removed: [String] = [],
        defect: String? = nil
    ) -> OktaClaimRule {
        var rule = OktaClaimRule()
        (rule.name, rule.target, rule.values, rule.removed, rule.defect) = (name, target, set, removed, defect)
        return rule
    }
}
