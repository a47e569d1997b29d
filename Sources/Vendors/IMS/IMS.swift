package import Emulation
import Wire

extension VendorLoader {
    /// IMS, whose backend trusts the tokens of an app's own sign-in.
    package static let ims = VendorLoader(IMS.self)
}

/// IMS (DriveSync), a telematics backend behind a mobile SDK that receives the app's own RS256 tokens.
///
/// The vendor documents the token, how its keys are provided, the SDK's pre-check and the user lifecycle. It publishes
/// no path, body or status of its backend: those are one contract of Understudy's.
final class IMS: Vendor {
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
        // ours: bodies have a few hundred bytes, and a sandbox keeps their content. Trips and lists may be longer.
        bodyLimit: 64 * 1024, unreadFields: ["x-ims-", "x-ims-operator-key", "x-ims-device-id"])

    /// ours: an hour of points, a file of users, or a set of keys.
    private static let longBody = 1024 * 1024

    static let routes = issuerRoutes + userRoutes + ownRoutes + devRoutes

    /// What lets a sender act as an operator or activate a user.
    private static let secrets: Set<String> = ["activation_code", "x-ims-operator-key"]

    /// The same, and what may hold a private key sent by mistake: PEM texts, and members of JWKs (RFC 7518 section 6).
    private static let keySecrets = secrets.union(["pem", "certs", "d", "p", "q", "dp", "dq", "qi", "oth", "k"])

    private static let forIssuers = group(
        access: .operator, evidence: .ours, source: "ours", secrets: keySecrets)
    private static let forUsers = group(access: .operator, evidence: .ours, source: "ours", secrets: secrets)
    private static let ofUser = group(
        access: .user, evidence: .ours, source: "user information: site; the call ours")
    private static let open = group(access: .open, evidence: .ours, source: "ours")

    private static let issuers = "/ims/v1/issuers"
    private static let users = "/ims/v1/users"

    private static let issuerRoutes = [
        forIssuers.route(
            "issuers.create", .post(issuers), source: "onboarding: security page, Backend Setup; the call ours",
            bodyLimit: longBody / 4, handler: createIssuer),
        forIssuers.route("issuers.list", .get(issuers), handler: listIssuers),
        forIssuers.route("issuers.get", .get(issuers + "/{name}"), handler: readIssuer),
        forIssuers.route("issuers.replace", .put(issuers + "/{name}"), bodyLimit: longBody / 4, handler: replaceIssuer),
        forIssuers.route("issuers.refresh", .post(issuers + "/{name}/refresh"), handler: refreshIssuer),
        forIssuers.route("issuers.delete", .delete(issuers + "/{name}"), handler: deleteIssuer),
    ]

    private static let userRoutes = [
        forUsers.route(
            "users.enroll", .post(users), source: "enrollment: security page and site; the call ours",
            handler: enrollUser),
        forUsers.route(
            "users.import", .post(users + "/import"), source: "enrollment by file: site; the call ours",
            bodyLimit: longBody, handler: importUsers),
        forUsers.route("users.list", .get(users), handler: listUsers),
        forUsers.route("users.get", .get(users + "/{id}"), handler: readUser),
        forUsers.route(
            "users.activate", .post(users + "/{id}/activate"), source: "the states: site; the call ours",
            handler: activateUser),
        forUsers.route(
            "users.deactivate", .post(users + "/{id}/deactivate"), source: "the states: site; the call ours",
            handler: deactivateUser),
        forUsers.route("users.new-code", .post(users + "/{id}/activation-code"), handler: renewCode),
    ]

    private static let ownRoutes = [
        Route(
            "activation.submit", .post("/ims/v1/activation"), access: .token, evidence: .ours,
            source: "activation through the SDK: site; the call ours", secrets: secrets, handler: submitActivation),
        ofUser.route("me.get", .get("/ims/v1/me"), handler: forUser(readMe)),
        ofUser.route("me.update", .patch("/ims/v1/me"), handler: forUser(updateMe)),
        ofUser.route(
            "trips.upload", .post("/ims/v1/trips"), source: "submitting trips: site; the call ours",
            bodyLimit: longBody, handler: forUser(uploadTrip)),
        ofUser.route(
            "trips.list", .get("/ims/v1/trips"),
            source: "that trips can be read is inferred from the site; the call ours", handler: forUser(listTrips)),
        ofUser.route(
            "trips.get", .get("/ims/v1/trips/{trip_id}"),
            source: "that trips can be read is inferred from the site; the call ours", handler: forUser(readTrip)),
        ofUser.route(
            "summary.get", .get("/ims/v1/driving-summary"), source: "portal section: site; the call ours",
            handler: forUser(readSummary)),
        ofUser.route(
            "invitations.send", .post("/ims/v1/invitations"), source: "SDK call: site; the request ours",
            handler: forUser(sendInvitation)),
        ofUser.route(
            "invitations.list", .get("/ims/v1/invitations"), source: "SDK call: site; the request ours",
            handler: forUser(listInvitations)),
    ]

    private static let devRoutes = [
        open.route(
            "dev-issuer.jwks", .get("/ims/dev-issuers/{name}/jwks.json"),
            .get("/ims/dev-issuers/{name}/.well-known/jwks.json"), handler: publishKeySet),
        open.route("dev-issuer.certs", .get("/ims/dev-issuers/{name}/certs"), handler: publishCertificates),
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
    case open
}

extension IMS {
    static func security(of access: IMSAccess) -> [[SecurityScheme]] {
        switch access {
        case .operator: [[.key("x-ims-operator-key")]]
        case .token, .user: [[.bearer]]
        case .open: []
        }
    }
}

/// A request to IMS with what is known about its sender.
typealias IMSCall = Call<IMS>
/// A request to IMS that has found its route.
typealias IMSArrival = Arrival<IMS>
