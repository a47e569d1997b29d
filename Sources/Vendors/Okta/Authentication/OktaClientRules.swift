import Emulation
import JSON
import Tokens

private typealias Rule = TokenRule<OktaClientFacts>

/// The rules for clients, in the order of Okta's checks. Source: ref, codes; the order is ours.
extension Okta {
    /// How the client presents itself, and whether it is who it says.
    static let clientRules = RuleList(requestRules + credentialRules + assertionRules)

    /// What the state knows about an assertion.
    static let assertionUseRules = RuleList([
        Rule("assertion-used", "a jti that was not used before", "codes", orFail: .assertionReplayed) {
            facts, finding in
            guard let isReplayed = facts.isReplayed else { return nil }
            return finding.judge(facts.assertion?.claims?["jti"].map(Fact.json), !isReplayed)
        }
    ])

    private static let requestRules = [
        Rule(
            "media-type", "a form (application/x-www-form-urlencoded); for pushed requests JSON too", "codes",
            orFail: .mediaType
        ) { facts, finding in
            switch facts.content {
            case .form: return .passed
            case .json, .unreadableJSON: return finding.judge(.text("application/json"), facts.takesJSON)
            case .other(let type):
                if facts.isInQuery { finding?.note = "The parameters are in the query; they belong in the content." }
                return finding.judge(type.map(Fact.text) ?? .nothing("no Content-Type"), false)
            }
        },
        Rule("json-object", "a JSON object", "codes", orFail: .bodyMalformed) { facts, finding in
            switch facts.content {
            case .form, .other: nil
            case .json: .passed
            case .unreadableJSON(let found): finding.judge(.text(found), false)
            }
        },
        Rule(
            "credentials-in-query", "credentials in Authorization or in the content", "codes",
            orFail: .clientCredentialsInQuery
        ) { facts, finding in
            guard !facts.namesInQuery.isEmpty else { return nil }
            return finding.judge(.text("\(facts.namesInQuery.joined(separator: ", ")) in the query"), false)
        },
        Rule("parameters-once", "each parameter once", "codes", orFail: .parameterDuplicate) { facts, finding in
            guard let duplicate = facts.duplicate else { return nil }
            return finding.judge(.text("\(duplicate) more than once"), false)
        },
    ]

    private static let credentialRules = [
        Rule("credentials-once", "one way of authentication", "codes", orFail: .clientCredentialsMultiple) {
            facts, finding in
            guard facts.presented.count > 1 else { return nil }
            return finding.judge(.text(facts.presented.joined(separator: " and ")), false)
        },
        Rule(
            "authorization-readable", "Authorization: Basic and base64 of ID:SECRET", "codes",
            orFail: .clientCredentialsUnreadable
        ) { facts, finding in
            guard facts.assertion == nil, facts.clientID == nil, let found = facts.unusualAuthorization else {
                return nil
            }
            return finding.judge(.text(found), false)
        },
        Rule(
            "credentials-present", "a client_id, an id with a secret, or a client_assertion", "ref",
            orFail: .clientCredentialsMissing
        ) { facts, finding in
            if facts.assertion != nil || facts.clientID != nil { return .passed }
            if facts.presented == [OktaClient.Method.secretPost.rawValue] {
                return finding.judge(.text("client_secret without client_id"), false)
            }
            return finding.judge(.nothing("none of them"), false)
        },
        Rule("client-known", "the id of a registered client", "codes", orFail: .clientUnknown) { facts, finding in
            guard let id = facts.clientID, facts.assertion == nil else { return nil }
            if facts.client == nil, let owner = facts.owner(ofSecret: id) {
                finding?.note = "The id is in the place of the secret, and the secret in that of the id."
                return finding.judge(.text("the secret of client \(owner.id)"), false)
            }
            if facts.client == nil {
                let ids = facts.clients?.all.map(\.id) ?? []
                let near = ids.lazy.compactMap { Nearest.difference(id, $0) }.first.map { $0 + ". " } ?? ""
                finding?.note = "\(near)Known are \(ids.joined(separator: ", "))."
            }
            return finding.judge(.text(id), facts.client != nil)
        },
        Rule("client-method", "a method of the client", "codes; ref", orFail: .clientMethodWrong) { facts, finding in
            guard let client = facts.client, let method = facts.method else { return nil }
            finding?.expected = .anyOf(client.methods.map(\.rawValue))
            return finding.judge(.text(method.rawValue), client.methods.contains(method))
        },
        Rule("client-secret", "the client's secret", "ref, codes", orFail: .clientSecretWrong) { facts, finding in
            guard let client = facts.client, facts.method == .secretBasic || facts.method == .secretPost else {
                return nil
            }
            if facts.isSecretRight { return finding.judge(.text("the secret of \(client.id)"), true) }
            finding?.note = facts.secretMistake
            return finding.judge(facts.secret?.isEmpty == true ? .nothing("no secret") : .text("another secret"), false)
        },
    ]

    // MARK: - Client assertions (`client_secret_jwt`, `private_key_jwt`)

    private static let assertionRules =
        [
            Rule(
                "assertion-type", OktaClientFacts.assertionType, "RFC 7523 section 2.2; codes",
                orFail: .assertionTypeInvalid
            ) { facts, finding in
                guard facts.assertion != nil else { return nil }
                return finding.judge(
                    facts.assertionType.map(Fact.text) ?? .nothing("no client_assertion_type"),
                    facts.assertionType?.hasSameBytes(as: OktaClientFacts.assertionType) == true)
            }
        ] + Rule.structure(orFail: .assertionMalformed) + assertionForm + assertionTimes

    private static let assertionForm = [
        Rule(.critical(), orFail: .assertionMalformed), Rule(.keyReferences),
        Rule(
            "algorithm", expects: .algorithms(OktaClientFacts.assertionAlgorithms), source: "ref",
            orFail: .assertionAlgorithm
        ) { facts, finding in
            guard let header = facts.assertion?.header else { return facts.assertion == nil ? nil : .notJudged }
            return finding.judge(header["alg"].map(Fact.json) ?? .absent, facts.algorithm != nil)
        },
        Rule("issuer", "iss of a registered client", "ref", orFail: .assertionIssuer) {
            facts, finding in
            guard let claims = facts.assertion?.claims else { return facts.assertion == nil ? nil : .notJudged }
            return finding.judge(claims["iss"].map(Fact.json) ?? .absent, facts.client != nil)
        },
        Rule("subject", "sub equal to iss, and to client_id if there is one", "ref", orFail: .assertionSubject) {
            facts, finding in
            guard let claims = facts.assertion?.claims else { return facts.assertion == nil ? nil : .notJudged }
            finding?.found = claims["sub"].map(Fact.json) ?? .absent
            guard let client = facts.client else { return .notJudged }
            finding?.expected = .text(client.id)
            guard claims["sub"]?.string?.hasSameBytes(as: client.id) == true else { return .failed }
            guard let id = facts.clientID, !id.hasSameBytes(as: client.id) else { return .passed }
            finding?.expected = .text("client_id \(client.id), as in sub")
            return finding.judge(.text("client_id \(id)"), false)
        },
        Rule("assertion-key", "kid of a key of the client", "ref; without kid any key: ours", orFail: .assertionKey) {
            facts, finding in
            guard let client = facts.client, facts.method == .privateKeyJWT else { return nil }
            if facts.keys.isEmpty {
                let known = client.keys.compactMap { try? $0.read().id }
                finding?.expected = known.isEmpty ? .text("a key, of which \(client.id) has none") : .anyOf(known)
            }
            return finding.judge(
                facts.assertion?.header?["kid"].map(Fact.json) ?? .nothing("no kid"), !facts.keys.isEmpty)
        },
        Rule("secret-length", "a secret of 32 characters or more", "ref", orFail: .assertionSecretShort) {
            facts, finding in
            guard let client = facts.client, facts.method == .secretJWT else { return nil }
            let count = client.secret?.count ?? 0
            return finding.judge(.text("a secret of \(count) characters"), count >= 32)
        },
        Rule("signature", "a signature by the client's key or secret", "ref", orFail: .assertionSignature) {
            facts, finding in
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
        },
        Rule(
            "audience", "the full address of the endpoint", "ref; one address for each way of naming the sandbox: ours",
            orFail: .assertionAudience
        ) { facts, finding in
            guard let token = facts.assertion else { return nil }
            let outcome = token.audience(isOneOf: facts.endpoints, &finding)
            if outcome == .failed, finding != nil { finding?.note = facts.audienceMistake }
            return outcome
        },
    ]

    private static let assertionTimes = [
        Rule(.claim("exp", is: .number, source: "ref"), orFail: .assertionNoExpiry),
        Rule("expiry", "exp later than now", "ref", orFail: .assertionExpired) { facts, finding in
            guard let token = facts.assertion, token.date("exp").seconds() != nil else { return nil }
            return token.expiry(at: facts.moment.unixSeconds, &finding)
        },
        Rule("lifetime", expects: .seconds(3600), source: "ref", orFail: .assertionTooFar) { facts, finding in
            guard let token = facts.assertion else { return nil }
            let outcome = token.lifetime(atMost: 3600, from: .moment(facts.moment.unixSeconds), &finding)
            finding?.note = token.date("exp").millisecondsRemark(on: "exp")
            return outcome
        },
        Rule("issued-at", "iat no later than now", "ref", orFail: .assertionIATFuture) { facts, finding in
            guard let token = facts.assertion, token.date("iat").form != .absent else { return nil }
            return token.notBefore(at: facts.moment.unixSeconds, claim: "iat", &finding)
        },
    ]
}
