import Emulation
import JSON
import Tokens

/// The rules of a validator with these options, in the order of its checks.
struct OktaRules {
    let options: OktaValidatorOptions
    let profile: BehaviourProfile

    /// The algorithms that a token may be signed with.
    ///
    /// Source: RS256 documented, validator page; the others observed, jwt.
    static func algorithms(_ profile: BehaviourProfile) -> [Algorithm] {
        profile == .documented ? [.rs256] : [.rs256, .rs384, .rs512]
    }

    /// Seconds of grace. Source: 3000 documented, validator page; none observed, jwt.
    var leeway: Double { Double(options.leeway ?? (profile == .documented ? 3000 : 0)) }
    var checksExpiry: Bool { options.checksExpiry ?? (profile == .documented) }
    var checksIssuedAt: Bool { options.checksIssuedAt ?? (profile == .documented) }

    var list: RuleList<OktaValidatorFacts> {
        RuleList(
            formRules + [issuer] + audience + times + nonce + clientClaims + Self.remarks,
            later: [Self.key, Self.signature])
    }

    static let listing = {
        let all = OktaValidatorOptions(
            issuer: "", audience: "", nonce: "", clientID: "", scopes: "", claims: ["NAME": ""])
        return OktaRules(options: all, profile: .documented).list.listing(of: "okta", about: "validator")
    }()

    // MARK: - Form

    /// How many rules judge the form and `alg`, before any claim.
    var formRuleCount: Int { formRules.count }

    private var formRules: [OktaRule] {
        let allowed = Self.algorithms(profile)
        return OktaRule.structure(orFail: .malformed) + [
            OktaRule(.type(is: options.type ?? "JWT", source: "observed, jwt"), .observed, orFail: .malformed),
            OktaRule(.headerMember("alg", is: .nonEmptyString, source: "RFC 7515 section 4.1.1"), orFail: .malformed),
            OktaRule(
                "algorithm", expects: .algorithms(allowed), source: "validator page, Purpose", orFail: .algorithm,
                carrying: { $0.token.header?["alg"]?.string },
                because: {
                    "alg is \($0.token.header?["alg"]?.text.prefix(200) ?? "absent"), "
                        + "expected \(Fact.algorithms(allowed))"
                }
            ) { facts, finding in
                guard facts.token.header?["alg"]?.string != nil else { return nil }
                if facts.token.namedAlgorithm(among: allowed) != nil { return .passed }
                return finding.take(facts.token.algorithm(isOneOf: allowed)) ?? .failed
            },
        ]
    }

    /// Neither source refuses such a token, and no other key is ever used.
    private static let remarks = [
        OktaRule(.keyReferences, .ours),
        OktaRule("critical", expects: .absent, source: "RFC 7515 section 4.1.11; that it is a remark: ours", .ours) {
            facts, finding in
            guard TokenCheck.critical().judge(facts.token, &finding) == .failed else { return nil }
            return .noted
        },
    ]

    // MARK: - Key

    private static let keyFailures: [OktaTokenFailure] = [
        .keyIDMissing, .keyIDMismatch, .key, .noWellKnown, .noKeysURL, .noKey, .offline,
    ]

    private static let key = OktaRule(
        "key", expects: .text("the key that the token names, or the one that was given"),
        source: "validator page, Default usage", orFail: keyFailures,
        by: { facts in
            guard case .failed(let problem)? = facts.key else { return nil }
            return Refusal(problem.failure, ["stops": .bool(problem.stopsShippedApp)], because: problem.description)
        },
        judge: { facts, finding in
            switch facts.key {
            case nil:
                finding?.note = "No key was looked up: another check had already failed."
                return .notJudged
            case .found(let key, let origin):
                finding?.found = .text("\(key) (\(origin.rawValue))")
                return .passed
            case .failed(let problem):
                finding?.note = problem.description
                return .failed
            }
        })

    private static let signature = OktaRule(
        "signature", expects: .text("made with the key"), source: "validator page, JWT Verification",
        orFail: .signature, because: { $0.signature?.note ?? "" }
    ) { facts, finding in
        guard let signature = facts.signature else { return .notJudged }
        return finding.take(signature) ?? signature.outcome
    }

    // MARK: - Issuer, audience and the claims that name a client

    private static let source = "validator page, Validation Options"

    private var issuer: OktaRule {
        OktaRule(
            "issuer", expects: .text("iss equal to the option issuer"), source: Self.source, orFail: .issuer,
            because: { facts in
                let difference = facts.token.claims?["iss"]?.string.flatMap {
                    Nearest.difference($0, facts.issuer ?? "")
                }
                return "\(facts.found("iss")), expected \(JSON(facts.issuer).text)"
                    + (difference.map { ". " + $0 } ?? "")
            }
        ) { facts, finding in
            guard let issuer = facts.issuer else { return nil }
            return facts.token.claim("iss", equals: issuer, &finding)
        }
    }

    var audience: [OktaRule] {
        guard let option = options.audience else { return [] }
        let audience = profile == .documented ? option : option.withoutEndingSlash
        let expected = "expected \(JSON.string(audience).text)"
        let contained = OktaRule(
            "audience", expects: .text("aud equal to the option audience, or an array that contains it"),
            source: Self.source, orFail: .audience, because: { "\($0.found("aud")), \(expected)" }
        ) { facts, finding in facts.token.audience(isOneOf: [audience], &finding) }
        guard profile == .documented else { return [contained] }
        // ours: the validator page says "optionally", and OpenID Connect Core 3.1.3.7 leaves it to the client.
        let party = OktaRule(
            "authorized-party", expects: .text("azp equal to the option audience, if there are several audiences"),
            source: "ours; OpenID Connect Core 3.1.3.7", .ours, orFail: .authorizedParty,
            because: { "aud names several, and \($0.found("azp")), \(expected)" }
        ) { facts, finding in
            guard let members = facts.token.claims?["aud"]?.array, members.count > 1 else { return nil }
            return facts.token.claim("azp", equals: audience, &finding)
        }
        return [contained, party]
    }

    var nonce: [OktaRule] {
        guard let nonce = options.nonce else { return [] }
        let isOptional = profile == .observed
        return [
            OktaRule(
                "nonce", expects: .text("nonce equal to the option nonce"), source: Self.source, orFail: .nonce,
                because: { "\($0.found("nonce")), expected \(JSON.string(nonce).text)" }
            ) { facts, finding in
                if isOptional, facts.token.claims?["nonce"]?.string == nil { return nil }
                return facts.token.claim("nonce", equals: nonce, &finding)
            }
        ]
    }

    /// `cid`, `scp`, and the claims that only an app knows, which are compared in order of name.
    var clientClaims: [OktaRule] {
        var claims = options.claims
        var rules: [OktaRule] = []
        switch profile {
        case .documented:
            if let client = options.clientID { rules.append(claim("cid", is: client, check: "client", .client)) }
            if let scopes = options.scopes { rules.append(self.scopes(scopes)) }
        // The shipped library knows neither: to it they are claims like any other, so an array never fits.
        case .observed:
            claims["cid"] = options.clientID ?? claims["cid"]
            claims["scp"] = options.scopes ?? claims["scp"]
        }
        let sorted = claims.sorted { ExactText($0.key) < ExactText($1.key) }
        return rules + sorted.map { claim($0.key, is: $0.value, check: "claim-\($0.key)", .claim) }
    }

    private func claim(_ name: String, is text: String, check: String, _ failure: OktaTokenFailure) -> OktaRule {
        OktaRule(
            check, expects: .text("\(name) equal to the option"), source: Self.source, orFail: failure,
            carrying: { _ in text }, because: { "\($0.found(name)), expected \(JSON.string(text).text)" }
        ) { facts, finding in facts.token.claim(name, equals: text, &finding) }
    }

    private func scopes(_ text: String) -> OktaRule {
        let demanded = text.split(separator: " ").map(String.init)
        return OktaRule(
            "scopes", expects: .text("every name of the option in scp or scope"),
            source: "ours; validator page, invalidScope", .ours, orFail: .scope, carrying: { _ in text },
            because: { facts in
                "\(facts.found(facts.scopeClaim)), which lacks \(facts.lacking(demanded).joined(separator: ", "))"
            }
        ) { facts, finding in
            guard let claims = facts.token.claims else { return .notJudged }
            finding?.expected = .text(text)
            return finding.judge(claims[facts.scopeClaim].map(Fact.json) ?? .absent, facts.lacking(demanded).isEmpty)
        }
    }

    // MARK: - Times, all by the same leeway

    var times: [OktaRule] {
        var rules: [OktaRule] = []
        if checksExpiry {
            rules.append(
                time(
                    "exp", "expiry", "exp, a number, not before now minus the leeway", orFail: .expired,
                    orNone: .expiryMissing))
        }
        if profile == .documented {
            rules.append(
                time(
                    "nbf", "not-before", "nbf, if present, a number, not after now plus the leeway",
                    source: "validator page, JWT Verification", orFail: .notYetValid))
        }
        if checksIssuedAt {
            rules.append(
                time(
                    "iat", "issued-at", "iat, a number, not after now plus the leeway", orFail: .issuedInFuture,
                    orNone: .issuedAtMissing))
        }
        return rules
    }

    /// - Parameter missing: the failure without such a time, which the observed profile ignores; `nil` if the token may
    ///   leave it out.
    private func time(
        _ claim: String, _ check: String, _ expected: String, source: String = Self.source,
        orFail failure: OktaTokenFailure, orNone missing: OktaTokenFailure? = nil
    ) -> OktaRule {
        let (isEnd, isLenient) = (claim == "exp", profile == .observed)
        let rules = TimeRules(leeway: leeway, required: missing != nil, acceptsLastSecond: true)
        let grace = "\(isEnd ? "before" : "after") now, leeway \(Fact.seconds(leeway))"
        return OktaRule(
            check, expects: .text(expected), source: source, orFail: [failure] + [missing].compactMap(\.self),
            by: { facts in
                guard let moment = facts.token.date(claim).seconds() else {
                    return Refusal(
                        missing ?? failure, because: "\(facts.found(claim)), expected a number of seconds")
                }
                let distance = abs(moment - facts.moment.unixSeconds)
                // Fractions matter near the moment only.
                let seconds = distance < 10 ? (distance * 1000).rounded() / 1000 : distance.rounded()
                return Refusal(
                    failure, because: "\(claim) \(JSONNumber(moment)) is \(Fact.seconds(seconds)) \(grace)")
            },
            judge: { facts, finding in
                if missing == nil, facts.token.date(claim).form == .absent { return nil }
                if missing != nil, isLenient, facts.token.date(claim).seconds() == nil { return nil }
                let now = facts.moment.unixSeconds
                return isEnd
                    ? facts.token.expiry(at: now, rules, &finding)
                    : facts.token.notBefore(at: now, claim: claim, rules, &finding)
            })
    }
}

extension OktaValidatorFacts {
    /// The claim with the scopes: Okta's own, or that of RFC 9068 section 2.2.3.
    fileprivate var scopeClaim: String {
        token.claims?["scp"] == nil && token.claims?["scope"] != nil ? "scope" : "scp"
    }

    /// Which of these scopes are not granted.
    fileprivate func lacking(_ demanded: [String]) -> [String] {
        let value = token.claims?[scopeClaim]
        let granted = value?.array?.compactMap(\.string) ?? value?.string?.split(separator: " ").map(String.init) ?? []
        let names = Set(granted.map { ExactText($0) })
        return demanded.filter { !names.contains(ExactText($0)) }
    }
}

extension String {
    /// The text without one slash at its end, as the shipped library takes issuer and audience.
    var withoutEndingSlash: String { utf8.last == UInt8(ascii: "/") ? String(dropLast()) : self }
}
