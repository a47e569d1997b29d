import Emulation

/// The API index: each route with who may call it and where it is known from.
extension Okta {
    static let routes =
        discoveryRoutes + signInRoutes + tokenRoutes + deviceRoutes + directRoutes + browserRoutes + managementRoutes

    /// The endpoints of a path below `/v1` of the org server and of custom ones.
    private static func both(_ make: (String) -> Endpoint, _ path: String) -> [Endpoint] {
        [make("/oauth2/v1/" + path), make("/oauth2/{server}/v1/" + path)]
    }

    private static let discovery = group(access: .published, evidence: .documented, source: "ref")
    private static let open = group(.open, "ref")
    private static let ofClient = group(.client(.other), "ref")
    /// Forms for people; the vendor documents only what comes before and after them.
    private static let ofPages = group(.open, "ours", .ours)
    private static let ofAuthn = group(.open, "ref (authn)")
    /// Calls that a page makes with its browser's cookie.
    private static let ofPage = group(.open, "authjs; body pysdk", .observed)

    private static func group(
        _ access: OktaAccess, _ source: String, _ evidence: Evidence = .documented
    ) -> RouteGroup<Okta> {
        group(access: access, evidence: evidence, source: source, secrets: secrets)
    }

    /// The handler of one of two routes that share it.
    private static func handler(
        _ isSecond: Bool,
        _ handle: @escaping @Sendable (inout OktaCall, inout State, Bool) throws(Refused) -> Reply
    ) -> Handler {
        { (call, state) throws(Refused) in try handle(&call, &state, isSecond) }
    }

    private static let discoveryRoutes = [
        discovery.route(
            "discovery.org", .get("/.well-known/openid-configuration"), handler: handler(false, describeServer)),
        discovery.route(
            "discovery.custom", .get("/oauth2/{server}/.well-known/openid-configuration"),
            source: "ref; use in validator page", handler: handler(false, describeServer)),
        discovery.route(
            "discovery.oauth", .get("/oauth2/{server}/.well-known/oauth-authorization-server"),
            .get("/.well-known/oauth-authorization-server/oauth2/{server}"),
            .get("/.well-known/oauth-authorization-server"), source: "ref; the last two docs:concepts/auth-servers",
            handler: handler(true, describeServer)),
        discovery.route("keys.list", both(Endpoint.get, "keys"), source: "validator page, ref", handler: publishKeys),
    ]

    private static let signInRoutes = [
        open.route(
            "authorize", both(Endpoint.get, "authorize") + both(Endpoint.post, "authorize"), access: .browser,
            source: "ref; POST api", handler: authorizeClientApp),
        ofClient.route(
            "par", both(Endpoint.post, "par"), access: .client(.push), source: "ref, api", handler: pushRequest),
        open.route(
            "logout", both(Endpoint.get, "logout") + both(Endpoint.post, "logout"), access: .browser,
            source: "ref; POST api", handler: logOut),
        ofPages.route("login.page", .get("/login/login.htm"), access: .signIn(isForm: false), handler: showSignIn),
        ofPages.route("login.submit", .post("/login/login.htm"), access: .signIn(isForm: true), handler: submitSignIn),
        ofPages.route("login.style", .get("/login/page.css"), secrets: [], handler: style),
        ofAuthn.route("authn", .post(authn), handler: authenticateUser),
        ofAuthn.route(
            "authn.verify", .post(authn + "/factors/{factor}/verify"), .post(authn + "/factors/{factor}/verify/resend"),
            handler: verifyAuthnFactor),
        ofAuthn.route("authn.enroll", .post(authn + "/factors"), handler: enrollAuthnFactor),
        ofAuthn.route(
            "authn.activate", .post(authn + "/factors/{factor}/lifecycle/activate"),
            handler: handler(false, activateAuthnFactor)),
        ofAuthn.route(
            "authn.resend", .post(authn + "/factors/{factor}/lifecycle/resend"),
            handler: handler(true, activateAuthnFactor)),
        ofAuthn.route("authn.skip", .post(authn + "/skip"), handler: skipAuthn),
        ofAuthn.route("authn.previous", .post(authn + "/previous"), handler: handler(false, moveAuthn)),
        ofAuthn.route("authn.cancel", .post(authn + "/cancel"), handler: handler(true, moveAuthn)),
        ofAuthn.route(
            "authn.change", .post(authn + "/credentials/change_password"), handler: handler(false, setAuthnPassword)),
        ofAuthn.route(
            "authn.reset", .post(authn + "/credentials/reset_password"), handler: handler(true, setAuthnPassword)),
        ofAuthn.route("authn.recovery", .post(authn + "/recovery/password"), handler: handler(false, beginRecovery)),
        ofAuthn.route("authn.unlock", .post(authn + "/recovery/unlock"), handler: handler(true, beginRecovery)),
        ofAuthn.route(
            "authn.recovery.verify", .post(authn + "/recovery/factors/{kind}/verify"),
            handler: handler(false, verifyRecovery)),
        ofAuthn.route(
            "authn.recovery.resend", .post(authn + "/recovery/factors/{kind}/resend"),
            handler: handler(true, verifyRecovery)),
        ofAuthn.route("authn.token", .post(authn + "/recovery/token"), handler: redeemRecoveryToken),
        ofAuthn.route("authn.answer", .post(authn + "/recovery/answer"), handler: answerRecoveryQuestion),
        open.route(
            "session.redirect", .get("/login/sessionCookieRedirect"), .post("/login/sessionCookieRedirect"),
            source: "guide:session-cookie; POST ours", handler: redirectWithSession),
        ofPage.route("session.own", .get(ownSession), handler: readSession),
        ofPage.route("session.own.end", .delete(ownSession), handler: endSession),
        ofPage.route("session.own.refresh", .post(ownSession + "/lifecycle/refresh"), handler: readSession),
        ofPage.route("user.own", .get("/api/v1/users/me"), source: "pysdk, links of a session", handler: getOwnUser),
    ]

    private static let authn = "/api/v1/authn"
    private static let ownSession = "/api/v1/sessions/me"

    private static let tokenRoutes = [
        ofClient.route("token.create", both(Endpoint.post, "token"), access: .client(.tokens), handler: createToken),
        ofClient.route(
            "token.introspect", both(Endpoint.post, "introspect"), access: .client(.tokenUse), handler: introspectToken),
        ofClient.route("token.revoke", both(Endpoint.post, "revoke"), access: .client(.tokenUse), handler: revokeToken),
        group(.bearer, "ref; POST ours").route(
            "userinfo.get", both(Endpoint.get, "userinfo") + both(Endpoint.post, "userinfo"), handler: readUserinfo),
    ]

    private static let deviceRoutes = [
        ofClient.route(
            "device.authorize", both(Endpoint.post, "device/authorize"),
            source: "ref; guide:device-authorization-grant", handler: startDevice),
        open.route(
            "activate.page", .get("/activate"), access: .browser,
            source: "path guide:device-authorization-grant; form ours", handler: showActivation),
        ofPages.route("activate.submit", .post("/activate"), access: .browser, handler: submitActivation),
    ]

    private static let directRoutes = [
        ofClient.route(
            "direct.primary", both(Endpoint.post, "primary-authenticate") + both(Endpoint.post, "oob-authenticate"),
            source: "guide:configure-direct-auth-grants, api; kotlin", handler: authenticatePrimary),
        ofClient.route(
            "direct.challenge", both(Endpoint.post, "challenge"), source: "guide:configure-direct-auth-grants, api",
            handler: challengeSecondFactor),
        open.route("interact", both(Endpoint.post, "interact"), source: "codes", handler: refuseInteraction),
    ]

    private static let browserRoutes = [
        discovery.route(
            "preflight", preflightEndpoints, source: "api; authn inferred, authjs", handler: answerPreflight)
    ]

    /// What the SDKs send without effect (observed), and the prefix of Okta's own fields.
    static let unreadFields = [
        "x-okta-", "x-okta-user-agent-extended", "x-okta-retry-for", "x-okta-retry-count", "x-okta-request-id",
    ]

    /// Parameters and members without effect here. Source: api; those of authn and recoveries inferred, for want of a
    /// document at hand.
    static let unreadParameters = [
        "authorize": ["display", "enroll_amr_values", "idp", "idp_scope", "interclient_token"],
        "par": ["display", "idp", "idp_scope"], "login.submit": ["tx"], "logout": ["state"],
        "token.create": ["resource"], "token.introspect": ["token_type_hint"], "token.revoke": ["token_type_hint"],
        "direct.primary": ["challenge_hint"], "discovery.org": ["client_id"], "discovery.custom": ["client_id"],
        "discovery.oauth": ["client_id"], "keys.list": ["client_id"],
        "authn": ["audience", "context", "options", "relayState", "token"],
        "authn.verify": ["autoPush", "rememberDevice"], "authn.recovery": ["relayState"],
        "authn.unlock": ["relayState"], "user.create": ["nextLogin", "provider", "realmId", "type"],
        "user.list": ["expand", "fields", "sortBy", "sortOrder"], "user.get": ["expand"],
        "user.update": ["strict", "realmId", "type"], "user.delete": ["sendEmail"], "user.sessions": ["forgetDevices"],
        "user.lifecycle": ["revokeSessions"], "user.credentials": ["revokeSessions", "sendEmail", "strict"],
        "group.list": ["expand", "sortBy", "sortOrder"],
        "factor.enroll": [
            "activate", "factorProfileId", "templateId", "tokenLifetimeSeconds", "updatePhone", "verify",
        ],
        "factor.activate": ["useNumberMatchingChallenge"], "factor.remove": ["removeRecoveryEnrollment"],
        "factor.resend": ["factorType", "profile", "provider", "templateId"],
        "push.challenge": ["templateId", "tokenLifetimeSeconds", "useNumberMatchingChallenge"],
    ]

    /// Names of parameters, members and fields that let their reader act as somebody else.
    static let secrets: Set<String> = [
        "client_secret", "client_assertion", "code", "code_verifier", "refresh_token", "access_token", "id_token",
        "device_secret", "password", "passcode", "otp", "binding_code", "sessionToken", "token", "id_token_hint",
        "subject_token", "actor_token", "assertion", "mfa_token", "oob_code", "device_code", "csrf", "cookie",
        "set-cookie", "dpop", "authorization", "passCode", "sharedSecret", "resetPasswordUrl", "activationUrl",
        "activationToken", "tempPassword", "answer", "stateToken", "recoveryToken", "newPassword", "oldPassword",
    ]

    // MARK: - The part of the management API that tests need, and the signed answers of devices

    static let managementRoutes =
        userRoutes + groupRoutes + sessionRoutes + factorRoutes + pushRoutes + revocationRoutes

    private static let reading = group("okta.users.read")
    private static let managing = group("okta.users.manage")

    private static func group(_ scope: String) -> RouteGroup<Okta> { group(.api(scope: scope), "api") }

    private static let user = "/api/v1/users/{user}"

    /// ours: a user's profile has a few hundred bytes, and a sandbox keeps it.
    private static let userLimit = 8 * 1024

    private static let userRoutes = [
        managing.route("user.create", .post("/api/v1/users"), bodyLimit: userLimit, handler: createUser),
        reading.route("user.list", .get("/api/v1/users"), handler: listUsers),
        reading.route("user.get", .get(user), handler: getUser),
        managing.route("user.update", .post(user), .put(user), bodyLimit: userLimit, handler: updateUser),
        managing.route("user.delete", .delete(user), handler: deleteUser),
        managing.route("user.credentials", .post(user + "/credentials/{step}"), handler: changeCredentials),
        reading.route("user.groups", .get(user + "/groups"), handler: listUserGroups),
        managing.route("user.lifecycle", .post(user + "/lifecycle/{step}"), handler: takeLifecycleStep),
        managing.route("user.sessions", .delete(user + "/sessions"), handler: endUserSessions),
    ]

    private static let group = "/api/v1/groups/{group}"
    private static let readingGroups = group("okta.groups.read")
    private static let managingGroups = group("okta.groups.manage")

    private static let groupRoutes = [
        managingGroups.route("group.create", .post("/api/v1/groups"), bodyLimit: userLimit, handler: writeGroup),
        readingGroups.route("group.list", .get("/api/v1/groups"), handler: listGroups),
        readingGroups.route("group.get", .get(group), handler: getGroup),
        managingGroups.route("group.replace", .put(group), bodyLimit: userLimit, handler: writeGroup),
        managingGroups.route("group.delete", .delete(group), handler: deleteGroup),
        readingGroups.route("group.members", .get(group + "/users"), handler: listGroupMembers),
        managingGroups.route(
            "group.membership", .put(group + "/users/{user}"), .delete(group + "/users/{user}"),
            handler: changeMembership),
    ]

    private static let session = "/api/v1/sessions/{session}"

    private static let sessionRoutes = [
        group("okta.sessions.manage").route(
            "session.create", .post("/api/v1/sessions"), evidence: .observed, source: "pysdk", handler: createSession),
        group("okta.sessions.read").route("session.get", .get(session), handler: readSession),
        group("okta.sessions.manage").route("session.end", .delete(session), handler: endSession),
        group("okta.sessions.manage").route(
            "session.refresh", .post(session + "/lifecycle/refresh"), handler: readSession),
    ]

    private static let factors = user + "/factors"
    private static let factor = factors + "/{factor}"
    private static let transaction = factor + "/transactions/{transaction}"

    private static let factorRoutes = [
        reading.route("factor.list", .get(factors), source: "postman, api", handler: listFactors),
        managing.route(
            "factor.enroll", .post(factors), source: "postman; publicKey ours", bodyLimit: userLimit,
            handler: enrollFactor),
        open.route(
            "factor.questions", .get(factors + "/questions"), source: "api; without a token widget, MFA_ENROLL",
            handler: listQuestions),
        reading.route("factor.get", .get(factor), handler: getFactor),
        managing.route("factor.remove", .delete(factor), handler: removeFactor),
        managing.route("factor.resend", .post(factor + "/resend"), handler: getFactor),
        managing.route(
            "factor.activate", .post(factor + "/lifecycle/activate"), source: "postman, api", handler: activateFactor),
        managing.route(
            "push.challenge", .post(factor + "/verify"), source: "postman; status api", handler: verifyFactor),
    ]

    private static let pushRoutes = [
        reading.route(
            "push.pending", .get(factor + "/transactions"), evidence: .ours,
            source: "ours: it replaces the push message", handler: listChallenges),
        reading.route(
            "push.poll", .get(transaction), .get(transaction + "/verify"),
            source: "docs, release notes; with /verify postman", handler: pollChallenge),
        group(.device, "ours: the validator page gives only the value of the field", .ours).route(
            "push.answer", .post(transaction + "/verify"), handler: answerChallenge),
    ]

    private static let revocationRoutes = [
        group("okta.universalLogout.manage").route(
            "global.revoke", .post("/oauth2/v1/global-token-revocation"), handler: revokeGlobally)
    ]
}
