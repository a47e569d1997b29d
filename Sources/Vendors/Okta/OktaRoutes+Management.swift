import Emulation

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
