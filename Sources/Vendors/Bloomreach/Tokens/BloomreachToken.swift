import Emulation
import JSON
import Synchronization
import Tokens

/// A token as Bloomreach reads it; its members are what it says, whether or not it deserves trust.
final class BloomreachToken: Sendable {
    let compact: CompactToken
    /// The `kid` of the header, which names who signed.
    let keyID: String?
    // One place, since nearly every token meets one key only.
    private let verification = Mutex<(key: BloomreachSigningKey, finding: Finding)?>(nil)

    init(bytes: [UInt8]) {
        compact = CompactToken(bytes: bytes)
        keyID = compact.header?["kid"]?.string
    }

    convenience init(_ text: String) { self.init(bytes: Array(text.utf8)) }

    /// Whether the signature was made with that key, which depends on nothing else, and so is judged once.
    func signature(by key: BloomreachSigningKey, _ algorithm: Algorithm, source: String) -> Finding {
        if let known = verification.withLock({ $0?.key === key ? $0?.finding : nil }) { return known }
        let finding = compact.signature(by: key.verification, algorithm: algorithm, source: source)
        verification.withLock { $0 = (key, finding) }
        return finding
    }

    /// The customer ids that a claim holds; `nil` when it is no map of names to texts with something in it.
    func ids(_ claim: String) -> BloomreachIDs? { compact.claims?[claim].flatMap(BloomreachIDs.init(claim:)) }
}

extension BloomreachIDs {
    /// The ids that a claim holds, by which tokens are read and minted alike; `nil` when it is no map of names to texts that
    /// are not empty, or names nobody.
    init?(claim: JSON) {
        guard let object = claim.object, object.allSatisfy({ $0.value.string?.isEmpty == false }),
            let ids = try? BloomreachIDs(claim), !ids.isEmpty
        else { return nil }
        self = ids
    }
}

/// The rules by which one kind of token is judged. Both kinds have eight, in the same order.
struct BloomreachTokenRules {
    let algorithm: Algorithm
    /// The claim that holds the ids of the customer.
    let subject: String
    let source: String
    let malformed: BloomreachFailure
    let wrongAlgorithm: BloomreachFailure
    let unknownKey: BloomreachFailure
    let badSignature: BloomreachFailure
    let missingExpiry: BloomreachFailure
    let expired: BloomreachFailure
    let notYetValid: BloomreachFailure
    let badSubject: BloomreachFailure

    /// Judges a token by all eight.
    ///
    /// - Parameters:
    ///   - key: the key that its `kid` names, where that is known.
    ///   - keyID: that `kid`, without a secret in it.
    ///   - strangers: what stands where something else belongs, and whose signature it may be.
    func judge(
        _ token: BloomreachToken, by key: BloomreachSigningKey?, named keyID: Fact, _ strangers: BloomreachStrangers,
        at moment: Moment, leewaySeconds: Int,
        _ findings: inout Findings<BloomreachFailure>
    ) {
        let compact = token.compact
        findings.add(structure(of: token, strangers), orFail: malformed)
        findings.add(parts(of: compact), orFail: malformed)
        findings.add(compact.algorithm(is: algorithm, source: source), orFail: wrongAlgorithm)
        findings.add(
            compact.type(is: "JWT", exactly: true, source: source + "; strictness ours"), orFail: wrongAlgorithm)
        findings.add(compact.critical(), orFail: wrongAlgorithm)
        if let references = compact.keyReferences() { findings.note(references) }
        findings.add(keyFinding(token, key, keyID, strangers), orFail: unknownKey)
        judgeSignature(of: token, by: key, others: strangers.accounts, &findings)
        findings.add(compact.claim("exp", is: .number, source: source), orFail: missingExpiry)
        let leeway = Double(leewaySeconds)
        findings.add(
            compact.expiry(
                at: moment.unixSeconds, leeway: leeway, source: source + "; switch clock-leeway-seconds"),
            orFail: expired)
        findings.add(
            compact.notBefore(at: moment.unixSeconds, TimeRules(leeway: leeway, required: false), source: "ours"),
            orFail: notYetValid)
        findings.add(subjectFinding(token), orFail: badSubject)
        if let remark = compact.milliseconds(in: "exp") { findings.note(remark) }
        if let remark = compact.milliseconds(in: "nbf") { findings.note(remark) }
    }

    /// Whether the token has the form of one; a key in its place is called what it is.
    private func structure(of token: BloomreachToken, _ strangers: BloomreachStrangers) -> [Finding] {
        var findings = token.compact.structure
        guard let place = findings.firstIndex(where: { $0.outcome == .failed }),
            let note = strangers.note(onToken: token.compact.text)
        else { return findings }
        findings[place] = findings[place].because(note)
        return findings
    }

    /// The signature may be as empty as that of `none`, but then the token has no third part.
    private func parts(of compact: CompactToken) -> Finding {
        let isEmpty = compact.partCount == 3 && compact.signature?.isEmpty == true
        return Finding(
            "signature-present", isEmpty ? .failed : compact.partCount == 3 ? .passed : .notJudged,
            expected: .text("three parts, none of them empty"), source: "ours")
    }

    private func keyFinding(
        _ token: BloomreachToken, _ key: BloomreachSigningKey?, _ keyID: Fact, _ strangers: BloomreachStrangers
    ) -> Finding {
        Finding(
            "key-known", token.compact.header == nil ? .notJudged : key == nil ? .failed : .passed,
            expected: .text(key == nil ? "kid of a \(strangers.expectedKey)" : "kid of a key that may sign here"),
            found: keyID,
            note: key == nil ? strangers.note(onKeyOf: token, algorithm) : nil, source: source)
    }

    private func judgeSignature(
        of token: BloomreachToken, by key: BloomreachSigningKey?, others: BloomreachAccounts,
        _ findings: inout Findings<BloomreachFailure>
    ) {
        guard let key else {
            findings.note(Finding("signature", .notJudged, note: "No key is known to judge it by.", source: source))
            return
        }
        let finding = token.signature(by: key, algorithm, source: source)
        guard finding.outcome == .failed else { return findings.add(finding, orFail: badSignature) }
        let secrets = others.signingKeys.filter { $0 !== key }.map {
            SignatureDiagnosis.OtherSecret(name: $0.phrase, secret: $0.text)
        }
        let diagnosis = SignatureDiagnosis.explain(
            token.compact, algorithm: algorithm, secret: key.text, others: secrets)
        findings.add(diagnosis.map { finding.because($0.description) } ?? finding, orFail: badSignature)
        if let diagnosis { findings.note(diagnosis.finding) }
    }

    private func subjectFinding(_ token: BloomreachToken) -> Finding {
        let claims = token.compact.claims
        return Finding(
            "claim-\(subject)-ids", claims == nil ? .notJudged : token.ids(subject) == nil ? .failed : .passed,
            expected: .text("an object of id names with texts, not empty"),
            found: claims?[subject].map(Fact.json) ?? .absent, source: source + "; rest ours")
    }
}
