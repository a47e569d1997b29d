package import Emulation
import Wire

extension VendorLoader {
    /// IMS, whose backend trusts the tokens of an app's own sign-in.
    package static let ims = VendorLoader(IMS.self)
}

/// IMS (DriveSync), a telematics backend behind a mobile SDK that receives the app's own RS256 tokens.
///
/// The vendor documents the token, how its keys are provided, the SDK's pre-check and the user lifecycle. It publishes
/// no path, body or status of its backend: those are one contract of our own.
final class IMS: Vendor, MintsTokens, ChecksTokens, PublishesKeys, FetchesKeys, AuthenticatesWithState {
    typealias State = IMSState
    typealias Failure = IMSFailure
    typealias Switches = IMSSwitches
    typealias Access = IMSAccess
    typealias Credentials = IMSFacts
    typealias AuthenticationContext = IMSAuthenticationContext

    let accounts: IMSAccounts
    /// Made once: sandboxes share it until they change it.
    let initialState: IMSState
    let recentTokens = RecentReadings<IMSToken>()

    init(fixtures: VendorFixtures) throws(FixtureProblem) {
        accounts = try IMSAccounts(fixtures)
        initialState = IMSState(accounts)
    }

    static let identity = VendorIdentity(
        id: "ims", title: "IMS", prefixes: ["/ims"],
        // Both are ours.
        pathRules: PathRules(repeatedSlashes: .collapseLeading, ignoresTrailingSlash: false),
        // ours: bodies have a few hundred bytes, and a sandbox keeps their content. Trips and lists may be longer.
        bodyLimit: 64 * 1024)

    /// ours: an hour of points, a file of users, or a set of keys.
    private static let longBody = 1024 * 1024

    static let unrouted = UnroutedFailures<IMSFailure>(
        routeNotFound: .routeNotFound, methodNotAllowed: .methodNotAllowed, bodyTooLarge: .bodyTooLarge)

    static let routes: [Route<IMS>] = issuerRoutes + userRoutes + ownRoutes + devRoutes

    /// What lets a sender act as an operator or activate a user.
    private static let secrets: Set<String> = ["activation_code", "x-ims-operator-key"]

    /// The same, and what may hold a private key sent by mistake: PEM texts, and members of JWKs (RFC 7518 section 6).
    private static let keySecrets = secrets.union(["pem", "certs", "d", "p", "q", "dp", "dq", "qi", "oth", "k"])

    private static let issuers = "/ims/v1/issuers"
    private static let users = "/ims/v1/users"

    private static let issuerRoutes: [Route<IMS>] = [
        Route(
            "issuers.create", .post(issuers), access: .operator, evidence: .ours,
            source: "onboarding: security page, Backend Setup; the call ours", secrets: keySecrets,
            bodyLimit: longBody / 4,
            handler: createIssuer),
        Route(
            "issuers.list", .get(issuers), access: .operator, evidence: .ours, source: "ours", secrets: keySecrets,
            handler: listIssuers),
        Route(
            "issuers.get", .get(issuers + "/{name}"), access: .operator, evidence: .ours, source: "ours",
            secrets: keySecrets, handler: readIssuer),
        Route(
            "issuers.replace", .put(issuers + "/{name}"), access: .operator, evidence: .ours, source: "ours",
            secrets: keySecrets, bodyLimit: longBody / 4, handler: replaceIssuer),
        Route(
            "issuers.refresh", .post(issuers + "/{name}/refresh"), access: .operator, evidence: .ours, source: "ours",
            secrets: keySecrets, handler: refreshIssuer),
        Route(
            "issuers.delete", .delete(issuers + "/{name}"), access: .operator, evidence: .ours, source: "ours",
            secrets: keySecrets, handler: deleteIssuer),
    ]

    private static let userRoutes: [Route<IMS>] = [
        Route(
            "users.enroll", .post(users), access: .operator, evidence: .ours,
            source: "enrollment: security page and site; the call ours", secrets: secrets, handler: enrollUser),
        Route(
            "users.import", .post(users + "/import"), access: .operator, evidence: .ours,
            source: "enrollment by file: site; the call ours", secrets: secrets, bodyLimit: longBody,
            handler: importUsers),
        Route(
            "users.list", .get(users), access: .operator, evidence: .ours, source: "ours",
            secrets: secrets, handler: listUsers),
        Route(
            "users.get", .get(users + "/{id}"), access: .operator, evidence: .ours, source: "ours",
            secrets: secrets, handler: readUser),
        Route(
            "users.activate", .post(users + "/{id}/activate"), access: .operator, evidence: .ours,
            source: "the states: site; the call ours", secrets: secrets, handler: activateUser),
        Route(
            "users.deactivate", .post(users + "/{id}/deactivate"), access: .operator, evidence: .ours,
            source: "the states: site; the call ours", secrets: secrets, handler: deactivateUser),
        Route(
            "users.new-code", .post(users + "/{id}/activation-code"), access: .operator, evidence: .ours,
            source: "ours", secrets: secrets, handler: renewCode),
    ]

    private static let ownRoutes: [Route<IMS>] = [
        Route(
            "activation.submit", .post("/ims/v1/activation"), access: .token, evidence: .ours,
            source: "activation through the SDK: site; the call ours", secrets: secrets,
            handler: submitActivation),
        Route(
            "me.get", .get("/ims/v1/me"), access: .user, evidence: .ours,
            source: "user information: site; the call ours", handler: forUser(readMe)),
        Route(
            "me.update", .patch("/ims/v1/me"), access: .user, evidence: .ours,
            source: "user information: site; the call ours", handler: forUser(updateMe)),
        Route(
            "trips.upload", .post("/ims/v1/trips"), access: .user, evidence: .ours,
            source: "submitting trips: site; the call ours", bodyLimit: longBody, handler: forUser(uploadTrip)),
        Route(
            "trips.list", .get("/ims/v1/trips"), access: .user, evidence: .ours,
            source: "that trips can be read is inferred from the site; the call ours",
            handler: forUser(listTrips)),
        Route(
            "trips.get", .get("/ims/v1/trips/{trip_id}"), access: .user, evidence: .ours,
            source: "that trips can be read is inferred from the site; the call ours", handler: forUser(readTrip)),
        Route(
            "summary.get", .get("/ims/v1/driving-summary"), access: .user, evidence: .ours,
            source: "portal section: site; the call ours", handler: forUser(readSummary)),
        Route(
            "invitations.send", .post("/ims/v1/invitations"), access: .user, evidence: .ours,
            source: "SDK call: site; the request ours", handler: forUser(sendInvitation)),
        Route(
            "invitations.list", .get("/ims/v1/invitations"), access: .user, evidence: .ours,
            source: "SDK call: site; the request ours", handler: forUser(listInvitations)),
    ]

    private static let devRoutes: [Route<IMS>] = [
        Route(
            "dev-issuer.jwks", .get("/ims/dev-issuers/{name}/jwks.json"),
            .get("/ims/dev-issuers/{name}/.well-known/jwks.json"), access: .open, evidence: .ours, source: "ours",
            handler: publishKeySet),
        Route(
            "dev-issuer.certs", .get("/ims/dev-issuers/{name}/certs"), access: .open, evidence: .ours, source: "ours",
            handler: publishCertificates),
    ]
}

/// What an IMS route demands of its caller.
enum IMSAccess: Sendable {
    /// The operator key, which stands for the people who onboard and enroll.
    case `operator`
    /// A token of an issuer, whatever its `sub`.
    case token
    /// A token whose `sub` is an active user.
    case user
    /// Nothing.
    case open
}

/// A request to IMS with what is known about its sender.
typealias IMSCall = Call<IMS>
/// A request to IMS that has found its route.
typealias IMSArrival = Arrival<IMS>
