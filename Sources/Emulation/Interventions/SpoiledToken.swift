import HTTPTypes
import JSON
import Tokens
import Wire

/// A token in an answer that a rule makes wrong in one way: it is signed anew, by the key that signed it.
struct SpoiledToken: Sendable {
    /// Where the token is: a member of the answer's JSON, or a header field.
    let name: String
    private let path: JSONPath
    private let claims: JSONObject
    private let defect: String?

    /// Reads a mapping of members, each a JSONPath or a name, to a defect, or to `defect` and `claims` as a mint request
    /// has them.
    static func all(_ node: FixtureNode, _ scope: InterventionScope) throws(FixtureProblem) -> [SpoiledToken] {
        let tokens = try node.members().map { (member) throws(FixtureProblem) in
            try SpoiledToken(member.name, member.value, scope)
        }
        guard !tokens.isEmpty else { throw node.problem("defects names no member of the answer") }
        return tokens
    }

    private init(_ name: String, _ node: FixtureNode, _ scope: InterventionScope) throws(FixtureProblem) {
        self.name = name
        path = try ExchangeCondition.path(name, node)
        if try node.json().string != nil {
            (claims, defect) = ([:], try Self.defect(node, scope))
            return
        }
        let mapping = try node.mapping("defect", "claims")
        guard !mapping.members.isEmpty else {
            throw node.problem("found nothing that is wrong with the token; expected defect or claims")
        }
        defect = try mapping["defect"].map { node throws(FixtureProblem) in try Self.defect(node, scope) }
        guard let claims = try (mapping["claims"]?.json() ?? [:]).object else {
            throw node.problem("claims is not a mapping of names to values")
        }
        self.claims = claims
    }

    private static func defect(_ node: FixtureNode, _ scope: InterventionScope) throws(FixtureProblem) -> String {
        let name = try node.string()
        // That a general one may be unknown is no error: it may be the vendor's.
        let isKnown = (try? Defect(named: name)) != nil || scope.defects().contains(name)
        guard isKnown else {
            throw node.problem(
                "“\(name)” is not a defect\(Nearest.hint(to: name, among: Defect.names + scope.defects()))")
        }
        return name
    }

    /// What is wrong, in words.
    var summary: String {
        ([name, defect].compactMap(\.self) + claims.map { "claim \($0.name)" }).joined(separator: " ")
    }

    /// The token in an answer; `nil` without one.
    func token(in response: Response) -> CompactToken? {
        // An answer that is not JSON has no members.
        let members = (try? JSON.parse(response.body)).map { path.values(in: $0).compactMap(\.string) } ?? []
        let field = HTTPField.Name(name).flatMap { response.fields[$0] }
        // Some vendors write the scheme before it in JSON, too.
        guard let text = (members.first ?? field)?.split(separator: " ").last.map(String.init) else { return nil }
        let token = CompactToken(text)
        return token.isWellFormed && token.claims != nil ? token : nil
    }

    /// The token as it is signed next, and the vendor's own defect for it; `nil` when no key has signed it.
    func unsigned(_ token: CompactToken, among keys: [SigningKey]) -> (token: UnsignedToken, own: String?)? {
        guard let algorithm = token.namedAlgorithm(among: Algorithm.allCases), let header = token.header,
            let claims = token.claims,
            let key = keys.first(where: {
                token.signature(by: $0.verificationKey, algorithm: algorithm).outcome == .passed
            })
        else { return nil }
        var unsigned = UnsignedToken(TokenDraft(header: header, claims: claims), key: key, algorithm: algorithm)
        for member in self.claims { unsigned.content.claims[member.name] = member.value }
        // A name that is not general is the vendor's, as was checked on reading.
        guard let defect, (try? Defect(named: defect)) == nil else {
            unsigned.defect = defect
            return (unsigned, nil)
        }
        return (unsigned, defect)
    }
}

extension SandboxedVendor {
    /// Signs tokens of an answer anew, each wrong in its way.
    ///
    /// - Returns: what was not possible and why, for the journal.
    func spoil(
        _ tokens: [SpoiledToken], in response: inout Response, of exchange: Exchange, by loaded: LoadedVendor<V>
    ) -> [String] {
        let state = snapshot().state
        var notes: [String] = []
        for spoiled in tokens {
            do throws(MintRefusal) {
                let token = try MintRefusal.require(spoiled.token(in: response), "the answer has no such token")
                let keys = loaded.vendor.keys(for: token, in: state, exchange.sandbox.identity)
                var (unsigned, own) = try MintRefusal.require(
                    spoiled.unsigned(token, among: keys), "no key of \(V.identity.title) has signed it")
                if let own, try !loaded.vendor.spoil(&unsigned, own, in: state) {
                    throw MintRefusal("it is no token for the defect \(own)")
                }
                let text = try unsigned.signed(at: exchange.moment)
                response.replace(token.text, with: text)
            } catch {
                notes.append("\(spoiled.name) was left as it is: \(error)")
            }
        }
        return notes
    }
}

extension Response {
    /// Replaces a token wherever it stands; no text has one by chance.
    fileprivate mutating func replace(_ token: String, with other: String) {
        body = Array(String(decoding: body, as: UTF8.self).replacing(token, with: other).utf8)
        fields = HTTPFields(
            fields.map { HTTPField(name: $0.name, value: $0.value.replacing(token, with: other)) })
    }
}
