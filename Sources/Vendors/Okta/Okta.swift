package import Emulation
import Wire

extension VendorLoader {
    /// Okta, an issuer of tokens that apps sign in to.
    package static let okta = VendorLoader(Okta.self)
}

/// Okta: an organization with its authorization servers, the part of its management API that tests need, and the signed
/// answers of its authenticator app.
///
/// Implicit and hybrid flows, CIBA, the Interaction Code flow, SAML, dynamic registration and the rest of the management
/// API are not emulated; discovery names only what is served.
final class Okta: Vendor {
    typealias State = OktaState
    typealias Failure = OktaFailure
    typealias Switches = OktaSwitches
    typealias Access = OktaAccess
    typealias Credentials = OktaCredentials
    typealias AuthenticationContext = [String: IssuerKeys]

    let accounts: OktaAccounts
    let pages: OktaPages
    /// Made once: sandboxes share it until they change it.
    let initialState: OktaState
    let recentTokens = RecentReadings<OktaToken>()

    init(fixtures: VendorFixtures) throws(FixtureProblem) {
        accounts = try OktaAccounts(fixtures)
        pages = try OktaPages(fixtures)
        initialState = OktaState(accounts)
    }

    static let identity = VendorIdentity(
        id: "okta", title: "Okta",
        prefixes: [
            "/oauth2", "/.well-known/openid-configuration", "/.well-known/oauth-authorization-server", "/login",
            "/activate", "/api/v1/authn", "/api/v1/users",
        ],
        // Both are ours.
        pathRules: PathRules(repeatedSlashes: .collapseLeading, ignoresTrailingSlash: false),
        // ours: forms have a few kilobytes, and a sandbox keeps the content of some.
        bodyLimit: 64 * 1024)

    static let unrouted = UnroutedFailures<OktaFailure>(
        routeNotFound: .pathNotFound, methodNotAllowed: .methodNotAllowed, bodyTooLarge: .bodyTooLarge)

    var secretTexts: [String] {
        [accounts.apiToken] + accounts.clients.all.compactMap(\.secret) + accounts.users.compactMap(\.password)
            + accounts.factors.compactMap(\.secret)
    }

    func secrets(in state: OktaState) -> SecretLedger { state.users.secrets }
}

/// What an Okta route demands of its caller.
enum OktaAccess: Sendable {
    case open
    /// A client that authenticates itself, or a public one that says its id.
    case client
    /// An access token of the server that the path names.
    case bearer
    /// The organization's API token, or an access token of the org server with that scope.
    case api(scope: String)
    /// A token signed by the device of a factor.
    case device
}

/// A request to Okta with what is known about its sender.
typealias OktaCall = Call<Okta>
/// A request to Okta that has found its route.
typealias OktaArrival = Arrival<Okta>
