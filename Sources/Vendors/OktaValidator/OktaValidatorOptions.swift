/// What a validator requires of a token; `nil` is not compared, or left to the profile.
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
    /// The grace for times in seconds; by default 3000, and 0 in the observed profile. Below 0 a token ends earlier (observed,
    /// jwt, tests).
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
        if claims.count > Self.mostClaims {
            return "\(claims.count) claims are to be compared; expected at most \(Self.mostClaims)."
        }
        return nil
    }
}

extension OktaValidatorOptions {
    /// Creates options from a dictionary with the validator page's names: `issuer`, `audience`, `nonce`, `cid`, `scp`,
    /// `typ` and any other claim with a string, `exp` and `iat` with a boolean, `leeway` with a whole number of
    /// seconds.
    ///
    /// A value of another type is a programming error and stops the program at once (ours); see ``problem(in:)``.
    public init(_ dictionary: [String: Any]) {
        do throws(OktaOptionProblem) {
            self = try Self.read(dictionary)
        } catch {
            preconditionFailure("OktaValidatorOptions: \(error)")
        }
    }

    /// What is wrong with a dictionary, in a sentence; `nil` if options can be created from it.
    public static func problem(in dictionary: [String: Any]) -> String? {
        do throws(OktaOptionProblem) {
            _ = try read(dictionary)
            return nil
        } catch {
            return error.description
        }
    }

    private static func read(_ dictionary: [String: Any]) throws(OktaOptionProblem) -> OktaValidatorOptions {
        var options = OktaValidatorOptions()
        // In order, so that of two wrong values the same one is named each time.
        for (name, value) in dictionary.sorted(by: { $0.key < $1.key }) {
            switch name {
            case "issuer": options.issuer = try cast(value, of: name, "a string")
            case "audience": options.audience = try cast(value, of: name, "a string")
            case "nonce": options.nonce = try cast(value, of: name, "a string")
            case "exp": options.checksExpiry = try cast(value, of: name, "true or false")
            case "iat": options.checksIssuedAt = try cast(value, of: name, "true or false")
            case "leeway": options.leeway = try cast(value, of: name, "a whole number")
            case "cid": options.clientID = try cast(value, of: name, "a string")
            case "scp": options.scopes = try cast(value, of: name, "a string")
            case "typ": options.type = try cast(value, of: name, "a string")
            default: options.claims[name] = try cast(value, of: name, "a string")
            }
        }
        return options
    }

    private static func cast<Value>(
        _ value: Any, of name: String, _ expected: String
    ) throws(OktaOptionProblem) -> Value {
        guard let value = value as? Value else {
            throw OktaOptionProblem(
                description: "the option \(name) is of type \(Swift.type(of: value)); expected \(expected).")
        }
        return value
    }
}

/// Why a dictionary is no set of options.
struct OktaOptionProblem: Error, CustomStringConvertible {
    let description: String
}
