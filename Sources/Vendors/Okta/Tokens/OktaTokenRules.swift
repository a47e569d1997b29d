import Emulation
import JSON
import Tokens

private typealias Rule = TokenRule<OktaTokenFacts>

/// The rules for tokens that come back to the server that issued them, in the order of its checks.
///
/// The order is ours: the signature comes before the claims, so that a forged token reveals nothing.
enum OktaTokenRules {
    /// An access token in `Authorization`.
    static let access = RuleList(
        [
            .bearerPresent(
                "token-present", source: "ref; text inferred", .inferred, orFail: .accessTokenMissing)
        ] + Rule.bearerOnce(orFail: .accessTokenInvalid) + form + [notIDToken, expiryPresent, expiry])

    /// Any token of the server, wherever it stands.
    static let any = RuleList(form + [expiryPresent, expiry])

    /// A token of the server, even an expired one.
    static let signed = RuleList(form)

    /// What the state knows about a token.
    static let use = RuleList([
        Rule("token-revoked", "a token that was not revoked", "guide:revoke-tokens", orFail: .accessTokenRevoked) {
            facts, finding in
            guard let isRevoked = facts.isRevoked else { return nil }
            return finding.judge(
                .text("\(facts.token?.id ?? "a token"), \(isRevoked ? "revoked" : "not revoked")"), !isRevoked)
        }
    ])

    private static let form =
        Rule.structure(orFail: .accessTokenInvalid)
        + [
            Rule(.algorithm(is: .rs256, source: "ref"), orFail: .accessTokenInvalid),
            Rule(.critical(), orFail: .accessTokenInvalid), Rule(.keyReferences), key, signature, issuer,
        ]

    private static let key = Rule(
        "key-published", "kid of a published key of the server", "ref", orFail: .accessTokenInvalid
    ) { facts, finding in
        guard let token = facts.token else { return nil }
        guard let header = token.compact.header else { return .notJudged }
        let outcome = finding.judge(header["kid"].map(Fact.json) ?? .nothing("no kid"), facts.key != nil)
        if outcome == .failed {
            finding?.expected = .anyOf(facts.keyIDs)
            finding?.note = facts.keyMistake
        }
        return outcome
    }

    private static let signature = Rule(
        "signature", "RS256 by the key that kid names", "ref", orFail: .accessTokenInvalid
    ) {
        facts, finding in
        guard let token = facts.token else { return nil }
        guard let key = facts.key else { return .notJudged }
        return token.signature(by: key, &finding)
    }

    private static let issuer = Rule(
        "issuer", "the issuer of the server", "ref; any form of the sandbox's address: ours",
        orFail: .accessTokenInvalid
    ) { facts, finding in
        guard let token = facts.token else { return nil }
        guard let claims = token.compact.claims else { return .notJudged }
        let outcome = finding.judge(claims["iss"].map(Fact.json) ?? .absent, facts.isOwn)
        if outcome == .failed {
            finding?.expected = .anyOf(facts.issuers)
            finding?.note = facts.issuerMistake
        }
        return outcome
    }

    private static let notIDToken = Rule(
        "access-token", "an access token, whose jti begins with AT.", "ours", .ours, orFail: .accessTokenInvalid
    ) { facts, finding in
        guard let token = facts.token, token.compact.claims != nil else { return nil }
        if token.isIDToken {
            finding?.note = "An ID token tells the client who signed in; the access token is what it sends."
        }
        return finding.judge(token.id.map(Fact.text) ?? .nothing("no jti"), !token.isIDToken)
    }

    private static let expiryPresent = Rule(.claim("exp", is: .number, source: "ref"), orFail: .accessTokenInvalid)

    private static let expiry = Rule("expiry", "exp later than now", "ref", orFail: .accessTokenExpired) {
        facts, finding in
        guard let token = facts.compact, token.date("exp").seconds() != nil else { return nil }
        return token.expiry(at: facts.moment.unixSeconds, TimeRules(), &finding)
    }
}
