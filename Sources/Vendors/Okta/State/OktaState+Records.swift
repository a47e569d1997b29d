import Emulation
import JSON

/// State as JSON. Users and factors have the members of `accounts.yaml`.
extension Okta: RecordedVendor {
    func code(_ state: inout OktaState, _ coder: inout RecordCoder) {
        let isPart = coder.extent == .changes
        let current = state
        if coder.isReading, !isPart { state.clear() }
        coder.table("users", &state.users, within: OktaState.userBound)
        coder.table("factors", &state.factors, within: OktaState.bound)
        coder.table("trusted_origins", &state.trustedOrigins, within: OktaTrustedOrigin.bound)
        if isPart {
            coder.removals("removed_users", &state.users)
            coder.removals("removed_factors", &state.factors)
            coder.removals("removed_origins", &state.trustedOrigins)
        }
        coder.issuerKeys("keys", &state.changedKeys, of: "authorization server", named: accounts.servers.map(\.id)) {
            (id) throws(MintRefusal) in try keys(of: id, in: current)
        }
        coder.table("grants", &state.grants, isRequired: false, within: OktaState.bound)
        coder.lastNumber("last_grant", &state.grants) { (node) throws(FixtureProblem) in
            try node.int(in: 0...Ordinal.largest)
        }
        // Tokens and codes are secrets: a whole state, which people read, does not show them.
        if isPart {
            codeTokens(&state, &coder)
        } else if coder.isReading {
            state.keepSecrets(of: current)
        }
        coder.table("consents", &state.consents, isRequired: false, within: OktaState.bound)
        coder.table("used_ids", &state.usedIDs, isRequired: false, within: OktaState.bound)
        coder.table("transactions", &state.transactions, isRequired: false, within: OktaState.shortBound)
        coder.lastNumber("last_transaction", &state.transactions) { (node) throws(FixtureProblem) in
            try node.int(in: 0...Ordinal.largest)
        }
        coder.table("claim_overrides", &state.claimOverrides, isRequired: false, within: OktaClaimOverride.bound)
    }

    private func codeTokens(_ state: inout OktaState, _ coder: inout RecordCoder) {
        coder.table("issued_tokens", &state.issuedTokens, isRequired: false, within: OktaState.bound)
        coder.table("refresh_tokens", &state.refreshTokens, isRequired: false, within: OktaState.bound)
        coder.table("codes", &state.codes, isRequired: false, within: OktaState.shortBound)
        coder.table("sessions", &state.sessions, isRequired: false, within: OktaState.bound)
        coder.table(
            "pushed_requests", &state.pushedRequests, isRequired: false, within: OktaPushedRequest.bound)
        coder.table("sign_ins", &state.signIns, isRequired: false, within: OktaSignIn.bound)
        coder.table("session_tokens", &state.sessionTokens, isRequired: false, within: OktaState.shortBound)
        coder.table("proof_nonces", &state.proofNonces, isRequired: false, within: OktaProofNonce.bound)
        coder.table("device_grants", &state.deviceGrants, isRequired: false, within: OktaState.shortBound)
        coder.table("mfa_tokens", &state.mfaTokens, isRequired: false, within: OktaState.shortBound)
        coder.table("oob_challenges", &state.oobChallenges, isRequired: false, within: OktaState.shortBound)
        coder.table("device_secrets", &state.deviceSecrets, isRequired: false, within: OktaState.bound)
        coder.table("rate_windows", &state.rateWindows, isRequired: false, within: OktaRateWindow.bound)
    }

    func adopt(_ state: OktaState, startedFrom old: Okta) -> OktaState {
        var adopted = state
        (adopted.users, adopted.factors) = (initialState.users, initialState.factors)
        adopted.trustedOrigins = initialState.trustedOrigins
        adopted.users.take(changesOf: state.users)
        adopted.factors.take(changesOf: state.factors)
        adopted.trustedOrigins.take(changesOf: state.trustedOrigins)
        return adopted
    }
}

extension OktaState {
    /// Clears what the fixtures never provide, before a state is read.
    fileprivate mutating func clear() { self = OktaState(users, factors, trustedOrigins) }

    /// Keeps what a whole state leaves out, such as tokens and cookies: who was there still has them. Those of grants
    /// that the state read does not have are gone.
    fileprivate mutating func keepSecrets(of old: OktaState) {
        var kept = old
        let gone = Set(old.grants.all.filter { grants[$0.number]?.isSame(as: $0) != true }.map(\.number))
        kept.forgetSecrets(of: gone)
        (issuedTokens, refreshTokens, codes) = (kept.issuedTokens, kept.refreshTokens, kept.codes)
        (deviceSecrets, deviceGrants) = (kept.deviceSecrets, kept.deviceGrants)
        (sessions, sessionTokens, signIns) = (kept.sessions, kept.sessionTokens, kept.signIns)
        (mfaTokens, oobChallenges) = (kept.mfaTokens, kept.oobChallenges)
        (pushedRequests, proofNonces) = (kept.pushedRequests, kept.proofNonces)
        rateWindows = kept.rateWindows
    }

    private mutating func forgetSecrets(of grants: Set<Int>) {
        if grants.isEmpty { return }
        for token in issuedTokens.all where grants.contains(token.grant) { issuedTokens.remove(token.key) }
        for token in refreshTokens.all where grants.contains(token.grant) { refreshTokens.remove(token.key) }
        for secret in deviceSecrets.all where grants.contains(secret.grant) { deviceSecrets.remove(secret.key) }
        for code in codes.all where code.content.grant.map(grants.contains) == true { codes.remove(code.key) }
    }
}
