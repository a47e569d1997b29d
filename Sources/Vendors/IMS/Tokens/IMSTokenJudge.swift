import Emulation
import JSON
import Tokens

/// Rows 2 to 12 of IMS's checks: all that a token and its issuer decide without a look at users.
///
/// Source: the rules are documented (seed) where a row says so; the order is ours. Nothing about the values of claims is
/// told before the signature holds.
struct IMSTokenJudge {
    let issuers: IMSIssuers
    let switches: IMSSwitches
    let moment: Moment
    let policy: KeyFetchPolicy
    /// Knows the accounts, and what dev issuers publish.
    let vendor: IMS
    /// The keys of dev issuers that something happened to.
    let devKeys: [String: IssuerKeys]
    let asking: Asking

    init(
        _ vendor: IMS, _ standing: IMSStanding, _ switches: IMSSwitches, at moment: Moment, asking: Asking
    ) {
        (issuers, devKeys) = (standing.issuers, standing.devKeys)
        (self.vendor, self.switches, self.moment, self.asking) = (vendor, switches, moment, asking)
        policy = vendor.keyFetchPolicy(switches)
    }

    /// Whether keys may be asked for, and what it means that there are none.
    enum Asking {
        /// They may.
        case allowed
        /// They were asked for; without them nobody passes.
        case done
        /// Nobody waits for them: what needs them stays unjudged.
        case never
    }

    /// What came of a token.
    struct Outcome {
        /// The issuer that `iss` names.
        var issuer: IMSIssuer?
        /// The keys that have to be asked for before the token can be judged.
        var order: KeyOrder?
        /// Whether a key of the issuer made the signature. Everything but this leaves a forged token possible.
        var isGenuine = false
    }

    /// Judges a token by every rule, in the order of the rows.
    func judge(_ token: IMSToken, _ findings: inout Findings<IMSFailure>) -> Outcome {
        let issuer = token.issuer.flatMap(issuers.issuer)
        if let issuer, let acceptance = token.acceptance(by: issuer), mayUseKeys(of: issuer, for: token) {
            findings.add(acceptance, orFail: .signatureInvalid)
            judgeClaims(of: token, issuer, &findings)
            return Outcome(issuer: issuer, isGenuine: true)
        }
        findings.add(IMSForm(of: token), orFail: .tokenMalformed)
        judgeHeader(of: token, issuer, &findings)
        findings.add(IMSLocators(of: token))
        let registration = token.registration(isKnown: issuer != nil)
        findings.add(
            registration.outcome == .failed ? registration.because(strangeness(of: token)) : registration,
            orFail: .issuerUnknown)
        var isGenuine = false
        switch keys(of: issuer, for: token, &findings) {
        case .order(let order): return Outcome(issuer: issuer, order: order)
        case .none: findings.note(Finding("signature", .notJudged, note: "No key is known to judge it by."))
        case .some(let ring, let places):
            isGenuine = judgeSignature(of: token, issuer, by: ring, at: places, &findings)
        }
        judgeClaims(of: token, issuer, &findings)
        return Outcome(issuer: issuer, isGenuine: isGenuine)
    }

    /// Row 3.
    private func judgeHeader(of token: IMSToken, _ issuer: IMSIssuer?, _ findings: inout Findings<IMSFailure>) {
        let algorithm = token.algorithm
        let isSymmetric = algorithm.outcome == .failed && isSignedBySecret(token, issuer)
        findings.add(isSymmetric ? algorithm.because(Self.publicSecret) : algorithm, orFail: .algNotAllowed)
        if isSymmetric {
            findings.note(
                Finding(
                    "public-key-as-secret", .noted, found: algorithm.found, note: Self.publicSecret,
                    source: "RFC 8725 section 2.1"))
        }
        findings.add(token.type(required: issuer?.record.requiresType ?? true), orFail: .typNotAllowed)
        if let references = token.compact.keyReferences() { findings.note(references) }
    }

    /// Row 7: whether one of these keys made the signature.
    private func judgeSignature(
        of token: IMSToken, _ issuer: IMSIssuer?, by ring: IMSKeyRing, at places: [Int],
        _ findings: inout Findings<IMSFailure>
    ) -> Bool {
        let finding = token.verification(by: ring, at: places)
        // Who signed instead is looked for only where it is the reason: whoever sends forged tokens need not have it done.
        let isReason = finding.outcome == .failed && findings.failure == nil
        findings.add(isReason ? diagnosed(finding, token, issuer, at: places) : finding, orFail: .signatureInvalid)
        if isReason, let other = signer(of: token, besides: issuer) {
            findings.note(Finding("signature-of-another", .noted, found: .text(other.issuer.record.name)))
        }
        // What certificates say depends on the moment, so a token that they have to do with is judged anew each time.
        if let issuer, findings.failure == nil, places.allSatisfy({ ring.keys[$0].validity == nil }) {
            token.accept(by: issuer, signature: finding)
        }
        return finding.outcome == .passed
    }

    // MARK: Row 6

    private enum Keys {
        case none
        case some(IMSKeyRing, [Int])
        case order(KeyOrder)
    }

    private func keys(of issuer: IMSIssuer?, for token: IMSToken, _ findings: inout Findings<IMSFailure>) -> Keys {
        guard let issuer else { return .none }
        if token.keyID == nil, issuer.record.requiresKeyID {
            findings.add(token.keyFinding(.failed, "a kid", .absent), orFail: .kidRequired)
            return .none
        }
        if let remote = issuer.remote {
            switch published(remote, of: issuer, for: token, &findings) {
            case .fetched: break
            case .missing: return .none
            case .order(let order): return .order(order)
            }
        }
        if issuer.ring.keys.isEmpty {
            _ = unavailable("none at all", of: issuer, &findings)
            return .none
        }
        switch issuer.ring.choice(naming: token.keyID) {
        case .idRequired:
            findings.add(
                token.keyFinding(.failed, "a kid, since there are several keys", .absent), orFail: .kidRequired)
            return .none
        case .idUnknown:
            let known = issuer.ring.keys.compactMap(\.id).joined(separator: ", ")
            let pause = issuer.remote?.pause(at: moment, policy, setBy: "switch jwks-cooldown-seconds")
            let reason = findings.failure == nil ? misnamedKey(of: issuer, for: token) : nil
            let notes = [reason, asking == .done ? nil : pause].compactMap(\.self)
            findings.add(
                token.keyFinding(
                    .failed, "one of \(known)", token.keyID.map(Fact.text),
                    note: notes.isEmpty ? nil : notes.joined(separator: " ")),
                orFail: .kidUnknown)
            return .none
        case .keys(let places):
            findings.note(token.keyFound)
            return dated(places, of: issuer, &findings)
        }
    }

    private enum Published {
        case fetched
        case missing
        case order(KeyOrder)
    }

    /// Whether the ring has what is published, or has to be asked for first.
    private func published(
        _ remote: RemoteKeys, of issuer: IMSIssuer, for token: IMSToken, _ findings: inout Findings<IMSFailure>
    ) -> Published {
        if let obstacle = issuer.keyURL?.obstacle(switches, named: vendor.accounts.namedHosts) {
            return unavailable(obstacle, of: issuer, note: "Nobody asks this URL, however long one waits.", &findings)
        }
        let keyID = issuer.ring.name(ofKeyFor: token)
        switch remote.need(naming: keyID, at: moment, policy) {
        case .use: return .fetched
        case .unavailable: break
        case .fetch:
            // A token that is refused anyway is no reason to ask: anybody can write one.
            if asking == .allowed, findings.failure == nil { return .order(KeyOrder(of: remote.issuer, naming: keyID)) }
            if case .use = remote.keysInNeed(at: moment, policy) { return .fetched }
            if remote.lastReport == nil { return unfetched(issuer, &findings) }
        }
        if case .use = remote.keysInNeed(at: moment, policy) { return .fetched }
        let problem = remote.lastReport?.problem?.description
        return unavailable(problem ?? "the keys are too old", of: issuer, &findings)
    }

    /// Whether the issuer's keys serve as they are, without anything to tell.
    private func mayUseKeys(of issuer: IMSIssuer, for token: IMSToken) -> Bool {
        guard let remote = issuer.remote else { return true }
        guard issuer.keyURL?.obstacle(switches, named: vendor.accounts.namedHosts) == nil else { return false }
        let need = remote.need(naming: issuer.ring.name(ofKeyFor: token), at: moment, policy)
        if case .use = need { return true }
        return false
    }

    /// Nobody has asked yet. Of a request whose keys were asked for that is true when the issuer became another one
    /// meanwhile, by a reset, an import or a replacement: then nothing says that the token is no forgery.
    private func unfetched(_ issuer: IMSIssuer, _ findings: inout Findings<IMSFailure>) -> Published {
        if asking == .done {
            return unavailable(
                "the issuer became another one while its keys were fetched", of: issuer, &findings)
        }
        findings.note(Finding("keys", .notJudged, found: .absent, note: "The keys have not been fetched yet."))
        return .missing
    }

    private func unavailable(
        _ why: String, of issuer: IMSIssuer, note: String = "The next attempt waits for the cool-down.",
        _ findings: inout Findings<IMSFailure>
    ) -> Published {
        findings.add(
            Finding(
                "keys", .failed,
                expected: .text(
                    "keys of issuer \(issuer.record.name)" + (issuer.record.source.url.map { " at \($0)" } ?? "")),
                found: .text(why),
                note: note, source: "ours; switch jwks-cooldown-seconds"),
            orFail: .keysUnavailable, with: ["retry_after": .string(String(switches.coolDownSeconds))])
        return .missing
    }

    /// Leaves out keys whose certificates are outside of their dates, where the issuer wants that (ours; by default they
    /// are remarks, since the certificate that the vendor's page prints has long expired).
    private func dated(_ places: [Int], of issuer: IMSIssuer, _ findings: inout Findings<IMSFailure>) -> Keys {
        let rule = issuer.record.certificateDates
        var valid = places
        for place in places where rule != .ignore {
            guard let validity = issuer.ring.keys[place].validity else { continue }
            let finding = validity.finding(at: moment.unixSeconds)
            if finding.outcome == .failed, rule == .reject { valid.removeAll { $0 == place } }
            findings.note(finding.noted)
        }
        if valid.isEmpty {
            let dates = places.compactMap { issuer.ring.keys[$0].validity?.dates }
            findings.add(
                Finding(
                    "certificate-dates", .failed, expected: .text("a certificate that is valid at \(moment.rfc3339)"),
                    found: .text(dates.joined(separator: "; ")),
                    note: "certificate_dates of issuer \(issuer.record.name) is reject; warn and ignore accept it.",
                    source: "ours"),
                orFail: .certificateExpired)
            return .none
        }
        return .some(issuer.ring, valid)
    }
}
