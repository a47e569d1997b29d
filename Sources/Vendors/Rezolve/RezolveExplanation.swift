import Emulation
import JSON
import Tokens

extension Rezolve {
    static let rules = [
        ("core: api key and token", tokenRules), ("core: customer and device", ownershipRules),
        ("guests: api key", guestRules), ("RUA: api key", signInRules), ("RUA: session", sessionRules),
        ("RUA: token of a session", sessionTokenRules),
    ].flatMap { $1.listing(of: identity.id, about: $0) }

    static let requestFacts: [(name: String, about: String)] = [
        ("partner", "the partner's id in the path"), ("entity", "the customer's id in the path"),
        ("device_id", "the field x-rezolve-device-id"),
    ]

    /// Judges a token without its request: the partner is the one whose key fits, unless `partner` names one.
    func explain(
        _ text: String, knowing context: JSONObject, in setting: TokenSetting<Rezolve>
    ) -> TokenVerdict<RezolveFailure> {
        let token = RezolveToken(text)
        let signer = signer(of: token)
        let partner = context["partner"]?.string.flatMap(accounts.partner(id:)) ?? signer
        var facts = RezolveFacts(self, setting.switches, at: setting.moment)
        (facts.token, facts.partner, facts.signer) = (token, partner, partner ?? likelySigner(of: token))
        var findings = Findings<RezolveFailure>()
        findings.judge(facts, by: Self.tokenRules)
        if token.kind == .login {
            func presented(_ name: String) -> RezolveFacts.Presented {
                context[name]?.string.map { .value($0) } ?? .unknown
            }
            facts.pathPartner = presented("partner")
            facts.pathEntity = presented("entity")
            facts.device = presented("device_id")
            facts.findOwner(in: setting.state)
            findings.judge(facts, by: Self.ownershipRules)
        }
        return TokenVerdict(
            kind: token.compact.claims == nil ? nil : token.kind.rawValue,
            account: signer.map { "partner \($0.id)" }, findings: findings)
    }

    /// The partner whose key explains the signature by a mistake, else any one with a key, to show that none fits.
    private func likelySigner(of token: RezolveToken) -> RezolvePartner? {
        let candidates = accounts.partners.filter { $0.authKey != nil }
        return candidates.first { partner in
            let secret = partner.authKey?.text ?? ""
            return SignatureDiagnosis.explain(token.compact, algorithm: .hs512, secret: secret) != nil
        } ?? candidates.first
    }

    private func signer(of token: RezolveToken) -> RezolvePartner? {
        accounts.partners.first { partner in
            guard let key = partner.authKey else { return false }
            return Algorithm.allCases.contains { algorithm in
                token.compact.signature(by: key.verification, algorithm: algorithm).outcome == .passed
            }
        }
    }
}
