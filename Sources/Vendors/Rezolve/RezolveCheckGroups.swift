import Emulation
import Tokens

/// Row 5 of Rezolve's checks: the token can be verified by its partner's key, if one is known.
final class RezolveVerification: CheckGroup {
    private let token: RezolveToken
    private let key: RezolveAuthKey?

    init(of token: RezolveToken, by key: RezolveAuthKey?) {
        self.token = token
        self.key = key
    }

    var holds: Bool { key.map(token.isVerified) ?? false }

    var findings: [Finding] {
        var findings = form
        guard let key else {
            findings.append(Finding("signature", .notJudged, note: "No key is known to judge it by."))
            return findings
        }
        findings.append(token.compact.signature(by: key.verification, algorithm: .hs512, source: "JWT page, Signature"))
        if let weakness = key.verification.strengthFinding(for: .hs512) { findings.append(weakness) }
        return findings
    }

    var byteCount: Int { token.byteCount }

    private var form: [Finding] {
        let compact = token.compact
        var findings = compact.structure
        findings.append(compact.algorithm(is: .hs512, source: "JWT page, JWT Header"))
        findings.append(compact.type(is: "JWT", source: "JWT page, JWT Header; case and absence ours"))
        findings.append(compact.critical())
        if let references = compact.keyReferences() { findings.append(references) }
        return findings
    }
}

/// Row 6 of Rezolve's checks: every member that this kind of token needs is there and of the right type.
final class RezolveMembers: CheckGroup {
    private let token: RezolveToken
    private let rules: RezolveMemberRules

    init(of token: RezolveToken, by rules: RezolveMemberRules) {
        self.token = token
        self.rules = rules
    }

    var holds: Bool { token.hasMembers(by: rules) }
    var findings: [Finding] { rules.findings(on: token) }
    var byteCount: Int { token.byteCount }
}

extension RezolveToken {
    /// The token is kept as it came and once more decoded.
    fileprivate var byteCount: Int { 512 + 2 * compact.bytes.count }
}
