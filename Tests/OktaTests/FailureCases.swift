import JSON
import Support
import Testing

/// A way to provoke each failure.
extension FailureCase {
    typealias Provocation = @Sendable (World) async throws -> ReceivedAnswer

    static let all =
        general + clients + tokens + authorizations + pages + endings + devices + proofs + directs
        + exchanges + origins + management + answers

    /// A failure in the form of the token endpoint.
    static func oauth(
        _ name: String, _ status: Int, _ error: String, _ text: String, keepsState: Bool = true,
        by provoke: @escaping Provocation
    ) -> FailureCase {
        FailureCase(
            name, status: status, body: #"{"error":"\#(error)","error_description":"\#(text)"}"#,
            keepsState: keepsState, by: provoke)
    }

    /// A failure in the form of the management API, with the id that `failures.yaml` has.
    static func coded(
        _ name: String, _ status: Int, _ code: String, _ text: String, causes: String = "[]",
        keepsState: Bool = true, by provoke: @escaping Provocation
    ) -> FailureCase {
        FailureCase(
            name, status: status,
            body: #"{"errorCode":"\#(code)","errorSummary":"\#(text)","errorLink":"\#(code)","#
                + #""errorId":"oae0000000000000000000000","errorCauses":\#(causes)}"#,
            keepsState: keepsState, by: provoke)
    }

    /// A failure that the client of authorize is told by redirect.
    static func redirect(
        _ name: String, _ error: String, _ text: String, to address: String = Example.callback,
        state: String? = "s1", by provoke: @escaping Provocation
    ) -> FailureCase {
        let items = [("error", error), ("error_description", text)] + (state.map { [("state", $0)] } ?? [])
        return FailureCase(
            name, status: 302, body: "", fields: [("location", address + "?" + Example.redirected(items))],
            isToldElsewhere: true, by: provoke)
    }

    /// A failure that is told by a challenge.
    static func challenge(
        _ name: String, _ status: Int, _ scheme: String, _ error: String, _ text: String,
        by provoke: @escaping Provocation
    ) -> FailureCase {
        FailureCase(
            name, status: status, body: "",
            fields: [("www-authenticate", #"\#(scheme) error="\#(error)", error_description="\#(text)""#)],
            isToldElsewhere: true, by: provoke)
    }

    /// A failure of the native app's request to authorize.
    fileprivate static func authorize(
        _ name: String, _ error: String, _ text: String, state: String? = "s1", _ parameters: Parameters
    ) -> FailureCase {
        redirect(name, error, text, state: state) { try await $0.authorize(parameters) }
    }

    // MARK: - Paths, methods and bodies

    private static let general: [FailureCase] = [
        .coded("as-not-found", 404, "E0000007", "Not found: Resource not found: nope (AuthorizationServer)") {
            try await $0.call(.get, "/oauth2/nope/.well-known/openid-configuration")
        },
        .coded("path-not-found", 404, "E0000008", "The requested path was not found") {
            try await $0.call(.get, Example.custom + "/nothing")
        },
        .coded("method-not-allowed", 405, "E0000022", "The endpoint does not support the provided HTTP method") {
            try await $0.call(.delete, Example.custom + "/keys")
        },
        .coded(
            "media-type", 400, "E0000021",
            "Bad request.  Accept and/or Content-Type headers likely do not match supported values."
        ) { try await $0.call(.post, Example.custom + "/token", .jsonContent, "{}") },
        .coded("body-malformed", 400, "E0000003", "The request body was not well-formed.") {
            try await $0.call(.post, "/api/v1/authn", .jsonContent, "[]")
        },
        .coded("body-invalid", 400, "E0000001", "Api validation failed: password") {
            try await $0.call(.post, "/api/v1/authn", .jsonContent, #"{"username":"ada@example.test"}"#)
        },
        .coded("body-too-large", 413, "E0000001", "Api validation failed: the body is too large") {
            try await $0.call(.post, Example.custom + "/token", .form, String(repeating: " ", count: 1 << 20 | 1))
        },
        .coded("rate-limited", 429, "E0000047", "API call exceeded rate limit due to too many requests.") {
            try await $0.set("okta.rate-limit", "enforce")
            try await $0.set("okta.rate-limit-quota", "1")
            _ = try await $0.call(.get, "/api/v1/users", .apiToken)
            return try await $0.call(.get, "/api/v1/users", .apiToken)
        },
        .oauth("user-rate-limited", 429, "invalid_grant", "API call exceeded rate limit due to too many requests.") {
            try await $0.arm("user-rate-limited", at: "token.create")
            return try await $0.token(.redeem("x"))
        },
        .coded("internal-error", 500, "E0000009", "Internal Server Error", keepsState: false) {
            try await $0.control(.post, "keys/okta/default/break")
            return try await $0.call(.get, Example.custom + "/keys")
        },
    ]

    // MARK: - Clients

    private static let native: Parameters = [("client_id", Example.native)]

    static func client(
        _ name: String, _ status: Int, _ error: String, _ text: String, _ form: Parameters,
        _ fields: World.Fields = []
    ) -> FailureCase { .oauth(name, status, error, text) { try await $0.token(form, fields) } }

    /// A failure of a minted assertion of the service.
    private static func assertion(_ name: String, _ text: String, _ order: JSONObject) -> FailureCase {
        .oauth(name, 401, "invalid_client", text) {
            try await $0.token(.service() + $0.assertion(order))
        }
    }

    private static let clients: [FailureCase] = [
        client("client-credentials-missing", 401, "invalid_client", "No client credentials found.", .password),
        client(
            "client-unknown", 401, "invalid_client", "Invalid value for 'client_id' parameter.", [("client_id", "nope")]
        ),
        client(
            "client-secret-wrong", 401, "invalid_client",
            "The client secret supplied for a confidential client is invalid.", .password,
            .basic(Example.web, "wrong")),
        client(
            "client-method-wrong",
            401, "invalid_client",
            "Client authentication failed. Either the client or the client credentials are invalid.",
            [("client_id", Example.web)]),
        client(
            "client-credentials-multiple", 401, "invalid_request",
            "Cannot supply multiple client credentials. Use one of the following: credentials in the Authorization "
                + "header, credentials in the post body, or a client_assertion in the post body.",
            [("client_secret", Example.webSecret)], .asWeb),
        .oauth(
            "client-credentials-in-query", 400, "invalid_request",
            "Client credentials cannot be supplied via query parameters."
        ) { try await $0.submit(.password, to: "\(Example.custom)/token?client_secret=\(Example.webSecret)") },
        .oauth("assertion-type-invalid", 400, "invalid_request", "The client_assertion_type is invalid.") {
            try await $0.token(.service() + $0.assertion().with("client_assertion_type", "x"))
        },
        client(
            "assertion-malformed", 401, "invalid_client", "The parsing of the client_assertion failed.",
            .assertion("x.y")),
        assertion(
            "assertion-algorithm", "The client_assertion JWT signature algorithm is invalid.", ["defect": "alg-none"]),
        assertion(
            "assertion-issuer", "The issuer claim for client_assertion is not a valid client_id.",
            ["defect": "wrong-issuer"]),
        assertion(
            "assertion-subject", "The subject claim for client_assertion is not a valid client_id.",
            ["claims": ["sub": "nope"]]),
        assertion("assertion-key", "The client_assertion JWT kid is invalid.", ["defect": "unknown-kid"]),
        .oauth("assertion-secret-short", 401, "invalid_client", "The client secret is too short to verify a JWT HMAC.")
        {
            // No client of the example world has so short a secret.
            try await $0.arm("assertion-secret-short", at: "token.create")
            return try await $0.token(.service() + $0.assertion(["method": "client_secret_jwt"]))
        },
        assertion(
            "assertion-signature", "The client_assertion signature is invalid.", ["defect": "bad-signature"]),
        assertion(
            "assertion-audience",
            "The audience claim for client_assertion must be the endpoint invoked for the request.",
            ["endpoint": "introspect"]),
        assertion(
            "assertion-no-expiry",
            "The client_assertion must contain the 'exp' claim as seconds since epoch.", ["defect": "missing-exp"]),
        assertion("assertion-expired", "The client_assertion token is expired.", ["expires_in": 0]),
        assertion(
            "assertion-too-far", "The client_assertion token has an expiration too far into the future.",
            ["expires_in": 3601]),
        assertion(
            "assertion-iat-future", "The client_assertion token must be issued before the current time.",
            ["claims": ["iat": 1_800_000_001]]),
        .oauth("assertion-replayed", 401, "invalid_client", "The client_assertion token has already been used.") {
            let assertion = try await $0.assertion()
            try await $0.token(.service() + assertion).expect(200)
            return try await $0.token(.service() + assertion)
        },
    ]

    // MARK: - Token requests

    private static let grants =
        "authorization_code, refresh_token, password, client_credentials, "
        + "urn:ietf:params:oauth:grant-type:device_code, urn:ietf:params:oauth:grant-type:token-exchange, "
        + "urn:okta:params:oauth:grant-type:otp, urn:okta:params:oauth:grant-type:oob, http://auth0.com/oauth/grant-type/mfa-otp, "
        + "http://auth0.com/oauth/grant-type/mfa-oob"

    private static func redeem(
        _ name: String, _ error: String, _ text: String, _ change: @escaping @Sendable (Parameters) -> Parameters
    ) -> FailureCase {
        .oauth(name, 400, error, text) { try await $0.token(change(.redeem($0.code()))) }
    }

    private static let tokens: [FailureCase] = [
        client(
            "parameter-duplicate", 400, "invalid_request",
            "The request contained multiple parameters with the same name.", native + native),
        client(
            "grant-type-missing", 400, "invalid_request",
            "The token request must specify a 'grant_type'. Valid values: [\(grants)]", native),
        client(
            "grant-type-unsupported", 400, "unsupported_grant_type",
            "The authorization grant type is not supported by the authorization server. Configured grant types: "
                + "[\(grants)]",
            native + [("grant_type", "magic")]),
        client(
            "grant-type-not-allowed", 400, "unauthorized_client",
            "The client is not authorized to use the provided grant type. Configured grant types: "
                + "[authorization_code, refresh_token]",
            native + .service()),
        client(
            "parameter-missing", 400, "invalid_request", "The required parameter 'code' is missing.",
            .redeem("x").with("code", nil)),
        .oauth(
            "org-client-method", 401, "invalid_client",
            "Client Credentials requests to the Org Authorization Server must use the private_key_jwt "
                + "token_endpoint_auth_method."
        ) { try await $0.token(.service(), at: Example.org, .asService) },
        .oauth(
            "org-client-type", 401, "invalid_client",
            "Only clients with 'application_type' of 'service' may use the client_credentials 'grant_type' with the "
                + "Org Authorization Server."
        ) {
            // No other client of the example world has this grant.
            try await $0.arm("org-client-type", at: "token.create")
            return try await $0.token(.service(), at: Example.org, .asService)
        },
        // The assertion is used up.
        .oauth(
            "org-scopes", 400, "consent_required", "You are not allowed any of the requested scopes.", keepsState: false
        ) {
            let assertion = try await $0.assertion(["client": .string(Example.ops), "server": "org"])
            return try await $0.token(.service("okta.groups.read") + assertion, at: Example.org)
        },
        .oauth("code-invalid", 400, "invalid_grant", "The authorization code is invalid or has expired.") {
            try await $0.token(.redeem("nope"))
        },
        .oauth(
            "code-other-client", 400, "invalid_grant",
            "The grant was issued to another client. Please make sure the 'client_id' matches the one used at the "
                + "authorize request."
        ) { try await $0.token(.redeem($0.code()).with("client_id", nil), .asWeb) },
        .oauth("code-other-server", 400, "invalid_request", "The grant was issued for another authorization server.") {
            try await $0.token(.redeem($0.code()), at: Example.org)
        },
        redeem(
            "redirect-uri-mismatch", "invalid_grant",
            "The 'redirect_uri' does not match the redirection URI used in the authorization request."
        ) { $0.with("redirect_uri", "com.example.app:/x") },
        redeem(
            "pkce-verifier-missing", "invalid_request", "PKCE code verifier is required by the application."
        ) { $0.with("code_verifier", nil) },
        redeem("pkce-failed", "invalid_grant", "PKCE verification failed.") {
            $0.with("code_verifier", Example.challenge)
        },
        .oauth(
            "pkce-not-begun", 400, "invalid_request",
            "PKCE code challenge should be specified in the authorize request for code verification."
        ) {
            let address = "http://localhost:3000/callback"
            let asked = Parameters.authorizing(Example.web, address).with("code_challenge", nil)
                .with("code_challenge_method", nil)
            let form = try await Parameters.redeem($0.code(asked)).with("redirect_uri", address)
            return try await $0.token(form.with("client_id", nil), .asWeb)
        },
        client(
            "refresh-token-invalid", 400, "invalid_grant", "The refresh token is invalid or expired.",
            .refresh("nope")),
        .oauth(
            "refresh-scope-denied", 400, "access_denied",
            "Some of the scopes requested for the refresh request were not granted in the original authorize request. "
                + "Denied scopes: email."
        ) { try await $0.token(.refresh($0.issue("refresh_token")) + [("scope", "openid email")]) },
        client(
            "password-wrong", 400, "invalid_grant", "The credentials provided were invalid.",
            .password.with("password", "wrong"), .asWeb),
        .oauth("password-expired", 400, "invalid_grant", "Password has expired.", keepsState: false) {
            try await $0.perform("set-status", ["user": .string(Example.ada), "status": "PASSWORD_EXPIRED"])
            return try await $0.token(.password, .asWeb)
        },
        client(
            "scope-unknown", 400, "invalid_scope",
            "One or more scopes are not configured for the authorization server resource.", .service("nope"),
            .asService),
        client(
            "scope-missing", 400, "invalid_scope", "No scopes were requested.", .password.with("scope", nil), .asWeb),
        client(
            "scope-openid-required", 400, "invalid_scope",
            "Requests for ID tokens or access tokens with OpenID scopes require the 'openid' scope.",
            .password.with("scope", "profile"), .asWeb),
        client(
            "consent-required-service", 400, "consent_required",
            "The following scopes require user consent and cannot be granted for the client credentials grant type: "
                + "[trips.share].",
            .service("trips.share"), .asService),
    ]

    // MARK: - Authorize

    /// A failure that is told on a page, or in JSON to who asks for it.
    private static func page(
        _ name: String, _ status: Int, _ error: String, _ text: String, _ parameters: Parameters
    ) -> FailureCase {
        .oauth(name, status, error, text) { try await $0.authorize(parameters, .json) }
    }

    private static let once: Parameters = .authorize

    private static let authorizations: [FailureCase] = [
        page(
            "redirect-uri-missing", 400, "missing_redirect_uri", "redirect_uri is missing.",
            once.with("redirect_uri", nil)),
        page(
            "redirect-uri-illegal", 400, "invalid_request",
            "The 'redirect_uri' parameter must be a Login redirect URI in the client app settings.",
            once.with("redirect_uri", "com.example.app:/evil")),
        authorize(
            "state-invalid", "invalid_request", "The authentication request has an invalid 'state' parameter.",
            state: nil, once.with("state", nil)),
        authorize(
            "response-type-unsupported", "unsupported_response_type",
            "The response type is not supported by the authorization server. Configured response types: [code].",
            once.with("response_type", "token")),
        authorize(
            "response-mode-unsupported", "unsupported_response_mode",
            "The response mode is not supported by the authorization server. Valid response modes: "
                + "[query, fragment, form_post, okta_post_message].",
            once.with("response_mode", "x")),
        authorize(
            "pkce-challenge-missing", "invalid_request", "PKCE code challenge is required by the application.",
            once.with("code_challenge", nil)),
        authorize(
            "pkce-method-unsupported", "invalid_request",
            "PKCE code challenge method is not supported. Valid values: [S256]",
            once.with("code_challenge_method", "plain")),
        authorize(
            "prompt-invalid", "invalid_request",
            "Invalid value for 'prompt' parameter. Supported values: [none, login, consent]", once.with("prompt", "x")),
        authorize(
            "login-required", "login_required",
            "The client specified not to prompt, but the user is not logged in.", once.with("prompt", "none")),
        authorize(
            "access-denied", "access_denied", "The resource owner or authorization server denied the request.",
            once.with("login_hint", "ben@example.test")),
        authorize(
            "acr-unmet", "unmet_authentication_requirements",
            "Unable to meet the authentication requirements imposed by 'acr_values' parameter.",
            once.with("acr_values", "phr")),
        authorize(
            "max-age-invalid", "invalid_request",
            "Invalid value for 'max_age' parameter. It should be within range 0 - 2^31-1.", once.with("max_age", "-1")),
        authorize(
            "max-age-none", "invalid_request",
            "'prompt' parameter must not have the value 'none' for request with 'zero' as max_age.",
            once.with("max_age", "0").with("prompt", "none")),
        .redirect(
            "reauthentication-required", "login_required",
            "The client specified not to prompt, but the client app requires re-authentication or MFA."
        ) {
            let session = try await $0.authorize().cookie("sid") ?? ""
            try await $0.advance("61s")
            return try await $0.authorize(
                once.with("prompt", "none").with("max_age", "60"), [("cookie", "sid=" + session)])
        },
        .redirect(
            "consent-required", "consent_required", "The following scopes require user consent: [trips.share].",
            to: "http://localhost:3000/spa"
        ) {
            let session = try await $0.authorize().cookie("sid") ?? ""
            let asked = Parameters.authorizing(Example.spa, "http://localhost:3000/spa", scope: "openid trips.share")
            return try await $0.authorize(asked.with("prompt", "none"), [("cookie", "sid=" + session)])
        },
        .redirect("server-error", "server_error", "The authorization server encountered an unexpected condition.") {
            try await $0.refuse(choosing: "server_error")
        },
        .redirect(
            "temporarily-unavailable", "temporarily_unavailable",
            "The authorization server is temporarily unavailable."
        ) { try await $0.refuse(choosing: "temporarily_unavailable") },
        .oauth(
            "par-request-uri-present", 400, "invalid_request",
            "The 'request_uri' parameter must not be present in the request."
        ) { try await $0.submit(once.with("request_uri", "x"), to: Example.custom + "/par") },
        page(
            "request-object-unsupported", 400, "request_not_supported",
            "The authorize request object is not supported by this client.", once.with("request", "x")),
        page(
            "request-uri-invalid", 400, "invalid_request_uri", "The authorize request_uri is invalid.",
            native + [("request_uri", "urn:okta:x")]),
        .oauth(
            "request-uri-client", 401, "invalid_client",
            "The 'client_id' parameter does not match the expected value for the provided request_uri."
        ) { try await $0.authorize($0.pushed().with("client_id", Example.web), .json) },
        .oauth(
            "request-uri-server", 400, "invalid_request_uri",
            "The request_uri was issued for another authorization server."
        ) { try await $0.authorize($0.pushed(), at: Example.org, .json) },
        .redirect(
            "par-required", "invalid_request", "The client must use a pushed authorization request.",
            to: "http://localhost:3000/bank"
        ) { try await $0.authorize(.authorizing(Example.bank, "http://localhost:3000/bank")) },
    ]

    // MARK: - Sign-in page

    private static let pages: [FailureCase] = [
        .oauth("login-unknown", 400, "invalid_request", "This sign-in is unknown, finished or too old.") {
            try await $0.call(.get, "/login/login.htm?tx=nope", .json)
        },
        .oauth(
            "login-forged", 403, "access_denied",
            "This form does not belong to the sign-in that was begun in this browser."
        ) {
            let page = try await $0.openSignIn()
            return try await $0.submit(
                page.form([("user", "ada@example.test")]).with("csrf", "x"), to: "/login/login.htm", page.fields)
        },
        FailureCase("login-wrong", status: 400, body: #"{"failure":"login-wrong"}"#) {
            let page = try await $0.openSignIn()
            return try await $0.submit(page.form([("user", "ben@example.test")]), to: "/login/login.htm", page.fields)
        },
        FailureCase("login-claims-invalid", status: 400, body: #"{"failure":"login-claims-invalid"}"#) {
            let page = try await $0.openSignIn()
            let form = page.form([("user", "ada@example.test"), ("id_claims", "[1]")])
            return try await $0.submit(form, to: "/login/login.htm", page.fields)
        },
    ]

    // MARK: - Introspection, revocation, userinfo and logout

    private static func userinfo(
        _ name: String, _ token: @escaping @Sendable (World) async throws -> World.Fields
    ) -> FailureCase {
        .challenge(name, 401, "Bearer", "invalid_token", "The access token is invalid") {
            try await $0.call(.get, Example.custom + "/userinfo", token($0))
        }
    }

    private static let endings: [FailureCase] = [
        .oauth("token-parameter-missing", 400, "invalid_request", "The 'token' parameter is required.") {
            try await $0.submit(native, to: Example.custom + "/introspect")
        },
        .challenge("access-token-missing", 401, "Bearer", "invalid_request", "The access token is missing") {
            try await $0.call(.get, Example.custom + "/userinfo")
        },
        userinfo("access-token-invalid") { _ in .bearer("garbage") },
        userinfo("access-token-expired") { .bearer(try await $0.mint("okta/access", ["expires_in": 0])) },
        userinfo("access-token-revoked") {
            let token = try await $0.issue("access_token")
            try await $0.submit(native + [("token", token)], to: Example.custom + "/revoke").expect(200)
            return .bearer(token)
        },
        .challenge(
            "scope-insufficient", 403, "Bearer", "insufficient_scope",
            "The access token must provide access to at least one of these scopes - profile, email, address or phone"
        ) {
            let token = try await $0.mint("okta/access", ["scopes": ["trips.read"]])
            return try await $0.call(.get, Example.custom + "/userinfo", .bearer(token))
        },
        .oauth("id-token-hint-missing", 400, "invalid_request", "The required parameter 'id_token_hint' is missing.") {
            try await $0.call(.get, Example.custom + "/logout", .json)
        },
        .oauth("id-token-hint-invalid", 400, "invalid_token", "The id token is invalid.") {
            try await $0.call(.get, Example.custom + "/logout?id_token_hint=x.y.z", .json)
        },
        .oauth(
            "post-logout-uri-illegal", 400, "invalid_request",
            "The 'post_logout_redirect_uri' parameter must be a Logout redirect URI in the client app settings."
        ) {
            let query: Parameters = [
                ("id_token_hint", try await $0.issue("id_token")), ("post_logout_redirect_uri", "http://evil.example/"),
            ]
            return try await $0.call(.get, Example.custom + "/logout?" + query.text, .json)
        },
    ]
}

extension World {
    /// What the client gets when its user has the sign-in page answer with an error.
    fileprivate func refuse(choosing error: String) async throws -> ReceivedAnswer {
        let page = try await openSignIn()
        let form = page.form([("action", "refuse"), ("error", error)])
        return try await submit(form, to: "/login/login.htm", [("cookie", "understudy_tx=" + page.cookie)])
    }

    /// What a client sends to authorize after it has pushed its request.
    func pushed(_ parameters: Parameters = .authorize) async throws -> Parameters {
        let answer = try await submit(parameters, to: Example.custom + "/par")
        let uri = try #require(answer.json["request_uri"]?.string, "\(answer.text)")
        return [("client_id", Example.native), ("request_uri", uri)]
    }
}
