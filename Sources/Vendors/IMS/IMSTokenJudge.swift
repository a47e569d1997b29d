import Emulation
import JSON
import Tokens

/// Judges tokens without looking at users: finds issuer and keys, and applies the rules.
final class IMSTokenJudge: Sendable {
    let issuers: IMSIssuerStore
    let switches: IMSSwitches
    let moment: Moment
    let policy: KeyFetchPolicy
    /// Knows the accounts, and what dev issuers publish.
    let vendor: IMS
    let devKeys: [String: IssuerKeys]
    let asking: Asking
    let sandbox: SandboxIdentity

    init(
        _ vendor: IMS, _ context: IMS.AuthenticationContext, _ switches: IMSSwitches, at moment: Moment, asking: Asking,
        in sandbox: SandboxIdentity
    ) {
        self.sandbox = sandbox
        (issuers, devKeys) = (context.issuers, context.devKeys)
        (self.vendor, self.switches, self.moment, self.asking) = (vendor, switches, moment, asking)
        policy = vendor.keyFetchPolicy(switches)
    }

    /// Whether keys may be fetched, and what missing keys mean.
    enum Asking: Sendable {
        case allowed
        /// Keys were fetched; without them every token is refused.
        case done
        /// Keys are not fetched: rules that need them stay unjudged.
        case never
    }

    /// Judges a token by every rule, in order; without a token, explains why there is none.
    func judge(_ token: IMSToken?, in bearer: BearerToken? = nil, _ findings: inout Findings<IMSFailure>) -> IMSFacts {
        let issuer = token?.issuer.flatMap { issuers.issuer($0, in: sandbox) }
        let presented = IMSFacts.Presented(
            vendor, switches, at: moment, bearer: bearer, token: token, issuer: issuer,
            isSignedBySecret: token.map { isSignedBySecret($0, issuer) } ?? false)
        var facts = IMSFacts(presented, judge: self)
        var outcomes = RuleOutcomes()
        IMS.tokenRules.judgeFirst(&facts, &outcomes)
        guard let token else {
            findings.record(facts, outcomes, by: IMS.tokenRules)
            return facts
        }
        facts.isRefused = findings.failure != nil || outcomes.firstFailure != nil
        facts.keys = keys(of: issuer, for: token, isRefused: facts.isRefused)
        if case .awaited = facts.keys {
            findings.record(facts, outcomes, by: IMS.tokenRules)
            return facts
        }
        if case .some(let keys) = facts.keys, let ring = issuer?.ring {
            var nothing: Finding?
            let outcome = token.signature(by: ring, at: keys.valid, &nothing)
            facts.isGenuine = outcome == .passed
            // The actual signer is searched only when it is the reason for the refusal: forged tokens should not
            // trigger the search.
            if outcome == .failed, !facts.isRefused { facts.otherSigner = signer(of: token, besides: issuer) }
        }
        IMS.tokenRules.judgeLater(&facts, &outcomes)
        findings.record(facts, outcomes, by: IMS.tokenRules)
        return facts
    }

    // MARK: Keys

    private func keys(of issuer: IMSIssuer?, for token: IMSToken, isRefused: Bool) -> IMSFacts.Keys {
        guard let issuer else { return .none }
        if token.keyID == nil, issuer.record.requiresKeyID { return .unnamed("a kid") }
        if let obstacle = published(by: issuer, for: token, isRefused) { return obstacle }
        if issuer.ring.keys.isEmpty { return .unavailable("none at all") }
        let choice = issuer.ring.choice(naming: token.keyID)
        guard case .some(let keys) = choice else { return choice }
        return .some(valid(keys, of: issuer))
    }

    /// Why the ring lacks the published keys, or that they must be fetched first; `nil` when it has them.
    private func published(by issuer: IMSIssuer, for token: IMSToken, _ isRefused: Bool) -> IMSFacts.Keys? {
        let keyID = issuer.ring.name(ofKeyFor: token)
        // Asked in place, since unwrapping the remote keys first would copy all their parts for each token.
        guard let need = issuer.remote?.need(naming: keyID, at: moment, policy) else { return nil }
        if let obstacle = issuer.keyURL?.obstacle(switches, named: vendor.accounts.namedHosts) {
            return .unavailable(obstacle, note: "This URL is never fetched, however long you wait.")
        }
        if case .use = need { return nil }
        guard let remote = issuer.remote else { return nil }
        // A token that is refused anyway is no reason to fetch: anybody can write one.
        if case .fetch = need, asking == .allowed, !isRefused {
            return .awaited(KeyRequirement(of: remote.issuer, naming: keyID))
        }
        if case .use = remote.keysInNeed(at: moment) { return nil }
        if case .fetch = need, remote.lastReport == nil { return unfetched }
        return .unavailable(remote.lastReport?.problem?.description ?? "the keys are too old")
    }

    /// Nothing was fetched yet. If this request's keys were, a reset, an import or a replacement changed the issuer in
    /// between: then nothing proves that the token is genuine.
    private var unfetched: IMSFacts.Keys {
        asking == .done ? .unavailable("the issuer was replaced while its keys were being fetched") : .unfetched
    }

    /// The keys, of which some may be excluded by the dates of their certificates.
    private func valid(_ keys: IMSKeyRing.Candidates, of issuer: IMSIssuer) -> IMSKeyRing.Candidates {
        guard issuer.ring.hasCertificates, issuer.record.certificateDates == .reject else { return keys }
        let valid = keys.places.filter { issuer.ring.keys[$0].validity?.contains(moment.unixSeconds) ?? true }
        return IMSKeyRing.Candidates(keys.places, valid: valid)
    }
}

/// The keys of an issuer at one time; results found with them may be kept together with the ring.
final class IMSKeyRing: Sendable {
    /// The usable keys, in the order of their source.
    let keys: [VerificationKey]
    let hasIDs: Bool
    let hasCertificates: Bool
    /// Unusable entries among local keys.
    let skipped: [SkippedKey]
    /// Each key alone, and all that are tried for tokens that name none: made once, since every token needs some.
    private let (each, tried): ([Candidates], Candidates)
    /// ours: the maximum number of keys without ids that are tried.
    static let mostTried = 4

    init(_ keys: [VerificationKey], skipped: [SkippedKey] = []) {
        (self.keys, self.skipped) = (keys, skipped)
        hasIDs = keys.contains { $0.id != nil }
        hasCertificates = keys.contains { $0.validity != nil }
        each = keys.indices.map { Candidates([$0]) }
        tried = Candidates(Array(keys.indices.prefix(Self.mostTried)))
    }

    /// The places of keys of which one may have made a token's signature.
    final class Candidates: Sendable {
        let places: [Int]
        /// Those that are not excluded by the dates of their certificates.
        let valid: [Int]

        init(_ places: [Int], valid: [Int]? = nil) {
            self.places = places
            self.valid = valid ?? places
        }
    }

    /// The name of a token's key. A kid is ignored when no key has one, so it is no reason to fetch again.
    func name(ofKeyFor token: IMSToken) -> String? { hasIDs || keys.isEmpty ? token.keyID : nil }

    /// The candidate keys for a token that names that key, or none.
    ///
    /// Source: selection by kid when present is documented (security page); trying keys without ids in turn, ignoring a
    /// kid, is ours.
    func choice(naming id: String?) -> IMSFacts.Keys {
        guard hasIDs else { return .some(tried) }
        if let id {
            let index = keys.firstIndex { $0.id?.hasSameBytes(as: id) == true }
            return index.map { .some(each[$0]) } ?? .unknown
        }
        return keys.count == 1 ? .some(each[0]) : .unnamed("a kid, since there are several keys")
    }
}

extension IMS {
    static let keyRules = [keysThere, key] + certificates + [certificateDates, signature, otherSigner]

    private static let keysThere = IMSRule(
        "keys", expects: .text("keys of the issuer"), source: "ours; switch jwks-cooldown-seconds", .ours,
        orFail: [.keysUnavailable],
        by: { Refused(.keysUnavailable, ["retry_after": .string(String($0.switches.coolDownSeconds))]) }
    ) { facts, finding in
        switch facts.keys {
        case .unfetched:
            finding?.expected = nil
            finding?.source = nil
            finding?.found = .absent
            finding?.note = "The keys have not been fetched yet."
            return .notJudged
        case .unavailable(let why, let note):
            let record = facts.issuer?.record
            finding?.expected = .text(
                "keys of issuer \(record?.name ?? "")" + (record?.source.url.map { " at \($0)" } ?? ""))
            finding?.found = .text(why)
            finding?.note = note
            return .failed
        case .none, .awaited, .unnamed, .unknown, .some: return nil
        }
    }

    private static let key = IMSRule(
        "key", expects: .text("a key of the issuer"), source: "security page, JWT Claims: kid; details ours",
        orFail: [.kidRequired, .kidUnknown],
        by: { facts in
            if case .unnamed = facts.keys { Refused(.kidRequired) } else { Refused(.kidUnknown) }
        }
    ) { facts, finding in
        switch facts.keys {
        case .none, .awaited, .unfetched, .unavailable: return nil
        case .some:
            finding?.found = facts.token?.keyID.map(Fact.text) ?? .absent
            return .passed
        case .unnamed(let expected):
            finding?.expected = .text(expected)
            finding?.found = .absent
            return .failed
        case .unknown:
            let known = facts.issuer?.ring.keys.compactMap(\.id).joined(separator: ", ") ?? ""
            finding?.expected = .text("one of \(known)")
            finding?.found = facts.token?.keyID.map(Fact.text)
            finding?.note = facts.judge?.absence(of: facts)
            return .failed
        }
    }

    /// Warns about each candidate's certificate by default: the one on the vendor's page has long expired.
    private static let certificates = (0..<IMSKeyRing.mostTried).map { number in
        IMSRule(
            "certificate-expired", id: "certificate-\(number + 1)", expects: .text("a moment within its dates"),
            source: "RFC 5280 section 4.1.2.5"
        ) { facts, finding in
            guard let issuer = facts.issuer, issuer.ring.hasCertificates, issuer.record.certificateDates != .ignore,
                case .some(let keys) = facts.keys, number < keys.places.count
            else { return nil }
            let validity = issuer.ring.keys[keys.places[number]].validity
            return finding.take(validity?.finding(at: facts.moment.unixSeconds).noted)
        }
    }

    /// Keys are left out while their certificates are not valid, if the issuer wants that (ours).
    private static let certificateDates = IMSRule(
        "certificate-dates", "a certificate that is valid now", "ours", .ours, orFail: .certificateExpired
    ) { facts, finding in
        guard case .some(let keys) = facts.keys, keys.valid.isEmpty, let issuer = facts.issuer else { return nil }
        finding?.expected = .text("a certificate that is valid at \(facts.moment.rfc3339)")
        finding?.found = .text(keys.places.compactMap { issuer.ring.keys[$0].validity?.dates }.joined(separator: "; "))
        finding?.note = "certificate_dates of issuer \(issuer.record.name) is reject; warn and ignore accept it."
        return .failed
    }

    private static let signature = IMSRule(
        "signature", "RS256 by a key of the issuer", "security page: verified server-side", orFail: .signatureInvalid
    ) { facts, finding in
        guard let token = facts.token else { return nil }
        guard case .some(let keys) = facts.keys, !keys.valid.isEmpty, let issuer = facts.issuer else {
            finding?.expected = nil
            finding?.source = nil
            finding?.note = "No key is known to judge it by."
            return .notJudged
        }
        let outcome = token.signature(by: issuer.ring, at: keys.valid, &finding)
        if outcome == .failed, !facts.isRefused, finding != nil,
            let reason = facts.judge?.mistake(in: facts, at: keys.valid)
        {
            finding?.note = reason
        }
        return outcome
    }

    private static let otherSigner = IMSRule("signature-of-another", expects: .absent, source: nil, .ours) {
        facts, finding in
        guard let other = facts.otherSigner else { return nil }
        finding?.expected = nil
        finding?.found = .text(other.issuer.record.name)
        return .noted
    }
}
