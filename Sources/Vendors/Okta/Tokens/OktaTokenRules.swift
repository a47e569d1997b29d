import Emulation
import JSON
import Tokens

typealias OktaTokenRule = TokenRule<OktaTokenFacts>

/// The rules for tokens that come back to the server that issued them, in the order of its checks.
///
/// The order is ours: the signature comes before the claims, so that a forged token reveals nothing.
enum OktaTokenRules {
    /// An access token in `Authorization`.
    static let access = RuleList(
        [
            .bearerPresent(
                "token-present", source: "ref; text inferred", .inferred, orFail: .accessTokenMissing)
        ] + OktaTokenRule.bearerOnce(orFail: .accessTokenInvalid) + form + [notIDToken, expiryPresent, expiry])

    /// Any token of the server, wherever it stands.
    static let any = RuleList(form + [expiryPresent, expiry])

    /// A token of the server, even an expired one.
    static let signed = RuleList(form)

    /// What the state knows about a token.
    static let use = RuleList([
        OktaTokenRule(
            "token-revoked", expects: .text("a token that was not revoked"), source: "guide:revoke-tokens",
            orFail: .accessTokenRevoked
        ) { facts, finding in
            guard let isRevoked = facts.isRevoked else { return nil }
            finding?.found = .text("\(facts.token?.id ?? "a token"), \(isRevoked ? "revoked" : "not revoked")")
            return isRevoked ? .failed : .passed
        }
    ])

    private static let form =
        OktaTokenRule.structure(orFail: .accessTokenInvalid)
        + [
            OktaTokenRule(.algorithm(is: .rs256, source: "ref"), orFail: .accessTokenInvalid),
            OktaTokenRule(.critical(), orFail: .accessTokenInvalid), OktaTokenRule(.keyReferences), key, signature,
            issuer,
        ]

    private static let key = OktaTokenRule(
        "key-published", expects: .text("kid of a published key of the server"), source: "ref",
        orFail: .accessTokenInvalid
    ) { facts, finding in
        guard let token = facts.token else { return nil }
        guard token.compact.header != nil else { return .notJudged }
        finding?.found = token.compact.header?["kid"].map(Fact.json) ?? .nothing("no kid")
        if facts.key != nil { return .passed }
        finding?.expected = .anyOf(facts.keyIDs)
        finding?.note = facts.keyMistake
        return .failed
    }

    private static let signature = OktaTokenRule(
        "signature", expects: .text("RS256 by the key that kid names"), source: "ref", orFail: .accessTokenInvalid
    ) { facts, finding in
        guard let token = facts.token else { return nil }
        guard let key = facts.key else { return .notJudged }
        return token.signature(by: key, &finding)
    }

    private static let issuer = OktaTokenRule(
        "issuer", expects: .text("the issuer of the server"),
        source: "ref; any form of the sandbox's address: ours", orFail: .accessTokenInvalid
    ) { facts, finding in
        guard let token = facts.token else { return nil }
        guard let claims = token.compact.claims else { return .notJudged }
        finding?.found = claims["iss"].map(Fact.json) ?? .absent
        if facts.isOwn { return .passed }
        finding?.expected = .anyOf(facts.issuers)
        finding?.note = facts.issuerMistake
        return .failed
    }

    private static let notIDToken = OktaTokenRule(
        "access-token", expects: .text("an access token, whose jti begins with AT."), source: "ours", .ours,
        orFail: .accessTokenInvalid
    ) { facts, finding in
        guard let token = facts.token, token.compact.claims != nil else { return nil }
        finding?.found = token.id.map(Fact.text) ?? .nothing("no jti")
        guard token.isIDToken else { return .passed }
        finding?.note = "An ID token tells the client who signed in; the access token is what it sends."
        return .failed
    }

    private static let expiryPresent = OktaTokenRule(
        .claim("exp", is: .number, source: "ref"), orFail: .accessTokenInvalid)

    private static let expiry = OktaTokenRule(
        "expiry", expects: .text("exp later than now"), source: "ref", orFail: .accessTokenExpired
    ) { facts, finding in
        guard let token = facts.compact, token.date("exp").seconds() != nil else { return nil }
        return token.expiry(at: facts.moment.unixSeconds, TimeRules(), &finding)
    }
}
