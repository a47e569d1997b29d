import Emulation

/// Every failure of Okta; `failures.yaml` defines how each looks.
enum OktaFailure: String, RouteFailure {
    // MARK: - Paths, methods and bodies

    case asNotFound = "as-not-found"
    case routeNotFound = "path-not-found"
    case methodNotAllowed = "method-not-allowed"
    case mediaType = "media-type"
    case bodyMalformed = "body-malformed"
    case bodyInvalid = "body-invalid"
    case bodyTooLarge = "body-too-large"
    case rateLimited = "rate-limited"
    case userRateLimited = "user-rate-limited"
    case internalError = "internal-error"

    // MARK: - Client authentication

    case clientCredentialsMissing = "client-credentials-missing"
    case clientCredentialsUnreadable = "client-credentials-unreadable"
    case clientUnknown = "client-unknown"
    case clientSecretWrong = "client-secret-wrong"
    case clientMethodWrong = "client-method-wrong"
    case clientCredentialsMultiple = "client-credentials-multiple"
    case clientCredentialsInQuery = "client-credentials-in-query"
    case assertionTypeInvalid = "assertion-type-invalid"
    case assertionMalformed = "assertion-malformed"
    case assertionAlgorithm = "assertion-algorithm"
    case assertionIssuer = "assertion-issuer"
    case assertionSubject = "assertion-subject"
    case assertionKey = "assertion-key"
    case assertionSecretShort = "assertion-secret-short"
    case assertionSignature = "assertion-signature"
    case assertionAudience = "assertion-audience"
    case assertionNoExpiry = "assertion-no-expiry"
    case assertionExpired = "assertion-expired"
    case assertionTooFar = "assertion-too-far"
    case assertionIATFuture = "assertion-iat-future"
    case assertionReplayed = "assertion-replayed"

    // MARK: - Token requests

    case parameterDuplicate = "parameter-duplicate"
    case grantTypeMissing = "grant-type-missing"
    case grantTypeUnsupported = "grant-type-unsupported"
    case grantTypeNotAllowed = "grant-type-not-allowed"
    case parameterMissing = "parameter-missing"
    case orgClientMethod = "org-client-method"
    case orgClientType = "org-client-type"
    case orgScopes = "org-scopes"
    case codeInvalid = "code-invalid"
    case codeOtherClient = "code-other-client"
    case codeOtherServer = "code-other-server"
    case redirectURIMismatch = "redirect-uri-mismatch"
    case pkceVerifierMissing = "pkce-verifier-missing"
    case pkceFailed = "pkce-failed"
    case pkceNotBegun = "pkce-not-begun"
    case refreshTokenInvalid = "refresh-token-invalid"
    case refreshScopeDenied = "refresh-scope-denied"
    case passwordWrong = "password-wrong"
    case passwordExpired = "password-expired"
    case scopeUnknown = "scope-unknown"
    case scopeOpenidService = "scope-openid-service"
    case scopeMissing = "scope-missing"
    case scopeOpenidRequired = "scope-openid-required"
    case consentRequiredService = "consent-required-service"

    // MARK: - Authorize

    case redirectURIMissing = "redirect-uri-missing"
    case redirectURIIllegal = "redirect-uri-illegal"
    case stateInvalid = "state-invalid"
    case responseTypeUnsupported = "response-type-unsupported"
    case responseModeUnsupported = "response-mode-unsupported"
    case pkceChallengeMissing = "pkce-challenge-missing"
    case pkceChallengeIllegal = "pkce-challenge-illegal"
    case pkceMethodUnsupported = "pkce-method-unsupported"
    case promptInvalid = "prompt-invalid"
    case loginRequired = "login-required"
    case accessDenied = "access-denied"
    case userNotAssigned = "user-not-assigned"
    case policyNotMatched = "policy-not-matched"
    case acrUnmet = "acr-unmet"
    case maxAgeInvalid = "max-age-invalid"
    case maxAgeNone = "max-age-none"
    case reauthenticationRequired = "reauthentication-required"
    case consentRequired = "consent-required"
    case serverError = "server-error"
    case temporarilyUnavailable = "temporarily-unavailable"

    // MARK: - Pushed authorization requests

    case parRequestURIPresent = "par-request-uri-present"
    case requestObjectUnsupported = "request-object-unsupported"
    case requestURIInvalid = "request-uri-invalid"
    case requestURIClient = "request-uri-client"
    case requestURIServer = "request-uri-server"
    case parRequired = "par-required"

    // MARK: - Sign-in page

    case loginUnknown = "login-unknown"
    case loginForged = "login-forged"
    case loginWrong = "login-wrong"
    case loginClaimsInvalid = "login-claims-invalid"

    // MARK: - Introspection, revocation, userinfo and logout

    case tokenParameterMissing = "token-parameter-missing"
    case accessTokenMissing = "access-token-missing"
    case accessTokenInQuery = "access-token-in-query"
    case accessTokenInvalid = "access-token-invalid"
    case accessTokenExpired = "access-token-expired"
    case accessTokenRevoked = "access-token-revoked"
    case scopeInsufficient = "scope-insufficient"
    case idTokenHintMissing = "id-token-hint-missing"
    case idTokenHintInvalid = "id-token-hint-invalid"
    case postLogoutURIIllegal = "post-logout-uri-illegal"

    // MARK: - Device authorization

    case deviceCodeInvalid = "device-code-invalid"
    case deviceCodeExpired = "device-code-expired"
    case deviceDenied = "device-denied"
    case deviceSlowDown = "device-slow-down"
    case devicePending = "device-pending"
    case userCodeInvalid = "user-code-invalid"
    case userCodesTooMany = "user-codes-too-many"

    // MARK: - DPoP

    case dpopMissing = "dpop-missing"
    case dpopMultiple = "dpop-multiple"
    case dpopMalformed = "dpop-malformed"
    case dpopTyp = "dpop-typ"
    case dpopAlgorithm = "dpop-algorithm"
    case dpopKey = "dpop-key"
    case dpopSignature = "dpop-signature"
    case dpopHTM = "dpop-htm"
    case dpopHTU = "dpop-htu"
    case dpopIAT = "dpop-iat"
    case dpopFuture = "dpop-future"
    case dpopTooOld = "dpop-too-old"
    case dpopExpired = "dpop-expired"
    case dpopNonce = "dpop-nonce"
    case dpopJTI = "dpop-jti"
    case dpopReplayed = "dpop-replayed"
    case dpopRefreshKey = "dpop-refresh-key"
    case dpopScheme = "dpop-scheme"
    case dpopProofRequired = "dpop-proof-required"
    case dpopNotBound = "dpop-not-bound"
    case dpopATH = "dpop-ath"
    case dpopKeyMismatch = "dpop-key-mismatch"

    // MARK: - Direct authentication

    case mfaRequired = "mfa-required"
    case mfaNotPossible = "mfa-not-possible"
    case directGrantsInsufficient = "direct-grants-insufficient"
    case directOTPWrong = "direct-otp-wrong"
    case directOOBPending = "direct-oob-pending"
    case directOOBRejected = "direct-oob-rejected"
    case directExpired = "direct-expired"
    case directNotAssociated = "direct-not-associated"
    case directScopeHere = "direct-scope-here"
    case directClient = "direct-client"
    case directServer = "direct-server"
    case directScope = "direct-scope"
    case directFactorUnusable = "direct-factor-unusable"
    case directHintMissing = "direct-hint-missing"
    case directUserUnknown = "direct-user-unknown"
    case directChannel = "direct-channel"
    case directChallengeHint = "direct-challenge-hint"
    case directChallengeType = "direct-challenge-type"
    case interactNotEnabled = "interact-not-enabled"

    // MARK: - Token exchange

    case exchangeSubject = "exchange-subject"
    case exchangeSubjectType = "exchange-subject-type"
    case exchangeActor = "exchange-actor"
    case exchangeActorType = "exchange-actor-type"
    case exchangeRequestedType = "exchange-requested-type"
    case exchangeSubjectExpired = "exchange-subject-expired"
    case exchangeAudience = "exchange-audience"
    case exchangeNotTrusted = "exchange-not-trusted"
    case exchangeNotService = "exchange-not-service"
    case exchangeOpenid = "exchange-openid"
    case exchangeOrg = "exchange-org"

    // MARK: - Requests of browsers

    case originNotRedirect = "origin-not-redirect"
    case originNotTrusted = "origin-not-trusted"
    case browserNeedsPKCE = "browser-needs-pkce"

    // MARK: - Sign-in by API, users and factors

    case authnFailed = "authn-failed"
    case authnState = "authn-state"
    case stateTokenInvalid = "state-token-invalid"
    case recoveryForbidden = "recovery-forbidden"
    case recoveryUserUnknown = "recovery-user-unknown"
    case recoveryAnswerWrong = "recovery-answer-wrong"
    case apiTokenInvalid = "api-token-invalid"
    case accessDeniedAPI = "access-denied-api"
    case userNotFound = "user-not-found"
    case groupNotFound = "group-not-found"
    case sessionNotFound = "session-not-found"
    case sessionInvalid = "session-invalid"
    case factorNotFound = "factor-not-found"
    case transactionNotFound = "transaction-not-found"
    case userExists = "user-exists"
    case userStatus = "user-status"
    case searchInvalid = "search-invalid"
    case credentialsRefused = "credentials-refused"
    case unlockForbidden = "unlock-forbidden"
    case userOperationForbidden = "user-operation-forbidden"
    case userAlreadyActive = "user-already-active"
    case subIDInvalid = "sub-id-invalid"
    case factorCodeWrong = "factor-code-wrong"
    case factorCodeUsed = "factor-code-used"

    // MARK: - Answers to push challenges

    case sswsMissing = "ssws-missing"
    case sswsMalformed = "ssws-malformed"
    case sswsAlgorithm = "ssws-algorithm"
    case sswsFactor = "ssws-factor"
    case sswsSignature = "ssws-signature"
    case sswsClaims = "ssws-claims"
    case sswsSubject = "ssws-subject"
    case sswsAudience = "ssws-audience"
    case sswsExpired = "ssws-expired"
    case sswsNotYetValid = "ssws-not-yet-valid"
    case sswsLifetime = "ssws-lifetime"
    case sswsReplayed = "ssws-replayed"
    case transactionClosed = "transaction-closed"
}

protocol OktaRuleFacts: RuleFacts where Failure == OktaFailure {}
