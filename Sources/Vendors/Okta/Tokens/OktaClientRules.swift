import Emulation
import JSON
import Tokens

typealias OktaClientRule = TokenRule<OktaClientFacts>

/// The rules for clients, in the order of Okta's checks. Source: ref, codes; the order is ours.
extension Okta {
    /// How the client presents itself, and whether it is who it says.
    static let clientRules = RuleList(requestRules + credentialRules + OktaAssertionRules.all)

    /// What the state knows about an assertion.
    static let assertionUseRules = RuleList([
        OktaClientRule(
            "assertion-used", expects: .text("a jti that was not used before"), source: "codes",
            orFail: .assertionReplayed
        ) { facts, finding in
            guard let isReplayed = facts.isReplayed else { return nil }
            finding?.found = facts.assertion?.claims?["jti"].map(Fact.json)
            return isReplayed ? .failed : .passed
        }
    ])

    private static let requestRules = [
        OktaClientRule(
            "media-type", expects: .text("a form (application/x-www-form-urlencoded); for pushed requests JSON too"),
            source: "codes", orFail: .mediaType
        ) { facts, finding in
            switch facts.content {
            case .form: return .passed
            case .json, .unreadableJSON:
                finding?.found = .text("application/json")
                return facts.takesJSON ? .passed : .failed
            case .other(let type):
                finding?.found = type.map(Fact.text) ?? .nothing("no Content-Type")
                return .failed
            }
        },
        OktaClientRule(
            "json-object", expects: .text("a JSON object"), source: "codes", orFail: .bodyMalformed
        ) { facts, finding in
            switch facts.content {
            case .form, .other: return nil
            case .json: return .passed
            case .unreadableJSON(let found):
                finding?.found = .text(found)
                return .failed
            }
        },
        OktaClientRule(
            "credentials-in-query", expects: .text("credentials in Authorization or in the content"), source: "codes",
            orFail: .clientCredentialsInQuery
        ) { facts, finding in
            guard !facts.namesInQuery.isEmpty else { return nil }
            finding?.found = .text("\(facts.namesInQuery.joined(separator: ", ")) in the query")
            return .failed
        },
        OktaClientRule(
            "parameters-once", expects: .text("each parameter once"), source: "codes", orFail: .parameterDuplicate
        ) { facts, finding in
            guard let duplicate = facts.duplicate else { return nil }
            finding?.found = .text("\(duplicate) more than once")
            return .failed
        },
    ]

    private static let credentialRules = [
        OktaClientRule(
            "credentials-once", expects: .text("one way of authentication"), source: "codes",
            orFail: .clientCredentialsMultiple
        ) { facts, finding in
            guard facts.presented.count > 1 else { return nil }
            finding?.found = .text(facts.presented.joined(separator: " and "))
            return .failed
        },
        OktaClientRule(
            "credentials-present", expects: .text("a client_id, an id with a secret, or a client_assertion"),
            source: "ref", orFail: .clientCredentialsMissing
        ) { facts, finding in
            if facts.assertion != nil || facts.clientID != nil { return .passed }
            finding?.found = facts.strangeness.map(Fact.text) ?? .nothing("none of them")
            if facts.presented == [OktaClient.Method.secretPost.rawValue] {
                finding?.found = .text("client_secret without client_id")
            }
            return .failed
        },
        OktaClientRule(
            "client-known", expects: .text("the id of a registered client"), source: "codes", orFail: .clientUnknown
        ) { facts, finding in
            guard let id = facts.clientID, facts.assertion == nil else { return nil }
            finding?.found = .text(id)
            if facts.client != nil { return .passed }
            let ids = facts.accounts?.clients.all.map(\.id) ?? []
            finding?.note = "Known are \(ids.joined(separator: ", "))."
            return .failed
        },
        OktaClientRule(
            "client-method", expects: .text("a method of the client"), source: "codes; ref", orFail: .clientMethodWrong
        ) { facts, finding in
            guard let client = facts.client, let method = facts.method else { return nil }
            finding?.expected = .anyOf(client.methods.map(\.rawValue))
            finding?.found = .text(method.rawValue)
            return client.methods.contains(method) ? .passed : .failed
        },
        OktaClientRule(
            "client-secret", expects: .text("the client's secret"), source: "ref, codes", orFail: .clientSecretWrong
        ) { facts, finding in
            guard let client = facts.client, facts.method == .secretBasic || facts.method == .secretPost else {
                return nil
            }
            finding?.found = .text(facts.isSecretRight ? "the secret of \(client.id)" : "another secret")
            if facts.isSecretRight { return .passed }
            if facts.secret?.isEmpty == true { finding?.found = .nothing("no secret") }
            finding?.note = facts.secretMistake
            return .failed
        },
    ]
}
