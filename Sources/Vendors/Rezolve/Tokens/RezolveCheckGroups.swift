import Emulation
import Tokens

/// Row 5 of Rezolve's checks: the token can be verified by its partner's key, if one is known.
final class RezolveVerification: CheckGroup {
    private let token: RezolveToken
    private let key: RezolveAuthKey?
    private let partners: [RezolvePartner]

    /// - Parameter partners: whose keys may explain a signature that was not made with this key.
    init(of token: RezolveToken, by key: RezolveAuthKey?, among partners: [RezolvePartner] = []) {
        self.token = token
        self.key = key
        self.partners = partners
    }

    var holds: Bool { key.map(token.isVerified) ?? false }

    var findings: [Finding] {
        var findings = form
        guard let key else {
            findings.append(Finding("signature", .notJudged, note: "No key is known to judge it by."))
            return findings
        }
        findings += signature(by: key)
        if let weakness = key.verification.strengthFinding(for: .hs512) { findings.append(weakness) }
        return findings
    }

    var byteCount: Int { token.byteCount }

    /// Whether the token has the form of one; a text that is a key of a partner is called so.
    private var structure: [Finding] {
        let findings = token.compact.structure
        guard let place = findings.firstIndex(where: { $0.outcome == .failed }), let stranger else { return findings }
        var explained = findings
        explained[place] = findings[place].because(stranger)
        return explained
    }

    /// What was sent in the place of a token.
    private var stranger: String? {
        let text = token.compact.text
        if let partner = partners.first(where: { $0.apiKey.hasSameBytes(as: text) }) {
            return
                "This is the api key of partner \(partner.id); it belongs in x-rezolve-partner-apikey, and a JWT here."
        }
        if let partner = partners.first(where: { $0.authKey?.text.hasSameBytes(as: text) == true }) {
            return "This is the auth key of partner \(partner.id); it signs tokens and is never sent."
        }
        return nil
    }

    /// The signature; one that does not fit together with the mistake that explains it.
    private func signature(by key: RezolveAuthKey) -> [Finding] {
        let finding = token.compact.signature(
            by: key.verification, algorithm: .hs512, source: "JWT page, Signature")
        guard finding.outcome == .failed, let diagnosis = diagnosis(besides: key) else { return [finding] }
        return [finding.because(diagnosis.description), diagnosis.finding]
    }

    private func diagnosis(besides key: RezolveAuthKey) -> SignatureDiagnosis? {
        let others = partners.compactMap { partner -> SignatureDiagnosis.OtherSecret? in
            guard let other = partner.authKey, other !== key else { return nil }
            return SignatureDiagnosis.OtherSecret(name: "partner \(partner.id)", secret: other.text)
        }
        return SignatureDiagnosis.explain(token.compact, algorithm: .hs512, secret: key.text, others: others)
    }

    private var form: [Finding] {
        let compact = token.compact
        var findings = structure
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
