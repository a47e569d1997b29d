import Emulation
import JSON
import Tokens

private typealias Rule = TokenRule<OktaSubject>

/// The rules of tokens that are to be exchanged, in the order of the checks.
///
/// Source: the failures are documented (codes), their use follows from their texts; the order is ours.
enum OktaSubjectRules {
    /// An access token, or an ID token of the caller.
    static let any = RuleList(verification + [kind, audience, expiry, revocation, user])

    /// An ID token beside the device secret of its session.
    static let native = RuleList(verification + [kind, session, user, deviceSecret])

    private static let verification =
        Rule.structure(orFail: .exchangeSubject, named: "subject-") + [
            Rule(.critical(), named: "subject-critical", orFail: .exchangeSubject),
            Rule(.algorithm(is: .rs256, source: "ref"), named: "subject-algorithm", orFail: .exchangeSubject),
            Rule(
                "subject-issuer", expects: .text("iss of this server or of one that it trusts"),
                source: "guide:set-up-token-exchange", orFail: .exchangeNotTrusted
            ) { facts, finding in facts.token.issuer(isOneOf: facts.trusted, &finding) },
            Rule(
                "subject-signature", expects: .text("a signature by a published key of the issuer"),
                source: "RFC 7515 section 5.2", orFail: .exchangeSubject
            ) { facts, finding in facts.token.signature(byPublished: facts.key, &finding) },
        ]

    private static let kind = Rule(
        "subject-kind", expects: .text("a token of the kind that subject_token_type says"), source: "codes",
        orFail: .exchangeSubject
    ) { facts, finding in
        guard facts.token.claims != nil else { return nil }
        let expected: OktaTokenKind = if case .access = facts.kind { .access } else { .id }
        let found = OktaTokenKind(of: facts.token)
        finding?.expected = .text(expected.rawValue)
        finding?.found = found.map { .text($0.rawValue) } ?? .nothing("a token of no known kind")
        return found == expected ? .passed : .failed
    }

    private static let audience = Rule(
        "subject-audience", expects: .text("an ID token of the caller itself"), source: "guide:ai-agent-token-exchange",
        orFail: .exchangeSubject
    ) { facts, finding in
        guard case .id(let client?) = facts.kind else { return nil }
        return facts.token.audience(isOneOf: [client], acceptsArray: false, &finding)
    }

    private static let expiry = Rule(
        "subject-expiry", expects: .text("exp later than now"), source: "codes", orFail: .exchangeSubjectExpired
    ) { facts, finding in
        facts.mayBeExpired ? nil : facts.token.expiry(at: facts.moment.unixSeconds, TimeRules(), &finding)
    }

    private static let revocation = Rule(
        "subject-revocation", expects: .text("a token that was not revoked"), source: "codes",
        orFail: .exchangeSubjectExpired
    ) { facts, finding in
        guard facts.token.claims != nil else { return nil }
        finding?.found = .text(facts.isRevoked ? "a token that was revoked" : "one that was not")
        return facts.isRevoked ? .failed : .passed
    }

    private static let user = Rule(
        "subject-user", expects: .text("an ACTIVE user"), source: "ours", .ours, orFail: .exchangeSubjectExpired
    ) { facts, finding in
        guard facts.token.claims != nil else { return nil }
        finding?.found =
            facts.status.map { .text("a user who is \($0.rawValue)") }
            ?? .nothing("a token of no user who is known here")
        return facts.status == .active ? .passed : .failed
    }

    private static let session = Rule(
        "subject-session", expects: .text("a device session that has not ended"), source: "codes",
        orFail: .exchangeSubjectExpired
    ) { facts, finding in
        guard let secret = facts.secret else { return nil }
        finding?.found = secret.isEnded ? .text("a session that was ended") : .time(secret.expires.unixSeconds)
        return secret.isActive(at: facts.moment) ? .passed : .failed
    }

    private static let deviceSecret = Rule(
        "subject-device-secret", expects: .text("an ID token with sid and ds_hash of the device secret"),
        source: "guide:configure-native-sso; ds_hash observed, swift", orFail: .exchangeActor
    ) { facts, finding in
        guard let secret = facts.secret, let claims = facts.token.claims else { return nil }
        finding?.expected = .text("sid \(secret.sessionID), ds_hash \(secret.hash)")
        let (session, hash) = (claims["sid"]?.string, claims["ds_hash"]?.string)
        finding?.found = .text("sid \(session ?? "none"), ds_hash \(hash ?? "none")")
        let fits = session?.hasSameBytes(as: secret.sessionID) == true && hash?.hasSameBytes(as: secret.hash) == true
        return fits ? .passed : .failed
    }
}
