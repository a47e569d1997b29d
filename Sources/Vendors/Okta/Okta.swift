package import Emulation
import OktaValidator
import Tokens
import Wire

extension VendorLoader {
    /// Okta, an issuer of tokens that apps sign in to.
    package static let okta = VendorLoader(Okta.self)
}

/// Okta: an organization with its authorization servers, the part of its management API that tests need, and the signed
/// answers of its authenticator app.
///
/// Implicit and hybrid flows, CIBA, the Interaction Code flow, SAML, dynamic registration and the rest of the management
/// API are not emulated: discovery does not name them, and the journal says so of their paths.
final class Okta: Vendor {
    typealias State = OktaState
    typealias Failure = OktaFailure
    typealias Switches = OktaSwitches
    typealias Access = OktaAccess
    typealias Credentials = OktaCredentials
    typealias AuthenticationContext = OktaContext

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
            "/activate", "/api/v1/authn", "/api/v1/groups", "/api/v1/sessions", "/api/v1/users",
        ] + notOffered.flatMap(\.prefixes).filter { !$0.hasPrefix("/oauth2") },
        // ours: forms have a few kilobytes, and a sandbox keeps the content of some.
        bodyLimit: 64 * 1024, accountLists: ["trusted_origins", "groups", "users", "factors", "clients"],
        readsForms: true, unreadFields: unreadFields, unreadParameters: unreadParameters)

    /// What Okta has there instead of nothing. Source: api; widget and authjs for the first two.
    static let notOffered: [(prefixes: [String], reason: String)] = [
        (
            ["/idp", "/.well-known/okta-organization", "/.well-known/webfinger"],
            "belongs to Okta's Identity Engine, which is not emulated; expected a sign-in by redirect, at authorize, or by direct "
                + "authentication, at primary-authenticate"
        ),
        (
            [
                "/.well-known/jwks.json", "/oauth2/{server}/.well-known/jwks.json",
                "/.well-known/openid-configuration/oauth2",
            ],
            "is a place of other issuers; expected /oauth2/{server}/.well-known/openid-configuration, which names jwks_uri"
        ),
        (["/oauth2/v1/clients"], "registers clients at Okta, which is not emulated; expected clients in accounts.yaml"),
        (
            managementResources.map { "/api/v1/" + $0 },
            "belongs to Okta's management API, of which sessions, users, factors and groups are emulated; expected what "
                + "accounts.yaml and the actions of Okta can set up"
        ),
    ]

    private static let managementResources = [
        "agentPools", "api-tokens", "apps", "authenticators", "authorizationServers", "behaviors", "brands", "captchas",
        "device-assurances", "devices", "domains", "email-domains", "eventHooks", "features", "iam", "idps",
        "inlineHooks", "logStreams", "logs", "mappings", "meta", "org", "policies", "principal-rate-limits",
        "push-providers", "rate-limit-settings", "realms", "risk", "roles", "security-events-providers", "ssf",
        "templates", "threats", "trustedOrigins", "zones",
    ]

    var secretTexts: [String] {
        [accounts.apiToken] + accounts.clients.all.compactMap(\.secret) + accounts.users.compactMap(\.password)
            + accounts.factors.compactMap(\.secret)
    }

    func secrets(in state: OktaState) -> [SecretLedger] { [state.users.secrets, state.clients.secrets] }
}

/// What an Okta route demands of its caller.
enum OktaAccess: Sendable, Equatable {
    case open
    /// Anybody, without a rate limit: what all callers get alike.
    case published
    /// Anybody: browsers come by themselves, and get a page where a program gets JSON.
    case browser
    /// The same on the page for signing in, or its form.
    case signIn(isForm: Bool)
    /// A client that authenticates itself, or a public one that says its id.
    case client(OktaClientRoute)
    /// An access token of the server that the path names.
    case bearer
    /// The organization's API token, or an access token of the org server with that scope.
    case api(scope: String)
    /// A token signed by the device of a factor.
    case device
}

extension Okta {
    static func security(of access: OktaAccess) -> [[SecurityScheme]] {
        switch access {
        case .open, .published, .browser, .signIn: []
        // A client can also authenticate itself in its form, or be public.
        case .client: [[.authorization("basic")], []]
        case .bearer: [[.bearer], [.authorization("dpop")]]
        case .api: [[.authorization("SSWS")], [.bearer], [.authorization("dpop")]]
        case .device: [[.authorization("SSWS")]]
        }
    }
}

/// What a client calls a route for.
enum OktaClientRoute: Sendable {
    case tokens
    /// A token that it has.
    case tokenUse
    /// To send what otherwise a browser brings.
    case push
    case other
}

/// A request to Okta with what is known about its sender.
typealias OktaCall = Call<Okta>
/// A request to Okta that has found its route.
typealias OktaArrival = Arrival<Okta>

/// Actions on the organization without a client's request (all ours).
extension Okta {
    static let actions =
        deviceActions + originActions + clientActions + userActions + factorActions + consentActions + ruleActions
        + [drillKeys(of: "authorization server")]

    static let recordChecks = [
        "client-known", "client-secret", "assertion-key", "key-published", "api-token", "proof-nonce", "ssws-factor",
        "ssws-signature", "ssws-transaction", "subject-signature", "subject-user", "subject-session",
        "subject-device-secret",
    ]
    static let historyChecks = [
        "assertion-used", "token-revoked", "proof-replay", "ssws-jti-unused", "subject-revocation", "poll-interval",
        "rate-limit",
    ]
    static let keyChecks = ["signature"]

    static var rules: [RuleListing] {
        // A list, since the compiler gives up on a chain of so many `+` when the machine is busy.
        let lists: [[RuleListing]] = [
            clientRules.listing(of: identity.id, about: "client"),
            assertionUseRules.listing(of: identity.id, about: "client: use of an assertion"),
            OktaTokenRules.access.listing(of: identity.id, about: "access token"),
            OktaTokenRules.use.listing(of: identity.id, about: "access token: use"),
            apiRules.listing(of: identity.id, about: "caller of the management API"),
            apiAccessRules.listing(of: identity.id, about: "access token at the management API"),
            apiScopeRules.listing(of: identity.id, about: "access token at the management API: scope"),
            apiUseRules.listing(of: identity.id, about: "access token at the management API: use"),
            deviceFormRules.listing(of: identity.id, about: "token of a device: form"),
            deviceRules.listing(of: identity.id, about: "token of a device"),
            OktaProofRules.tokens.listing(of: identity.id, about: "proof at the token endpoint"),
            OktaProofRules.resources.listing(of: identity.id, about: "proof beside an access token"),
            OktaSubjectRules.access.listing(of: identity.id, about: "token to exchange"),
            OktaSubjectRules.native.listing(of: identity.id, about: "ID token beside a device secret"),
        ]
        return lists.flatMap(\.self)
    }

    /// The keys of a server in a sandbox; `nil` when there is no such server.
    ///
    /// - Throws: which file holds no key.
    func keys(of server: String, in state: OktaState) throws(ControlRefusal) -> IssuerKeys? {
        try keys(of: server, among: state.changedKeys)
    }

    /// The keys of a server, taken from the changed ones if they contain it.
    func keys(of server: String, among changed: [String: IssuerKeys]) throws(ControlRefusal) -> IssuerKeys? {
        if let keys = changed[server] { return keys }
        return try accounts.server(server)?.keys.initialKeys()
    }

    func issuers(in state: OktaState) -> [IssuerKeys] {
        // Minting reports a file without a key; here the server is skipped.
        accounts.servers.compactMap { (try? keys(of: $0.id, in: state)) ?? nil }
    }

    func store(_ keys: IssuerKeys, in state: inout OktaState) { state.changedKeys[keys.name] = keys }

    func spoil(_ token: inout UnsignedToken, _ defect: String, in state: OktaState) throws(ControlRefusal) -> Bool {
        guard let defect = OktaDefect(rawValue: defect) else { return false }
        let key = token.key
        let issuer = issuers(in: state).first { $0.published.contains { $0.key.thumbprint == key.thumbprint } }
        try defect.apply(to: &token, of: issuer)
        return true
    }

    // MARK: - What clients of Okta check before they trust a token: the rules of the validator

    static let checkers = [TokenChecker.okta]

    /// Inside the server, tokens are judged by the sandbox's own keys.
    func checkerSettings(in state: OktaState, _ switches: OktaSwitches) -> CheckerSettings {
        let keys = issuers(in: state).flatMap(\.published).map(\.key.verificationKey)
        return CheckerSettings(
            key: .set(keys), profile: switches.validatorProfile == .observed ? .observed : .documented)
    }
}
