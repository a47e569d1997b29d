public import Emulation

/// Why a token is not valid, by stable names of Understudy's.
///
/// Programs written against the validator page or the shipped library find their own names in ``documentedName`` and
/// ``shippedName``.
public enum OktaTokenFailure: String, VendorFailure {
    /// Not a signed token in compact form, or of another `typ`, or without `alg`.
    case malformed = "jwt-malformed"
    /// `alg` is not allowed.
    case algorithm = "jwt-algorithm"
    /// `iss` differs.
    case issuer = "jwt-issuer"
    /// `aud` differs.
    case audience = "jwt-audience"
    /// Of several audiences, `azp` does not name the expected one.
    case authorizedParty = "jwt-azp"
    /// `exp` is past.
    case expired = "jwt-expired"
    /// `exp` is absent, or no moment.
    case expiryMissing = "jwt-expiry-missing"
    /// `nbf` lies ahead, or is no moment.
    case notYetValid = "jwt-not-yet-valid"
    /// `iat` lies ahead.
    case issuedInFuture = "jwt-issued-in-future"
    /// `iat` is absent, or no moment.
    case issuedAtMissing = "jwt-issued-at-missing"
    case nonce = "jwt-nonce"
    /// `cid` differs.
    case client = "jwt-client"
    /// A scope is not granted.
    case scope = "jwt-scope"
    case claim = "jwt-claim"
    case keyIDMissing = "jwt-kid-missing"
    case keyIDMismatch = "jwt-kid-mismatch"
    /// The key's numbers cannot be used.
    case key = "jwt-key"
    case signature = "jwt-signature"
    /// There is no usable discovery document.
    case noWellKnown = "jwt-no-well-known"
    /// The discovery document names no key set.
    case noKeysURL = "jwt-no-jwks-uri"
    /// The key set is unusable, or has no such key.
    case noKey = "jwt-no-key"
    /// A request for keys timed out, or its connection was lost.
    case offline = "jwt-offline"
}

extension OktaTokenFailure {
    /// The case of the validator page's `OktaJWTValidationError`, which it also prints as `OktaJWTValidatinoError`;
    /// `nil` where it has none.
    ///
    /// Source: documented, validator page.
    public var documentedName: String? {
        switch self {
        case .signature: "OktaJWTValidationError.invalidSignature"
        case .scope: "OktaJWTValidationError.invalidScope"
        case .client, .claim: "OktaJWTValidationError.customClaim"
        case .malformed, .algorithm, .issuer, .audience, .authorizedParty, .expired, .expiryMissing, .notYetValid,
            .issuedInFuture, .issuedAtMissing, .nonce, .keyIDMissing, .keyIDMismatch, .key, .noWellKnown, .noKeysURL,
            .noKey, .offline:
            nil
        }
    }

    /// The case that the shipped library throws, without its value; `nil` where it throws nothing.
    ///
    /// Source: observed, jwt.
    public var shippedName: String? {
        switch self {
        case .malformed: "OktaJWTVerificationError.malformedJWT"
        case .algorithm: "OktaJWTVerificationError.nonSupportedAlg"
        case .issuer: "OktaJWTVerificationError.invalidIssuer"
        case .audience: "OktaJWTVerificationError.invalidAudience"
        case .expired: "OktaJWTVerificationError.expiredJWT"
        case .issuedInFuture: "OktaJWTVerificationError.issuedInFuture"
        case .nonce: "OktaJWTVerificationError.invalidNonce"
        case .client, .scope, .claim: "OktaJWTVerificationError.invalidClaim"
        case .keyIDMissing: "OktaJWTVerificationError.noKIDFromJWT"
        case .keyIDMismatch: "OktaJWTVerificationError.invalidKID"
        case .key: "OktaJWTVerificationError.invalidModulusOrExponent"
        case .signature: "OktaJWTVerificationError.invalidSignature"
        case .noWellKnown: "OktaAPIError.noWellKnown"
        case .noKeysURL: "OktaAPIError.noJWKSEndpoint"
        case .noKey: "OktaAPIError.noKey"
        case .offline: "OktaAPIError.offline"
        case .authorizedParty, .expiryMissing, .notYetValid, .issuedAtMissing: nil
        }
    }
}
