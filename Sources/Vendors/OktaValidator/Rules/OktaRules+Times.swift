import Emulation
import JSON
import Tokens

/// The rules about times, all by the same leeway.
extension OktaRules {
    private static let source = "validator page, Validation Options"

    var times: [OktaRule] {
        var rules: [OktaRule] = []
        if checksExpiry { rules.append(expiry) }
        if profile == .documented { rules.append(notBefore) }
        if checksIssuedAt { rules.append(issuedAt) }
        return rules
    }

    private func timeRules(required: Bool) -> TimeRules {
        TimeRules(leeway: leeway, required: required, acceptsLastSecond: true)
    }

    private var grace: String { "leeway \(Fact.seconds(leeway))" }

    private var expiry: OktaRule {
        let (rules, grace, isLenient) = (timeRules(required: true), grace, profile == .observed)
        return OktaRule(
            "expiry", expects: .text("exp, a number, not before now less the leeway"), source: Self.source,
            orFail: [.expired, .expiryMissing],
            by: { facts in
                guard let end = facts.token.date("exp").seconds() else {
                    return Refusal(.expiryMissing, because: facts.noMoment("exp"))
                }
                return Refusal(.expired, because: "exp \(facts.distance(of: end)) before now, \(grace)")
            },
            judge: { facts, finding in
                if isLenient, facts.token.date("exp").seconds() == nil { return nil }
                return facts.token.expiry(at: facts.moment.unixSeconds, rules, &finding)
            })
    }

    private var notBefore: OktaRule {
        let (rules, grace) = (timeRules(required: false), grace)
        return OktaRule(
            "not-before", expects: .text("nbf, if present, a number, not after now and the leeway"),
            source: "validator page, JWT Verification", orFail: .notYetValid,
            because: { facts in
                guard let begin = facts.token.date("nbf").seconds() else { return facts.noMoment("nbf") }
                return "nbf \(facts.distance(of: begin)) after now, \(grace)"
            }
        ) { facts, finding in
            guard facts.token.date("nbf").form != .absent else { return nil }
            return facts.token.notBefore(at: facts.moment.unixSeconds, rules, &finding)
        }
    }

    private var issuedAt: OktaRule {
        let (rules, grace, isLenient) = (timeRules(required: true), grace, profile == .observed)
        return OktaRule(
            "issued-at", expects: .text("iat, a number, not after now and the leeway"), source: Self.source,
            orFail: [.issuedInFuture, .issuedAtMissing],
            by: { facts in
                guard let begin = facts.token.date("iat").seconds() else {
                    return Refusal(.issuedAtMissing, because: facts.noMoment("iat"))
                }
                return Refusal(.issuedInFuture, because: "iat \(facts.distance(of: begin)) after now, \(grace)")
            },
            judge: { facts, finding in
                if isLenient, facts.token.date("iat").seconds() == nil { return nil }
                return facts.token.notBefore(at: facts.moment.unixSeconds, claim: "iat", rules, &finding)
            })
    }
}

extension OktaValidatorFacts {
    /// `1799990000 is 10000 s`
    fileprivate func distance(of seconds: Double) -> String {
        "\(JSONNumber(seconds)) is \(Fact.seconds(abs(seconds - moment.unixSeconds)))"
    }

    fileprivate func noMoment(_ claim: String) -> String { "\(found(claim)), expected a number of seconds" }
}
