import Emulation
import JSON
import Tokens

/// The rules for client assertions (`client_secret_jwt`, `private_key_jwt`), in the order of Okta's checks.
///
/// Source: ref for the rules, codes for what follows when one is broken; the order is ours.
enum OktaAssertionRules {
    static let all =
        [type] + OktaClientRule.structure(orFail: .assertionMalformed)
        + [
            OktaClientRule(.critical(), orFail: .assertionMalformed), OktaClientRule(.keyReferences), algorithm, issuer,
            subject, key, secretLength, signature, audience,
        ] + times

    private static let type = OktaClientRule(
        "assertion-type", expects: .text(OktaClientFacts.assertionType), source: "RFC 7523 section 2.2; codes",
        orFail: .assertionTypeInvalid
    ) { facts, finding in
        guard facts.assertion != nil else { return nil }
        finding?.found = facts.assertionType.map(Fact.text) ?? .nothing("no client_assertion_type")
        return facts.assertionType?.hasSameBytes(as: OktaClientFacts.assertionType) == true ? .passed : .failed
    }

    private static let algorithm = OktaClientRule(
        "algorithm", expects: .algorithms(OktaClientFacts.assertionAlgorithms), source: "ref",
        orFail: .assertionAlgorithm
    ) { facts, finding in
        guard let header = facts.assertion?.header else { return facts.assertion == nil ? nil : .notJudged }
        finding?.found = header["alg"].map(Fact.json) ?? .absent
        return facts.algorithm == nil ? .failed : .passed
    }

    private static let issuer = OktaClientRule(
        "issuer", expects: .text("iss of a registered client"), source: "ref", orFail: .assertionIssuer
    ) { facts, finding in
        guard let claims = facts.assertion?.claims else { return facts.assertion == nil ? nil : .notJudged }
        finding?.found = claims["iss"].map(Fact.json) ?? .absent
        return facts.client == nil ? .failed : .passed
    }

    private static let subject = OktaClientRule(
        "subject", expects: .text("sub equal to iss, and to client_id if there is one"), source: "ref",
        orFail: .assertionSubject
    ) { facts, finding in
        guard let claims = facts.assertion?.claims else { return facts.assertion == nil ? nil : .notJudged }
        finding?.found = claims["sub"].map(Fact.json) ?? .absent
        guard let client = facts.client else { return .notJudged }
        finding?.expected = .text(client.id)
        guard claims["sub"]?.string?.hasSameBytes(as: client.id) == true else { return .failed }
        guard let id = facts.clientID, !id.hasSameBytes(as: client.id) else { return .passed }
        finding?.expected = .text("client_id \(client.id), as in sub")
        finding?.found = .text("client_id \(id)")
        return .failed
    }

    private static let key = OktaClientRule(
        "assertion-key", expects: .text("kid of a key of the client"), source: "ref; without kid any key: ours",
        orFail: .assertionKey
    ) { facts, finding in
        guard let client = facts.client, facts.method == .privateKeyJWT else { return nil }
        finding?.found = facts.assertion?.header?["kid"].map(Fact.json) ?? .nothing("no kid")
        if !facts.keys.isEmpty { return .passed }
        let known = client.keys.compactMap { try? $0.read().id }
        finding?.expected = known.isEmpty ? .text("a key, of which \(client.id) has none") : .anyOf(known)
        return .failed
    }

    private static let secretLength = OktaClientRule(
        "secret-length", expects: .text("a secret of 32 characters or more"), source: "ref",
        orFail: .assertionSecretShort
    ) { facts, finding in
        guard let client = facts.client, facts.method == .secretJWT else { return nil }
        let count = client.secret?.count ?? 0
        finding?.found = .text("a secret of \(count) characters")
        return count >= 32 ? .passed : .failed
    }

    private static let signature = OktaClientRule(
        "signature", expects: .text("a signature by the client's key or secret"), source: "ref",
        orFail: .assertionSignature
    ) { facts, finding in
        guard let token = facts.assertion else { return nil }
        guard let algorithm = facts.algorithm, !facts.keys.isEmpty else { return .notJudged }
        for key in facts.keys {
            finding?.found = nil
            finding?.note = nil
            if token.signature(by: key, algorithm: algorithm, &finding) == .passed { return .passed }
        }
        if finding != nil, let secret = facts.client?.secret,
            let mistake = SignatureDiagnosis.explain(token, algorithm: algorithm, secret: secret)
        {
            finding?.note = mistake.description
        }
        return .failed
    }

    private static let audience = OktaClientRule(
        "audience", expects: .text("the full address of the endpoint"),
        source: "ref; one address for each way of naming the sandbox: ours", orFail: .assertionAudience
    ) { facts, finding in
        guard let token = facts.assertion else { return nil }
        let outcome = token.audience(isOneOf: facts.endpoints, &finding)
        if outcome == .failed, finding != nil { finding?.note = facts.audienceMistake }
        return outcome
    }

    private static let times = [
        OktaClientRule(.claim("exp", is: .number, source: "ref"), orFail: .assertionNoExpiry),
        OktaClientRule(
            "expiry", expects: .text("exp later than now"), source: "ref", orFail: .assertionExpired
        ) { facts, finding in
            guard let token = facts.assertion, token.date("exp").seconds() != nil else { return nil }
            return token.expiry(at: facts.moment.unixSeconds, TimeRules(), &finding)
        },
        OktaClientRule(
            "lifetime", expects: .seconds(3600), source: "ref", orFail: .assertionTooFar
        ) { facts, finding in
            guard let token = facts.assertion else { return nil }
            let outcome = token.lifetime(atMost: 3600, from: .moment(facts.moment.unixSeconds), &finding)
            finding?.note = token.date("exp").millisecondsRemark(on: "exp")
            return outcome
        },
        OktaClientRule(
            "issued-at", expects: .text("iat no later than now"), source: "ref", orFail: .assertionIATFuture
        ) { facts, finding in
            guard let token = facts.assertion, token.date("iat").form != .absent else { return nil }
            return token.notBefore(at: facts.moment.unixSeconds, claim: "iat", TimeRules(), &finding)
        },
    ]
}
