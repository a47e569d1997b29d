import Emulation
import JSON
import Tokens

extension Bloomreach {
    /// Judges a token without its request: `project` or `stream` may name the account, otherwise the owner of the key
    /// in `kid` is assumed.
    ///
    /// - Parameter context: what is known of the request: `project` or `stream` of the path, `customer_ids` of the
    /// body.
    static let requestFacts = [
        RequestFact("project", "the project's token in the path"), RequestFact("stream", "the stream's id in the path"),
    ]

    func explain(
        _ text: String, knowing context: JSONObject, in setting: TokenSetting<Bloomreach>
    ) -> TokenVerdict<BloomreachFailure> {
        let token = BloomreachToken(text)
        var findings = Findings<BloomreachFailure>()
        var facts = BloomreachFacts(self, setting.switches, at: setting.moment)
        if let stream = stream(of: token, context) {
            facts.stream = stream
            facts.take(token)
            findings.judge(facts, by: Self.streamTokenRules)
            return verdict(token, "stream-token", "stream \(stream.id)", stream.signingKeys, .hs512, findings)
        }
        let project = project(of: token, context)
        facts.project = project
        facts.take(token)
        findings.judge(facts, by: Self.customerTokenRules)
        return verdict(token, "customer-token", "project \(project.token)", project.privateKeys, .hs256, findings)
    }

    private func verdict(
        _ token: BloomreachToken, _ kind: String, _ owner: String, _ keys: [BloomreachSigningKey],
        _ algorithm: Algorithm, _ findings: Findings<BloomreachFailure>
    ) -> TokenVerdict<BloomreachFailure> {
        let signer = keys.first {
            token.compact.signature(by: $0.verification, algorithm: algorithm).outcome == .passed
        }
        return TokenVerdict(
            kind: token.compact.claims == nil ? nil : kind, account: signer.map { "\(owner), key \($0.id)" },
            findings: findings)
    }

    /// The stream to assume: the named one, or that of the key; any stream if the claims are those of a stream's token.
    private func stream(of token: BloomreachToken, _ context: JSONObject) -> BloomreachStream? {
        if let named = context["stream"]?.string { return accounts.stream(named) }
        if context["project"] != nil { return nil }
        let owner = token.keyID.flatMap { id in accounts.streams.first { $0.signingKey(id) != nil } }
        if let owner { return owner }
        guard token.compact.claims?["ids"] != nil, token.compact.claims?["sub"] == nil else { return nil }
        return accounts.streams.first
    }

    private func project(of token: BloomreachToken, _ context: JSONObject) -> BloomreachProject {
        let named = context["project"]?.string.flatMap(accounts.project)
        let owner = token.keyID.flatMap { id in accounts.projects.first { $0.privateKey(id) != nil } }
        // The fixtures have at least one.
        return named ?? owner ?? accounts.projects[0]
    }
}
