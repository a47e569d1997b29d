import Emulation
import JSON

/// What a user granted to a client, or a service to itself: the content of codes, and the origin of tokens.
struct OktaAuthorization: OktaTicketContent, RecordValue {
    var clientID = ""
    var serverID = ""
    /// `nil` for services, and for guests of the sign-in page.
    var userID: String?
    /// The `sub` of a guest of the sign-in page, whom no fixture knows (ours).
    var guest: String?
    var scopes: [String] = []
    /// When the user signed in; `nil` without one.
    var authenticated: Moment?
    /// How the user signed in, sorted; values of `amr`.
    var methods: [String] = []
    /// The satisfied value of `acr_values`.
    var acr: String?
    /// `nonce` of the authorize request; a refresh repeats it.
    var nonce: String?
    /// The browser session in which the user signed in.
    var sessionID: String?
    /// The id of the device session, for native single sign-on.
    var deviceSession: String?
    /// The thumbprint of the key that the tokens are bound to.
    var proofKey: String?
    /// Further claims of the first tokens, chosen on the sign-in page (ours).
    var idClaims: JSON?
    var accessClaims: JSON?

    /// The `sub` of access tokens. Source: the login in genuine tokens (jwt, tests), the id in ref.
    func subject(_ user: OktaUser?, _ switches: OktaSwitches) -> String {
        if let guest { return guest }
        guard let user else { return clientID }
        return switches.accessTokenSubject == .userID ? user.id : user.login
    }

    var memory: Int {
        let claims = [idClaims, accessClaims].reduce(0) { $0 + ($1?.text.utf8.count ?? 0) }
        return (scopes + [guest, nonce].compactMap { $0 }).reduce(400 + claims) { $0 + 16 + $1.utf8.count }
    }

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("client", &clientID)
        coder.member("server", &serverID)
        coder.member("user", &userID)
        coder.member("guest", &guest)
        coder.member("scopes", &scopes)
        coder.member("authenticated", &authenticated)
        coder.member("methods", &methods, or: [])
        coder.member("acr", &acr)
        coder.member("nonce", &nonce)
        coder.member("session", &sessionID)
        coder.member("device_session", &deviceSession)
        coder.member("proof_key", &proofKey)
        coder.member("id_claims", &idClaims)
        coder.member("access_claims", &accessClaims)
    }
}

/// An authorization that tokens were made from: it ends them together.
struct OktaGrant: Sendable, Equatable, KeyedRecord, CodedRecord {
    /// Unique in the sandbox.
    var number = 0
    var authorization = OktaAuthorization()
    var began = Moment(unixSeconds: 0)
    /// Whether its tokens have ended.
    var isRevoked = false

    /// Whether the other one is this grant, at whatever time.
    func isSame(as other: OktaGrant) -> Bool {
        number == other.number && authorization == other.authorization && began == other.began
    }

    var key: Int { number }
    /// The grants of a user end together, as when the user is deactivated.
    var group: ExactText? { authorization.userID.map(ExactText.init) }
    var memory: Int { authorization.memory }

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("number", &number, in: 1...Ordinal.largest)
        coder.member("authorization", &authorization)
        coder.member("began", &began)
        coder.member("revoked", &isRevoked, or: false)
    }
}

/// An access token that was issued; the token itself is a JWT, and only its id is kept.
struct OktaIssuedToken: Sendable, Equatable, KeyedRecord, CodedRecord {
    var id = ""
    var grant = 0
    var expires = Moment(unixSeconds: 0)
    var isRevoked = false

    var key: ExactText { ExactText(id) }
    var group: Int? { grant }

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("id", &id)
        coder.member("grant", &grant)
        coder.end("expires", &expires)
        coder.member("revoked", &isRevoked, or: false)
    }
}

struct OktaRefreshToken: Sendable, Equatable, KeyedRecord, CodedRecord {
    /// How long an unused one lives at a custom server. Source: guide:refresh-tokens.
    static let idleLifetime = Duration.seconds(7 * 86_400)
    /// How long one lives at the org server, used or not. Source: ref.
    static let orgLifetime = Duration.seconds(90 * 86_400)
    /// ours: how many of a family are remembered, so that a client that rotates in a loop pushes out its own ones only.
    static let familyBound = 100

    var id = ""
    var grant = 0
    var issued = Moment(unixSeconds: 0)
    var lastUsed = Moment(unixSeconds: 0)
    /// `nil` for no end but disuse; a successor has the end of the first one.
    var expires: Moment?
    /// How many seconds it lives without a use, by a policy of the server; `nil` for the usual ones.
    var window: Int?
    /// When a use replaced it by another one; `nil` while it is the newest.
    var replaced: Moment?

    /// When it ends unless it is used.
    var end: Moment {
        let idle = lastUsed + (window.map { .seconds($0) } ?? Self.idleLifetime)
        return expires.map { window == nil ? $0 : min($0, idle) } ?? idle
    }

    /// Why it has ended; `nil` while it has not.
    func complaint(at moment: Moment) -> String? {
        guard moment >= end else { return nil }
        if let expires, end == expires {
            return "the refresh token ended at \(expires.rfc3339); expected one that has not, 90 days at most"
        }
        let allowed = window.map { "\($0) s, as a policy says" } ?? "7 days"
        return "the refresh token was last used at \(lastUsed.rfc3339); expected a use within \(allowed)"
    }

    var key: ExactText { ExactText(id) }
    var group: Int? { grant }
    var secretText: String? { id }

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("id", &id)
        coder.member("grant", &grant)
        coder.member("issued", &issued)
        coder.member("last_used", &lastUsed)
        coder.end("expires", &expires)
        coder.member("window", &window, in: 0...Int.max)
        coder.member("replaced", &replaced)
    }
}

extension OktaState {
    func refreshToken(_ text: String) -> (OktaRefreshToken, OktaGrant)? {
        refreshTokens[text].flatMap { token in grants[token.grant].map { (token, $0) } }
    }

    mutating func addRefreshToken(
        to grant: OktaGrant, of server: OktaServer, under policy: OktaAccessPolicy?, _ call: OktaCall
    ) -> OktaRefreshToken {
        let lifetime =
            policy?.refreshTokenLifetime.map { Duration.seconds($0) }
            ?? (server.isOrg ? OktaRefreshToken.orgLifetime : nil)
        let token = OktaRefreshToken(
            id: call.identifiers.opaque(ofLength: 43), grant: grant.number, issued: call.moment, lastUsed: call.moment,
            expires: lifetime.map { call.moment + $0 }, window: policy?.refreshTokenWindow)
        refreshTokens.add(token, within: Self.bound)
        return token
    }

    /// - Returns: the refresh token to answer with: itself, its successor, or within the leeway of a replaced one the
    ///   newest of its family (ours).
    mutating func use(_ token: OktaRefreshToken, rotates: Bool, _ call: OktaCall) -> String {
        if token.replaced != nil {
            let newest = refreshTokens.records(in: token.grant).last { $0.replaced == nil } ?? token
            refreshTokens.change(newest.key) { $0.lastUsed = call.moment }
            return newest.id
        }
        refreshTokens.change(token.key) { $0.lastUsed = call.moment }
        guard rotates else { return token.id }
        refreshTokens.change(token.key) { $0.replaced = call.moment }
        var next = token
        (next.id, next.issued, next.lastUsed) = (call.identifiers.opaque(ofLength: 43), call.moment, call.moment)
        refreshTokens.add(next, within: Self.bound)
        let family = refreshTokens.records(in: token.grant)
        for old in family.prefix(max(0, family.count - OktaRefreshToken.familyBound)) { refreshTokens.remove(old.key) }
        return next.id
    }
}

struct OktaAuthentication: OktaTicketContent, RecordValue {
    /// `nil` for guests of the sign-in page.
    var userID: String?
    /// The `sub` of a guest.
    var guest: String?
    var moment = Moment(unixSeconds: 0)
    /// Sorted; values of `amr`.
    var methods: [String] = []
    /// The browser's session; `nil` until there is one.
    var sessionID: String?
    var sessionToken: String?

    /// The same after a further factor. Source of the values: ref; their order: ours.
    func adding(_ method: String) -> OktaAuthentication {
        var authentication = self
        authentication.methods = Set(methods + [method, "mfa"]).sorted()
        return authentication
    }

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("user", &userID)
        coder.member("guest", &guest)
        coder.member("moment", &moment)
        coder.member("methods", &methods, or: [])
        coder.member("session", &sessionID)
        coder.member("session_token", &sessionToken)
        coder.check((userID == nil) != (guest == nil), or: "it is either a user or a guest who signed in")
    }
}

struct OktaSession: Sendable, Equatable, KeyedRecord, CodedRecord {
    /// The value of the cookie `sid`.
    var id = ""
    var userID = ""
    var authenticated = Moment(unixSeconds: 0)
    /// How the user signed in, sorted; values of `amr`.
    var methods: [String] = []
    /// When it was last extended; `nil` if it never was.
    var refreshed: Moment?

    /// It lasts two hours without a use. Source: recorded answers (pysdk).
    var expires: Moment { (refreshed ?? authenticated) + .seconds(7200) }

    var key: ExactText { ExactText(id) }
    var group: ExactText? { ExactText(userID) }
    var secretText: String? { id }

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("id", &id)
        coder.member("user", &userID)
        coder.member("authenticated", &authenticated)
        coder.member("methods", &methods, or: [])
        coder.member("refreshed", &refreshed)
    }
}

/// A user's consent to scopes of a server, for a client.
struct OktaConsent: Sendable, Equatable, KeyedRecord, CodedRecord {
    struct Key: Hashable, Sendable, CustomStringConvertible {
        let user: ExactText
        let client: ExactText
        let server: ExactText

        var description: String { JSON.array([user.json, client.json, server.json]).text }
    }

    var userID = ""
    var clientID = ""
    var serverID = ""
    var scopes: [String] = []

    var key: Key { Key(user: ExactText(userID), client: ExactText(clientID), server: ExactText(serverID)) }
    var group: ExactText? { ExactText(userID) }

    func clash(over name: Never?) -> String { "\(userID) has another consent for \(clientID)" }

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("user", &userID)
        coder.member("client", &clientID)
        coder.member("server", &serverID)
        coder.member("scopes", &scopes)
    }
}

/// A sign-in on the page, from the request of an app or device until its answer.
struct OktaSignIn: Sendable, Equatable, KeyedRecord, CodedRecord {
    /// How long a user may take (ours).
    static let lifetime = Duration.seconds(3600)
    /// ours: the newest of a sandbox are kept, as far as they fit into memory.
    static let bound = RecordBound(count: 1000, bytes: 8 << 20, share: nil)
    /// ours: claims that make a token too long for any server are not worth keeping.
    static let longestClaims = 8 * 1024

    /// The parameter `tx` of the page.
    var id = ""
    /// For a device without a redirect URI.
    var request = OktaAuthorizeRequest()
    /// The device code that is answered; `nil` for an app.
    var deviceCode: String?
    var began = Moment(unixSeconds: 0)
    /// Who signed in; `nil` until somebody has.
    var authentication: OktaAuthentication?
    /// Further claims of the tokens, as the user wants them (ours).
    var idClaims: JSON?
    var accessClaims: JSON?
    /// The factor that the user chose.
    var factorID: String?
    /// The number of the challenge that waits for the device of the factor.
    var challenge: Int?
    /// What the user allowed of the scopes that need consent; `nil` until asked.
    var allowedScopes: [String]?
    /// Whether the app or device has got its answer.
    var isFinished = false

    var key: ExactText { ExactText(id) }
    var memory: Int { request.memory + [idClaims, accessClaims].reduce(200) { $0 + ($1?.text.utf8.count ?? 0) } }
    var secretText: String? { request.sessionToken }

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("id", &id)
        coder.member("request", &request)
        coder.member("device_code", &deviceCode)
        coder.member("began", &began)
        coder.member("authentication", &authentication)
        coder.member("id_claims", &idClaims)
        coder.member("access_claims", &accessClaims)
        coder.member("factor", &factorID)
        coder.member("challenge", &challenge)
        coder.member("allowed_scopes", &allowedScopes)
        coder.member("finished", &isFinished, or: false)
    }
}

extension OktaState {
    func openSignIn(_ id: String?, at moment: Moment) throws(Okta.Refused) -> OktaSignIn {
        func unknown(_ found: String) -> Okta.Refused {
            Okta.Refused(.loginUnknown, because: "\(found); expected one that authorize began within the last hour")
        }
        guard let id, let signIn = signIns[id] else { throw unknown("tx is \(id ?? "absent")") }
        if signIn.isFinished { throw unknown("the sign-in \(id) is finished; expected one that is open") }
        if moment >= signIn.began + OktaSignIn.lifetime { throw unknown("the sign-in began \(signIn.began.rfc3339)") }
        if let pushedID = signIn.request.pushedID, pushedRequests[pushedID]?.isUsed == true {
            throw unknown("the pushed request of the sign-in \(id) has been used")
        }
        return signIn
    }

    /// Notes that the client of a request has got its answer.
    mutating func finish(_ signIn: OktaSignIn) {
        signIns.change(signIn.key) { $0.isFinished = true }
        if let pushedID = signIn.request.pushedID { pushedRequests.change(ExactText(pushedID)) { $0.isUsed = true } }
    }
}
