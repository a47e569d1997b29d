import Emulation

/// The API index: each route with who may call it and where it is known from.
extension Okta {
    static let routes: [Route<Okta>] =
        discoveryRoutes + signInRoutes + tokenRoutes + deviceRoutes + directRoutes + browserRoutes + managementRoutes

    /// The endpoints of a path below `/v1` of the org server and of custom ones.
    private static func both(_ make: (String) -> Endpoint, _ path: String) -> [Endpoint] {
        [make("/oauth2/v1/" + path), make("/oauth2/{server}/v1/" + path)]
    }

    private static let discoveryRoutes: [Route<Okta>] = [
        Route(
            "discovery.org", .get("/.well-known/openid-configuration"), access: .open, evidence: .documented,
            source: "ref", handler: describeServer),
        Route(
            "discovery.custom", .get("/oauth2/{server}/.well-known/openid-configuration"), access: .open,
            evidence: .documented, source: "ref; use in validator page", handler: describeServer),
        Route(
            "discovery.oauth", .get("/oauth2/{server}/.well-known/oauth-authorization-server"),
            .get("/.well-known/oauth-authorization-server/oauth2/{server}"),
            .get("/.well-known/oauth-authorization-server"), access: .open, evidence: .documented,
            source: "ref; the last two docs:concepts/auth-servers", handler: describeServer),
        Route(
            "keys.list", both(Endpoint.get, "keys"), access: .open, evidence: .documented,
            source: "validator page, ref",
            handler: publishKeys),
    ]

    private static let signInRoutes: [Route<Okta>] = [
        Route(
            "authorize", both(Endpoint.get, "authorize") + both(Endpoint.post, "authorize"), access: .open,
            evidence: .documented, source: "ref; POST api", secrets: secrets, handler: authorizeClientApp),
        Route(
            "par", both(Endpoint.post, "par"), access: .client, evidence: .documented, source: "ref, api",
            secrets: secrets, handler: pushRequest),
        Route(
            "logout", both(Endpoint.get, "logout") + both(Endpoint.post, "logout"), access: .open,
            evidence: .documented, source: "ref; POST api", secrets: secrets, handler: logOut),
        Route(
            "login.page", .get("/login/login.htm"), access: .open, evidence: .ours, source: "ours", secrets: secrets,
            handler: showSignIn),
        Route(
            "login.submit", .post("/login/login.htm"), access: .open, evidence: .ours, source: "ours",
            secrets: secrets, handler: submitSignIn),
        Route("login.style", .get("/login/page.css"), access: .open, evidence: .ours, source: "ours", handler: style),
        Route(
            "authn", .post("/api/v1/authn"), access: .open, evidence: .documented, source: "ref (authn)",
            secrets: secrets, handler: authenticateUser),
    ]

    private static let tokenRoutes: [Route<Okta>] = [
        Route(
            "token.create", both(Endpoint.post, "token"), access: .client, evidence: .documented, source: "ref",
            secrets: secrets, handler: createToken),
        Route(
            "token.introspect", both(Endpoint.post, "introspect"), access: .client, evidence: .documented,
            source: "ref", secrets: secrets, handler: introspectToken),
        Route(
            "token.revoke", both(Endpoint.post, "revoke"), access: .client, evidence: .documented, source: "ref",
            secrets: secrets, handler: revokeToken),
        Route(
            "userinfo.get", both(Endpoint.get, "userinfo") + both(Endpoint.post, "userinfo"), access: .bearer,
            evidence: .documented, source: "ref; POST ours", secrets: secrets, handler: readUserinfo),
    ]

    private static let deviceRoutes: [Route<Okta>] = [
        Route(
            "device.authorize", both(Endpoint.post, "device/authorize"), access: .client, evidence: .documented,
            source: "ref; guide:device-authorization-grant", secrets: secrets, handler: startDevice),
        Route(
            "activate.page", .get("/activate"), access: .open, evidence: .documented,
            source: "path guide:device-authorization-grant; form ours", secrets: secrets, handler: showActivation),
        Route(
            "activate.submit", .post("/activate"), access: .open, evidence: .ours, source: "ours", secrets: secrets,
            handler: submitActivation),
    ]

    private static let directRoutes: [Route<Okta>] = [
        Route(
            "direct.primary", both(Endpoint.post, "primary-authenticate") + both(Endpoint.post, "oob-authenticate"),
            access: .client, evidence: .documented, source: "guide:configure-direct-auth-grants, api; kotlin",
            secrets: secrets, handler: authenticatePrimary),
        Route(
            "direct.challenge", both(Endpoint.post, "challenge"), access: .client, evidence: .documented,
            source: "guide:configure-direct-auth-grants, api", secrets: secrets, handler: challengeSecondFactor),
        Route(
            "interact", both(Endpoint.post, "interact"), access: .open, evidence: .documented, source: "codes",
            secrets: secrets, handler: refuseInteraction),
    ]

    private static let browserRoutes: [Route<Okta>] = [
        Route(
            "preflight", preflightEndpoints, access: .open, evidence: .documented, source: "api",
            handler: answerPreflight)
    ]

    /// Names of parameters, members and fields that let their reader act as somebody else.
    static let secrets: Set<String> = [
        "client_secret", "client_assertion", "code", "code_verifier", "refresh_token", "access_token", "id_token",
        "device_secret", "password", "passcode", "otp", "binding_code", "sessionToken", "token", "id_token_hint",
        "subject_token",
        "actor_token", "assertion", "mfa_token", "oob_code", "device_code", "csrf", "cookie", "set-cookie", "dpop",
        "authorization", "passCode", "sharedSecret", "resetPasswordUrl",
    ]
}
