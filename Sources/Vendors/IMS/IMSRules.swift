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
    static let claimRules = RuleList(IMSKeyRules.all + IMSClaimRules.all)

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

    static func text(_ name: String) -> IMSRule {
        typed(
            .claim(name, is: .nonEmptyString, source: "security page, JWT Claims: \(name)"), name, .claimMissing,
            .claimInvalid)
    }

    private static let keyID = typed(
        .headerMember("kid", is: .string, required: false, source: "security page, JWT Claims: kid"), "kid", nil,
        .claimInvalid)

    /// A check of a member; the answer names it. `null` counts as absent where a claim is required (ours).
    private static func typed(
        _ check: TokenCheck, _ name: String, _ missing: IMSFailure?, _ invalid: IMSFailure
    ) -> IMSRule {
        IMSRule(
            check, orFail: [missing, invalid].compactMap(\.self),
            by: { facts in
                let isAbsent = facts.compact?.claims?[name]?.isNull ?? true
                return Refused(isAbsent ? missing ?? invalid : invalid, ["field": .string(name)])
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
}

/// The rules for the issuer's keys and the signature.
enum IMSKeyRules {
    static let all = [keysThere, key] + certificates + [certificateDates, signature, otherSigner]

    private static let keysThere = IMSRule(
        "keys", expects: .text("keys of the issuer"), source: "ours; switch jwks-cooldown-seconds", .ours,
        orFail: [.keysUnavailable],
        by: { IMS.Refused(.keysUnavailable, ["retry_after": .string(String($0.switches.coolDownSeconds))]) }
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
        "key", expects: .text("a key of the issuer"), source: "security page, JWT Claims: kid; details ours",
        orFail: [.kidRequired, .kidUnknown],
        by: { facts in
            if case .unnamed = facts.keys { IMS.Refused(.kidRequired) } else { IMS.Refused(.kidUnknown) }
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
            guard let issuer = facts.issuer, issuer.ring.hasCertificates, issuer.record.certificateDates != .ignore,
                case .some(let keys) = facts.keys, number < keys.places.count
            else { return nil }
            let validity = issuer.ring.keys[keys.places[number]].validity
            return finding.take(validity?.finding(at: facts.moment.unixSeconds).noted)
        }
    }

    /// Keys are left out while their certificates are not valid, if the issuer wants that (ours).
    private static let certificateDates = IMSRule(
        "certificate-dates", "a certificate that is valid now", "ours", .ours, orFail: .certificateExpired
    ) { facts, finding in
        guard case .some(let keys) = facts.keys, keys.valid.isEmpty, let issuer = facts.issuer else { return nil }
        finding?.expected = .text("a certificate that is valid at \(facts.moment.rfc3339)")
        finding?.found = .text(keys.places.compactMap { issuer.ring.keys[$0].validity?.dates }.joined(separator: "; "))
        finding?.note = "certificate_dates of issuer \(issuer.record.name) is reject; warn and ignore accept it."
        return .failed
    }

    private static let signature = IMSRule(
        "signature", "RS256 by a key of the issuer", "security page: verified server-side", orFail: .signatureInvalid
    ) { facts, finding in
        guard let token = facts.token else { return nil }
        guard case .some(let keys) = facts.keys, !keys.valid.isEmpty, let issuer = facts.issuer else {
            finding?.expected = nil
            finding?.source = nil
            finding?.note = "No key is known to judge it by."
            return .notJudged
        }
        let outcome = token.signature(by: issuer.ring, at: keys.valid, &finding)
        if outcome == .failed, !facts.isRefused, finding != nil,
            let reason = facts.judge?.mistake(in: facts, at: keys.valid)
        {
            finding?.note = reason
        }
        return outcome
    }

    private static let otherSigner = IMSRule("signature-of-another", expects: .absent, source: nil, .ours) {
        facts, finding in
        guard let other = facts.otherSigner else { return nil }
        finding?.expected = nil
        finding?.found = .text(other.issuer.record.name)
        return .noted
    }
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
