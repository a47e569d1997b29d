import Emulation

/// The part of the management API that tests need, and the signed answers of devices.
extension Okta {
    static let managementRoutes: [Route<Okta>] = userRoutes + factorRoutes + pushRoutes + revocationRoutes

    private static let reading = OktaAccess.api(scope: "okta.users.read")
    private static let managing = OktaAccess.api(scope: "okta.users.manage")
    private static let user = "/api/v1/users/{user}"

    /// ours: a user's profile has a few hundred bytes, and a sandbox keeps it.
    private static let userLimit = 8 * 1024

    private static let userRoutes: [Route<Okta>] = [
        Route(
            "user.create", .post("/api/v1/users"), access: managing, evidence: .documented, source: "api",
            secrets: secrets, bodyLimit: userLimit, handler: createUser),
        Route(
            "user.list", .get("/api/v1/users"), access: reading, evidence: .documented, source: "api",
            secrets: secrets, handler: listUsers),
        Route(
            "user.get", .get(user), access: reading, evidence: .documented, source: "api", secrets: secrets,
            handler: getUser),
        Route(
            "user.lifecycle", .post(user + "/lifecycle/{step}"), access: managing, evidence: .documented, source: "api",
            secrets: secrets, handler: takeLifecycleStep),
        Route(
            "user.sessions", .delete(user + "/sessions"), access: managing, evidence: .documented, source: "api",
            secrets: secrets, handler: endUserSessions),
    ]

    private static let factors = user + "/factors"
    private static let factor = factors + "/{factor}"
    private static let transaction = factor + "/transactions/{transaction}"

    private static let factorRoutes: [Route<Okta>] = [
        Route(
            "factor.list", .get(factors), access: reading, evidence: .documented, source: "postman, api",
            secrets: secrets, handler: listFactors),
        Route(
            "factor.enroll", .post(factors), access: managing, evidence: .documented,
            source: "postman; publicKey ours", secrets: secrets, bodyLimit: userLimit, handler: enrollFactor),
        Route(
            "factor.activate", .post(factor + "/lifecycle/activate"), access: managing, evidence: .documented,
            source: "postman, api", secrets: secrets, handler: activateFactor),
        Route(
            "push.challenge", .post(factor + "/verify"), access: managing, evidence: .documented,
            source: "postman; status api", secrets: secrets, handler: verifyFactor),
    ]

    private static let pushRoutes: [Route<Okta>] = [
        Route(
            "push.pending", .get(factor + "/transactions"), access: reading, evidence: .ours,
            source: "ours: it replaces the push message", secrets: secrets, handler: listChallenges),
        Route(
            "push.poll", .get(transaction), .get(transaction + "/verify"), access: reading, evidence: .documented,
            source: "docs, release notes; with /verify postman", secrets: secrets, handler: pollChallenge),
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
