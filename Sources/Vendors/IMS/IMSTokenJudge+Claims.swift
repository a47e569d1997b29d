import Emulation
import JSON
import Tokens

/// Rows 8 to 12: what the claims say.
extension IMSTokenJudge {
    func judgeClaims(of token: IMSToken, _ issuer: IMSIssuer?, _ findings: inout Findings<IMSFailure>) {
        findings.add(IMSClaims(of: token))
        judgePresenceOfBeginning(of: token, &findings)
        judgeTimes(of: token, issuer, &findings)
        guard let issuer else { return }
        if let audience = issuer.record.audience { judgeAudience(audience, of: token, issuer, &findings) }
        if let use = issuer.record.tokenUse {
            findings.add(
                token.compact.claim("token_use", equals: use, source: "ours, after the third party's tokens"),
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
        if let maximum = limit {
            findings.add(
                token.compact.lifetime(
                    atMost: Double(maximum), from: .claims(["nbf", "iat"]),
                    source: "seed, Security Recommendations: exp - nbf or exp - iat"),
                orFail: .lifetimeTooLong)
        }
    }

    private func judgeAudience(
        _ audience: String, of token: IMSToken, _ issuer: IMSIssuer, _ findings: inout Findings<IMSFailure>
    ) {
        let source = "ours, after the third parties' tokens"
        if issuer.record.tokenUse == "access" {
            findings.add(
                token.compact.claim("client_id", equals: audience, source: source), orFail: .audienceMismatch,
                with: ["field": "client_id"])
        } else {
            findings.add(
                token.compact.audience(isOneOf: [audience], source: source), orFail: .audienceMismatch,
                with: ["field": "aud"])
        }
    }
}

/// What explains a refusal to the person who signs.
extension IMSTokenJudge {
    /// ours: so many keys of others are tried, since whoever sends forged tokens should not have them all tried.
    private static let mostOthers = 16

    /// Names the issuer whose key made a signature that does not fit.
    func diagnose(_ token: IMSToken, _ issuer: IMSIssuer?, _ findings: inout Findings<IMSFailure>) {
        if let other = signer(of: token, besides: issuer) {
            findings.note(
                Finding(
                    "signature-of-another", .noted, found: .text(other.record.name),
                    note: "The signature fits a key of issuer \(other.record.name) (\(other.record.issuer))."))
        }
    }

    /// The issuer whose key made the signature.
    func signer(of token: IMSToken, besides issuer: IMSIssuer? = nil) -> IMSIssuer? {
        guard token.compact.isWellFormed else { return nil }
        var left = Self.mostOthers
        for other in issuers.all where other !== issuer {
            let places = Array(other.ring.keys.indices.prefix(left))
            left -= places.count
            let fits = places.contains {
                token.compact.signature(by: other.ring.keys[$0], algorithm: .rs256).outcome == .passed
            }
            if fits { return other }
        }
        return nil
    }

    /// Tells whether an HMAC was made with the public key as its secret, which a careless server would accept.
    func symmetricDiagnosis(of token: IMSToken, _ issuer: IMSIssuer?) -> Finding? {
        guard let issuer, let algorithm = token.compact.namedAlgorithm(among: [.hs256, .hs384, .hs512]) else {
            return nil
        }
        for key in issuer.ring.keys.prefix(IMSKeyRing.mostTried) {
            guard let text = key.publicPEM else { continue }
            for secret in [text, String(text.dropLast())] {
                // A text is never empty, so this is a key.
                guard let secret = try? VerificationKey.secret(secret),
                    token.compact.signature(by: secret, algorithm: algorithm).outcome == .passed
                else { continue }
                return Finding(
                    "public-key-as-secret", .noted, found: .algorithm(algorithm),
                    note: "The token is signed by HMAC with the issuer's public key as secret: anybody could do that.",
                    source: "RFC 8725 section 2.1")
            }
        }
        return nil
    }
}
