import Emulation
import JSON
import Tokens

struct OktaState: Sendable {
    var users: RecordTable<OktaUser>
    var factors: RecordTable<OktaFactor>
    var clients: RecordTable<OktaClient>
    var groups: RecordTable<OktaGroup>
    /// The changed keys of servers; all others are as in the fixtures.
    var changedKeys: [String: IssuerKeys] = [:]
    var grants = RecordTable<OktaGrant>()
    var issuedTokens = RecordTable<OktaIssuedToken>()
    var refreshTokens = RecordTable<OktaRefreshToken>()
    var codes = RecordTable<OktaTicket<OktaCode>>()
    var sessions = RecordTable<OktaSession>()
    var sessionTokens = RecordTable<OktaTicket<OktaAuthentication>>()
    var stateTokens = RecordTable<OktaTicket<OktaAuthn>>()
    var pushedRequests = RecordTable<OktaPushedRequest>()
    var signIns = RecordTable<OktaSignIn>()
    var deviceGrants = RecordTable<OktaDeviceGrant>()
    var mfaTokens = RecordTable<OktaTicket<OktaAuthorization>>()
    var oobChallenges = RecordTable<OktaTicket<OktaOOBChallenge>>()
    var deviceSecrets = RecordTable<OktaDeviceSecret>()
    var consents = RecordTable<OktaConsent>()
    var usedIDs = RecordTable<OktaUsedID>()
    /// The revoked access tokens that made room for others.
    var revokedIDs = RecordTable<OktaUsedID>()
    var proofNonces = RecordTable<OktaProofNonce>()
    var rateWindows = RecordTable<OktaRateWindow>()
    var serverRules = RecordTable<OktaServerRules>()
    var trustedOrigins: RecordTable<OktaTrustedOrigin>
    var transactions = RecordTable<OktaTransaction>()

    /// ours: bounds, so that a client in a loop cannot fill the memory; the oldest records make room.
    static let bound = RecordBound(count: 50_000, bytes: 64 << 20)
    static let shortBound = RecordBound(count: 10_000, bytes: 16 << 20)

    /// The user with that id or login; case does not matter for logins (ours).
    func user(_ name: String) -> OktaUser? { users[name] ?? users[named: ExactText(name.lowercased())] }
}

extension RecordTable {
    /// Stores a record, and removes the oldest ones beyond the bound.
    @discardableResult
    mutating func add(_ record: Record, within bound: RecordBound) -> [Record] {
        store(record)
        return shrink(to: bound, sparing: record.key)
    }

    /// What a mistyped name may have meant; of many records, the first ones are compared.
    func hint(to name: String, by value: (Record) -> String) -> String {
        Nearest.hint(to: name, among: all.prefix(20).map(value))
    }
}

extension OktaCall {
    mutating func note(roomMadeFor name: String, by count: Int) {
        if count == 0 { return }
        findings.note(
            "room", found: .text("\(count) older than the bound"),
            note: "They made room for the new \(name), and are forgotten.", source: "ours")
    }
}

extension OktaState {
    init(_ accounts: OktaAccounts) {
        self.init(
            users: RecordTable(fixtures: accounts.users), factors: RecordTable(fixtures: accounts.factors),
            clients: accounts.clients, groups: accounts.groups,
            trustedOrigins: RecordTable(fixtures: accounts.trustedOrigins))
    }

    mutating func begin(_ authorization: OktaAuthorization, at moment: Moment) -> OktaGrant {
        let grant = OktaGrant(number: grants.nextNumber(), authorization: authorization, began: moment)
        grants.store(grant)
        for gone in grants.shrink(to: Self.bound, sparing: grant.number) { forgetTokens(of: gone) }
        return grant
    }

    /// Keeps an access token; those that make room for it and were revoked stay so.
    @discardableResult
    mutating func add(_ token: OktaIssuedToken) -> Int {
        let gone = issuedTokens.add(token, within: Self.bound)
        for token in gone where token.isRevoked || grants[token.grant]?.isRevoked == true { keepRevoked(token) }
        return gone.count
    }

    private mutating func keepRevoked(_ token: OktaIssuedToken) {
        revokedIDs.add(OktaUsedID(kind: .revocation, id: token.id, until: token.expires), within: Self.bound)
    }

    /// Ends all tokens of a grant. They stay known, so that their next use can be explained.
    mutating func revoke(grant number: Int) { grants.change(number) { $0.isRevoked = true } }

    /// Ends the grants of a user that a condition selects.
    mutating func revokeGrants(of userID: String, where isMeant: (OktaGrant) -> Bool = { _ in true }) {
        for grant in grants.records(in: ExactText(userID)) where isMeant(grant) {
            revoke(grant: grant.number)
            endDeviceSession(of: grant)
        }
    }

    mutating func endSessions(of userID: String) {
        for session in sessions.records(in: ExactText(userID)) { sessions.remove(session.key) }
    }

    /// Whether an access token with that id was revoked, by itself or with its grant.
    func isRevoked(tokenID id: String) -> Bool {
        guard let token = issuedTokens[id] else { return revokedIDs[OktaUsedID(kind: .revocation, id: id).key] != nil }
        return token.isRevoked || grants[token.grant]?.isRevoked == true
    }

    /// Whether an id was used before and still counts.
    func isUsed(_ kind: OktaUsedID.Kind, _ id: String, of owner: String, at moment: Moment) -> Bool {
        let key = OktaUsedID.Key(kind: kind, owner: ExactText(owner), id: ExactText(id))
        return usedIDs[key].map { $0.until >= moment } ?? false
    }

    /// Notes an id that may be used once; `false` when it was used before and still counts.
    mutating func use(_ kind: OktaUsedID.Kind, _ id: String, of owner: String, until: Moment, at moment: Moment) -> Bool
    {
        let used = OktaUsedID(kind: kind, owner: owner, id: id, until: until)
        if let earlier = usedIDs[used.key], earlier.until >= moment { return false }
        usedIDs.add(used, within: Self.bound)
        return true
    }

    private mutating func forgetTokens(of grant: OktaGrant) {
        for token in refreshTokens.records(in: grant.number) { refreshTokens.remove(token.key) }
        for token in issuedTokens.records(in: grant.number) {
            issuedTokens.remove(token.key)
            if token.isRevoked || grant.isRevoked { keepRevoked(token) }
        }
    }
}

/// State as JSON. Users and factors have the members of `accounts.yaml`.
extension Okta: RecordedVendor {
    func code(_ state: inout OktaState, _ coder: inout RecordCoder) {
        let isPart = coder.extent == .changes
        let current = state
        if coder.isReading, !isPart {
            // What the fixtures never provide is gone.
            state = OktaState(
                users: current.users, factors: current.factors, clients: current.clients, groups: current.groups,
                trustedOrigins: current.trustedOrigins)
        }
        coder.table("users", &state.users, within: OktaState.userBound)
        coder.table("factors", &state.factors, within: OktaState.bound)
        coder.table("clients", &state.clients, isRequired: false, within: OktaState.shortBound)
        coder.table("groups", &state.groups, isRequired: false, within: OktaState.shortBound)
        // A whole state of before has none, and users are in those of the fixtures.
        if coder.isReading, !isPart, state.groups.count == 0 { state.groups = initialState.groups }
        coder.table("trusted_origins", &state.trustedOrigins, within: OktaTrustedOrigin.bound)
        if isPart {
            coder.removals("removed_users", &state.users)
            coder.removals("removed_factors", &state.factors)
            coder.removals("removed_origins", &state.trustedOrigins)
            coder.removals("removed_groups", &state.groups, isRequired: false)
        }
        coder.issuerKeys("keys", &state.changedKeys, of: "authorization server", named: accounts.servers.map(\.id)) {
            (id) throws(ControlRefusal) in try keys(of: id, in: current)
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
        coder.table("revoked_ids", &state.revokedIDs, isRequired: false, within: OktaState.bound)
        coder.table("transactions", &state.transactions, isRequired: false, within: OktaState.shortBound)
        coder.lastNumber("last_transaction", &state.transactions) { (node) throws(FixtureProblem) in
            try node.int(in: 0...Ordinal.largest)
        }
        coder.table("server_rules", &state.serverRules, isRequired: false, within: OktaServerRules.bound)
    }

    private func codeTokens(_ state: inout OktaState, _ coder: inout RecordCoder) {
        coder.table("issued_tokens", &state.issuedTokens, isRequired: false, within: OktaState.bound)
        coder.table("refresh_tokens", &state.refreshTokens, isRequired: false, within: OktaState.bound)
        coder.table("codes", &state.codes, isRequired: false, within: OktaState.shortBound)
        coder.table("sessions", &state.sessions, isRequired: false, within: OktaState.bound)
        coder.table("pushed_requests", &state.pushedRequests, isRequired: false, within: OktaPushedRequest.bound)
        coder.table("sign_ins", &state.signIns, isRequired: false, within: OktaSignIn.bound)
        coder.table("session_tokens", &state.sessionTokens, isRequired: false, within: OktaState.shortBound)
        coder.table("state_tokens", &state.stateTokens, isRequired: false, within: OktaState.shortBound)
        coder.table("proof_nonces", &state.proofNonces, isRequired: false, within: OktaProofNonce.bound)
        coder.table("device_grants", &state.deviceGrants, isRequired: false, within: OktaState.shortBound)
        coder.table("mfa_tokens", &state.mfaTokens, isRequired: false, within: OktaState.shortBound)
        coder.table("oob_challenges", &state.oobChallenges, isRequired: false, within: OktaState.shortBound)
        coder.table("device_secrets", &state.deviceSecrets, isRequired: false, within: OktaState.bound)
        coder.table("rate_windows", &state.rateWindows, isRequired: false, within: OktaRateWindow.bound)
    }

    func adopt(_ state: OktaState, startedFrom old: Okta) -> OktaState {
        var adopted = state
        adopted.users = initialState.users.with(changesOf: state.users)
        adopted.factors = initialState.factors.with(changesOf: state.factors)
        adopted.clients = initialState.clients.with(changesOf: state.clients)
        adopted.groups = initialState.groups.with(changesOf: state.groups)
        adopted.trustedOrigins = initialState.trustedOrigins.with(changesOf: state.trustedOrigins)
        return adopted
    }
}

extension OktaState {
    /// Keeps what a whole state leaves out, such as tokens and cookies: who was there still has them. Those of grants
    /// that the state read does not have are gone.
    fileprivate mutating func keepSecrets(of old: OktaState) {
        var kept = old
        let gone = Set(old.grants.all.filter { grants[$0.number]?.isSame(as: $0) != true }.map(\.number))
        kept.forgetSecrets(of: gone)
        (issuedTokens, refreshTokens, codes) = (kept.issuedTokens, kept.refreshTokens, kept.codes)
        (deviceSecrets, deviceGrants) = (kept.deviceSecrets, kept.deviceGrants)
        (sessions, sessionTokens, signIns) = (kept.sessions, kept.sessionTokens, kept.signIns)
        stateTokens = kept.stateTokens
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
