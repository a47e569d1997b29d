import Emulation
import JSON
import Tokens

extension Bloomreach {
    static let requestFacts: [(name: String, about: String)] = [
        ("project", "the project's token in the path"), ("stream", "the stream's id in the path"),
    ]

    /// Judges a token without its request: if nothing names the account, it is that of the key in `kid`.
    func explain(
        _ text: String, knowing context: JSONObject, in setting: TokenSetting<Bloomreach>,
        _ findings: inout Findings<BloomreachFailure>
    ) -> (kind: String?, account: String?) {
        let token = BloomreachToken(text)
        var facts = BloomreachFacts(self, setting.switches, at: setting.moment)
        facts.stream = stream(of: token, context)
        if facts.stream == nil { facts.project = project(of: token, context) }
        facts.take(token)
        findings.judge(facts, by: facts.isStream ? Self.streamTokenRules : Self.customerTokenRules)
        let owner = facts.stream.map { "stream \($0.id)" } ?? "project \(facts.project?.token ?? "")"
        let signer = (facts.stream?.signingKeys ?? facts.project?.privateKeys)?.first {
            token.compact.isSigned(by: $0.secret)
        }
        return (
            token.compact.claims == nil ? nil : facts.isStream ? "stream-token" : "customer-token",
            signer.map { "\(owner), key \($0.id)" }
        )
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

/// Identifies credentials sent in the wrong place, without repeating any secret.
extension BloomreachAccounts {
    /// What a token's `kid` names instead of a key that may sign here, and whose key made the signature.
    func note(onKeyOf token: BloomreachToken, _ algorithm: Algorithm) -> String? {
        guard let id = token.keyID else { return token.compact.header?["kid"] == nil ? nil : "kid is not a string." }
        if let project = holder(ofPublicKey: id) {
            return "That is a public key of project \(project.token); it signs nothing."
        }
        if let key = signingKey(id) { return "That is the \(key.phrase)." }
        let signer = signingKeys.first { key in
            [algorithm, .hs256, .hs512].contains {
                token.compact.signature(by: key.verification, algorithm: $0).outcome == .passed
            }
        }
        return signer.map { "Nobody has a key of that id; the signature matches the \($0.phrase)." }
            ?? "Nobody has a key of that id\(Nearest.hint(to: id, among: signingKeys.map(\.id)))."
    }

    /// What was sent instead of a token.
    func note(onToken text: String) -> String? {
        if let project = holder(ofPublicKey: text) {
            return "This is a public key of project \(project.token); it is sent as Token KEY, and a JWT as Bearer JWT."
        }
        if let key = signingKey(text) {
            return "This is the id of a key, the \(key.phrase); a token is signed with it."
        }
        if let key = signingKeys.first(where: { $0.text.hasSameBytes(as: text) }) {
            return "This is the secret of the \(key.phrase); it signs tokens and is never sent."
        }
        return isPair(text) ? "This is ID:SECRET in base64; it is sent as Basic." : nil
    }

    /// What was sent instead of a public key of the project. Unknown text is not repeated: it may be a misplaced
    /// secret.
    func owner(ofPublicKey key: String) -> String {
        if key.hasPrefix("eyJ"), key.utf8.count(where: { $0 == UInt8(ascii: ".") }) == 2 {
            return "a JWT, which is sent as Bearer JWT"
        }
        if key.hasPrefix("Token ") { return "a key with Token before it twice" }
        if project(key) != nil { return "the token of project \(key)" }
        if stream(key) != nil { return "the id of stream \(key)" }
        let owner = owner(of: key) ?? "a key that nobody has"
        return owner + (owner.hasPrefix("the secret") ? ", which is never sent" : "")
    }

    /// What was sent as the secret of a private key.
    func shown(secret: String) -> Fact {
        .text(secret.isEmpty ? "an empty secret" : owner(of: secret) ?? "another text")
    }

    /// Which credential a text is, perhaps but for details.
    func owner(of text: String) -> String? {
        if let project = holder(ofPublicKey: text) { return "a public key of \(project.token)" }
        if let key = signingKey(text) { return "the id of the \(key.phrase)" }
        if let key = signingKeys.first(where: { $0.text.hasSameBytes(as: text) }) {
            return "the secret of the \(key.phrase)"
        }
        if isPair(text) { return "ID:SECRET in base64, which is sent as Basic" }
        return (projects.flatMap(\.publicKeys).map(\.key) + signingKeys.map(\.id)).lazy.compactMap { near in
            Nearest.difference(text, near).map { "a text like \(near) (\($0))" }
        }.first
    }

    /// Whether a text is what follows `Basic` for a key that somebody has.
    private func isPair(_ text: String) -> Bool {
        BasicCredentials(Array(text.utf8)[...]).flatMap { signingKey($0.id) } != nil
    }

    /// What a path names instead of a project or a stream; `nil` if unknown.
    func stranger(at address: BloomreachAddress) -> String? {
        let text = address.text
        if address.isStream, project(text) != nil {
            return "That is the token of a project, whose paths have projects/\(text)."
        }
        if !address.isStream, stream(text) != nil {
            return "That is the id of a stream, whose paths have streams/\(text) or stream_id=\(text)."
        }
        let known = address.isStream ? streams.map(\.id) : projects.map(\.token)
        return Nearest.names(to: text, among: known, count: 1).first.map { "Did you mean “\($0)”?" }
    }
}
