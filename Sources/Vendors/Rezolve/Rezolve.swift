package import Emulation
import Wire

extension VendorLoader {
    /// Rezolve with its sample sign-in server RUA.
    package static let rezolve = VendorLoader(Rezolve.self)
}

/// Rezolve, a commerce backend behind a mobile SDK, and RUA, the sign-in server that Rezolve hosts for samples.
///
/// Emulates registration, key pair, profile, phone book, address book and wallet of a customer, guests, and RUA. The
/// commerce part (carts, orders, products) is not emulated: its prefixes answer `route-not-offered`.
final class Rezolve: Vendor, MintsTokens {
    typealias State = RezolveState
    typealias Failure = RezolveFailure
    typealias Switches = RezolveSwitches
    typealias Access = RezolveAccess
    typealias Credentials = RezolveFacts

    let accounts: RezolveAccounts
    /// Made once: sandboxes share it until they change it.
    let initialState: RezolveState
    let recentTokens = RecentReadings<RezolveToken>()

    init(fixtures: VendorFixtures) throws(FixtureProblem) {
        accounts = try RezolveAccounts(fixtures)
        initialState = RezolveState(accounts)
    }

    static let identity = VendorIdentity(
        id: "rezolve", title: "Rezolve",
        prefixes: [
            "/api/v1/authentication", "/api/v2/authentication", "/api/v1/partner",
            "/v1/credentials", "/v2/credentials", "/v1/user",
        ] + commerce,
        // Collapsing is observed: the vendor's tests send `phonebook//{id}`. The trailing slash is ours.
        pathRules: PathRules(repeatedSlashes: .collapse, ignoresTrailingSlash: true),
        // ours: the vendor's bodies have a few hundred bytes, and a sandbox keeps their content.
        bodyLimit: 64 * 1024)

    /// Prefixes of the commerce part. Source: older docs and samples; not offering them is ours.
    private static let commerce = [
        "/api/v2/partner", "/api/v3/partner", "/api/v4/partner", "/api/v1/device", "/api/v1/search",
        "/api/v3/external/callback", "/admin/inventory",
    ]

    /// A known path with another method answers 404, never 405 (observed).
    static let unrouted = UnroutedFailures<RezolveFailure>(
        routeNotFound: .routeNotFound, methodNotAllowed: .routeNotFound, bodyTooLarge: .bodyTooLarge,
        notOffered: UnofferedPart(
            prefixes: commerce, failure: .routeNotOffered,
            reason:
                "belongs to the commerce part of Rezolve, which is not emulated; expected a path that “understudy routes” lists"
        ))

    private static let customer = "/api/v1/partner/{partner}/customer/{entity}"

    static let routes: [Route<Rezolve>] = registrationRoutes + bookRoutes + walletRoutes + signInRoutes

    private static let registrationRoutes: [Route<Rezolve>] = [
        Route(
            "register", .post("/api/v1/authentication/register"), access: .registration, evidence: .documented,
            source: "JWT page; status inferred", secrets: ["access_token"], handler: register),
        Route(
            "register-v2", .post("/api/v2/authentication/register"), access: .registration, evidence: .documented,
            source: "wiki", handler: register),
        Route(
            "guest.register", .post("/api/v2/authentication/register/guest"), access: .guestRegistration,
            evidence: .documented, source: "wiki", handler: registerGuest),
        Route(
            "guest.login", .post("/api/v2/authentication/login/guest"), access: .guestLogin, evidence: .documented,
            source: "wiki; which JWT ours", handler: logInGuest),
        Route(
            "publickey.get", .get(customer + "/publickey"), access: .customer, evidence: .observed, source: "QA tests",
            handler: forCustomer(readPublicKey)),
        Route(
            "profile.get", .get(customer + "/profile"), access: .customer, evidence: .observed, source: "QA tests",
            handler: forCustomer(reading: readProfile)),
        Route(
            "profile.update", .put(customer + "/profile"), access: .customer, evidence: .observed, source: "QA tests",
            handler: forCustomer(updateProfile)),
    ]

    private static let bookRoutes: [Route<Rezolve>] = [
        Route(
            "phonebook.list", .get(customer + "/phonebook"), access: .customer, evidence: .observed, source: "QA tests",
            handler: forCustomer(reading: RezolvePhone.list)),
        Route(
            "phonebook.create", .post(customer + "/phonebook"), access: .customer, evidence: .observed,
            source: "QA tests",
            handler: forCustomer(RezolvePhone.create)),
        Route(
            "phonebook.get", .get(customer + "/phonebook/{id}"), access: .customer, evidence: .ours, source: "ours",
            handler: forCustomer(reading: RezolvePhone.read)),
        Route(
            "phonebook.update", .put(customer + "/phonebook/{id}"), access: .customer, evidence: .observed,
            source: "QA tests", handler: forCustomer(RezolvePhone.update)),
        Route(
            "phonebook.delete", .delete(customer + "/phonebook/{id}"), access: .customer, evidence: .observed,
            source: "QA tests", handler: forCustomer(RezolvePhone.delete)),
        Route(
            "addressbook.list", .get(customer + "/addressbook"), access: .customer, evidence: .observed,
            source: "QA tests; the call: JWT page", handler: forCustomer(reading: RezolveAddress.list)),
        Route(
            "addressbook.create", .post(customer + "/addressbook"), access: .customer, evidence: .observed,
            source: "QA tests", handler: forCustomer(RezolveAddress.create)),
        Route(
            "addressbook.get", .get(customer + "/addressbook/{id}"), access: .customer, evidence: .inferred,
            source: "older docs: SDK call get", handler: forCustomer(reading: RezolveAddress.read)),
        Route(
            "addressbook.update", .put(customer + "/addressbook/{id}"), access: .customer, evidence: .inferred,
            source: "older docs: SDK call update", handler: forCustomer(RezolveAddress.update)),
        Route(
            "addressbook.delete", .delete(customer + "/addressbook/{id}"), access: .customer, evidence: .observed,
            source: "QA tests", handler: forCustomer(RezolveAddress.delete)),
    ]

    private static let walletRoutes: [Route<Rezolve>] = [
        Route(
            "wallet.list", .get(customer + "/wallet"), access: .customer, evidence: .observed, source: "QA tests",
            handler: forCustomer(reading: RezolveCard.list)),
        Route(
            "wallet.create", .post(customer + "/wallet"), access: .customer, evidence: .observed, source: "QA tests",
            secrets: ["pan"], handler: forCustomer(RezolveCard.create)),
        Route(
            "wallet.get", .get(customer + "/wallet/{id}"), access: .customer, evidence: .inferred,
            source: "older docs: SDK call get", handler: forCustomer(reading: RezolveCard.read)),
        Route(
            "wallet.update", .put(customer + "/wallet/{id}"), access: .customer, evidence: .observed,
            source: "QA tests",
            secrets: ["pan"], handler: forCustomer(RezolveCard.update)),
        Route(
            "wallet.delete", .delete(customer + "/wallet/{id}"), access: .customer, evidence: .observed,
            source: "QA tests", handler: forCustomer(RezolveCard.delete)),
    ]

    private static let signInRoutes: [Route<Rezolve>] = [
        Route(
            "rua.register", .post("/v2/credentials/register"), access: .signIn, evidence: .observed, source: "QA tests",
            secrets: ["password"], handler: registerUser),
        Route(
            "rua.confirm", .get("/v1/credentials/confirm/{code}/{user}"), access: .signIn, evidence: .observed,
            source: "load scripts of the vendor", handler: confirmUser),
        Route(
            "rua.login", .post("/v2/credentials/login"), access: .signIn, evidence: .observed,
            source: "Android sample, iOS sample, QA tests", secrets: ["password"], handler: logIn),
        Route(
            "rua.ping", .get("/v2/credentials/ping"), access: .session(acceptsExpired: true), evidence: .observed,
            source: "use: JWT page; path: Android sample", secrets: ["accessToken"], handler: ping),
        Route(
            "rua.guest", .post("/v2/credentials/register/guest"), access: .signIn, evidence: .observed,
            source: "QA tests",
            handler: guest),
        Route(
            "rua.forgot", .post("/v1/credentials/forget"), access: .signIn, evidence: .observed, source: "QA tests",
            handler: forgotPassword),
        Route(
            "rua.details", .put("/v1/user/details"), access: .session(acceptsExpired: false), evidence: .ours,
            source: "that details are updated: JWT page, onUserDetailsUpdateSuccess; path and members ours",
            handler: changeDetails),
        Route(
            "rua.password", .post("/v1/user/password"), access: .session(acceptsExpired: false), evidence: .observed,
            source: "QA tests", secrets: ["currentPassword", "newPassword"], handler: changePassword),
        Route(
            "rua.logout", .post("/v1/user/logout"), access: .session(acceptsExpired: false), evidence: .observed,
            source: "QA tests", handler: logOut),
    ]
}

/// What a Rezolve route demands of its caller.
enum RezolveAccess: Sendable {
    /// A registration JWT, signed by the partner that the api key names.
    case registration
    /// A JWT of the customer in the path.
    case customer
    /// An api key, optional while there is exactly one partner.
    case guestRegistration
    /// Any registration JWT of the partner, or a login JWT of the guest.
    case guestLogin
    /// RUA: an api key, optional while there is exactly one partner.
    case signIn
    /// RUA: the token of a session.
    case session(acceptsExpired: Bool)
}

/// A request to Rezolve with what is known about its sender.
typealias RezolveCall = Call<Rezolve>
/// A request to Rezolve that has found its route.
typealias RezolveArrival = Arrival<Rezolve>
