import JSON
import Support
import Testing
import Tokens

@Suite("Okta's token endpoint")
struct TokenRoutesTests {
    private static func grant(_ text: String, _ error: String = "invalid_grant") -> String {
        #"{"error":"\#(error)","error_description":"\#(text)"}"#
    }

    private static let codeInvalid = grant("The authorization code is invalid or has expired.")

    @Test("4, 5: redeems a code once; a second try ends what the first gave", arguments: Depth.allCases)
    func code(_ depth: Depth) async throws {
        let app = AppClient.native(try await World(depth))
        let code = try await app.code()
        let answer = try await app.redeem(code)
        answer.expect(200)
        #expect(
            answer.json.object?.map(\.name) == [
                "token_type", "expires_in", "access_token", "scope", "refresh_token", "id_token",
            ])
        #expect(answer.json["token_type"] == "Bearer" && answer.json["expires_in"] == 3600)
        #expect(answer.json["scope"] == "openid profile offline_access")
        #expect(answer["content-type"] == "application/json")
        let access = answer.read("access_token")
        #expect(access.header?.map(\.name).sorted() == ["alg", "kid"])
        #expect(access.claims?["scp"] == ["openid", "profile", "offline_access"])
        #expect(access.claims?["cid"] == .string(Example.native) && access.claims?["uid"] == .string(Example.ada))
        #expect(access.claims?["sub"] == "ada@example.test" && access.claims?["exp"] == 1_800_003_600)
        #expect(access.claims?["aud"] == "api://default")
        let id = answer.read("id_token").claims
        #expect(id?["aud"] == .string(Example.native) && id?["nonce"] == "n1" && id?["sub"] == .string(Example.ada))
        let hash = Base64URL.encode(Digest.sha256(Array(answer.member("access_token").utf8)).prefix(16))
        #expect(id?["at_hash"] == .string(hash))
        #expect(try await app.isActive(answer.member("access_token")))

        let again = try await app.redeem(code)
        again.expect(400, Self.codeInvalid, "code-invalid")
        #expect(again.why.contains("found a code that was used"), "\(again.why)")
        try await app.introspect(answer.member("access_token")).expect(200, #"{"active":false}"#)
        #expect(try await app.refresh(answer.member("refresh_token")).failure == "refresh-token-invalid")
    }

    @Test(
        "6: a code needs its verifier, its redirect URI, its client and its server, within 300 s",
        arguments: Depth.allCases)
    func refusedCodes(_ depth: Depth) async throws {
        let world = try await World(depth)
        let app = AppClient.native(world)
        let code = try await app.code()
        let other = try await app.redeem(code, verifier: String(repeating: "x", count: 43))
        other.expect(400, Self.grant("PKCE verification failed."), "pkce-failed")
        #expect(other.why.contains("expected \(Example.challenge)"), "\(other.why)")
        try await app.redeem(code, verifier: nil).expect(
            400, Self.grant("PKCE code verifier is required by the application.", "invalid_request"),
            "pkce-verifier-missing")
        try await app.redeem(code, redirectURI: "com.example.app:/x").expect(
            400,
            Self.grant(
                "The 'redirect_uri' does not match the redirection URI used in the authorization request."),
            "redirect-uri-mismatch")
        try await app.redeem(code, at: Example.org).expect(
            400, Self.grant("The grant was issued for another authorization server.", "invalid_request"),
            "code-other-server")
        try await AppClient.spa(world).redeem(code).expect(
            400,
            Self.grant(
                "The grant was issued to another client. Please make sure the 'client_id' matches the one used at the authorize request."
            ), "code-other-client")
        try await app.redeem("nope").expect(400, Self.codeInvalid, "code-invalid")
        // None of these tries has used it up.
        try await app.redeem(code).expect(200)
        let late = try await app.code()
        try await world.advance("301s")
        let answer = try await app.redeem(late)
        answer.expect(400, Self.codeInvalid, "code-invalid")
        #expect(answer.why.contains("301 s old; expected less than 300 s"), "\(answer.why)")
    }

    @Test("a verifier without a challenge, and a user who is no longer active, get nothing")
    func furtherCodes() async throws {
        let world = try await World()
        let web = AppClient.web(world)
        let uri = "http://localhost:3000/callback"
        let code = try await web.code(
            asking: "client_id=\(Example.web)&redirect_uri=\(uri)&scope=openid", challenge: nil)
        try await web.redeem(code, redirectURI: uri).expect(
            400,
            Self.grant(
                "PKCE code challenge should be specified in the authorize request for code verification.",
                "invalid_request"), "pkce-not-begun")
        let tokens = try await web.redeem(code, verifier: nil, redirectURI: uri)
        tokens.expect(200)
        // Without offline_access there is no refresh token.
        #expect(tokens.json["refresh_token"] == nil && tokens.json["id_token"] != nil)
        let app = AppClient.native(world)
        let suspended = try await app.code()
        try await app.lifecycle("suspend")
        let answer = try await app.redeem(suspended)
        answer.expect(400, Self.codeInvalid, "code-invalid")
        #expect(answer.why.contains("SUSPENDED"), "\(answer.why)")
        try await app.lifecycle("unsuspend")
        try await app.redeem(suspended).expect(200)
    }

    @Test("11: a service acts for itself", arguments: Depth.allCases)
    func service(_ depth: Depth) async throws {
        let service = AppClient.service(try await World(depth))
        let items: AppClient.Items = [("grant_type", "client_credentials"), ("scope", "trips.read")]
        let answer = try await service.post("token", items)
        answer.expect(200)
        #expect(answer.json.object?.map(\.name) == ["token_type", "expires_in", "access_token", "scope"])
        let claims = answer.read("access_token").claims
        #expect(claims?["sub"] == .string(Example.service) && claims?["uid"] == nil && claims?["auth_time"] == nil)
        let org = try await service.post("token", items, at: Example.org)
        org.expect(
            401,
            Self.grant(
                "Client Credentials requests to the Org Authorization Server must use the private_key_jwt token_endpoint_auth_method.",
                "invalid_client"), "org-client-method")
        #expect(org.why.contains("found client_secret_basic; expected private_key_jwt"), "\(org.why)")
    }

    @Test("scopes of services are their server's own, granted, and need no user")
    func serviceScopes() async throws {
        let world = try await World()
        let service = AppClient.service(world)
        func ask(_ scope: String?) async throws -> ReceivedAnswer {
            try await service.post(
                "token", [("grant_type", "client_credentials")] + (scope.map { [("scope", $0)] } ?? []))
        }
        try await ask(nil).expect(400, Self.grant("No scopes were requested.", "invalid_scope"), "scope-missing")
        for scope in ["nope", "openid", "trips.read okta.users.read"] {
            try await ask(scope).expect(
                400,
                Self.grant(
                    "One or more scopes are not configured for the authorization server resource.", "invalid_scope"),
                "scope-unknown")
        }
        try await ask("trips.read trips.share").expect(
            400,
            Self.grant(
                "The following scopes require user consent and cannot be granted for the client credentials grant type: [trips.share].",
                "consent_required"), "consent-required-service")
        let path = Example.org + "/token"
        func ops(_ scope: String, as client: String = Example.ops) async throws -> ReceivedAnswer {
            let assertion = Assertion(id: nil, for: path).changed {
                ($0.claims["iss"], $0.claims["sub"]) = (.string(client), .string(client))
            }
            return try await AppClient(world: world, credentials: try assertion.items).post(
                "token", [("grant_type", "client_credentials"), ("scope", scope)], at: Example.org)
        }
        let granted = try await ops("okta.users.read okta.apps.read")
        granted.expect(200)
        #expect(granted.json["scope"] == "okta.users.read")
        #expect(granted.read("access_token").claims?["aud"] == .string(Example.base))
        try await ops("okta.apps.read").expect(
            400, Self.grant("You are not allowed any of the requested scopes.", "consent_required"), "org-scopes")
        try await ops("okta.users.read", as: Example.service).expect(
            400, Self.grant("You are not allowed any of the requested scopes.", "consent_required"), "org-scopes")
    }

    @Test("a password gets tokens while its user is active")
    func password() async throws {
        let world = try await World()
        let web = AppClient.web(world)
        func ask(_ name: String, _ password: String, scope: String? = "openid profile offline_access") async throws
            -> ReceivedAnswer
        {
            let items: AppClient.Items = [("grant_type", "password"), ("username", name), ("password", password)]
            return try await web.post("token", items + (scope.map { [("scope", $0)] } ?? []))
        }
        let answer = try await ask("ada@example.test", "not-a-secret-1")
        answer.expect(200)
        #expect(answer.read("id_token").claims?["amr"] == ["pwd"] && answer.read("id_token").claims?["nonce"] == nil)
        #expect(answer.json["refresh_token"] != nil)
        try await ask("ADA@example.test", "not-a-secret-1").expect(200)
        let wrong = Self.grant("The credentials provided were invalid.")
        let cases = [
            ("ada@example.test", "not-a-secret-2", "found another password"), ("nobody", "x", "found username nobody"),
            ("ben@example.test", "not-a-secret-3", "SUSPENDED; expected ACTIVE"),
        ]
        for (name, password, reason) in cases {
            let answer = try await ask(name, password)
            answer.expect(400, wrong, "password-wrong")
            #expect(answer.why.contains(reason), "\(answer.why)")
            #expect(!answer.why.contains(password) || password == "x")
        }
        try await ask("ada@example.test", "not-a-secret-1", scope: nil).expect(
            400, Self.grant("No scopes were requested.", "invalid_scope"), "scope-missing")
        try await web.post("token", [("grant_type", "password"), ("username", "a"), ("scope", "openid")]).expect(
            400, Self.grant("The required parameter 'password' is missing.", "invalid_request"), "parameter-missing")
        try await web.lifecycle("expire_password")
        try await ask("ada@example.test", "not-a-secret-1").expect(
            400, Self.grant("Password has expired."), "password-expired")
        try await ask("ada@example.test", "x").expect(400, wrong, "password-wrong")
    }

    @Test("a grant is named, served and the client's own")
    func grantTypes() async throws {
        let world = try await World()
        let web = AppClient.web(world)
        let custom =
            "authorization_code, refresh_token, password, client_credentials, urn:ietf:params:oauth:grant-type:device_code, "
            + "urn:ietf:params:oauth:grant-type:token-exchange, "
            + "urn:okta:params:oauth:grant-type:otp, urn:okta:params:oauth:grant-type:oob, "
            + "http://auth0.com/oauth/grant-type/mfa-otp, http://auth0.com/oauth/grant-type/mfa-oob"
        try await web.post("token", []).expect(
            400,
            Self.grant("The token request must specify a 'grant_type'. Valid values: [\(custom)]", "invalid_request"),
            "grant-type-missing")
        try await web.post("token", [("grant_type", "magic")]).expect(
            400,
            Self.grant(
                "The authorization grant type is not supported by the authorization server. Configured grant types: [\(custom)]",
                "unsupported_grant_type"), "grant-type-unsupported")
        try await web.post("token", [("grant_type", "client_credentials")]).expect(
            400,
            Self.grant(
                "The client is not authorized to use the provided grant type. Configured grant types: [authorization_code, refresh_token, password]",
                "unauthorized_client"), "grant-type-not-allowed")
        try await web.post("token", [("grant_type", "authorization_code")]).expect(
            400, Self.grant("The required parameter 'code' is missing.", "invalid_request"), "parameter-missing")
    }
}
