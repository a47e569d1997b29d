import Emulation

/// Documented and observed differences in Okta's behaviour.
struct OktaSwitches: VendorSwitches {
    enum ValidatorProfile: String, CaseIterable { case documented, observed }
    enum SSWSProfile: String, CaseIterable { case oktaVerify = "okta-verify", devices }
    enum AccessTokenSubject: String, CaseIterable { case login, userID = "user-id" }
    enum LoginMode: String, CaseIterable { case auto, page }
    enum KeysCacheControl: String, CaseIterable { case long, short, none }
    enum OffOn: String, CaseIterable { case off, on }
    enum PKCE: String, CaseIterable { case perClient = "per-client", always, never }
    enum RefreshRotation: String, CaseIterable { case perClient = "per-client", on, off }
    enum PushStatus: String, CaseIterable { case ok = "200", created = "201" }
    enum PushRequirement: String, CaseIterable { case perClient = "per-client", all, never }
    enum Nonce: String, CaseIterable { case require, off }
    enum OptionalProof: String, CaseIterable { case ignore, bind }
    enum ProofTime: String, CaseIterable { case enforce, off }
    enum OOBInterval: String, CaseIterable { case push, always }
    enum RateLimit: String, CaseIterable { case count, enforce, off }
    enum CORS: String, CaseIterable { case enforce, any }
    enum LogoutSubject: String, CaseIterable { case email, issuerAndSubject = "iss_sub" }

    let validatorProfile: ValidatorProfile
    let sswsProfile: SSWSProfile
    let accessTokenSubject: AccessTokenSubject
    let loginMode: LoginMode
    let keysCacheControl: KeysCacheControl
    let modulusLeadingZero: OffOn
    let keysExtraMembers: OffOn
    let pkce: PKCE
    let refreshRotation: RefreshRotation
    let pushStatus: PushStatus
    let pushLifetimeSeconds: Int
    let pushRequirement: PushRequirement
    let deviceIntervalSeconds: Int
    let tokenNonce: Nonce
    let resourceNonce: Nonce
    let optionalProof: OptionalProof
    let proofTime: ProofTime
    let oobInterval: OOBInterval
    let mfaChallengeTypes: OffOn
    let rateLimit: RateLimit
    /// Requests of a client to a route within a minute.
    let rateLimitQuota: Int
    let cors: CORS
    let authTimeLagSeconds: Int
    let logoutSubject: LogoutSubject
    /// Hosts that may be told of a logout besides this machine, in lower case.
    let logoutHosts: [String]

    init(_ values: SwitchValues) {
        validatorProfile = values.choice("validator-profile", default: .documented)
        sswsProfile = values.choice("ssws-profile", default: .oktaVerify)
        accessTokenSubject = values.choice("access-token-sub", default: .login)
        loginMode = values.choice("login-mode", default: .auto)
        keysCacheControl = values.choice("keys-cache-control", default: .long)
        modulusLeadingZero = values.choice("modulus-leading-zero", default: .off)
        keysExtraMembers = values.choice("keys-extra-members", default: .off)
        pkce = values.choice("pkce", default: .perClient)
        refreshRotation = values.choice("refresh-rotation", default: .perClient)
        pushStatus = values.choice("par-status", default: .ok)
        pushLifetimeSeconds = values.count("par-lifetime") ?? 3600
        pushRequirement = values.choice("par-required", default: .perClient)
        deviceIntervalSeconds = values.count("device-interval") ?? 5
        tokenNonce = values.choice("dpop-nonce", default: .require)
        resourceNonce = values.choice("dpop-resource-nonce", default: .off)
        optionalProof = values.choice("dpop-optional", default: .ignore)
        proofTime = values.choice("dpop-iat", default: .enforce)
        oobInterval = values.choice("oob-interval", default: .push)
        mfaChallengeTypes = values.choice("mfa-challenge-types", default: .off)
        rateLimit = values.choice("rate-limit", default: .count)
        rateLimitQuota = values.count("rate-limit-quota") ?? 600
        cors = values.choice("cors", default: .enforce)
        authTimeLagSeconds = values.count("auth-time-lag") ?? 0
        logoutSubject = values.choice("universal-logout-subject", default: .email)
        logoutHosts = values.hosts("logout-allow")
    }

    static let declarations: [SwitchDeclaration] = tokens + requests + proofs + answers

    /// What validators accept, and what tokens and keys look like.
    private static let tokens: [SwitchDeclaration] = [
        SwitchDeclaration(
            "validator-profile", documented: ValidatorProfile.documented, observed: .observed,
            about: "whether the validator follows its documentation or the library that was shipped",
            source: "validator page; jwt"),
        SwitchDeclaration(
            "ssws-profile", documented: SSWSProfile.oktaVerify, observed: .devices,
            about: "answers to challenges: RS256 for a minute, or also ES256, a type ending in +jwt and five minutes",
            source: "validator page; devices"),
        SwitchDeclaration(
            "access-token-sub", documented: AccessTokenSubject.login, observed: .login,
            about: "whether sub of an access token is the user's login or id", source: "ref shows both; jwt, tests"),
        SwitchDeclaration(
            "keys-cache-control", documented: KeysCacheControl.long, observed: .long,
            about: "how long the published keys may be cached: 3832304 s, 60 s, or not at all",
            source: "ref; guide, key rotation"),
        SwitchDeclaration(
            "modulus-leading-zero", documented: OffOn.off, observed: .off,
            about: "whether n of the published keys begins with a zero byte", source: "swift, a test key"),
        SwitchDeclaration(
            "keys-extra-members", documented: OffOn.off, observed: .off,
            about: "whether published keys have x5c and key_ops, which are arrays", source: "ours"),
        SwitchDeclaration(
            "auth-time-lag", .number(0...86_400), documented: "0", observed: "0",
            about: "how many seconds auth_time lies before iat", source: "ours; swift refuses 0 with max_age"),
        SwitchDeclaration(
            "refresh-rotation", documented: RefreshRotation.perClient, observed: .perClient,
            about: "whether a refresh gives a new refresh token", source: "guide, refresh tokens; on and off ours"),
    ]

    /// What authorization requests need, and how they are answered.
    private static let requests: [SwitchDeclaration] = [
        SwitchDeclaration(
            "login-mode", documented: LoginMode.auto, observed: .auto,
            about: "whether authorize signs a user in at once or shows the sign-in page", source: "ours"),
        SwitchDeclaration(
            "pkce", documented: PKCE.perClient, observed: .perClient,
            about: "which clients need a code challenge", source: "ref; always and never ours"),
        SwitchDeclaration(
            "par-status", documented: PushStatus.ok, observed: .created,
            about: "the status of a pushed request", source: "ref, api; kotlin, tests; RFC 9126 section 2.2"),
        SwitchDeclaration(
            "par-lifetime", .number(1...86_400), documented: "3600", observed: "3600",
            about: "how many seconds a pushed request is good for", source: "ref, its example"),
        SwitchDeclaration(
            "par-required", documented: PushRequirement.perClient, observed: .perClient,
            about: "which clients must push their requests; all says so in discovery too",
            source: "ours, after RFC 9126 section 6"),
        SwitchDeclaration(
            "device-interval", .number(1...600), documented: "5", observed: "5",
            about: "how many seconds a device waits between two polls", source: "ref; guide, device authorization"),
    ]

    /// What DPoP proofs must show.
    private static let proofs: [SwitchDeclaration] = [
        SwitchDeclaration(
            "dpop-nonce", documented: Nonce.require, observed: .require,
            about: "whether proofs at the token endpoint need the server's nonce", source: "guide, DPoP"),
        SwitchDeclaration(
            "dpop-resource-nonce", documented: Nonce.off, observed: .off,
            about: "whether proofs need it elsewhere too", source: "guide, DPoP; authjs, tests; RFC 9449 section 9"),
        SwitchDeclaration(
            "dpop-optional", documented: OptionalProof.ignore, observed: .ignore,
            about: "what a proof does for a client that needs none: nothing, or bind its tokens",
            source: "authjs; RFC 9449 section 5 for bind"),
        SwitchDeclaration(
            "dpop-iat", documented: ProofTime.enforce, observed: .enforce,
            about: "whether iat and exp of proofs are compared with the clock", source: "codes; off ours"),
    ]

    /// What further answers hold, and whom they are for.
    private static let answers: [SwitchDeclaration] = [
        SwitchDeclaration(
            "oob-interval", documented: OOBInterval.push, observed: .always,
            about: "which challenges out of band name the interval of polls",
            source: "guide, direct authentication; swift"),
        SwitchDeclaration(
            "mfa-challenge-types", documented: OffOn.off, observed: .on,
            about: "whether mfa_required names supported_challenge_types", source: "guide, direct authentication; swift"
        ),
        SwitchDeclaration(
            "rate-limit", documented: RateLimit.count, observed: .count,
            about: "whether requests are counted in header fields, refused beyond the quota too, or neither",
            source: "docs, rate limits; enforce and off ours"),
        SwitchDeclaration(
            "rate-limit-quota", .number(1...1_000_000), documented: "600", observed: "600",
            about: "how many requests a minute a client may send to a route", source: "ours"),
        SwitchDeclaration(
            "cors", documented: CORS.enforce, observed: .enforce,
            about: "whether only registered origins are allowed", source: "api; any ours"),
        SwitchDeclaration(
            "universal-logout-subject", documented: LogoutSubject.email, observed: .email,
            about: "how a call of Universal Logout names the user", source: "docs, Universal Logout"),
        SwitchDeclaration(
            "logout-allow", .hosts, documented: "", observed: "",
            about: "hosts besides this machine that Universal Logout may call, separated by commas", source: "ours"),
    ]
}
