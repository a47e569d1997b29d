public import Emulation
import JSON
import Tokens

/// Judges tokens: claims first, then the key, then the signature.
struct OktaJudge: Sendable {
    private let profile: BehaviourProfile
    private let lookUp: OktaKeyLookUp
    private let list: RuleList<OktaValidatorFacts>
    private let formRuleCount: Int
    private let allowed: [Algorithm]
    private let issuer: String?

    init(options: OktaValidatorOptions, keys: OktaKeys, profile: BehaviourProfile) {
        self.profile = profile
        issuer = profile == .documented ? options.issuer : options.issuer?.withoutEndingSlash
        lookUp = OktaKeyLookUp(keys, issuer: issuer, profile)
        let rules = OktaRules(options: options, profile: profile)
        (list, formRuleCount, allowed) = (rules.list, rules.formRuleCount, OktaRules.algorithms(profile))
    }

    /// The judgement without any request.
    func judgement(_ bytes: [UInt8], at moment: Moment) -> OktaJudgement {
        var judgement = opened(bytes, at: moment)
        switch lookUp.need(of: judgement.facts.token) {
        case .none: break
        case .have(let result, _): judgement.facts.take(result, allowed)
        case .fetch where judgement.failed: break
        case .fetch:
            let problem = OktaKeyProblem(.noWellKnown, "the key has to be fetched, and this call makes no request")
            judgement.facts.take(.failed(problem), allowed)
        }
        judgement.close()
        return judgement
    }

    /// The judgement, for which keys and, in the observed profile, the issuer may be fetched.
    func judgementFetching(_ bytes: [UInt8], at moment: Moment) async -> OktaJudgement {
        var judgement = opened(bytes, at: moment)
        await takeIssuer(&judgement)
        switch lookUp.need(of: judgement.facts.token) {
        case .none: break
        case .have(let result, let entry):
            judgement.facts.take(result, allowed)
            await retry(&judgement, entry)
        case .fetch where judgement.failed: break
        case .fetch(let kid): judgement.facts.take(await lookUp.fetch(kid, insteadOf: nil), allowed)
        }
        judgement.close()
        return judgement
    }

    private func opened(_ bytes: [UInt8], at moment: Moment) -> OktaJudgement {
        let token = CompactToken(bytes: bytes, encoding: profile == .documented ? .strict : .lenient)
        return OktaJudgement(OktaValidatorFacts(token, at: moment, issuer: issuer), by: list)
    }

    /// The shipped library compares `iss` with the issuer's own name, and requests that each time.
    private func takeIssuer(_ judgement: inout OktaJudgement) async {
        guard profile == .observed, judgement.firstFailure ?? formRuleCount >= formRuleCount,
            let name = await lookUp.issuerName()
        else { return }
        judgement.facts.issuer = name
        judgement.judgeAgain()
    }

    /// ours: the validator page keeps a key "until it fails", so a failing one is fetched again and tried once more.
    private func retry(_ judgement: inout OktaJudgement, _ entry: OktaKeyCache.Entry?) async {
        guard profile == .documented, !judgement.failed, let entry, let kid = entry.key.id,
            judgement.facts.signature?.outcome == .failed
        else { return }
        judgement.facts.take(await lookUp.fetch(kid, insteadOf: entry), allowed)
    }
}

/// A token on its way through the rules, and the result.
struct OktaJudgement: Sendable {
    var facts: OktaValidatorFacts
    private var outcomes = RuleOutcomes()
    private let list: RuleList<OktaValidatorFacts>

    init(_ facts: OktaValidatorFacts, by list: RuleList<OktaValidatorFacts>) {
        (self.facts, self.list) = (facts, list)
        list.judgeFirst(&self.facts, &outcomes)
    }

    var firstFailure: Int? { outcomes.firstFailure }
    var failed: Bool { firstFailure != nil }

    /// Judges everything but key and signature again, by other facts.
    mutating func judgeAgain() {
        outcomes = RuleOutcomes()
        list.judgeFirst(&facts, &outcomes)
    }

    /// Judges key and signature.
    mutating func close() { list.judgeLater(&facts, &outcomes) }

    var findings: [Finding] { list.findings(on: facts, outcomes) }

    /// The token with its claims, which nobody gets before its signature is verified.
    func result() throws(OktaTokenError) -> VerifiedToken {
        guard !failed, facts.signature?.outcome == .passed, case .found(_, let origin)? = facts.key,
            let header = facts.token.header, let claims = facts.token.claims
        else { throw OktaTokenError(findings, list.refusals(on: facts, outcomes).first) }
        return VerifiedToken(text: facts.token.text, header: header, claims: claims, keyOrigin: origin)
    }

    fileprivate var verdict: CheckerVerdict {
        do throws(OktaTokenError) {
            let token = try result()
            return CheckerVerdict(
                isUsable: true, summary: "valid, by the key of: \(token.keyOrigin.rawValue)", result: token.members,
                findings: findings, showsFindings: false)
        } catch {
            return CheckerVerdict(
                isUsable: false, summary: "not valid, \(error)", result: error.members, findings: error.findings)
        }
    }
}

extension OktaTokenError {
    init(_ findings: [Finding], _ refusal: Refusal<OktaTokenFailure>?) {
        let failed = findings.first { $0.outcome == .failed }
        let failure = refusal?.failure ?? .signature
        self.init(
            failure: failure, detail: refusal?.reason ?? failed?.description ?? "the signature was not judged",
            shippedName: refusal?.parameters["stops"] == true ? nil : failure.shippedName,
            shippedValue: refusal?.parameters["value"]?.string, findings: findings)
    }
}

/// What the rules judge: a token, the moment, and the key once it has been looked for.
struct OktaValidatorFacts: RuleFacts {
    typealias Failure = OktaTokenFailure

    let token: CompactToken
    let moment: Moment
    /// What `iss` must be; in the observed profile, what the issuer calls itself.
    var issuer: String?
    /// The key; `nil` while nobody has looked for it.
    private(set) var key: OktaKeyResult?
    /// The judgement of the signature, made once.
    private(set) var signature: Finding?

    var compact: CompactToken? { token }

    init(_ token: CompactToken, at moment: Moment, issuer: String?) {
        (self.token, self.moment, self.issuer) = (token, moment, issuer)
    }

    /// Takes the key, and judges the signature by it.
    mutating func take(_ key: OktaKeyResult, _ allowed: [Algorithm]) {
        self.key = key
        guard case .found(let key, _) = key, let algorithm = token.namedAlgorithm(among: allowed) else { return }
        signature = token.signature(by: key, algorithm: algorithm, source: "validator page, JWT Verification")
    }

    /// What a claim is, in words; long values are cut.
    func found(_ claim: String) -> String {
        guard let value = token.claims?[claim] else { return "\(claim) is absent" }
        return "\(claim) is \(value.text.prefix(200))"
    }
}

typealias OktaRule = TokenRule<OktaValidatorFacts>

extension OktaRule {
    /// Creates a rule whose refusal says in words what was found.
    ///
    /// - Parameter value: what the shipped library's error carries.
    init(
        _ check: String, expects expected: Fact, source: String, _ evidence: Evidence = .documented,
        orFail failure: OktaTokenFailure,
        carrying value: @escaping @Sendable (OktaValidatorFacts) -> String? = { _ in nil },
        because detail: @escaping @Sendable (OktaValidatorFacts) -> String, judge: @escaping Judgement
    ) {
        self.init(
            check, expects: expected, source: source, evidence, orFail: [failure],
            by: { Refusal(failure, ["value": JSON(value($0))], because: detail($0)) }, judge: judge)
    }
}

extension TokenChecker {
    /// The validator as a checker, for commands and for verdicts inside the server.
    ///
    /// Without a request it judges by the keys of its settings alone: a sandbox gives its own as ``CheckerKey/set(_:)``.
    package static let okta = TokenChecker(
        name: "okta", about: "what a client of Okta checks before it trusts a token",
        takes: Set(CheckerOption.allCases).subtracting([.nearExpiry]), rules: OktaRules.listing,
        complaint: { settings in
            JSONObject(settings.claims.map { ($0.name, .null) }).duplicateNames.first
                .map { "the claim \($0) is given twice." }
                ?? OktaTokenValidator.problem(
                    with: OktaValidatorOptions(settings), keys: OktaKeys(settings.key, nil), profile: settings.profile)
        },
        check: { token, moment, settings in
            OktaJudge(settings, nil).judgement(token.bytes, at: moment).verdict
        },
        fetchingCheck: { token, moment, settings, fetch in
            await OktaJudge(settings, fetch).judgementFetching(token.bytes, at: moment).verdict
        })
}

extension OktaJudge {
    fileprivate init(_ settings: CheckerSettings, _ fetch: OktaKeys.Fetch?) {
        self.init(
            options: OktaValidatorOptions(settings), keys: OktaKeys(settings.key, fetch), profile: settings.profile)
    }
}

extension OktaValidatorOptions {
    fileprivate init(_ settings: CheckerSettings) {
        self.init(
            issuer: settings.issuer, audience: settings.audience, nonce: settings.nonce,
            checksExpiry: settings.checksExpiry, checksIssuedAt: settings.checksIssuedAt, leeway: settings.leeway,
            clientID: settings.clientID, scopes: settings.scopes, type: settings.type,
            claims: Dictionary(settings.claims) { $1 })
    }
}

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
