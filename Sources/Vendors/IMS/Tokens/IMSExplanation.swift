import Emulation
import JSON
import Tokens

extension IMS {
    /// Judges a token without its request, using local or previously fetched keys; if this server publishes the
    /// issuer's keys, with the keys it would publish now.
    ///
    /// Only a request can tell whether a token id was used. The SDK's checks are listed separately; see ``checkers``.
    func explain(
        _ text: String, knowing context: JSONObject, in setting: TokenSetting<IMS>
    ) -> TokenVerdict<IMSFailure> {
        let token = IMSToken(text)
        let (issuers, devKeys) = (setting.state.issuers, setting.state.devKeys)
        let judge = IMSTokenJudge(
            self, IMSAuthenticationContext(issuers: known(issuers, devKeys), devKeys: devKeys), setting.switches,
            at: setting.moment,
            asking: .never, in: setting.sandbox)
        var findings = Findings<IMSFailure>()
        var facts = judge.judge(token, &findings)
        facts.isRefused = true
        if let issuer = facts.issuer, issuer.record.replay != .off { facts.tokenUse = .unknown }
        facts.findUser(in: setting.state)
        findings.judge(facts, by: Self.userRules)
        let signer = judge.signer(of: token)
        return TokenVerdict(
            kind: token.compact.claims == nil ? nil : "user",
            account: signer.map { "issuer \($0.issuer.record.name) of tenant \($0.issuer.record.tenant)" },
            findings: findings)
    }

    /// The issuers of a sandbox, including the keys that requests would fetch from this server.
    func known(_ known: IMSIssuerStore, _ devKeys: [String: IssuerKeys]) -> IMSIssuerStore {
        var issuers = known
        for issuer in known.all {
            guard let remote = issuer.remote, remote.lastReport == nil, let name = Self.devIssuer(of: remote.url),
                // Minting reports a file without a key.
                let keys = try? self.devKeys(of: name, among: devKeys), !keys.isBroken
            else { continue }
            issuers.put(
                IMSIssuer(issuer.record, keys: keys.published.map { $0.key.verificationKey.limited(to: [.rs256]) }))
        }
        return issuers
    }

    /// The dev issuer whose keys are at a URL of this server.
    private static func devIssuer(of url: String) -> String? {
        let prefix = KeyRequest.ownServer + "/ims/dev-issuers/"
        guard url.hasPrefix(prefix) else { return nil }
        return String(url.dropFirst(prefix.count).prefix { $0 != "/" })
    }
}
