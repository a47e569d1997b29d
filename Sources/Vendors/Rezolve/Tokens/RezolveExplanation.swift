import Emulation
import JSON
import Tokens

extension Rezolve {
    /// Judges a token that comes without its request: the partner is the one whose key fits, unless `partner` names one.
    ///
    /// - Parameter context: what is known of the request: `partner` and `entity` of the path, `device_id` of the header.
    static let requestFacts = [
        RequestFact("partner", "the partner's id in the path"), RequestFact("entity", "the customer's id in the path"),
        RequestFact("device_id", "the field x-rezolve-device-id"),
    ]

    func explain(
        _ text: String, knowing context: JSONObject, in setting: TokenSetting<Rezolve>
    ) -> TokenVerdict<RezolveFailure> {
        let token = RezolveToken(text)
        let signer = signer(of: token)
        let partner = context["partner"]?.string.flatMap(accounts.partner(id:)) ?? signer
        var findings = Findings<RezolveFailure>()
        if let partner { judgeAuthKey(of: partner, &findings) }
        let rules = RezolveTokenRules(switches: setting.switches, moment: setting.moment)
        rules.judgeSignature(
            of: token, by: partner ?? likelySigner(of: token), of: accounts, &findings, orFail: .maskedSignature)
        rules.judgeMembers(of: token, &findings, orFail: .maskedMissingFields)
        rules.judgeExpiry(of: token, &findings, orFail: .tokenExpired)
        if token.kind == .login { ownership(of: token, partner, context, setting).judge(&findings) }
        return TokenVerdict(
            kind: token.compact.claims == nil ? nil : token.kind.rawValue,
            account: signer.map { "partner \($0.id)" }, findings: findings)
    }

    /// The partner a mistake with whose key explains the signature; any one with a key will do to show that none fits.
    private func likelySigner(of token: RezolveToken) -> RezolvePartner? {
        let candidates = accounts.partners.filter { $0.authKey != nil }
        return candidates.first { partner in
            let secret = partner.authKey?.text ?? ""
            return SignatureDiagnosis.explain(token.compact, algorithm: .hs512, secret: secret) != nil
        } ?? candidates.first
    }

    /// The partner whose key made the signature.
    private func signer(of token: RezolveToken) -> RezolvePartner? {
        accounts.partners.first { partner in
            guard let key = partner.authKey else { return false }
            return Algorithm.allCases.contains { algorithm in
                token.compact.signature(by: key.verification, algorithm: algorithm).outcome == .passed
            }
        }
    }

    private func ownership(
        of token: RezolveToken, _ partner: RezolvePartner?, _ context: JSONObject, _ setting: TokenSetting<Rezolve>
    ) -> RezolveOwnership {
        func presented(_ name: String) -> RezolveOwnership.Presented {
            context[name]?.string.map { .value($0) } ?? .unknown
        }
        return RezolveOwnership(
            token: token, partner: partner, switches: setting.switches, state: setting.state,
            pathPartner: presented("partner"), pathEntity: presented("entity"), device: presented("device_id"))
    }
}
