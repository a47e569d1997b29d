import Emulation
import HTTPTypes
import JSON
import Tokens

/// Judges tokens without their requests.
extension Okta {
    static let requestFacts: [(name: String, about: String)] = [
        ("method", "the method of the request that a proof is for"),
        ("url", "the address to which an assertion or proof is sent"),
        ("access_token", "the access token beside a proof or an ID token"),
        ("code", "the authorization code beside an ID token"),
        ("user", "id or login of the user in the path of a device's answer"),
        ("factor", "id of the factor in the path of a device's answer"),
        ("transaction", "id of the challenge in the path of a device's answer"),
    ]

    func explain(
        _ text: String, knowing context: JSONObject, in setting: TokenSetting<Okta>,
        _ findings: inout Findings<OktaFailure>
    ) -> (kind: String?, account: String?) {
        var explanation = OktaExplanation(vendor: self, context: context, setting: setting)
        defer { findings = explanation.findings }
        return explanation.verdict(on: text)
    }
}

private struct OktaExplanation {
    let vendor: Okta
    /// What is known of the request; see ``Okta/requestFacts``.
    let context: JSONObject
    let setting: TokenSetting<Okta>
    var findings = Findings<OktaFailure>()

    mutating func verdict(on text: String) -> (kind: String?, account: String?) {
        let token = CompactToken(text)
        let kind = OktaTokenKind(of: token)
        let account: String?
        switch kind {
        case .clientAssertion: account = explain(assertion: token)
        case .dpopProof: account = explain(proof: token)
        case .ssws: account = explain(answer: text)
        case .access, .id, nil:
            let issuer = issuer(of: token)
            account = issuer.map { "server \($0.id)" }
            explain(token, kind, issuer ?? named(by: token))
            if kind == .id { compareHashes(of: token) }
        }
        return (kind?.rawValue, account)
    }

    /// Whether an ID token belongs to what came with it (OpenID Connect Core 1.0 section 3.1.3.6).
    private mutating func compareHashes(of token: CompactToken) {
        for (claim, fact) in [("at_hash", "access_token"), ("c_hash", "code")] {
            guard let text = context[fact]?.string, let found = token.claims?[claim] else { continue }
            let expected = OktaTokenMaker.hash(of: text)
            let isRight = found.string?.hasSameBytes(as: expected) == true
            findings.note(
                Finding(
                    claim, isRight ? .passed : .failed, expected: .text("\(expected), of \(fact)"), found: .json(found),
                    note: found.string.flatMap { DerivedValue.mistake(in: $0, of: text.utf8, count: 16) }, source: "ref"
                ))
        }
    }

    /// The server that has published the key of the signature.
    private func issuer(of token: CompactToken) -> OktaServer? {
        vendor.accounts.servers.first { server in
            // Minting reports a file without a key.
            let keys = (try? vendor.keys(of: server.id, in: setting.state)) ?? nil
            let known = (keys?.published.map(\.key) ?? []) + [try? server.accessTokenKey?.read()].compactMap(\.self)
            return known.contains { token.isSigned(by: $0.verificationKey, algorithm: .rs256) }
        }
    }

    /// The server whose `iss` the token has; the usual one when it has none.
    private func named(by token: CompactToken) -> OktaServer {
        let issuer = token.claims?["iss"]?.string ?? ""
        let bases = setting.sandbox.addresses
        return vendor.accounts.servers.first { server in bases.contains { server.isIssuer(issuer, at: $0) } }
            ?? vendor.accounts.defaultServer
    }

    private mutating func explain(_ token: CompactToken, _ kind: OktaTokenKind?, _ server: OktaServer) {
        let read = OktaToken(bytes: Array(token.bytes))
        var facts = OktaTokenFacts(
            vendor, read, at: server, setting.state.changedKeys, in: setting.sandbox, named: setting.base,
            setting.moment)
        facts.isRevoked = read.id.map(setting.state.isRevoked(tokenID:)) ?? false
        // A token of no known kind is judged as one for userinfo; how it is sent is unknown.
        let rules = kind == .id ? OktaTokenRules.any : OktaTokenRules.access
        findings.judge(facts, by: rules)
        findings.judge(facts, by: OktaTokenRules.use)
        guard facts.isUnpublished else { return }
        findings.note(
            Finding(
                "key-unpublished", .noted,
                found: .text(
                    "a key that keys never shows: an app cannot verify the token; introspection and userinfo can"),
                source: "docs:concepts/auth-servers"))
    }

    private mutating func explain(assertion token: CompactToken) -> String? {
        // Else the token endpoint of the server that is usually meant.
        let endpoint =
            context["url"]?.string ?? ownAudience(of: token)
            ?? setting.base + vendor.accounts.defaultServer.path + "/v1/token"
        var facts = OktaClientFacts(setting.state.clients, assertion: token, to: endpoint, at: setting.moment)
        findings.judge(facts, by: Okta.clientRules)
        if let client = facts.client, let id = token.claims?["jti"]?.string {
            facts.isReplayed = setting.state.isUsed(.assertion, id, of: client.id, at: setting.moment)
            findings.judge(facts, by: Okta.assertionUseRules)
        }
        return facts.client.map { "client \($0.id)" }
    }

    /// The audience, if it is an address of some server here: without a request, any of them may be the right one.
    private func ownAudience(of token: CompactToken) -> String? {
        let audience = token.claims?["aud"]
        let texts = (audience?.array ?? [audience ?? .null]).compactMap(\.string)
        let bases = setting.sandbox.addresses
        return texts.first { text in
            vendor.accounts.servers.contains { server in bases.contains { text.hasPrefix($0 + server.path + "/v1/") } }
        }
    }

    /// Without facts about the path, it is the one that the token is for.
    private mutating func explain(answer text: String) -> String? {
        var facts = OktaDeviceFacts(.value(text), vendor.accounts, setting.switches, at: setting.moment)
        let claims = facts.compact?.claims
        func named(_ fact: String, _ claim: String) -> String { context[fact]?.string ?? claims?[claim]?.string ?? "" }
        let path = OktaDeviceFacts.Path(
            user: named("user", "sub"), factor: named("factor", "iss"), transaction: named("transaction", "tx"))
        facts.find(path, of: setting.sandbox, in: setting.state)
        findings.judge(facts, by: Okta.deviceFormRules)
        findings.judge(facts, by: Okta.deviceRules)
        guard let key = facts.key, let token = facts.compact else { return nil }
        let isSigned = facts.algorithms.contains { token.isSigned(by: key, algorithm: $0) }
        return isSigned ? facts.factor.map { "factor \($0.id)" } : nil
    }

    private mutating func explain(proof token: CompactToken) -> String? {
        var facts = OktaProofFacts(OktaProof(bytes: Array(token.bytes)), context, in: setting)
        let (state, moment) = (setting.state, setting.moment)
        facts.nonces = state.goodNonces(at: moment).map(\.id)
        let thumbprint = facts.proof?.key.thumbprint
        if let thumbprint, let id = facts.proof?.id {
            facts.isReplayed = state.isUsed(.proof, id, of: thumbprint, at: moment)
        }
        let isBesideToken = facts.access != nil || token.claims?["ath"] != nil
        let rules = isBesideToken ? OktaProofRules.resources : OktaProofRules.tokens
        var unknown: Set<String> = []
        if context["method"] == nil { unknown.insert("proof-htm") }
        if context["url"] == nil { unknown.insert("proof-htu") }
        if facts.access == nil { unknown.formUnion(["proof-ath", "proof-access-key"]) }
        findings.judge(facts, by: RuleList(rules.rules.filter { !unknown.contains($0.check) }))
        for rule in rules.rules where unknown.contains(rule.check) {
            let claim = token.claims?[String(rule.check.dropFirst("proof-".count))]
            findings.note(
                Finding(
                    rule.check, .notJudged, expected: rule.expected, found: claim.map(Fact.json) ?? .absent,
                    source: rule.source))
        }
        let own = vendor.accounts.proofKeys.first {
            thumbprint != nil && (try? $0.key.read())?.thumbprint == thumbprint
        }
        return own.map { "key \($0.name)" }
    }
}

extension OktaProofFacts {
    /// A proof without its request.
    ///
    /// - Parameter context: what is known of the request; see ``Okta/requestFacts``.
    fileprivate init(_ proof: OktaProof, _ context: JSONObject, in setting: TokenSetting<Okta>) {
        (switches, moment, sandbox) = (setting.switches, setting.moment, setting.sandbox)
        method = context["method"]?.string.flatMap { HTTPRequest.Method($0) } ?? .post
        let url = context["url"]?.string ?? ""
        let base = setting.sandbox.addresses.filter { url.hasPrefix($0) }
            .max { $0.utf8.count < $1.utf8.count }
        path = base.map { String(url.dropFirst($0.count)) } ?? url
        lineCount = 1
        self.proof = proof
        access = context["access_token"]?.string.map { text in
            let claims = CompactToken(text).claims
            return Access(
                isUnderDPoP: true, boundKey: claims?["cnf"]?["jkt"]?.string,
                hash: Base64URL.encode(Digest.sha256(Array(text.utf8))), token: Array(text.utf8))
        }
    }
}
