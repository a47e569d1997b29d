import Emulation
import JSON
import Tokens

typealias IMSRule = TokenRule<IMSFacts>

/// IMS's rules, in the order of its checks.
///
/// Source: the rules are documented (security page) where they say so; the order is ours. Nothing about the values of
/// claims is disclosed before the signature holds.
extension IMS {
    static let recordChecks = ["operator-key", "issuer-registered", "keys", "key", "signature-genuine", "user-known"]
    static let historyChecks = ["token-id-unused"]
    static let keyChecks = ["signature"]

    static var rules: [RuleListing] {
        [
            ("operator", operatorRules), ("token: form and issuer", formRules), ("token: key and claims", claimRules),
            ("token: use and user", userRules),
        ].flatMap { $1.listing(of: identity.id, about: $0) }
    }

    /// What a request presents, in check order: form and issuer, and the rest once the keys are found.
    static let tokenRules = RuleList(formRules.rules, later: claimRules.rules)

    /// What the keys of the issuer and the claims decide.
    static let claimRules = RuleList(keyRules + claimChecks)

    /// Everything a token shows before the key search.
    static let formRules = RuleList(
        [.bearerPresent("token-present", source: "ours", .ours, orFail: .tokenMissing)]
            + IMSRule.bearerOnce(orFail: .tokenMalformed) + [tokenIsNoKey] + IMSRule.structure(orFail: .tokenMalformed)
            + [
                IMSRule(.critical(), orFail: .tokenMalformed), algorithm, publicKeyAsSecret, type,
                IMSRule(.keyReferences),
            ] + [text("iss"), keyID, registration])

    /// An API key in place of a token; always malformed.
    private static let tokenIsNoKey = IMSRule(
        "token-is-jwt", "a JWT of a registered issuer", "ours", .ours, orFail: .tokenMalformed
    ) { facts, finding in
        guard let token = facts.compact, facts.bearer != nil, !token.isWellFormed,
            token.bytes.elementsEqual(facts.operatorKey.utf8)
        else { return nil }
        finding?.found = .text("the operator's key")
        finding?.note = "The operator's key belongs in x-ims-operator-key."
        return .failed
    }

    // MARK: Header

    private static let algorithm = IMSRule(
        .algorithm(is: .rs256, source: "security page, JWT Claims: alg"), orFail: [.algNotAllowed],
        by: { _ in Refused(.algNotAllowed) }
    ) { facts, finding in if facts.isSignedBySecret { finding.note = IMSTokenJudge.publicSecret } }

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
        "type", "JWT", "security page, JWT Claims: typ; case ours, and that an issuer may do without",
        orFail: .typNotAllowed
    ) { facts, finding in
        facts.compact?.type(is: "JWT", required: facts.issuer?.record.requiresType ?? true, &finding)
    }

    // MARK: What finds the key

    private static func text(_ name: String) -> IMSRule {
        typed(.claim(name, is: .nonEmptyString, source: "security page, JWT Claims: \(name)"), name)
    }

    private static let keyID = typed(
        .headerMember("kid", is: .string, required: false, source: "security page, JWT Claims: kid"), "kid",
        isRequired: false)

    /// A check of a member; the answer names it. `null` counts as absent where a claim is required (ours).
    private static func typed(_ check: TokenCheck, _ name: String, isRequired: Bool = true) -> IMSRule {
        IMSRule(
            check, orFail: isRequired ? [.claimMissing, .claimInvalid] : [.claimInvalid],
            by: { facts in
                let isAbsent = isRequired && facts.compact?.claims?[name]?.isNull ?? true
                return Refused(isAbsent ? .claimMissing : .claimInvalid, ["field": .string(name)])
            })
    }

    private static let registration = IMSRule(
        "issuer-registered", "the iss of a registered issuer, byte for byte", "security page, JWT Claims: iss",
        orFail: .issuerUnknown
    ) { facts, finding in
        guard let token = facts.token else { return nil }
        guard let iss = token.issuer else { return .notJudged }
        finding?.found = .text(iss)
        if facts.issuer != nil { return .passed }
        finding?.note = facts.judge?.strangeness(of: token)
        return .failed
    }

    // MARK: Claims

    private static let claimChecks =
        [text("sub"), time("exp"), time("nbf"), time("iat")]
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
        return typed(check, name, isRequired: !isOptional)
    }

    private static let beginningPresent = IMSRule(
        "not-before-present", expects: .anyOf(["nbf", "iat"]),
        source: "security page, JWT Claims: either must be present; switch missing-not-before", orFail: [.claimMissing],
        by: { _ in Refused(.claimMissing, ["field": "nbf"]) }
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
        by: { Refused(.tokenNotYetValid, ["field": JSON($0.token?.beginning)]) }
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
            orFail: [.audienceMismatch], by: { _ in Refused(.audienceMismatch, ["field": .string(claim)]) }
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

/// Rules that need the state, and rules for operators.
///
/// Source: that users must be created, activated and not deactivated is documented (site), the tenants are ours.
extension IMS {
    static let userRules = RuleList([genuine, tokenIDUnused, userKnown, userActive])

    /// Refuses every token without a genuine signature, whatever earlier rules found (ours): its issuer may change
    /// while its keys are being fetched.
    private static let genuine = IMSRule(
        "signature-genuine", expects: .text("a signature by a key of the issuer"), source: "ours", .ours,
        orFail: [.keysUnavailable],
        by: { Refused(.keysUnavailable, ["retry_after": .string(String($0.switches.coolDownSeconds))]) }
    ) { facts, finding in
        if facts.isGenuine || facts.isRefused { return nil }
        finding?.found = .absent
        return .failed
    }

    private static let tokenIDUnused = IMSRule(
        "token-id-unused", "a jti of its own", "security page, JWT Claims: jti, replay protection; the modes ours",
        orFail: .tokenReplayed
    ) { facts, finding in
        guard let issuer = facts.issuer, let use = facts.tokenUse else { return nil }
        let isSingle = issuer.record.replay == .singleUse
        if !isSingle { finding?.expected = .text("the device of the first use") }
        finding?.found = facts.token?.tokenID.map(Fact.text)
        switch use {
        case .unknown:
            finding?.expected = nil
            finding?.found = nil
            finding?.source = nil
            finding?.note = "Only a request shows whether the jti was used."
            return .notJudged
        case .first: return .passed
        case .repeated(let first, let now):
            if !isSingle, first.hasSameBytes(as: now) { return .passed }
            finding?.note =
                isSingle
                ? "replay of issuer \(issuer.record.name) is single-use, and this jti was used before."
                : "x-ims-device-id was \(named(first)) at the first use, and is \(named(now)) now."
            return .failed
        }
    }

    private static func named(_ device: String) -> String { device.isEmpty ? "none" : "“\(device)”" }

    private static let userKnown = IMSRule(
        "user-known", "the enterprise id of a user of the issuer's tenant",
        "security page, JWT Claims: sub; switch unknown-user", orFail: .userUnknown
    ) { facts, finding in
        guard let subject = facts.subject else { return nil }
        if let user = subject.user {
            finding?.expected = nil
            finding?.found = .text(IMSUser.id(user.number))
            finding?.source = "security page, JWT Claims: sub"
            return .passed
        }
        finding?.expected = .text("the enterprise id of a user of tenant \(subject.tenant)")
        finding?.found = .text(subject.name)
        finding?.note = subject.isAdopted ? "Switch unknown-user enrolls and activates the user." : subject.namesake
        return subject.isAdopted ? .noted : .failed
    }

    private static let userActive = IMSRule(
        "user-active", expects: .text(IMSUser.State.active.rawValue),
        source: "site: users are activated before use, and can be deactivated",
        orFail: [.userNotActive, .userDeactivated],
        by: { Refused($0.subject?.user?.state == .deactivated ? .userDeactivated : .userNotActive) }
    ) { facts, finding in
        guard let subject = facts.subject, let user = subject.user else { return nil }
        let id = finding == nil ? "" : IMSUser.id(user.number)
        finding?.found = .text(user.state.rawValue)
        switch user.state {
        case .active: return .passed
        case .enrolled:
            finding?.note = "\(id) (\(subject.name)) has not activated the app: POST /ims/v1/activation does."
        case .deactivated:
            finding?.note = "\(id) (\(subject.name)) was deactivated: POST /ims/v1/users/\(id)/activate undoes it."
        }
        return .failed
    }

    // MARK: Operators

    static let operatorRules = RuleList([
        IMSRule(
            "operator-key", expects: .text("x-ims-operator-key of the accounts"), source: "ours; switch operator-auth",
            .ours, orFail: [.operatorKeyMissing, .operatorKeyWrong],
            by: { Refused($0.operator?.sent == nil ? .operatorKeyMissing : .operatorKeyWrong) }
        ) { facts, finding in
            guard let presented = facts.operator else { return nil }
            if presented.sent?.hasSameBytes(as: facts.operatorKey) == true { return .passed }
            // The value may be the key of another environment.
            finding?.found =
                presented.sent == nil
                ? .nothing("no x-ims-operator-key header\(presented.query)") : .text("another value")
            finding?.note = presented.mistake(instead: facts.operatorKey)
            return facts.switches.operatorAuth == .open ? .noted : .failed
        }
    ])
}

extension IMSFacts.Operator {
    /// What was sent in place of the operator's key, or where the key was sent instead; shows neither.
    fileprivate func mistake(instead key: String) -> String? {
        guard let sent else {
            guard let authorization else { return nil }
            let basic = BasicCredentials(authorization.drop { $0 != UInt8(ascii: " ") }.dropFirst())
            return basic?.secret == key || String(decoding: authorization, as: UTF8.self).hasSuffix(key)
                ? "The operator's key was sent in Authorization; it belongs in x-ims-operator-key."
                : "There is an Authorization header, which operator routes do not read."
        }
        if sent.isEmpty { return "x-ims-operator-key is empty." }
        if CompactToken(sent).isWellFormed { return "x-ims-operator-key holds a JWT; tokens belong in Authorization." }
        let mistake = sent.credentialMistake(among: [(key, "the operator's key")])
        if let mistake { return mistake }
        if sent.utf8.count != key.utf8.count {
            return "It has \(sent.utf8.count) characters, the right one \(key.utf8.count)."
        }
        return nil
    }
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
