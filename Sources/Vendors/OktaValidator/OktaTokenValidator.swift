public import Emulation
public import JSON
public import Tokens

/// Judges the tokens of an Okta authorization server as a client does before it trusts them.
///
/// ```swift
/// let options = OktaValidatorOptions(
///     issuer: "https://example.okta.com/oauth2/default", audience: clientID, nonce: nonce)
/// let validator = OktaTokenValidator(options: options, keys: .discovery(fetch))
/// let token = try await validator.validate(idToken)
/// ```
///
/// The checks and their order: compact form and `typ`, `alg`, `iss`, `aud` and `azp`, `exp`, `nbf`, `iat`, `nonce`,
/// `cid`, `scp`, other claims, key, signature. Claims come before the key, so that a token for somebody else costs no
/// request. Copies of a validator share its cache of keys.
///
/// Source: documented, validator page; the order observed, jwt.
public struct OktaTokenValidator: Sendable {
    public let options: OktaValidatorOptions
    public let keys: OktaKeys
    /// Whether it behaves as the validator page says, or as the shipped library.
    public let profile: BehaviourProfile
    let clock: @Sendable () -> Moment
    let judge: OktaJudge

    /// Creates a validator.
    ///
    /// Options that make no sense are a programming error, and so are keys by discovery without an issuer; see
    /// ``problem(with:keys:profile:)``.
    ///
    /// - Parameter clock: the time at which tokens are judged.
    public init(
        options: OktaValidatorOptions, keys: OktaKeys,
        clock: @escaping @Sendable () -> Moment = { SandboxClock.machine }, profile: BehaviourProfile = .documented
    ) {
        let problem = Self.problem(with: options, keys: keys, profile: profile)
        precondition(problem == nil, "OktaTokenValidator: \(problem ?? "")")
        (self.options, self.keys, self.clock, self.profile) = (options, keys, clock, profile)
        judge = OktaJudge(options: options, keys: keys, profile: profile)
    }

    /// What is wrong with options or keys, in a sentence; `nil` if a validator can be created with them.
    public static func problem(
        with options: OktaValidatorOptions, keys: OktaKeys, profile: BehaviourProfile = .documented
    ) -> String? {
        // The shipped library sets a JWK without `kid` aside.
        let areDiscovered =
            switch keys.given {
            case .rsa?, .set?: false
            case .jwk(let jwk)?: profile == .observed && jwk["kid"] == nil
            case nil: true
            }
        if areDiscovered, options.issuer == nil {
            return "without the option issuer there is nowhere to discover keys; give it, a JWK or an RSA key."
        }
        if case .rsa(let key)? = keys.given, !key.kind.isRSA {
            return "the key is an \(key.kind); expected an RSA key."
        }
        return options.problem
    }

    /// Validates a token; keys may be fetched.
    ///
    /// - Throws: the first failure, with all findings.
    public func validate(_ token: String) async throws(OktaTokenError) -> VerifiedToken {
        try await judge.judgementFetching(Array(token.utf8), at: clock()).result()
    }

    /// Validates a token without any request: by a key that was given, or one in the cache.
    ///
    /// - Throws: the first failure, with all findings; ``OktaTokenFailure/noWellKnown`` when a request would be needed.
    public func validate(_ token: String) throws(OktaTokenError) -> VerifiedToken {
        try judge.judgement(Array(token.utf8), at: clock()).result()
    }

    /// Returns true for a valid token, and throws for any other; keys may be fetched.
    public func isValid(_ token: String) async throws(OktaTokenError) -> Bool {
        _ = try await validate(token)
        return true
    }

    /// Returns true for a valid token, and throws for any other, without any request.
    public func isValid(_ token: String) throws(OktaTokenError) -> Bool {
        _ = try judge.judgement(Array(token.utf8), at: clock()).result()
        return true
    }
}

/// A token whose checks all held, signature included.
public struct VerifiedToken: Sendable {
    public let text: String
    public let header: JSONObject
    public let claims: JSONObject
    public let keyOrigin: OktaKeyOrigin

    public var json: JSON { .object(members) }

    var members: JSONObject {
        ["valid": true, "header": .object(header), "claims": .object(claims), "key": .string(keyOrigin.rawValue)]
    }
}

public enum OktaKeyOrigin: String, Sendable {
    case rsaKey = "rsa-key"
    case jwk
    /// One of several keys that were given.
    case given
    /// An earlier discovery.
    case cache
    /// The issuer, just now.
    case discovery
}

/// Why a token is not valid: the first failure, and what all other checks found.
public struct OktaTokenError: Error, Sendable, CustomStringConvertible {
    /// The first failure in the order of the checks.
    public let failure: OktaTokenFailure
    /// What was found and what was expected.
    public let detail: String
    /// The shipped library's name; see ``OktaTokenFailure/shippedName``. `nil` also where it stops the app.
    public let shippedName: String?
    /// The value that the shipped library's case carries: the algorithm, or the text that a claim should be.
    public let shippedValue: String?
    /// Every check that applied, even after the first failure; what could not be judged says so.
    public let findings: [Finding]

    /// Our own name.
    public var name: String { failure.rawValue }
    /// The validator page's name; see ``OktaTokenFailure/documentedName``.
    public var documentedName: String? { failure.documentedName }

    public var description: String { "\(name): \(detail)" }

    public var json: JSON {
        var members = members
        members["findings"] = .array(findings.map(\.json))
        return .object(members)
    }

    var members: JSONObject {
        [
            "valid": false, "error": .string(name), "seed": JSON(documentedName), "shipped": JSON(shippedName),
            "detail": .string(detail),
        ]
    }
}

/// Signs tokens as an app on a device does.
public enum OktaTokenSigner {
    /// Signs a payload.
    ///
    /// The header has `kid` if the key has an id, and `alg`.
    ///
    /// - Returns: the token in compact form.
    /// - Throws: the reason when the key does not support the algorithm.
    /// Source: documented, validator page (its signer of challenge answers); the header ours.
    public static func sign(
        payload: JSONObject, algorithm: Algorithm = .rs256, key: SigningKey
    ) throws(MintError) -> String {
        var header: JSONObject = [:]
        header["kid"] = key.id.map(JSON.string)
        header["alg"] = .string(algorithm.rawValue)
        return try TokenDraft(header: header, claims: payload).mint(key: key, algorithm: algorithm)
    }
}

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

struct OktaOptionProblem: Error, CustomStringConvertible { let description: String }
