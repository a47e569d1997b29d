import Emulation

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
