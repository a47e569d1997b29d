import Emulation
import JSON
import Tokens

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
