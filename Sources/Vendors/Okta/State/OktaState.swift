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
        if isUsed(kind, id, of: owner, at: moment) { return false }
        usedIDs.add(OktaUsedID(kind: kind, owner: owner, id: id, until: until), within: Self.bound)
        return true
    }

    private mutating func forgetTokens(of grant: OktaGrant) {
        for token in refreshTokens.records(in: grant.number) { refreshTokens.remove(token.key) }
        for token in issuedTokens.records(in: grant.number) {
            issuedTokens.remove(token.key)
            if token.isRevoked || grant.isRevoked { keepRevoked(token) }
        }
    }

    /// Keeps what a whole state leaves out, such as tokens and cookies: who was there still has them. Those of grants
    /// that the state read does not have are gone.
    fileprivate mutating func keepSecrets(of old: OktaState) {
        (issuedTokens, refreshTokens, codes) = (old.issuedTokens, old.refreshTokens, old.codes)
        (deviceSecrets, deviceGrants, rateWindows) = (old.deviceSecrets, old.deviceGrants, old.rateWindows)
        (sessions, sessionTokens, signIns) = (old.sessions, old.sessionTokens, old.signIns)
        (stateTokens, mfaTokens, oobChallenges) = (old.stateTokens, old.mfaTokens, old.oobChallenges)
        (pushedRequests, proofNonces) = (old.pushedRequests, old.proofNonces)
        let gone = Set(old.grants.all.filter { grants[$0.number]?.isSame(as: $0) != true }.map(\.number))
        if gone.isEmpty { return }
        for token in issuedTokens.all where gone.contains(token.grant) { issuedTokens.remove(token.key) }
        for token in refreshTokens.all where gone.contains(token.grant) { refreshTokens.remove(token.key) }
        for secret in deviceSecrets.all where gone.contains(secret.grant) { deviceSecrets.remove(secret.key) }
        for code in codes.all where code.content.grant.map(gone.contains) == true { codes.remove(code.key) }
    }

    /// The nonces that are valid at a moment, the newest one last.
    func goodNonces(at moment: Moment) -> [OktaProofNonce] {
        proofNonces.all.filter { moment < $0.issued + OktaProofNonce.lifetime }
    }

    /// The nonces that are valid at a moment, the current one last.
    mutating func proofNonces(at moment: Moment, _ identifiers: IdentifierSource) -> [String] {
        var good = goodNonces(at: moment)
        if let newest = good.last, moment < newest.issued + OktaProofNonce.renewal { return good.map(\.id) }
        // Source of the length: guide:dpop.
        let nonce = OktaProofNonce(id: identifiers.opaque(ofLength: 32), issued: moment)
        proofNonces.add(nonce, within: OktaProofNonce.bound)
        good.append(nonce)
        return good.map(\.id)
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
        coder.lastNumber("last_grant", &state.grants)
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
        coder.lastNumber("last_transaction", &state.transactions)
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

/// What is redeemed once, before it ends: an authorization code, a session token, half a sign-in.
struct OktaTicket<Content: OktaTicketContent>: Sendable, Equatable, KeyedRecord, CodedRecord {
    /// ours, but for those of codes and session tokens. Source: ref; of challenges guide:configure-direct-auth-grants.
    static var lifetime: Duration { .seconds(300) }

    var id = ""
    var content = Content()
    var expires = Moment(unixSeconds: 0)
    var isUsed = false

    /// Why it cannot be redeemed; `nil` if it can.
    func complaint(at moment: Moment) -> String? {
        if isUsed { return "found one that was used" }
        return moment < expires ? nil : "found one that ended at \(expires.rfc3339)"
    }

    var key: ExactText { ExactText(id) }
    var secretText: String? { id }
    var memory: Int { content.memory }

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("id", &id)
        content.code(&coder)
        coder.end("expires", &expires)
        coder.member("used", &isUsed, or: false)
    }
}

extension OktaTicket {
    init(_ id: String, for content: Content, at moment: Moment) {
        self.init(id: id, content: content, expires: moment + Self.lifetime)
    }
}

protocol OktaTicketContent: CodedRecord, Equatable {
    var memory: Int { get }
}

extension OktaTicketContent {
    var memory: Int { 0 }
}

struct OktaCode: OktaTicketContent {
    var authorization = OktaAuthorization()
    var redirectURI = ""
    /// The PKCE challenge (S256); `nil` when the client sent none.
    var challenge: String?
    /// The grant made from it; `nil` while it is unused.
    var grant: Int?

    var memory: Int { authorization.memory + redirectURI.utf8.count + (challenge?.utf8.count ?? 0) }

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("authorization", &authorization)
        coder.member("redirect_uri", &redirectURI)
        coder.member("challenge", &challenge)
        coder.member("grant", &grant, in: 1...Ordinal.largest)
    }
}

/// An authorization request that a client pushed (RFC 9126).
struct OktaPushedRequest: Sendable, Equatable, KeyedRecord, CodedRecord {
    /// ours: the newest of a sandbox are kept, as far as they fit into memory.
    static let bound = RecordBound(count: 1000, bytes: 8 << 20, share: nil)

    var request = OktaAuthorizeRequest()
    var expires = Moment(unixSeconds: 0)
    /// Whether the client has got a code or an error for it.
    var isUsed = false

    /// The `request_uri`.
    var id: String { request.pushedID ?? "" }

    /// A new `request_uri`. Its form is inferred: Okta's example decodes to such a text (ref).
    static func newID(_ identifiers: IdentifierSource) -> String {
        "urn:okta:" + Base64URL.encode(Array("\(identifiers.opaque(ofLength: 43)):".utf8))
    }

    var key: ExactText { ExactText(id) }
    var memory: Int { request.memory }
    var secretText: String? { request.sessionToken }

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("request", &request)
        coder.end("expires", &expires)
        coder.member("used", &isUsed, or: false)
        coder.check(request.pushedID != nil, or: "the request has no member pushed, which is its request_uri")
    }
}

/// An id that may be used once, such as the `jti` of an assertion, or that of a revoked token.
struct OktaUsedID: Sendable, Equatable, KeyedRecord, CodedRecord {
    enum Kind: String, CaseIterable, RecordValue { case assertion, proof, ssws, revocation }

    struct Key: Hashable, Sendable, CustomStringConvertible {
        let kind: Kind
        let owner: ExactText
        let id: ExactText

        var description: String { JSON.array([kind.written, owner.json, id.json]).text }
    }

    var kind = Kind.assertion
    /// The owner of the id: a client, a key's thumbprint, a factor.
    var owner = ""
    var id = ""
    /// When it need not be remembered any more.
    var until = Moment(unixSeconds: 0)

    var key: Key { Key(kind: kind, owner: ExactText(owner), id: ExactText(id)) }

    func clash(over name: Never?) -> String { "\(id) occurs twice" }

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("kind", &kind)
        coder.member("owner", &owner)
        coder.member("id", &id)
        coder.end("until", &until)
    }
}

/// A nonce that proofs repeat, so that they cannot be made long before they are used (RFC 9449 section 8).
struct OktaProofNonce: Sendable, Equatable, KeyedRecord, CodedRecord {
    /// How long it is the current one. Source: guide:dpop.
    static let renewal = Duration.seconds(24 * 3600)
    /// How long it is accepted. Source: guide:dpop.
    static let lifetime = Duration.seconds(3 * 24 * 3600)
    /// ours: four are valid at a time, unless the clock is moved back and forth.
    static let bound = RecordBound(count: 8, share: nil)

    var id = ""
    var issued = Moment(unixSeconds: 0)

    var key: ExactText { ExactText(id) }

    func clash(over name: Never?) -> String { "the nonce \(id) occurs twice" }

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("id", &id)
        coder.member("issued", &issued)
    }
}
