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
        switch profile {
        case .documented: [.rs256]
        case .observed: [.rs256, .rs384, .rs512]
        }
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
            OktaRule(
                .type(is: options.type ?? "JWT", source: "observed, jwt"), .observed, orFail: .malformed),
            OktaRule(
                .headerMember("alg", is: .nonEmptyString, source: "RFC 7515 section 4.1.1"), orFail: .malformed),
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
        source: "validator page, Default usage",
        orFail: keyFailures,
        by: { facts in
            guard case .failed(let problem)? = facts.key else { return nil }
            return Refusal(problem.failure, ["stops": .bool(problem.stopsShippedApp)], because: problem.description)
        },
        judge: { facts, finding in
            switch facts.key {
            case nil:
                finding?.note = "No key was looked for: something else speaks against the token already."
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
        orFail: .signature,
        because: { $0.signature?.note ?? "" }
    ) { facts, finding in
        guard let signature = facts.signature else { return .notJudged }
        return finding.take(signature) ?? signature.outcome
    }
}
