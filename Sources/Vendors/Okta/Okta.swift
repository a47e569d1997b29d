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

/// Every failure of Okta; `failures.yaml` defines how each looks.
enum OktaFailure: String, RouteFailure {
    // MARK: - Paths, methods and bodies

    case asNotFound = "as-not-found", routeNotFound = "path-not-found", methodNotAllowed = "method-not-allowed"
    case mediaType = "media-type", bodyMalformed = "body-malformed", bodyInvalid = "body-invalid"
    case bodyTooLarge = "body-too-large", rateLimited = "rate-limited", userRateLimited = "user-rate-limited"
    case internalError = "internal-error"

    // MARK: - Client authentication

    case clientCredentialsMissing = "client-credentials-missing"
    case clientCredentialsUnreadable = "client-credentials-unreadable", clientUnknown = "client-unknown"
    case clientSecretWrong = "client-secret-wrong", clientMethodWrong = "client-method-wrong"
    case clientCredentialsMultiple = "client-credentials-multiple"
    case clientCredentialsInQuery = "client-credentials-in-query", assertionTypeInvalid = "assertion-type-invalid"
    case assertionMalformed = "assertion-malformed", assertionAlgorithm = "assertion-algorithm"
    case assertionIssuer = "assertion-issuer", assertionSubject = "assertion-subject", assertionKey = "assertion-key"
    case assertionSecretShort = "assertion-secret-short", assertionSignature = "assertion-signature"
    case assertionAudience = "assertion-audience", assertionNoExpiry = "assertion-no-expiry"
    case assertionExpired = "assertion-expired", assertionTooFar = "assertion-too-far"
    case assertionIATFuture = "assertion-iat-future", assertionReplayed = "assertion-replayed"

    // MARK: - Token requests

    case parameterDuplicate = "parameter-duplicate", grantTypeMissing = "grant-type-missing"
    case grantTypeUnsupported = "grant-type-unsupported", grantTypeNotAllowed = "grant-type-not-allowed"
    case parameterMissing = "parameter-missing", orgClientMethod = "org-client-method"
    case orgClientType = "org-client-type", orgScopes = "org-scopes", codeInvalid = "code-invalid"
    case codeOtherClient = "code-other-client", codeOtherServer = "code-other-server"
    case redirectURIMismatch = "redirect-uri-mismatch", pkceVerifierMissing = "pkce-verifier-missing"
    case pkceFailed = "pkce-failed", pkceNotBegun = "pkce-not-begun", refreshTokenInvalid = "refresh-token-invalid"
    case refreshScopeDenied = "refresh-scope-denied", passwordWrong = "password-wrong"
    case passwordExpired = "password-expired", scopeUnknown = "scope-unknown"
    case scopeOpenidService = "scope-openid-service", scopeMissing = "scope-missing"
    case scopeOpenidRequired = "scope-openid-required", consentRequiredService = "consent-required-service"

    // MARK: - Authorize

    case redirectURIMissing = "redirect-uri-missing", redirectURIIllegal = "redirect-uri-illegal"
    case stateInvalid = "state-invalid", responseTypeUnsupported = "response-type-unsupported"
    case responseModeUnsupported = "response-mode-unsupported", pkceChallengeMissing = "pkce-challenge-missing"
    case pkceChallengeIllegal = "pkce-challenge-illegal", pkceMethodUnsupported = "pkce-method-unsupported"
    case promptInvalid = "prompt-invalid", loginRequired = "login-required", accessDenied = "access-denied"
    case userNotAssigned = "user-not-assigned", policyNotMatched = "policy-not-matched", acrUnmet = "acr-unmet"
    case maxAgeInvalid = "max-age-invalid", maxAgeNone = "max-age-none"
    case reauthenticationRequired = "reauthentication-required", consentRequired = "consent-required"
    case serverError = "server-error", temporarilyUnavailable = "temporarily-unavailable"

    // MARK: - Pushed authorization requests

    case parRequestURIPresent = "par-request-uri-present", requestObjectUnsupported = "request-object-unsupported"
    case requestURIInvalid = "request-uri-invalid", requestURIClient = "request-uri-client"
    case requestURIServer = "request-uri-server", parRequired = "par-required"

    // MARK: - Sign-in page

    case loginUnknown = "login-unknown", loginForged = "login-forged", loginWrong = "login-wrong"
    case loginClaimsInvalid = "login-claims-invalid"

    // MARK: - Introspection, revocation, userinfo and logout

    case tokenParameterMissing = "token-parameter-missing", accessTokenMissing = "access-token-missing"
    case accessTokenInQuery = "access-token-in-query", accessTokenInvalid = "access-token-invalid"
    case accessTokenExpired = "access-token-expired", accessTokenRevoked = "access-token-revoked"
    case scopeInsufficient = "scope-insufficient", idTokenHintMissing = "id-token-hint-missing"
    case idTokenHintInvalid = "id-token-hint-invalid", postLogoutURIIllegal = "post-logout-uri-illegal"

    // MARK: - Device authorization

    case deviceCodeInvalid = "device-code-invalid", deviceCodeExpired = "device-code-expired"
    case deviceDenied = "device-denied", deviceSlowDown = "device-slow-down", devicePending = "device-pending"
    case userCodeInvalid = "user-code-invalid", userCodesTooMany = "user-codes-too-many"

    // MARK: - DPoP

    case dpopMissing = "dpop-missing", dpopMultiple = "dpop-multiple", dpopMalformed = "dpop-malformed"
    case dpopTyp = "dpop-typ", dpopAlgorithm = "dpop-algorithm", dpopKey = "dpop-key", dpopSignature = "dpop-signature"
    case dpopHTM = "dpop-htm", dpopHTU = "dpop-htu", dpopIAT = "dpop-iat", dpopFuture = "dpop-future"
    case dpopTooOld = "dpop-too-old", dpopExpired = "dpop-expired", dpopNonce = "dpop-nonce", dpopJTI = "dpop-jti"
    case dpopReplayed = "dpop-replayed", dpopRefreshKey = "dpop-refresh-key", dpopScheme = "dpop-scheme"
    case dpopProofRequired = "dpop-proof-required", dpopNotBound = "dpop-not-bound", dpopATH = "dpop-ath"
    case dpopKeyMismatch = "dpop-key-mismatch"

    // MARK: - Direct authentication

    case mfaRequired = "mfa-required", mfaNotPossible = "mfa-not-possible"
    case directGrantsInsufficient = "direct-grants-insufficient", directOTPWrong = "direct-otp-wrong"
    case directOOBPending = "direct-oob-pending", directOOBRejected = "direct-oob-rejected"
    case directExpired = "direct-expired", directNotAssociated = "direct-not-associated"
    case directScopeHere = "direct-scope-here", directClient = "direct-client", directServer = "direct-server"
    case directScope = "direct-scope", directFactorUnusable = "direct-factor-unusable"
    case directHintMissing = "direct-hint-missing", directUserUnknown = "direct-user-unknown"
    case directChannel = "direct-channel", directChallengeHint = "direct-challenge-hint"
    case directChallengeType = "direct-challenge-type", interactNotEnabled = "interact-not-enabled"

    // MARK: - Token exchange

    case exchangeSubject = "exchange-subject", exchangeSubjectType = "exchange-subject-type"
    case exchangeActor = "exchange-actor", exchangeActorType = "exchange-actor-type"
    case exchangeRequestedType = "exchange-requested-type", exchangeSubjectExpired = "exchange-subject-expired"
    case exchangeAudience = "exchange-audience", exchangeNotTrusted = "exchange-not-trusted"
    case exchangeNotService = "exchange-not-service", exchangeOpenid = "exchange-openid", exchangeOrg = "exchange-org"

    // MARK: - Requests of browsers

    case originNotRedirect = "origin-not-redirect", originNotTrusted = "origin-not-trusted"
    case browserNeedsPKCE = "browser-needs-pkce"

    // MARK: - Sign-in by API, users and factors

    case authnFailed = "authn-failed", authnState = "authn-state", stateTokenInvalid = "state-token-invalid"
    case recoveryForbidden = "recovery-forbidden", recoveryUserUnknown = "recovery-user-unknown"
    case recoveryAnswerWrong = "recovery-answer-wrong", apiTokenInvalid = "api-token-invalid"
    case accessDeniedAPI = "access-denied-api", userNotFound = "user-not-found", groupNotFound = "group-not-found"
    case sessionNotFound = "session-not-found", sessionInvalid = "session-invalid", factorNotFound = "factor-not-found"
    case transactionNotFound = "transaction-not-found", userExists = "user-exists", userStatus = "user-status"
    case searchInvalid = "search-invalid", credentialsRefused = "credentials-refused"
    case unlockForbidden = "unlock-forbidden", userOperationForbidden = "user-operation-forbidden"
    case userAlreadyActive = "user-already-active", subIDInvalid = "sub-id-invalid"
    case factorCodeWrong = "factor-code-wrong", factorCodeUsed = "factor-code-used"

    // MARK: - Answers to push challenges

    case sswsMissing = "ssws-missing", sswsMalformed = "ssws-malformed", sswsAlgorithm = "ssws-algorithm"
    case sswsFactor = "ssws-factor", sswsSignature = "ssws-signature", sswsClaims = "ssws-claims"
    case sswsSubject = "ssws-subject", sswsAudience = "ssws-audience", sswsExpired = "ssws-expired"
    case sswsNotYetValid = "ssws-not-yet-valid", sswsLifetime = "ssws-lifetime", sswsReplayed = "ssws-replayed"
    case transactionClosed = "transaction-closed"
}

protocol OktaRuleFacts: RuleFacts where Failure == OktaFailure {}
