import Emulation
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

    /// The shipped library compares `iss` with what the issuer calls itself, and asks for that each time.
    private func takeIssuer(_ judgement: inout OktaJudgement) async {
        guard profile == .observed, judgement.firstFailure ?? formRuleCount >= formRuleCount,
            let name = await lookUp.issuerName()
        else { return }
        judgement.facts.issuer = name
        judgement.judgeAgain()
    }

    /// ours: the validator page keeps a key "until it fails", so one that does is fetched and tried once more.
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

    /// The token with its claims, which nobody gets before its signature fits.
    func result() throws(OktaTokenError) -> VerifiedToken {
        guard !failed, facts.signature?.outcome == .passed, case .found(_, let origin)? = facts.key,
            let header = facts.token.header, let claims = facts.token.claims
        else { throw OktaTokenError(findings, list.refusals(on: facts, outcomes).first) }
        return VerifiedToken(text: facts.token.text, header: header, claims: claims, keyOrigin: origin)
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
