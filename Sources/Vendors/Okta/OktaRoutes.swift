import Emulation

/// The API index: each route with who may call it and where it is known from.
extension Okta {
    static let routes: [Route<Okta>] =
        discoveryRoutes + signInRoutes + tokenRoutes + deviceRoutes + directRoutes + browserRoutes + managementRoutes

    /// The endpoints of a path below `/v1` of the org server and of custom ones.
    private static func both(_ make: (String) -> Endpoint, _ path: String) -> [Endpoint] {
        [make("/oauth2/v1/" + path), make("/oauth2/{server}/v1/" + path)]
    }

    private static let discovery = RouteGroup<Okta>(access: .open, evidence: .documented, source: "ref")
    private static let open = RouteGroup<Okta>(access: .open, evidence: .documented, source: "ref", secrets: secrets)
    private static let ofClient = RouteGroup<Okta>(
        access: .client, evidence: .documented, source: "ref", secrets: secrets)
    /// Forms for people; the vendor documents only what comes before and after them.
    private static let ofPages = RouteGroup<Okta>(access: .open, evidence: .ours, source: "ours", secrets: secrets)

    private static let discoveryRoutes: [Route<Okta>] = [
        discovery.route("discovery.org", .get("/.well-known/openid-configuration"), handler: describeServer),
        discovery.route(
            "discovery.custom", .get("/oauth2/{server}/.well-known/openid-configuration"),
            source: "ref; use in validator page", handler: describeServer),
        discovery.route(
            "discovery.oauth", .get("/oauth2/{server}/.well-known/oauth-authorization-server"),
            .get("/.well-known/oauth-authorization-server/oauth2/{server}"),
            .get("/.well-known/oauth-authorization-server"), source: "ref; the last two docs:concepts/auth-servers",
            handler: describeServer),
        discovery.route("keys.list", both(Endpoint.get, "keys"), source: "validator page, ref", handler: publishKeys),
    ]

    private static let signInRoutes: [Route<Okta>] = [
        open.route(
            "authorize", both(Endpoint.get, "authorize") + both(Endpoint.post, "authorize"), source: "ref; POST api",
            handler: authorizeClientApp),
        ofClient.route("par", both(Endpoint.post, "par"), source: "ref, api", handler: pushRequest),
        open.route(
            "logout", both(Endpoint.get, "logout") + both(Endpoint.post, "logout"), source: "ref; POST api",
            handler: logOut),
        ofPages.route("login.page", .get("/login/login.htm"), handler: showSignIn),
        ofPages.route("login.submit", .post("/login/login.htm"), handler: submitSignIn),
        ofPages.route("login.style", .get("/login/page.css"), secrets: [], handler: style),
        open.route("authn", .post("/api/v1/authn"), source: "ref (authn)", handler: authenticateUser),
    ]

    private static let tokenRoutes: [Route<Okta>] = [
        ofClient.route("token.create", both(Endpoint.post, "token"), handler: createToken),
        ofClient.route("token.introspect", both(Endpoint.post, "introspect"), handler: introspectToken),
        ofClient.route("token.revoke", both(Endpoint.post, "revoke"), handler: revokeToken),
        Route(
            "userinfo.get", both(Endpoint.get, "userinfo") + both(Endpoint.post, "userinfo"), access: .bearer,
            evidence: .documented, source: "ref; POST ours", secrets: secrets, handler: readUserinfo),
    ]

    private static let deviceRoutes: [Route<Okta>] = [
        ofClient.route(
            "device.authorize", both(Endpoint.post, "device/authorize"),
            source: "ref; guide:device-authorization-grant", handler: startDevice),
        open.route(
            "activate.page", .get("/activate"), source: "path guide:device-authorization-grant; form ours",
            handler: showActivation),
        ofPages.route("activate.submit", .post("/activate"), handler: submitActivation),
    ]

    private static let directRoutes: [Route<Okta>] = [
        ofClient.route(
            "direct.primary", both(Endpoint.post, "primary-authenticate") + both(Endpoint.post, "oob-authenticate"),
            source: "guide:configure-direct-auth-grants, api; kotlin", handler: authenticatePrimary),
        ofClient.route(
            "direct.challenge", both(Endpoint.post, "challenge"), source: "guide:configure-direct-auth-grants, api",
            handler: challengeSecondFactor),
        open.route("interact", both(Endpoint.post, "interact"), source: "codes", handler: refuseInteraction),
    ]

    private static let browserRoutes: [Route<Okta>] = [
        Route(
            "preflight", preflightEndpoints, access: .open, evidence: .documented,
            source: "api; authn inferred, authjs", handler: answerPreflight)
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

/// The part of the management API that tests need, and the signed answers of devices.
extension Okta {
    static let managementRoutes: [Route<Okta>] = userRoutes + factorRoutes + pushRoutes + revocationRoutes

    private static let reading = group("okta.users.read")
    private static let managing = group("okta.users.manage")

    /// Calls that need that scope.
    private static func group(_ scope: String) -> RouteGroup<Okta> {
        RouteGroup(access: .api(scope: scope), evidence: .documented, source: "api", secrets: secrets)
    }

    private static let user = "/api/v1/users/{user}"

    /// ours: a user's profile has a few hundred bytes, and a sandbox keeps it.
    private static let userLimit = 8 * 1024

    private static let userRoutes: [Route<Okta>] = [
        managing.route("user.create", .post("/api/v1/users"), bodyLimit: userLimit, handler: createUser),
        reading.route("user.list", .get("/api/v1/users"), handler: listUsers),
        reading.route("user.get", .get(user), handler: getUser),
        managing.route("user.lifecycle", .post(user + "/lifecycle/{step}"), handler: takeLifecycleStep),
        managing.route("user.sessions", .delete(user + "/sessions"), handler: endUserSessions),
    ]

    private static let factors = user + "/factors"
    private static let factor = factors + "/{factor}"
    private static let transaction = factor + "/transactions/{transaction}"

    private static let factorRoutes: [Route<Okta>] = [
        reading.route("factor.list", .get(factors), source: "postman, api", handler: listFactors),
        managing.route(
            "factor.enroll", .post(factors), source: "postman; publicKey ours", bodyLimit: userLimit,
            handler: enrollFactor),
        managing.route(
            "factor.activate", .post(factor + "/lifecycle/activate"), source: "postman, api", handler: activateFactor),
        managing.route(
            "push.challenge", .post(factor + "/verify"), source: "postman; status api", handler: verifyFactor),
    ]

    private static let pushRoutes: [Route<Okta>] = [
        reading.route(
            "push.pending", .get(factor + "/transactions"), evidence: .ours,
            source: "ours: it replaces the push message", handler: listChallenges),
        reading.route(
            "push.poll", .get(transaction), .get(transaction + "/verify"),
            source: "docs, release notes; with /verify postman", handler: pollChallenge),
        Route(
            "push.answer", .post(transaction + "/verify"), access: .device, evidence: .ours,
            source: "ours: the validator page gives only the value of the field", secrets: secrets,
            handler: answerChallenge),
    ]

    private static let revocationRoutes: [Route<Okta>] = [
        Route(
            "global.revoke", .post("/oauth2/v1/global-token-revocation"),
            access: .api(scope: "okta.universalLogout.manage"), evidence: .documented, source: "api", secrets: secrets,
            handler: revokeGlobally)
    ]
}
