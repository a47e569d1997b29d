import Emulation
import JSON
import Tokens

typealias IMSRule = TokenRule<IMSFacts>

/// IMS's rules, in the order of its checks.
///
/// Source: the rules are documented (seed) where they say so; the order is ours. Nothing about the values of claims is
/// disclosed before the signature holds.
extension IMS {
    static var rules: [RuleListing] {
        [
            ("operator", operatorRules), ("token: form and issuer", formRules), ("token: key and claims", claimRules),
            ("token: use and user", userRules),
        ].flatMap { $1.listing(of: identity.id, about: $0) }
    }

    /// What a request presents, in check order: form and issuer, and the rest once the keys are found.
    static let tokenRules = RuleList(formRules.rules, later: claimRules.rules)

    /// Everything a token shows before the key search.
    static let formRules = RuleList(
        [.bearerPresent("token-present", source: "ours", .ours, orFail: .tokenMissing)]
            + IMSRule.bearerOnce(orFail: .tokenMalformed) + [tokenIsNoKey]
            + IMSRule.structure(orFail: .tokenMalformed)
            + [
                IMSRule(.critical(), orFail: .tokenMalformed), algorithm, publicKeyAsSecret, type,
                IMSRule(.keyReferences),
            ]
            + [text("iss"), keyID, registration])

    /// An API key in place of a token; always malformed.
    private static let tokenIsNoKey = IMSRule(
        "token-is-jwt", expects: .text("a JWT of a registered issuer"), source: "ours", .ours, orFail: .tokenMalformed
    ) { facts, finding in
        guard let token = facts.compact, facts.bearer != nil, !token.isWellFormed,
            token.bytes.elementsEqual(facts.operatorKey.utf8)
        else { return nil }
        finding?.found = .text("the operator's key")
        finding?.note = "The operator's key belongs in x-ims-operator-key."
        return .failed
    }

    // MARK: Header

    private static let algorithm: IMSRule = {
        let check = TokenCheck.algorithm(is: .rs256, source: "seed, JWT Claims: alg")
        return IMSRule(check.name, expects: .algorithm(.rs256), source: check.source, orFail: .algNotAllowed) {
            facts, finding in
            guard let token = facts.compact else { return nil }
            let outcome = check.judge(token, &finding)
            if facts.isSignedBySecret { finding?.note = IMSTokenJudge.publicSecret }
            return outcome
        }
    }()

    private static let publicKeyAsSecret = IMSRule(
        "public-key-as-secret", expects: .absent, source: "RFC 8725 section 2.1"
    ) { facts, finding in
        guard facts.isSignedBySecret else { return nil }
        finding?.expected = nil
        finding?.found = facts.compact?.header?["alg"].map(Fact.json)
        finding?.note = IMSTokenJudge.publicSecret
        return .noted
    }

    private static let type = IMSRule(
        "type", expects: .text("JWT"), source: "seed, JWT Claims: typ; case ours, and that an issuer may do without",
        orFail: .typNotAllowed
    ) { facts, finding in
        facts.compact?.type(is: "JWT", required: facts.issuer?.record.requiresType ?? true, &finding)
    }

    // MARK: What finds the key

    private static func text(_ name: String) -> IMSRule {
        typed(
            .claim(name, is: .nonEmptyString, source: "seed, JWT Claims: \(name)"), name, .claimMissing, .claimInvalid)
    }

    private static let keyID = typed(
        .headerMember("kid", is: .string, required: false, source: "seed, JWT Claims: kid"), "kid", nil, .claimInvalid)

    /// A check of a member; the answer names it. `null` counts as absent where a claim is required (ours).
    private static func typed(
        _ check: TokenCheck, _ name: String, _ missing: IMSFailure?, _ invalid: IMSFailure
    ) -> IMSRule {
        IMSRule(
            check.name, expects: check.expected ?? .absent, source: check.source,
            orFail: [missing, invalid].compactMap(\.self),
            by: { facts in
                let isAbsent = facts.compact?.claims?[name]?.isNull ?? true
                return Refusal(isAbsent ? missing ?? invalid : invalid, ["field": .string(name)])
            }
        ) { facts, finding in facts.compact.flatMap { check.judge($0, &finding) } }
    }

    private static let registration = IMSRule(
        "issuer-registered", expects: .text("the iss of a registered issuer, byte for byte"),
        source: "seed, JWT Claims: iss", orFail: .issuerUnknown
    ) { facts, finding in
        guard let token = facts.token else { return nil }
        guard let iss = token.issuer else { return .notJudged }
        finding?.found = .text(iss)
        if facts.issuer != nil { return .passed }
        finding?.note = facts.judge?.strangeness(of: token)
        return .failed
    }
}

// MARK: - Keys and signature

extension IMS {
    /// Rules that need the issuer's keys, and the claims.
    static let claimRules = RuleList(
        [keysThere, key] + certificates + [certificateDates, signature, otherSigner] + claims)

    private static let keysThere = IMSRule(
        "keys", expects: .text("keys of the issuer"), source: "ours; switch jwks-cooldown-seconds", .ours,
        orFail: [.keysUnavailable],
        by: { Refusal(.keysUnavailable, ["retry_after": .string(String($0.switches.coolDownSeconds))]) }
    ) { facts, finding in
        switch facts.keys {
        case .unfetched:
            finding?.expected = nil
            finding?.source = nil
            finding?.found = .absent
            finding?.note = "The keys have not been fetched yet."
            return .notJudged
        case .unavailable(let why, let note):
            let record = facts.issuer?.record
            finding?.expected = .text(
                "keys of issuer \(record?.name ?? "")" + (record?.source.url.map { " at \($0)" } ?? ""))
            finding?.found = .text(why)
            finding?.note = note
            return .failed
        case .none, .unnamed, .unknown, .some: return nil
        }
    }

    private static let key = IMSRule(
        "key", expects: .text("a key of the issuer"), source: "seed, JWT Claims: kid; details ours",
        orFail: [.kidRequired, .kidUnknown],
        by: { facts in
            if case .unnamed = facts.keys { Refusal(.kidRequired) } else { Refusal(.kidUnknown) }
        }
    ) { facts, finding in
        switch facts.keys {
        case .none, .unfetched, .unavailable: return nil
        case .some:
            finding?.found = facts.token?.keyID.map(Fact.text) ?? .absent
            return .passed
        case .unnamed(let expected):
            finding?.expected = .text(expected)
            finding?.found = .absent
            return .failed
        case .unknown:
            let known = facts.issuer?.ring.keys.compactMap(\.id).joined(separator: ", ") ?? ""
            finding?.expected = .text("one of \(known)")
            finding?.found = facts.token?.keyID.map(Fact.text)
            finding?.note = facts.judge?.absence(of: facts)
            return .failed
        }
    }

    /// Warns about each candidate's certificate by default: the one on the vendor's page has long expired.
    private static let certificates = (0..<IMSKeyRing.mostTried).map { number in
        IMSRule(
            "certificate-expired", id: "certificate-\(number + 1)", expects: .text("a moment within its dates"),
            source: "RFC 5280 section 4.1.2.5"
        ) { facts, finding in
            guard case .some(let places, _) = facts.keys, number < places.count, let issuer = facts.issuer,
                issuer.record.certificateDates != .ignore
            else { return nil }
            return finding.take(issuer.ring.keys[places[number]].validity?.finding(at: facts.moment.unixSeconds).noted)
        }
    }

    /// Keys are left out while their certificates are not valid, if the issuer wants that (ours).
    private static let certificateDates = IMSRule(
        "certificate-dates", expects: .text("a certificate that is valid now"), source: "ours", .ours,
        orFail: .certificateExpired
    ) { facts, finding in
        guard case .some(let places, let valid) = facts.keys, valid.isEmpty, let issuer = facts.issuer else {
            return nil
        }
        finding?.expected = .text("a certificate that is valid at \(facts.moment.rfc3339)")
        finding?.found = .text(
            places.compactMap { issuer.ring.keys[$0].validity?.dates }.joined(separator: "; "))
        finding?.note = "certificate_dates of issuer \(issuer.record.name) is reject; warn and ignore accept it."
        return .failed
    }

    private static let signature = IMSRule(
        "signature", expects: .text("RS256 by a key of the issuer"), source: "seed: verified server-side",
        orFail: .signatureInvalid
    ) { facts, finding in
        guard let token = facts.token else { return nil }
        guard case .some(_, let valid) = facts.keys, !valid.isEmpty, let issuer = facts.issuer else {
            finding?.expected = nil
            finding?.source = nil
            finding?.note = "No key is known to judge it by."
            return .notJudged
        }
        let outcome = token.signature(by: issuer.ring, at: valid, &finding)
        if outcome == .failed, !facts.isRefused, finding != nil, let reason = facts.judge?.mistake(in: facts, at: valid)
        {
            finding?.note = reason
        }
        return outcome
    }

    private static let otherSigner = IMSRule(
        "signature-of-another", expects: .absent, source: nil, .ours
    ) { facts, finding in
        guard let other = facts.otherSigner else { return nil }
        finding?.expected = nil
        finding?.found = .text(other.issuer.record.name)
        return .noted
    }
}

// MARK: - Claims

extension IMS {
    private static let claims =
        [text("sub"), time("exp"), time("nbf"), time("iat")]
        // Times that look like milliseconds pass when they lie in the future, but mean something else.
        + ["exp", "nbf", "iat"].map { IMSRule(.milliseconds(in: $0)) }
        + [beginningPresent, expiry, beginning, lifetime, clientID, audience, tokenUse, tokenID]

    /// Whether a claim holds Unix seconds; `nbf` and `iat` only if present and not both `null`.
    ///
    /// Source: that it is a number is documented (seed); the limits are ours.
    private static func time(_ name: String) -> IMSRule {
        let isOptional = name != "exp"
        let source = isOptional ? "seed, JWT Claims: nbf, iat" : "seed, JWT Claims: exp"
        let check = TokenCheck.claim(name, is: .number, source: source)
        return IMSRule(
            check.name, expects: .types(.number), source: source,
            orFail: isOptional ? [.claimInvalid] : [.claimMissing, .claimInvalid],
            by: { facts in
                let isAbsent = !isOptional && facts.compact?.claims?[name]?.isNull ?? true
                return Refusal(isAbsent ? .claimMissing : .claimInvalid, ["field": .string(name)])
            }
        ) { facts, finding in
            guard let token = facts.token else { return nil }
            let date = token.compact.date(name)
            if isOptional, token.beginning == nil || date.form == .absent { return nil }
            if date.size == .negative, date.isNumber {
                finding?.found = token.compact.claims?[name].map(Fact.json)
                finding?.note = "A moment in Unix seconds is not negative."
                return .failed
            }
            let outcome = check.judge(token.compact, &finding)
            if outcome == .failed, date.form == .numericString {
                finding?.note = "\(name) is a text that holds a number; write it without quotes."
            }
            return outcome
        }
    }

    private static let beginningPresent = IMSRule(
        "not-before-present", expects: .anyOf(["nbf", "iat"]),
        source: "seed, JWT Claims: either must be present; switch missing-not-before", orFail: [.claimMissing],
        by: { _ in Refusal(.claimMissing, ["field": "nbf"]) }
    ) { facts, finding in
        guard let token = facts.token else { return nil }
        finding?.found = token.beginning.map(Fact.text) ?? .absent
        if token.compact.claims == nil { return .notJudged }
        return token.beginning != nil || facts.switches.missingNotBefore == .accept ? .passed : .failed
    }

    private static let expiry = IMSRule(
        "expiry", expects: .text("exp later than now, less the leeway"), source: "seed, JWT Claims: exp",
        orFail: .tokenExpired
    ) { facts, finding in
        let leeway = facts.issuer?.expiryLeeway(facts.switches) ?? facts.switches.expiryLeewaySeconds
        return facts.compact?.expiry(at: facts.moment.unixSeconds, TimeRules(leeway: Double(leeway)), &finding)
    }

    private static let beginning = IMSRule(
        "not-before", expects: .text("nbf, or iat, no later than now, and the leeway"),
        source: "seed, JWT Claims: nbf, iat as its fallback; the leeway ours", orFail: [.tokenNotYetValid],
        by: { Refusal(.tokenNotYetValid, ["field": JSON($0.token?.beginning)]) }
    ) { facts, finding in
        guard let token = facts.token, let claim = token.beginning else { return nil }
        let leeway = facts.issuer?.notBeforeLeeway(facts.switches) ?? facts.switches.notBeforeLeewaySeconds
        return token.compact.notBefore(
            at: facts.moment.unixSeconds, claim: claim, TimeRules(leeway: Double(leeway)), &finding)
    }

    /// A token without a start, which a switch accepts, starts now: otherwise leaving both claims out would bypass the
    /// limit (ours).
    private static let lifetime = IMSRule(
        "lifetime", expects: .text("what the issuer or switch max-lifetime-seconds allows"),
        source: "seed, Security Recommendations: exp - nbf or exp - iat; from now without both: ours",
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

    private static let audienceSource = "ours, after the third parties' tokens"

    private static let clientID = IMSRule(
        "claim-client_id-equals", expects: .text("the audience of the issuer"), source: audienceSource, .ours,
        orFail: [.audienceMismatch], by: { _ in Refusal(.audienceMismatch, ["field": "client_id"]) }
    ) { facts, finding in
        guard let token = facts.compact, let issuer = facts.issuer, let audience = issuer.record.audience,
            issuer.record.tokenUse == "access"
        else { return nil }
        let outcome = token.claim("client_id", equals: audience, &finding)
        if outcome == .failed, finding != nil, let note = facts.audienceNote("client_id") { finding?.note = note }
        return outcome
    }

    private static let audience = IMSRule(
        "audience", expects: .text("the audience of the issuer"), source: audienceSource, .ours,
        orFail: [.audienceMismatch], by: { _ in Refusal(.audienceMismatch, ["field": "aud"]) }
    ) { facts, finding in
        guard let token = facts.compact, let issuer = facts.issuer, let audience = issuer.record.audience,
            issuer.record.tokenUse != "access"
        else { return nil }
        let outcome = token.audience(isOneOf: [audience], &finding)
        if outcome == .failed, finding != nil, let note = facts.audienceNote("aud") { finding?.note = note }
        return outcome
    }

    private static let tokenUse = IMSRule(
        "claim-token_use-equals", expects: .text("the token_use of the issuer"),
        source: "ours, after the third party's tokens", .ours, orFail: .tokenUseMismatch
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
        .claim("jti", is: .nonEmptyString, source: "seed, JWT Claims: jti; the demand ours"), orFail: .jtiMissing
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
