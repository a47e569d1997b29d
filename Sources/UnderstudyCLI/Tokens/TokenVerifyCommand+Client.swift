import Emulation
import JSON
import Tokens
import Understudy

/// `token verify --as NAME`: what a vendor's client would do with the token.
extension TokenVerifyCommand {
    func judge(_ token: CompactToken, as name: String) throws {
        try checkRulesAreAbsent()
        let checkers = Catalog.vendors.flatMap(\.checkers)
        guard let checker = checkers.first(where: { $0.name == name }) else {
            let known = checkers.map(\.name)
            let list = known.isEmpty ? "no vendor's client has rules" : "expected \(known.joined(separator: " or "))"
            throw Misuse("--as \(name) is unknown; \(list)\(Nearest.hint(to: name, among: known))")
        }
        if let nearExpiry, nearExpiry < 0 { throw Misuse("--near-expiry \(nearExpiry) is below 0.") }
        let margin: Duration? = nearExpiry.map { .seconds($0) }
        let verdict = checker.verdict(on: token, at: try MomentOption.parse(at), margin: margin)
        if json {
            var answer = verdict.result
            answer["findings"] = .array(verdict.findings.map(\.json))
            Output.json(.object(answer))
        } else {
            Output.line(JSON.object(verdict.result).text)
            FindingTable.show(verdict.findings.map(\.json))
        }
        if !verdict.isUsable { throw AnswerIsNo() }
    }

    /// A client has its own rules; others would be ignored.
    private func checkRulesAreAbsent() throws {
        let given = [
            ("--key", key != nil), ("--secret", secret != nil), ("--alg", !algorithms.isEmpty),
            ("--issuer", issuer != nil), ("--audience", audience != nil), ("--nonce", nonce != nil),
            ("--claim", !claims.isEmpty), ("--leeway", leeway != 0), ("--require", require != nil),
            ("--signature-only", signatureOnly),
        ].filter(\.1).map(\.0)
        guard given.isEmpty else {
            throw Misuse("\(given.joined(separator: ", ")) cannot go with --as: the client has its own rules.")
        }
    }
}
