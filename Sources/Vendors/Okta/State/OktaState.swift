import Emulation
import JSON
import Tokens

/// What Okta remembers in one sandbox.
struct OktaState: Sendable {
    var users: RecordTable<OktaUser>
    var factors: RecordTable<OktaFactor>
    /// The changed keys of servers; all others are as in the fixtures.
    var changedKeys: [String: IssuerKeys] = [:]
    var grants = RecordTable<OktaGrant>()
    var issuedTokens = RecordTable<OktaIssuedToken>()
    var refreshTokens = RecordTable<OktaRefreshToken>()
    var codes = RecordTable<OktaTicket<OktaCode>>()
    var sessions = RecordTable<OktaSession>()
    var sessionTokens = RecordTable<OktaTicket<OktaAuthentication>>()
    var pushedRequests = RecordTable<OktaPushedRequest>()
    var signIns = RecordTable<OktaSignIn>()
    var deviceGrants = RecordTable<OktaDeviceGrant>()
    var mfaTokens = RecordTable<OktaTicket<OktaAuthorization>>()
    var oobChallenges = RecordTable<OktaTicket<OktaOOBChallenge>>()
    var deviceSecrets = RecordTable<OktaDeviceSecret>()
    var consents = RecordTable<OktaConsent>()
    var usedIDs = RecordTable<OktaUsedID>()
    var proofNonces = RecordTable<OktaProofNonce>()
    var rateWindows = RecordTable<OktaRateWindow>()
    var claimOverrides = RecordTable<OktaClaimOverride>()
    var trustedOrigins: RecordTable<OktaTrustedOrigin>
    var transactions = RecordTable<OktaTransaction>()

    /// ours: bounds, so that a client in a loop cannot fill the memory; the oldest records make room.
    static let bound = RecordBound(count: 50_000, bytes: 64 << 20)
    static let shortBound = RecordBound(count: 10_000, bytes: 16 << 20)

    init(_ accounts: OktaAccounts) {
        self.init(
            RecordTable(fixtures: accounts.users), RecordTable(fixtures: accounts.factors),
            RecordTable(fixtures: accounts.trustedOrigins))
    }

    init(
        _ users: RecordTable<OktaUser>, _ factors: RecordTable<OktaFactor>,
        _ trustedOrigins: RecordTable<OktaTrustedOrigin>
    ) {
        (self.users, self.factors, self.trustedOrigins) = (users, factors, trustedOrigins)
    }

    /// The user with that id or login; case does not matter for logins (ours).
    func user(_ name: String) -> OktaUser? { users[name] ?? users[named: ExactText(name.lowercased())] }
}

// MARK: - Storing within bounds

extension RecordTable {
    /// Stores a record, and removes the oldest ones beyond the bound.
    mutating func add(_ record: Record, within bound: RecordBound) {
        store(record)
        _ = shrink(to: bound, sparing: record.key)
    }
}

extension OktaState {
    mutating func begin(_ authorization: OktaAuthorization, at moment: Moment) -> OktaGrant {
        let grant = OktaGrant(number: grants.nextNumber(), authorization: authorization, began: moment)
        grants.store(grant)
        for gone in grants.shrink(to: Self.bound, sparing: grant.number) { forgetTokens(of: gone.number) }
        return grant
    }

    /// Ends all tokens of a grant. They stay known, so that their next use can be explained.
    mutating func revoke(grant number: Int) {
        grants.change(number) { $0.isRevoked = true }
    }

    /// Ends the grants of a user that a condition selects.
    mutating func revokeGrants(of userID: String, where isMeant: (OktaGrant) -> Bool = { _ in true }) {
        for grant in grants.records(in: ExactText(userID)) where isMeant(grant) {
            revoke(grant: grant.number)
            endDeviceSession(of: grant)
        }
    }

    /// Ends the browser sessions of a user.
    mutating func endSessions(of userID: String) {
        for session in sessions.records(in: ExactText(userID)) { sessions.remove(session.key) }
    }

    /// Whether an access token with that id was revoked, by itself or with its grant.
    func isRevoked(tokenID id: String) -> Bool {
        guard let token = issuedTokens[id] else { return false }
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

    private mutating func forgetTokens(of grant: Int) {
        for token in refreshTokens.records(in: grant) { refreshTokens.remove(token.key) }
        for token in issuedTokens.records(in: grant) { issuedTokens.remove(token.key) }
    }
}
