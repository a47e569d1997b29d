import Emulation
import JSON
import Tokens

extension IMS {
    /// Judges a token that comes without its request, by the keys that are at hand or were fetched before.
    ///
    /// Whether a token id was used, only a request tells. What the SDK says beforehand stands beside this, in a list of its
    /// own; see ``checkers``.
    func explain(
        _ text: String, knowing context: JSONObject, in setting: TokenSetting<IMS>
    ) -> TokenVerdict<IMSFailure> {
        let token = IMSToken(text)
        let judge = IMSTokenJudge(
            issuers: setting.state.issuers, switches: setting.switches, moment: setting.moment,
            policy: keyFetchPolicy(setting.switches), namedHosts: accounts.namedHosts, mayFetch: false)
        var findings = Findings<IMSFailure>()
        let outcome = judge.judge(token, &findings)
        if let issuer = outcome.issuer {
            if issuer.record.replay != .off {
                findings.note(
                    Finding("token-id-unused", .notJudged, note: "Only a request tells whether the jti was used."))
            }
            judgeUser(of: token, issuer, setting.switches, setting.state, &findings)
        }
        let signer = judge.signer(of: token)
        return TokenVerdict(
            kind: token.compact.claims == nil ? nil : "user",
            account: signer.map { "issuer \($0.record.name) of tenant \($0.record.tenant)" }, findings: findings)
    }
}
