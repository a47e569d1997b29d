import Emulation
import JSON
import Tokens

enum IMSClaimRules {
    static let all =
        [IMS.text("sub"), time("exp"), time("nbf"), time("iat")]
        // Times that look like milliseconds pass when they lie in the future, but mean something else.
        + ["exp", "nbf", "iat"].map { IMSRule(.milliseconds(in: $0)) }
        + [beginningPresent, expiry, beginning, lifetime, clientID, audience, tokenUse, tokenID]

    /// Whether a claim holds Unix seconds; `nbf` and `iat` only if present and not both `null`.
    ///
    /// Source: that it is a number is documented (security page); the limits are ours.
    private static func time(_ name: String) -> IMSRule {
        let isOptional = name != "exp"
        let source = isOptional ? "security page, JWT Claims: nbf, iat" : "security page, JWT Claims: exp"
        let number = TokenCheck.claim(name, is: .number, source: source)
        let check = TokenCheck(number.name, expected: .types(.number), source: source) { token, finding in
            let date = token.date(name)
            if isOptional, date.form == .absent || IMSToken.beginning(of: token) == nil { return nil }
            if date.size == .negative, date.isNumber {
                finding?.found = token.claims?[name].map(Fact.json)
                finding?.note = "A moment in Unix seconds is not negative."
                return .failed
            }
            let outcome = number.judge(token, &finding)
            if outcome == .failed, date.form == .numericString {
                finding?.note = "\(name) is a text that holds a number; write it without quotes."
            }
            return outcome
        }
        return IMSRule(
            check, orFail: isOptional ? [.claimInvalid] : [.claimMissing, .claimInvalid],
            by: { facts in
                let isAbsent = !isOptional && facts.compact?.claims?[name]?.isNull ?? true
                return IMS.Refused(isAbsent ? .claimMissing : .claimInvalid, ["field": .string(name)])
            })
    }

    private static let beginningPresent = IMSRule(
        "not-before-present", expects: .anyOf(["nbf", "iat"]),
        source: "security page, JWT Claims: either must be present; switch missing-not-before", orFail: [.claimMissing],
        by: { _ in IMS.Refused(.claimMissing, ["field": "nbf"]) }
    ) { facts, finding in
        guard let token = facts.token else { return nil }
        finding?.found = token.beginning.map(Fact.text) ?? .absent
        if token.compact.claims == nil { return .notJudged }
        return token.beginning != nil || facts.switches.missingNotBefore == .accept ? .passed : .failed
    }

    private static let expiry = IMSRule(
        "expiry", "exp later than now minus the leeway", "security page, JWT Claims: exp", orFail: .tokenExpired
    ) { facts, finding in
        let leeway = facts.issuer?.expiryLeeway(facts.switches) ?? facts.switches.expiryLeewaySeconds
        return facts.compact?.expiry(at: facts.moment.unixSeconds, leeway: Double(leeway), &finding)
    }

    private static let beginning = IMSRule(
        "not-before", expects: .text("nbf, or iat, no later than now plus the leeway"),
        source: "security page, JWT Claims: nbf, iat as its fallback; the leeway ours", orFail: [.tokenNotYetValid],
        by: { IMS.Refused(.tokenNotYetValid, ["field": JSON($0.token?.beginning)]) }
    ) { facts, finding in
        guard let token = facts.token, let claim = token.beginning else { return nil }
        let leeway = facts.issuer?.notBeforeLeeway(facts.switches) ?? facts.switches.notBeforeLeewaySeconds
        return token.compact.notBefore(
            at: facts.moment.unixSeconds, claim: claim, leeway: Double(leeway), &finding)
    }

    /// A token without a start, which a switch accepts, starts now: otherwise leaving both claims out would bypass the
    /// limit (ours).
    private static let lifetime = IMSRule(
        "lifetime", expects: .text("what the issuer or switch max-lifetime-seconds allows"),
        source: "security page, Security Recommendations: exp - nbf or exp - iat; from now without both: ours",
        orFail: .lifetimeTooLong
    ) { facts, finding in
        let limit =
            if let issuer = facts.issuer { issuer.maximumLifetime(facts.switches) } else {
                facts.switches.maximumLifetimeSeconds
            }
        guard let token = facts.token, let maximum = limit else { return nil }
        let outcome = token.compact.lifetime(
            atMost: Double(maximum), from: token.beginning.map { .claims([$0]) } ?? .moment(facts.moment.unixSeconds),
            &finding)
        guard outcome == .failed else { return outcome }
        let start = token.beginning.map { "The lifetime counts from \($0)" } ?? "Without nbf and iat it counts from now"
        finding?.note =
            token.compact.date("exp").millisecondsRemark(on: "exp")
            ?? "\(start) to exp; at most \(maximum) s are allowed."
        return outcome
    }

    private static let clientID = audience("claim-client_id-equals", in: "client_id")
    private static let audience = audience("audience", in: "aud")

    /// Access tokens have their audience in another claim.
    private static func audience(_ check: String, in claim: String) -> IMSRule {
        let isOfAccessTokens = claim == "client_id"
        return IMSRule(
            check, expects: .text("the audience of the issuer"), source: "ours, after the third parties' tokens", .ours,
            orFail: [.audienceMismatch], by: { _ in IMS.Refused(.audienceMismatch, ["field": .string(claim)]) }
        ) { facts, finding in
            guard let token = facts.compact, let issuer = facts.issuer, let audience = issuer.record.audience,
                (issuer.record.tokenUse == "access") == isOfAccessTokens
            else { return nil }
            let outcome =
                isOfAccessTokens
                ? token.claim(claim, equals: audience, &finding) : token.audience(isOneOf: [audience], &finding)
            if outcome == .failed, finding != nil, let note = facts.audienceNote(claim) { finding?.note = note }
            return outcome
        }
    }

    private static let tokenUse = IMSRule(
        "claim-token_use-equals", "the token_use of the issuer", "ours, after the third party's tokens", .ours,
        orFail: .tokenUseMismatch
    ) { facts, finding in
        guard let token = facts.compact, let issuer = facts.issuer, let use = issuer.record.tokenUse else { return nil }
        let outcome = token.claim("token_use", equals: use, &finding)
        if outcome == .failed {
            finding?.note =
                "Issuer \(issuer.record.name) takes tokens of token_use \(use); the app sends another one of its provider's tokens."
        }
        return outcome
    }

    private static let tokenID = IMSRule(
        .claim("jti", is: .nonEmptyString, source: "security page, JWT Claims: jti; the demand ours"),
        orFail: .jtiMissing
    ).when { $0.issuer?.record.needsTokenID == true }
}

extension IMSFacts {
    /// The issuer with the token's audience, or the claim with the right one.
    fileprivate func audienceNote(_ name: String) -> String? {
        guard let issuer, let claims = compact?.claims else { return nil }
        let names = ["aud", "client_id"].flatMap { claims[$0]?.array ?? [claims[$0] ?? .null] }.compactMap(\.string)
        let other = name == "aud" ? "client_id" : "aud"
        if let audience = issuer.record.audience, claims[other]?.string?.hasSameBytes(as: audience) == true {
            return "It stands in \(other), where \(other == "aud" ? "id" : "access") tokens have it; issuer "
                + "\(issuer.record.name) takes the other kind."
        }
        let owner = judge?.issuers.all.first { candidate in
            candidate !== issuer && candidate.record.audience.map { names.contains($0) } == true
        }
        return owner.map { "That is the audience of issuer \($0.record.name)." }
    }
}
