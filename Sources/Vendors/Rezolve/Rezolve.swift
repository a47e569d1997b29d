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
final class Rezolve: RecordedVendor {
    typealias Switches = RezolveSwitches

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
        repeatedSlashes: .collapse, ignoresTrailingSlash: true,
        // ours: the vendor's bodies have a few hundred bytes, and a sandbox keeps their content.
        bodyLimit: 64 * 1024,
        unreadFields: ["x-rezolve-", "x-rezolve-partner-apikey", "x-rezolve-device-id"])

    /// Prefixes of the commerce part. Source: older docs and samples; not offering them is ours.
    private static let commerce = [
        "/api/v2/partner", "/api/v3/partner", "/api/v4/partner", "/api/v1/device", "/api/v1/search",
        "/api/v3/external/callback", "/admin/inventory",
    ]

    static let routeNotOffered = RezolveFailure.routeNotOffered
    static let notOffered: [(prefixes: [String], reason: String)] = [
        (
            commerce,
            "belongs to the commerce part of Rezolve, which is not emulated; expected a path that "
                + "“understudy routes” lists"
        )
    ]

    private static let customer = "/api/v1/partner/{partner}/customer/{entity}"

    /// Calls of a partner's server, of a customer, of a sample app that signs in, and of its user's session.
    private static let ofServer = group(
        access: .registration(alsoRenews: false), evidence: .documented, source: "wiki")
    private static let ofCustomer = group(access: .customer, evidence: .observed, source: "QA tests")
    private static let signIn = group(access: .signIn, evidence: .observed, source: "QA tests")
    private static let inSession = group(
        access: .session(acceptsExpired: false), evidence: .observed, source: "QA tests")

    static let routes = registrationRoutes + bookRoutes + walletRoutes + signInRoutes

    private static let registrationRoutes = [
        ofServer.route(
            "register", .post("/api/v1/authentication/register"), access: .registration(alsoRenews: true),
            source: "JWT page; status inferred", secrets: ["access_token"], handler: register),
        ofServer.route("register-v2", .post("/api/v2/authentication/register"), handler: register),
        ofServer.route(
            "guest.register", .post("/api/v2/authentication/register/guest"), access: .guestRegistration,
            handler: registerGuest),
        ofServer.route(
            "guest.login", .post("/api/v2/authentication/login/guest"), access: .guestLogin,
            source: "wiki; which JWT ours", handler: logInGuest),
        ofCustomer.route("publickey.get", .get(customer + "/publickey"), handler: forCustomer(readPublicKey)),
        ofCustomer.route("profile.get", .get(customer + "/profile"), handler: forCustomer(reading: readProfile)),
        ofCustomer.route("profile.update", .put(customer + "/profile"), handler: forCustomer(updateProfile)),
    ]

    private static let bookRoutes = [
        ofCustomer.route(
            "phonebook.list", .get(customer + "/phonebook"), handler: forCustomer(reading: RezolvePhone.list)),
        ofCustomer.route("phonebook.create", .post(customer + "/phonebook"), handler: forCustomer(RezolvePhone.create)),
        ofCustomer.route(
            "phonebook.get", .get(customer + "/phonebook/{id}"), evidence: .ours, source: "ours",
            handler: forCustomer(reading: RezolvePhone.read)),
        ofCustomer.route(
            "phonebook.update", .put(customer + "/phonebook/{id}"), handler: forCustomer(RezolvePhone.update)),
        ofCustomer.route(
            "phonebook.delete", .delete(customer + "/phonebook/{id}"), handler: forCustomer(RezolvePhone.delete)),
        ofCustomer.route(
            "addressbook.list", .get(customer + "/addressbook"), source: "QA tests; the call: JWT page",
            handler: forCustomer(reading: RezolveAddress.list)),
        ofCustomer.route(
            "addressbook.create", .post(customer + "/addressbook"), handler: forCustomer(RezolveAddress.create)),
        ofCustomer.route(
            "addressbook.get", .get(customer + "/addressbook/{id}"), evidence: .inferred,
            source: "older docs: SDK call get", handler: forCustomer(reading: RezolveAddress.read)),
        ofCustomer.route(
            "addressbook.update", .put(customer + "/addressbook/{id}"), evidence: .inferred,
            source: "older docs: SDK call update", handler: forCustomer(RezolveAddress.update)),
        ofCustomer.route(
            "addressbook.delete", .delete(customer + "/addressbook/{id}"), handler: forCustomer(RezolveAddress.delete)),
    ]

    private static let walletRoutes = [
        ofCustomer.route("wallet.list", .get(customer + "/wallet"), handler: forCustomer(reading: RezolveCard.list)),
        ofCustomer.route(
            "wallet.create", .post(customer + "/wallet"), secrets: ["pan"], handler: forCustomer(RezolveCard.create)),
        ofCustomer.route(
            "wallet.get", .get(customer + "/wallet/{id}"), evidence: .inferred, source: "older docs: SDK call get",
            handler: forCustomer(reading: RezolveCard.read)),
        ofCustomer.route(
            "wallet.update", .put(customer + "/wallet/{id}"), secrets: ["pan"], handler: forCustomer(RezolveCard.update)
        ),
        ofCustomer.route("wallet.delete", .delete(customer + "/wallet/{id}"), handler: forCustomer(RezolveCard.delete)),
    ]

    private static let signInRoutes = [
        signIn.route("rua.register", .post("/v2/credentials/register"), secrets: ["password"], handler: registerUser),
        signIn.route(
            "rua.confirm", .get("/v1/credentials/confirm/{code}/{user}"), source: "load scripts of the vendor",
            handler: confirmUser),
        signIn.route(
            "rua.login", .post("/v2/credentials/login"), source: "Android sample, iOS sample, QA tests",
            secrets: ["password"], handler: logIn),
        inSession.route(
            "rua.ping", .get("/v2/credentials/ping"), access: .session(acceptsExpired: true),
            source: "use: JWT page; path: Android sample", secrets: ["accessToken"], handler: ping),
        signIn.route("rua.guest", .post("/v2/credentials/register/guest"), handler: guest),
        signIn.route("rua.forgot", .post("/v1/credentials/forget"), handler: forgotPassword),
        inSession.route(
            "rua.details", .put("/v1/user/details"), evidence: .ours,
            source: "that details are updated: JWT page, onUserDetailsUpdateSuccess; path and members ours",
            handler: changeDetails),
        inSession.route(
            "rua.password", .post("/v1/user/password"), secrets: ["currentPassword", "newPassword"],
            handler: changePassword),
        inSession.route("rua.logout", .post("/v1/user/logout"), handler: logOut),
    ]
}

/// What a Rezolve route demands of its caller.
enum RezolveAccess: Sendable {
    /// A registration JWT, signed by the partner that the api key names; or the renewal of the JWT page's iOS sample.
    case registration(alsoRenews: Bool)
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

extension Rezolve {
    static func security(of access: RezolveAccess) -> [[SecurityScheme]] {
        let (key, token) = (SecurityScheme.key("x-rezolve-partner-apikey"), SecurityScheme.bearer)
        return switch access {
        case .registration(alsoRenews: true): [[key, token], []]
        case .registration, .customer, .guestLogin: [[key, token]]
        case .guestRegistration, .signIn: [[key], []]
        case .session: [[token], [key, token]]
        }
    }
}

/// A request to Rezolve with what is known about its sender.
typealias RezolveCall = Call<Rezolve>
/// A request to Rezolve that has found its route.
typealias RezolveArrival = Arrival<Rezolve>
