import Emulation
import JSON
import Tokens

/// Rows 8 to 12: what the claims say.
extension IMSTokenJudge {
    func judgeClaims(of token: IMSToken, _ issuer: IMSIssuer?, _ findings: inout Findings<IMSFailure>) {
        findings.add(IMSClaims(of: token))
        if token.hasMilliseconds { noteMilliseconds(of: token, &findings) }
        judgePresenceOfBeginning(of: token, &findings)
        judgeTimes(of: token, issuer, &findings)
        guard let issuer else { return }
        if let audience = issuer.record.audience { judgeAudience(audience, of: token, issuer, &findings) }
        if let use = issuer.record.tokenUse {
            let finding = token.compact.claim("token_use", equals: use, source: "ours, after the third party's tokens")
            findings.add(
                finding.outcome == .failed ? finding.because(otherUse(use, issuer)) : finding,
                orFail: .tokenUseMismatch)
        }
        if issuer.record.needsTokenID {
            findings.add(
                token.compact.claim("jti", is: .nonEmptyString, source: "seed, JWT Claims: jti; the demand ours"),
                orFail: .jtiMissing)
        }
    }

    private func judgePresenceOfBeginning(of token: IMSToken, _ findings: inout Findings<IMSFailure>) {
        if token.beginning != nil { return findings.add(IMSBeginning(of: token), orFail: .claimMissing) }
        findings.add(
            token.beginningPresent(isAccepted: switches.missingNotBefore == .accept), orFail: .claimMissing,
            with: ["field": "nbf"])
    }

    /// Rows 9 to 11.
    private func judgeTimes(of token: IMSToken, _ issuer: IMSIssuer?, _ findings: inout Findings<IMSFailure>) {
        let expiryLeeway = issuer?.expiryLeeway(switches) ?? switches.expiryLeewaySeconds
        findings.add(
            token.compact.expiry(
                at: moment.unixSeconds, leeway: Double(expiryLeeway), source: "seed, JWT Claims: exp"),
            orFail: .tokenExpired)
        if let claim = token.beginning {
            let leeway = issuer?.notBeforeLeeway(switches) ?? switches.notBeforeLeewaySeconds
            findings.add(
                token.compact.notBefore(
                    at: moment.unixSeconds, claim: claim, TimeRules(leeway: Double(leeway)),
                    source: "seed, JWT Claims: nbf, iat as its fallback; the leeway ours"),
                orFail: .tokenNotYetValid, with: ["field": .string(claim)])
        }
        let limit = if let issuer { issuer.maximumLifetime(switches) } else { switches.maximumLifetimeSeconds }
        if let maximum = limit { findings.add(lifetime(of: token, atMost: maximum), orFail: .lifetimeTooLong) }
    }

    /// Row 11. A token without a beginning, which a switch lets pass, begins now: otherwise leaving both claims out would be
    /// the way around the limit (ours).
    private func lifetime(of token: IMSToken, atMost maximum: Int) -> Finding {
        let finding = token.compact.lifetime(
            atMost: Double(maximum), from: token.beginning.map { .claims([$0]) } ?? .moment(moment.unixSeconds),
            source: "seed, Security Recommendations: exp - nbf or exp - iat; from now without both: ours")
        guard finding.outcome == .failed else { return finding }
        if let remark = token.compact.date("exp").millisecondsRemark(on: "exp") { return finding.because(remark) }
        let start = token.beginning.map { "The lifetime counts from \($0)" } ?? "Without nbf and iat it counts from now"
        return finding.because("\(start) to exp; at most \(maximum) s are allowed.")
    }

    /// Times that look like milliseconds pass where they lie ahead, and mean something else than was meant.
    private func noteMilliseconds(of token: IMSToken, _ findings: inout Findings<IMSFailure>) {
        for name in ["exp", "nbf", "iat"] {
            if let remark = token.compact.milliseconds(in: name) { findings.note(remark) }
        }
    }

    private func otherUse(_ use: String, _ issuer: IMSIssuer) -> String {
        "Issuer \(issuer.record.name) takes tokens of token_use \(use); the app sends another one of its provider's tokens."
    }

    private func judgeAudience(
        _ audience: String, of token: IMSToken, _ issuer: IMSIssuer, _ findings: inout Findings<IMSFailure>
    ) {
        let source = "ours, after the third parties' tokens"
        if issuer.record.tokenUse == "access" {
            findings.add(
                explained(
                    token.compact.claim("client_id", equals: audience, source: source), "client_id", of: token, issuer),
                orFail: .audienceMismatch, with: ["field": "client_id"])
        } else {
            findings.add(
                explained(token.compact.audience(isOneOf: [audience], source: source), "aud", of: token, issuer),
                orFail: .audienceMismatch, with: ["field": "aud"])
        }
    }

    /// Whose audience a token names instead, or where it has the right one.
    private func explained(_ finding: Finding, _ name: String, of token: IMSToken, _ issuer: IMSIssuer) -> Finding {
        guard finding.outcome == .failed, let claims = token.compact.claims else { return finding }
        let names = ["aud", "client_id"].flatMap { claims[$0]?.array ?? [claims[$0] ?? .null] }.compactMap(\.string)
        let other = name == "aud" ? "client_id" : "aud"
        if let audience = issuer.record.audience, claims[other]?.string?.hasSameBytes(as: audience) == true {
            return finding.because(
                "It stands in \(other), where \(other == "aud" ? "id" : "access") tokens have it; issuer "
                    + "\(issuer.record.name) takes the other kind.")
        }
        let owner = issuers.all.first { candidate in
            candidate !== issuer && candidate.record.audience.map { names.contains($0) } == true
        }
        return owner.map { finding.because("That is the audience of issuer \($0.record.name).") } ?? finding
    }
}
