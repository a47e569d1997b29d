/// What a validator demands of a token; what is `nil` is not compared, or left to the profile.
///
/// Source: documented, validator page; `scp` gives its `invalidScope` a meaning (ours).
public struct OktaValidatorOptions: Sendable, Hashable {
    /// The `iss` claim, and where keys are discovered.
    public var issuer: String?
    /// The `aud` claim, or a member of it.
    public var audience: String?
    public var nonce: String?
    /// Whether `exp` is judged; by default yes, and no in the observed profile.
    public var checksExpiry: Bool?
    /// Whether `iat` is judged; by default yes, and no in the observed profile.
    public var checksIssuedAt: Bool?
    /// The grace for times in seconds; by default 3000, and 0 in the observed profile.
    ///
    /// So by default a token is accepted for 50 minutes after its end: that is what the validator page says.
    public var leeway: Int?
    /// The `cid` claim.
    public var clientID: String?
    /// The names that must be granted (`scp`), separated by blanks.
    public var scopes: String?
    /// The header's `typ`, if it has one; by default `JWT`.
    public var type: String?
    /// Other claims and the texts that they must be.
    public var claims: [String: String]

    /// ours: what fits into one list of rules.
    public static let mostClaims = 32

    public init(
        issuer: String? = nil, audience: String? = nil, nonce: String? = nil, checksExpiry: Bool? = nil,
        checksIssuedAt: Bool? = nil, leeway: Int? = nil, clientID: String? = nil, scopes: String? = nil,
        type: String? = nil, claims: [String: String] = [:]
    ) {
        (self.issuer, self.audience, self.nonce) = (issuer, audience, nonce)
        (self.checksExpiry, self.checksIssuedAt, self.leeway) = (checksExpiry, checksIssuedAt, leeway)
        (self.clientID, self.scopes, self.type, self.claims) = (clientID, scopes, type, claims)
    }

    /// What is wrong with the options, in a sentence; `nil` if they can be used.
    public var problem: String? {
        if let leeway, leeway < 0 { return "the option leeway is \(leeway); expected 0 or more seconds." }
        if claims.count > Self.mostClaims {
            return "\(claims.count) claims are to be compared; expected at most \(Self.mostClaims)."
        }
        return nil
    }
}
