import Emulation

/// Documented and observed differences in Okta's behaviour.
struct OktaSwitches: VendorSwitches {
    enum ValidatorProfile: String, CaseIterable { case documented, observed }
    enum SSWSProfile: String, CaseIterable { case oktaVerify = "okta-verify", devices }
    enum AccessTokenSubject: String, CaseIterable { case login, userID = "user-id" }
    enum LoginMode: String, CaseIterable, RecordValue { case auto, page }
    enum KeysCacheControl: String, CaseIterable { case long, short, none }
    enum OffOn: String, CaseIterable { case off, on }
    enum PKCE: String, CaseIterable { case perClient = "per-client", always, never }
    enum RedirectURIs: String, CaseIterable { case registered, anyLocalhost = "any-localhost" }
    enum RefreshRotation: String, CaseIterable { case perClient = "per-client", on, off }
    enum PushStatus: String, CaseIterable { case ok = "200", created = "201" }
    enum PushRequirement: String, CaseIterable { case perClient = "per-client", all, never }
    enum Nonce: String, CaseIterable { case require, off }
    enum OptionalProof: String, CaseIterable { case ignore, bind }
    enum ProofTime: String, CaseIterable { case enforce, off }
    enum OOBInterval: String, CaseIterable { case push, always }
    enum RateLimit: String, CaseIterable { case count, enforce, off }
    enum AuthnMFA: String, CaseIterable { case off, enrolled, required }
    enum AuthnLockout: String, CaseIterable { case hide, show }
    enum ErrorLists: String, CaseIterable { case codes, api }
    enum CORS: String, CaseIterable { case enforce, any }

    var validatorProfile = ValidatorProfile.documented
    var sswsProfile = SSWSProfile.oktaVerify
    var accessTokenSubject = AccessTokenSubject.login
    var loginMode = LoginMode.auto
    var keysCacheControl = KeysCacheControl.long
    var modulusLeadingZero = OffOn.off
    var keysExtraMembers = OffOn.off
    var redirectURIs = RedirectURIs.registered
    var pkce = PKCE.perClient
    var refreshRotation = RefreshRotation.perClient
    var pushStatus = PushStatus.ok
    var pushLifetimeSeconds = 3600
    var pushRequirement = PushRequirement.perClient
    var deviceIntervalSeconds = 5
    var tokenNonce = Nonce.require
    var resourceNonce = Nonce.off
    var optionalProof = OptionalProof.ignore
    var proofTime = ProofTime.enforce
    var oobInterval = OOBInterval.push
    var mfaChallengeTypes = OffOn.off
    var rateLimit = RateLimit.count
    /// Requests of a client to a route within a minute.
    var rateLimitQuota = 600
    var cors = CORS.enforce
    var errorLists = ErrorLists.codes
    var authnMFA = AuthnMFA.off
    var warnsOfPassword = false
    var authnLockout = AuthnLockout.hide
    var authTimeLagSeconds = 1
    var answersOpenIDAlone = true

    mutating func code(_ coder: inout SwitchCoder) {
        coder.choice(
            "validator-profile", &validatorProfile, observed: .observed,
            about: "whether the validator follows its documentation or the library that was shipped",
            source: "validator page; jwt")
        coder.choice(
            "ssws-profile", &sswsProfile, observed: .devices,
            about: "answers to challenges: RS256 for a minute, or also ES256, a type ending in +jwt and five minutes",
            source: "validator page; devices")
        coder.choice(
            "access-token-sub", &accessTokenSubject, about: "whether sub of an access token is the user's login or id",
            source: "ref shows both; jwt, tests")
        coder.choice(
            "keys-cache-control", &keysCacheControl,
            about: "how long the published keys may be cached: 3832304 s, 60 s, or not at all",
            source: "ref; guide, key rotation")
        coder.choice(
            "modulus-leading-zero", &modulusLeadingZero,
            about: "whether n of the published keys begins with a zero byte", source: "swift, a test key")
        coder.choice(
            "keys-extra-members", &keysExtraMembers,
            about: "whether published keys have x5c and key_ops, which are arrays", source: "ours")
        coder.count(
            "auth-time-lag", &authTimeLagSeconds, in: 0...86_400, about: "how many seconds auth_time lies before iat",
            source: "ours; swift refuses 0 with max_age")
        coder.flag(
            "userinfo-openid-alone", &answersOpenIDAlone,
            about: "whether userinfo answers a token that has openid but none of profile, email, address and phone",
            source: "okta/okta-oidc-js#691; off api")
        coder.choice(
            "refresh-rotation", &refreshRotation, about: "whether a refresh gives a new refresh token",
            source: "guide, refresh tokens; on and off ours")
        coder.choice(
            "login-mode", &loginMode, about: "whether authorize signs a user in at once or shows the sign-in page",
            source: "ours")
        coder.choice(
            "redirect-uris", &redirectURIs,
            about: "whether only registered redirect URIs are accepted, or any at localhost, for a first try",
            source: "ref; any-localhost ours")
        coder.choice("pkce", &pkce, about: "which clients need a code challenge", source: "ref; always and never ours")
        coder.choice(
            "par-status", &pushStatus, observed: .created, about: "the status of a pushed request",
            source: "ref, api; kotlin, tests; RFC 9126 section 2.2")
        coder.count(
            "par-lifetime", &pushLifetimeSeconds, in: 1...86_400,
            about: "how many seconds a pushed request is valid", source: "ref, its example")
        coder.choice(
            "par-required", &pushRequirement,
            about: "which clients must push their requests; all says so in discovery too",
            source: "ours, after RFC 9126 section 6")
        coder.count(
            "device-interval", &deviceIntervalSeconds, in: 1...600,
            about: "how many seconds a device waits between two polls", source: "ref; guide, device authorization")
        coder.choice(
            "dpop-nonce", &tokenNonce, about: "whether proofs at the token endpoint need the server's nonce",
            source: "guide, DPoP")
        coder.choice(
            "dpop-resource-nonce", &resourceNonce, about: "whether proofs need it elsewhere too",
            source: "guide, DPoP; authjs, tests; RFC 9449 section 9")
        coder.choice(
            "dpop-optional", &optionalProof,
            about: "what a proof does for a client that needs none: nothing, or bind its tokens",
            source: "authjs; RFC 9449 section 5 for bind")
        coder.choice(
            "dpop-iat", &proofTime, about: "whether iat and exp of proofs are compared with the clock",
            source: "codes; off ours")
        coder.choice(
            "oob-interval", &oobInterval, observed: .always,
            about: "which challenges out of band name the interval of polls",
            source: "guide, direct authentication; swift")
        coder.choice(
            "mfa-challenge-types", &mfaChallengeTypes, observed: .on,
            about: "whether mfa_required names supported_challenge_types", source: "guide, direct authentication; swift"
        )
        coder.choice(
            "rate-limit", &rateLimit,
            about: "whether requests are counted in header fields, refused beyond the quota too, or neither",
            source: "docs, rate limits; enforce and off ours")
        coder.count(
            "rate-limit-quota", &rateLimitQuota, in: 1...1_000_000,
            about: "how many requests a minute a client may send to a route", source: "ours")
        coder.choice(
            "authn-mfa", &authnMFA,
            about: "whether authn asks users for a second factor who have one, and the others to enroll one",
            source: "ref (authn), sign-on policies; the values ours")
        coder.flag(
            "authn-password-warning", &warnsOfPassword,
            about: "whether authn warns that the password expires in five days",
            source: "ref (authn), password policies; the days ours")
        coder.choice(
            "authn-lockout", &authnLockout, about: "whether authn tells that a user is locked out",
            source: "ref (authn), password policies")
        coder.choice(
            "error-lists", &errorLists,
            about: "where the lists of error codes and the API description disagree, which one is followed: two client "
                + "credentials get 401 or 400, and pushed requests without openid 400 or 403",
            source: "codes, which is newer; api")
        coder.choice("cors", &cors, about: "whether only registered origins are allowed", source: "api; any ours")
    }
}
