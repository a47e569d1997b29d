import JSON

/// What a server says of itself, in the order of Okta's documents. It names only what is served (ours); names: ref, api.
struct OktaServerMetadata {
    private let issuer: String
    private let endpoints: String
    private let requiresPushedRequests: Bool

    init(_ server: OktaServer, at base: String, _ switches: OktaSwitches) {
        issuer = server.issuer(at: base)
        endpoints = base + server.path + "/v1/"
        requiresPushedRequests = switches.pushRequirement == .all
    }

    static let responseModes = ["query", "fragment", "form_post", "okta_post_message"]
    static let scopes = [
        "openid", "profile", "email", "address", "phone", "offline_access", "groups", "device_sso",
    ]
    private static let methods = OktaClient.Method.allCases.map(\.rawValue)
    private static let claims = [
        "iss", "ver", "sub", "aud", "iat", "exp", "jti", "auth_time", "amr", "idp", "nonce", "name", "nickname",
        "preferred_username", "given_name", "middle_name", "family_name", "email", "email_verified", "profile",
        "zoneinfo", "locale", "address", "phone_number", "picture", "website", "gender", "birthdate", "updated_at",
        "at_hash", "c_hash",
    ]

    var document: JSONObject {
        var document: JSONObject = [
            "issuer": .string(issuer), "authorization_endpoint": endpoint("authorize"),
            "token_endpoint": endpoint("token"), "userinfo_endpoint": endpoint("userinfo"),
            "jwks_uri": endpoint("keys"),
            "response_types_supported": ["code"], "response_modes_supported": Self.list(Self.responseModes),
            "grant_types_supported": Self.list(OktaGrantType.allCases.map(\.rawValue)),
            "subject_types_supported": ["public"], "id_token_signing_alg_values_supported": ["RS256"],
            "scopes_supported": Self.list(Self.scopes),
            "token_endpoint_auth_methods_supported": Self.list(Self.methods),
            "claims_supported": Self.list(Self.claims), "code_challenge_methods_supported": ["S256"],
            "introspection_endpoint": endpoint("introspect"),
            "introspection_endpoint_auth_methods_supported": Self.list(Self.methods),
            "revocation_endpoint": endpoint("revoke"),
            "revocation_endpoint_auth_methods_supported": Self.list(Self.methods),
            "end_session_endpoint": endpoint("logout"), "request_parameter_supported": false,
            "device_authorization_endpoint": endpoint("device/authorize"),
            "pushed_authorization_request_endpoint": endpoint("par"),
        ]
        if requiresPushedRequests { document.append("require_pushed_authorization_requests", true) }
        document.append("dpop_signing_alg_values_supported", Self.list(OktaProof.algorithms.map(\.rawValue)))
        return document
    }

    private func endpoint(_ path: String) -> JSON { .string(endpoints + path) }

    private static func list(_ values: [String]) -> JSON { .array(values.map(JSON.string)) }
}

/// What the token endpoint gives tokens for. Source: ref, api, guide:device-authorization-grant and those of its flows.
enum OktaGrantType: String, CaseIterable, Sendable {
    case authorizationCode = "authorization_code"
    case refreshToken = "refresh_token"
    case password
    case clientCredentials = "client_credentials"
    case deviceCode = "urn:ietf:params:oauth:grant-type:device_code"
    case tokenExchange = "urn:ietf:params:oauth:grant-type:token-exchange"
    case otp = "urn:okta:params:oauth:grant-type:otp"
    case oob = "urn:okta:params:oauth:grant-type:oob"
    case mfaOTP = "http://auth0.com/oauth/grant-type/mfa-otp"
    case mfaOOB = "http://auth0.com/oauth/grant-type/mfa-oob"
}
