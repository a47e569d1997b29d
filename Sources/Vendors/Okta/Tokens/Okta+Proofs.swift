import Emulation
import JSON
import Tokens

/// Judges the DPoP proofs of requests.
extension Okta {
    /// Judges as much as needs no state, above all the signature. Access tokens are known by then.
    func judgeProof(of arrival: OktaArrival, _ credentials: inout OktaCredentials) {
        switch arrival.route.access {
        case .client:
            guard Self.takesProofs(arrival.route), let client = credentials.client else { return }
            let isBound = arrival.switches.optionalProof == .bind && arrival.request.fields.bytes(of: .dpop) != nil
            guard client.bindsTokens || isBound else { return }
            credentials.proof = OktaProofCheck(OktaProofFacts(arrival), by: OktaProofRules.tokens)
        case .bearer, .api:
            guard let access = OktaProofFacts.Access(arrival, credentials.claims) else { return }
            credentials.proof = OktaProofCheck(
                OktaProofFacts(arrival, beside: access), by: OktaProofRules.resources)
        case .open, .device: return
        }
    }

    /// Judges the rest, and notes that the proof was used unless anything about the request was wrong.
    func judgeProof(_ call: inout OktaCall, _ state: inout OktaState) {
        let refreshKey = Self.refreshKey(of: call, in: state)
        // A bound refresh token stays bound, even if its client needs no proofs any more.
        let bound = refreshKey.map { _ in OktaProofCheck(OktaProofFacts(call.arrival), by: OktaProofRules.tokens) }
        guard let check = call.credentials.proof ?? bound else { return }
        var (facts, outcomes) = (check.facts, check.outcomes)
        facts.refreshKey = refreshKey
        let use = facts.proof.flatMap { OktaUsedID($0, at: call.moment) }
        if let use, let earlier = state.usedIDs[use.key] { facts.isReplayed = earlier.until >= call.moment }
        let nonce = facts.access == nil ? call.switches.tokenNonce : call.switches.resourceNonce
        if nonce == .require, facts.proof != nil {
            facts.nonces = state.proofNonces(at: call.moment, call.identifiers)
        }
        check.rules.judgeLater(&facts, &outcomes)
        call.findings.record(facts, outcomes, by: check.rules)
        guard call.findings.failure == nil else { return }
        if let use { state.usedIDs.add(use, within: OktaState.bound) }
        renewNonce(facts, &call)
    }

    /// Tells a client that still uses an earlier nonce the current one (RFC 9449 section 8.2).
    private func renewNonce(_ facts: OktaProofFacts, _ call: inout OktaCall) {
        guard let current = facts.nonces.last, let sent = facts.compact?.claims?["nonce"]?.string else { return }
        if !sent.hasSameBytes(as: current) { call.answerFields[.dpopNonce] = current }
    }

    private static func takesProofs(_ route: Route<Okta>) -> Bool { route.id == "token.create" }

    /// The thumbprint that the presented refresh token of the client is bound to.
    private static func refreshKey(of call: OktaCall, in state: OktaState) -> String? {
        let parameters = call.credentials.parameters
        guard takesProofs(call.route), let client = call.credentials.client,
            parameters["grant_type"]?.hasSameBytes(as: OktaGrantType.refreshToken.rawValue) == true,
            let token = parameters["refresh_token"].flatMap({ state.refreshTokens[$0] }),
            let authorization = state.grants[token.grant]?.authorization,
            authorization.clientID.hasSameBytes(as: client.id)
        else { return nil }
        return authorization.proofKey
    }
}

extension OktaProofFacts.Access {
    /// The access token of a request; `nil` when a proof has nothing to do with it.
    ///
    /// - Parameter claims: the token's, trusted or not.
    fileprivate init?(_ arrival: OktaArrival, _ claims: JSONObject?) {
        guard let claims else { return nil }
        let boundKey = claims["cnf"]?["jkt"]?.string
        let fields = arrival.request.fields
        // Nearly all tokens are unbound ones under Bearer, which the first letter tells.
        guard boundKey != nil || fields.bytes(of: .authorization)?.first.map({ $0 | 0x20 }) == UInt8(ascii: "d")
        else { return nil }
        let bearer = BearerToken(fields, orOf: "dpop")
        guard boundKey != nil || bearer.usesOtherScheme, let token = bearer.bytes else { return nil }
        (isUnderDPoP, self.boundKey) = (bearer.usesOtherScheme, boundKey)
        hash = Base64URL.encode(Digest.sha256(Array(token)))
    }
}

extension OktaUsedID {
    /// ours: proofs are too old after 300 s, and may come 60 s too early.
    private static let proofMemory = Duration.seconds(600)

    /// The use of a proof; `nil` for a proof without an id or a key.
    fileprivate init?(_ proof: OktaProof, at moment: Moment) {
        guard let id = proof.id, let thumbprint = proof.key.thumbprint else { return nil }
        self.init(kind: .proof, owner: thumbprint, id: id, until: moment + Self.proofMemory)
    }
}

extension OktaCredentials {
    /// The thumbprint of the key that the request proves to have; only good once the call has passed its checks.
    var proofKey: String? { proof?.facts.proof?.key.thumbprint }
}
