import Emulation
import JSON
import Tokens

/// How to mint a token like a given one: the control call and its members.
struct TokenRecipe {
    let vendor: String
    let kind: String
    let members: JSONObject

    /// The recipe for a token that the vendor would judge as it judged this one; `nil` when none is found.
    ///
    /// The signature is secret, so every defect is tried until one is refused for the same reasons.
    init?(for token: String, of vendor: any LoadedVendor, in cell: any SandboxedVendor, at moment: Moment) {
        let wanted = cell.explain(token, knowing: [:], at: moment)
        guard let kind = vendor.tokenKinds.first(where: { $0.name == wanted.kind }) else { return nil }
        let read = CompactToken(token, limits: CompactToken.Limits(bytes: .max), encoding: .lenient)
        guard let claims = read.claims, var header = read.header else { return nil }
        header = JSONObject(header.filter { $0.name != "alg" }.map { ($0.name, $0.value) })
        let usual: JSONObject = ["header": .object(header), "claims": .object(claims)]
        let account = Self.account(wanted.account, for: kind)
        for defect in [nil] + Self.defects(of: kind, cell, moment, lacking: claims).map(Optional.some) {
            var members = account.reduce(into: usual) { $0[$1.name] = $1.value }
            members["defect"] = defect.map(JSON.string)
            let order = MintRequest(kind: kind.name, members: members)
            guard let minted = try? cell.mint(order, at: moment, by: .none, IdentifierSource()) else { continue }
            let verdict = cell.explain(minted.token, knowing: [:], at: moment)
            guard verdict.failure == wanted.failure, Self.failed(verdict) == Self.failed(wanted) else { continue }
            self.vendor = vendor.identity.id
            self.kind = kind.name
            self.members = members
            return
        }
        return nil
    }

    private static func failed(_ verdict: TokenExplanation) -> [String] {
        verdict.findings.filter { $0.outcome == .failed }.map(\.check)
    }

    /// The account in the form of a mint request: “project a, key b” becomes the members `project` and `key`.
    private static func account(_ account: String?, for kind: TokenKind) -> JSONObject {
        let words = account?.split { $0 == " " || $0 == "," }.map(String.init) ?? []
        return JSONObject(
            zip(words, words.dropFirst()).filter { name, _ in kind.members.contains { $0.name == name } }.map {
                ($0, .string($1))
            })
    }

    /// All defects of the kind; missing-claim defects only for claims that the token lacks.
    private static func defects(
        of kind: TokenKind, _ cell: any SandboxedVendor, _ moment: Moment, lacking claims: JSONObject
    ) -> [String] {
        let good = try? cell.mint(MintRequest(kind: kind.name), at: moment, by: .none, IdentifierSource())
        let usual = good?.json["claims"]?.object ?? [:]
        let missing = usual.map(\.name).filter { claims[$0] == nil }.map { "missing-\($0)" }
        return missing + (Defect.names + kind.defects).filter { !$0.hasSuffix("CLAIM") }
    }
}
