import Emulation
import JSON
import Tokens

typealias IMSRule = TokenRule<IMSFacts>

/// IMS's rules, in the order of its checks.
///
/// Source: the rules are documented (security page) where they say so; the order is ours. Nothing about the values of
/// claims is disclosed before the signature holds.
extension IMS {
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

    private static let algorithm = IMSRule(
        .algorithm(is: .rs256, source: "security page, JWT Claims: alg"), orFail: [.algNotAllowed],
        by: { _ in Refusal(.algNotAllowed) }
    ) { facts, finding in
        if facts.isSignedBySecret { finding.note = IMSTokenJudge.publicSecret }
    }

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
        "type", expects: .text("JWT"),
        source: "security page, JWT Claims: typ; case ours, and that an issuer may do without",
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
                return Refusal(isAbsent ? missing ?? invalid : invalid, ["field": .string(name)])
            })
    }

    private static let registration = IMSRule(
        "issuer-registered", expects: .text("the iss of a registered issuer, byte for byte"),
        source: "security page, JWT Claims: iss", orFail: .issuerUnknown
    ) { facts, finding in
        guard let token = facts.token else { return nil }
        guard let iss = token.issuer else { return .notJudged }
        finding?.found = .text(iss)
        if facts.issuer != nil { return .passed }
        finding?.note = facts.judge?.strangeness(of: token)
        return .failed
    }
}
