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
        _ vendor: IMS, _ context: IMSAuthenticationContext, _ switches: IMSSwitches, at moment: Moment, asking: Asking,
        in sandbox: SandboxIdentity
    ) {
        self.sandbox = sandbox
        (issuers, devKeys) = (context.issuers, context.devKeys)
        (self.vendor, self.switches, self.moment, self.asking) = (vendor, switches, moment, asking)
        policy = vendor.keyFetchPolicy(switches)
    }

    /// Whether keys may be fetched, and what missing keys mean.
    enum Asking: Sendable {
        /// Keys may be fetched.
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
        switch keys(of: issuer, for: token, isRefused: facts.isRefused) {
        case .order(let order):
            facts.order = order
            findings.record(facts, outcomes, by: IMS.tokenRules)
            return facts
        case .known(let keys): facts.keys = keys
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

    private enum Search {
        case known(IMSFacts.Keys)
        case order(KeyRequirement)

        static func unavailable(_ why: String, note: String = "The next attempt must wait for the cool-down.") -> Search
        { .known(.unavailable(why, note: note)) }
    }

    private func keys(of issuer: IMSIssuer?, for token: IMSToken, isRefused: Bool) -> Search {
        guard let issuer else { return .known(.none) }
        if token.keyID == nil, issuer.record.requiresKeyID { return .known(.unnamed("a kid")) }
        if let obstacle = published(by: issuer, for: token, isRefused) { return obstacle }
        if issuer.ring.keys.isEmpty { return .unavailable("none at all") }
        switch issuer.ring.choice(naming: token.keyID) {
        case .idRequired: return .known(.unnamed("a kid, since there are several keys"))
        case .idUnknown: return .known(.unknown)
        case .keys(let keys): return .known(.some(valid(keys, of: issuer)))
        }
    }

    /// Why the ring lacks the published keys, or that they must be fetched first; `nil` when it has them.
    private func published(by issuer: IMSIssuer, for token: IMSToken, _ isRefused: Bool) -> Search? {
        let keyID = issuer.ring.name(ofKeyFor: token)
        // Asked in place, since unwrapping the remote keys first would copy all their parts for each token.
        guard let need = issuer.remote?.need(naming: keyID, at: moment, policy) else { return nil }
        if let obstacle = issuer.keyURL?.obstacle(switches, named: vendor.accounts.namedHosts) {
            return .unavailable(obstacle, note: "This URL is never fetched, however long you wait.")
        }
        if case .use = need { return nil }
        guard let remote = issuer.remote else { return nil }
        switch need {
        case .use: return nil
        case .unavailable: break
        case .fetch:
            // A token that is refused anyway is no reason to fetch: anybody can write one.
            if asking == .allowed, !isRefused { return .order(KeyRequirement(of: remote.issuer, naming: keyID)) }
            if case .use = remote.keysInNeed(at: moment) { return nil }
            if remote.lastReport == nil { return unfetched }
        }
        if case .use = remote.keysInNeed(at: moment) { return nil }
        return .unavailable(remote.lastReport?.problem?.description ?? "the keys are too old")
    }

    /// Nothing was fetched yet. If this request's keys were, a reset, an import or a replacement changed the issuer in
    /// between: then nothing proves that the token is genuine.
    private var unfetched: Search {
        asking == .done
            ? .unavailable("the issuer was replaced while its keys were being fetched") : .known(.unfetched)
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

    /// Which keys may have made a token's signature.
    enum Choice: Sendable {
        case keys(Candidates)
        /// The token must name its key.
        case idRequired
        /// None has the id that the token names.
        case idUnknown
    }

    /// The candidate keys for a token that names that key, or none.
    ///
    /// Source: selection by kid when present is documented (security page); trying keys without ids in turn, ignoring a
    /// kid, is ours.
    func choice(naming id: String?) -> Choice {
        guard hasIDs else { return .keys(tried) }
        if let id {
            let index = keys.firstIndex { $0.id?.hasSameBytes(as: id) == true }
            return index.map { .keys(each[$0]) } ?? .idUnknown
        }
        return keys.count == 1 ? .keys(each[0]) : .idRequired
    }
}
