import Emulation
import JSON
import Tokens

/// The grant `token-exchange` (RFC 8693): a service acts for a user, or a second app of a device signs its user in.
/// Source: guide:set-up-token-exchange, guide:configure-native-sso, api.
extension OktaTokenRequest {
    private static let accessTokenType = "urn:ietf:params:oauth:token-type:access_token"
    private static let idTokenType = "urn:ietf:params:oauth:token-type:id_token"

    /// Reads the parameters in the order of their failures.
    func exchangeToken(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let (accessTokenType, idTokenType) = (Self.accessTokenType, Self.idTokenType)
        let requested = parameters["requested_token_type"]
        try Refused.require(
            !server.isOrg, .exchangeOrg, "found a token exchange at the org server; expected one at a custom one")
        let subject = try Refused.require(
            parameters["subject_token"], .exchangeSubject,
            "found no subject_token; expected an access token or ID token")
        let type = parameters["subject_token_type"]
        // An exchange that starts from an ID token is always one between the apps of a device.
        let isNative = type?.hasSameBytes(as: idTokenType) == true
        try Refused.require(
            isNative || type?.hasSameBytes(as: accessTokenType) == true, .exchangeSubjectType,
            "found subject_token_type \(type ?? "none"); expected \(accessTokenType) or \(idTokenType)")
        var secret: String?
        if isNative {
            secret = try Refused.require(
                parameters["actor_token"], .exchangeActor,
                "found no actor_token beside an ID token; expected a device secret")
            try Refused.expect(
                "actor_token_type", parameters["actor_token_type"], OktaDeviceSecret.tokenType, .exchangeActorType)
        }
        try Refused.require(
            requested?.hasSameBytes(as: accessTokenType) ?? true, .exchangeRequestedType,
            "found requested_token_type \(requested ?? "none"); expected \(accessTokenType), or none")
        let authorization =
            if let secret { try signInOnDevice(subject, secret, &call, state) } else {
                try actOnBehalf(subject, &call, state)
            }
        // The member with which answers say what they contain (RFC 8693 section 2.2.1).
        return try grantTokens(authorization, &call, &state, adding: ["issued_token_type": .string(accessTokenType)])
    }

    /// A service gets an access token of the user whose access token it has.
    private func actOnBehalf(
        _ text: String, _ call: inout OktaCall, _ state: State
    ) throws(Refused) -> OktaAuthorization {
        let trusted = call.vendor.accounts.servers.filter { other in
            other.id.hasSameBytes(as: server.id) || server.trustedServers.contains(exactly: other.id)
        }
        let subject = try OktaSubject(text, .access, of: trusted, call, in: state)
        try judge(subject, by: OktaSubjectRules.access, &call)
        try Refused.require(
            client.type == .service, .exchangeNotService,
            "found client \(client.id), application_type \(client.type.rawValue); expected service")
        let words = parameters.words("scope")
        let openID = words.first { OktaServerMetadata.scopes.contains(exactly: $0) }
        try Refused.require(
            openID == nil, .exchangeOpenid,
            "found scope \(openID ?? ""); expected some of server \(server.id)'s own: \(server.scopeNames)")
        // The claim is already earlier by the lag.
        let lag = Duration.seconds(call.switches.authTimeLagSeconds)
        return OktaAuthorization(
            clientID: client.id, serverID: server.id, userID: subject.userID, scopes: try server.scopes(of: words),
            authenticated: subject.token.date("auth_time").seconds().map { Moment(unixSeconds: $0) + lag })
    }

    /// A second app of a device gets tokens of the user who signed in in the first one.
    private func signInOnDevice(
        _ text: String, _ actor: String, _ call: inout OktaCall, _ state: State
    ) throws(Refused) -> OktaAuthorization {
        let secret = try Refused.require(
            state.deviceSecrets[actor], .exchangeActor,
            "found a device secret that is unknown here; expected one of this sandbox")
        let subject = try OktaSubject(text, .id, of: [server], beside: secret, call, in: state)
        try judge(subject, by: OktaSubjectRules.native, &call)
        var authorization = secret.authorization
        (authorization.clientID, authorization.serverID) = (client.id, server.id)
        authorization.scopes = try server.scopes(of: parameters.words("scope"))
        // They belong to the first app's tokens alone.
        (authorization.nonce, authorization.proofKey) = (nil, nil)
        (authorization.idClaims, authorization.accessClaims) = (nil, nil)
        return authorization
    }

    /// Judges the token to exchange, and then the audience that is asked for.
    private func judge(
        _ subject: OktaSubject, by rules: RuleList<OktaSubject>, _ call: inout OktaCall
    ) throws(Refused) {
        call.findings.judge(subject, by: rules)
        if let refusal = call.findings.refusal { throw refusal }
        try Refused.expect(
            "audience", parameters["audience"], server.audience(at: call.arrival.base), .exchangeAudience)
    }
}

/// A token that is to be exchanged for another one, and what it must match.
struct OktaSubject: OktaRuleFacts {
    let kind: OktaTokenKind
    let token: CompactToken
    let moment: Moment
    /// The issuers of which tokens are taken here, in every form of their addresses.
    let trusted: [String]
    /// The issuer's published key that the header names.
    private(set) var key: VerificationKey?
    private(set) var isRevoked = false
    /// The status of the user; `nil` when there is none.
    private(set) var status: OktaUser.Status?
    /// The device secret beside it; `nil` when none is due.
    let secret: OktaDeviceSecret?

    var compact: CompactToken? { token }

    /// The id of the user in the token: access tokens name the login as `sub`.
    var userID: String? { token.claims?[kind == .access ? "uid" : "sub"]?.string }

    init(
        _ text: String, _ kind: OktaTokenKind, of servers: [OktaServer], beside secret: OktaDeviceSecret? = nil,
        _ call: OktaCall, in state: OktaState
    ) throws(Okta.Refused) {
        let bases = call.arrival.sandbox.addresses
        (self.kind, token, moment, self.secret) = (kind, CompactToken(text), call.moment, secret)
        trusted = servers.flatMap { server in bases.map(server.issuer) }
        let issuer = token.claims?["iss"]?.string
        let server = servers.first { server in
            bases.contains { issuer?.hasSameBytes(as: server.issuer(at: $0)) == true }
        }
        if let server {
            let keys = try Okta.keys(of: server, call, state)
            key = token.header?["kid"]?.string.flatMap { keys?.key(withID: $0)?.verificationKey }
        }
        isRevoked = token.claims?["jti"]?.string.map(state.isRevoked) ?? false
        status = userID.flatMap { state.users[$0]?.status }
    }
}

/// The rules of tokens that are to be exchanged, in the order of the checks. Source: the failures are documented
/// (codes), their use follows from their texts; the order is ours.
enum OktaSubjectRules {
    private typealias Rule = TokenRule<OktaSubject>

    static let access = RuleList(verification + [kind, expiry, revocation, user])

    /// An ID token, perhaps expired, beside the device secret of its session.
    static let native = RuleList(verification + [kind, session, user, deviceSecret])

    private static let verification =
        Rule.structure(orFail: .exchangeSubject, named: "subject-") + [
            Rule(.critical(), named: "subject-critical", orFail: .exchangeSubject),
            Rule(.algorithm(is: .rs256, source: "ref"), named: "subject-algorithm", orFail: .exchangeSubject),
            Rule(
                "subject-issuer", "iss of this server or of one that it trusts", "guide:set-up-token-exchange",
                orFail: .exchangeNotTrusted
            ) { facts, finding in
                finding?.expected = .anyOf(facts.trusted)
                return facts.token.claim("iss", &finding) { issuer in
                    facts.trusted.contains { issuer?.string?.hasSameBytes(as: $0) == true }
                }
            },
            Rule(
                "subject-signature", "a signature by a published key of the issuer", "RFC 7515 section 5.2",
                orFail: .exchangeSubject
            ) { facts, finding in
                guard let header = facts.token.header else { return nil }
                if let key = facts.key { return facts.token.signature(by: key, algorithm: .rs256, &finding) }
                finding?.found =
                    header["kid"].map { .text("kid \($0.text), which is not published") } ?? .nothing("no kid")
                return .failed
            },
        ]

    private static let kind = Rule(
        "subject-kind", "a token of the kind that subject_token_type says", "codes", orFail: .exchangeSubject
    ) { facts, finding in
        guard facts.token.claims != nil else { return nil }
        let found = OktaTokenKind(of: facts.token)
        finding?.expected = .text(facts.kind.rawValue)
        return finding.judge(
            found.map { .text($0.rawValue) } ?? .nothing("a token of no known kind"), found == facts.kind)
    }

    private static let expiry = Rule("subject-expiry", "exp later than now", "codes", orFail: .exchangeSubjectExpired) {
        facts, finding in facts.token.expiry(at: facts.moment.unixSeconds, &finding)
    }

    private static let revocation = Rule(
        "subject-revocation", "a token that was not revoked", "codes", orFail: .exchangeSubjectExpired
    ) { facts, finding in
        guard facts.token.claims != nil else { return nil }
        return finding.judge(.text(facts.isRevoked ? "a token that was revoked" : "one that was not"), !facts.isRevoked)
    }

    private static let user = Rule("subject-user", "an ACTIVE user", "ours", .ours, orFail: .exchangeSubjectExpired) {
        facts, finding in
        guard facts.token.claims != nil else { return nil }
        let found = facts.status.map { "a user who is \($0.rawValue)" }
        return finding.judge(
            found.map(Fact.text) ?? .nothing("a token of no user who is known here"), facts.status == .active)
    }

    private static let session = Rule(
        "subject-session", "a device session that has not ended", "codes", orFail: .exchangeSubjectExpired
    ) { facts, finding in
        guard let secret = facts.secret else { return nil }
        return finding.judge(
            secret.isEnded ? .text("a session that was ended") : .time(secret.expires.unixSeconds),
            secret.isActive(at: facts.moment))
    }

    private static let deviceSecret = Rule(
        "subject-device-secret", "an ID token with sid and ds_hash of the device secret",
        "guide:configure-native-sso; ds_hash observed, swift", orFail: .exchangeActor
    ) { facts, finding in
        guard let secret = facts.secret, let claims = facts.token.claims else { return nil }
        let (session, hash) = (claims["sid"]?.string, claims["ds_hash"]?.string)
        finding?.expected = .text("sid \(secret.sessionID), ds_hash \(secret.hash)")
        finding?.note = hash.flatMap { DerivedValue.mistake(in: $0, of: secret.id.utf8, count: 16) }
        return finding.judge(
            .text("sid \(session ?? "none"), ds_hash \(hash ?? "none")"),
            session?.hasSameBytes(as: secret.sessionID) == true && hash?.hasSameBytes(as: secret.hash) == true)
    }
}

/// The secret that apps of a device share, so that the second one signs its user in without asking (native SSO).
/// Source: guide:configure-native-sso.
struct OktaDeviceSecret: Sendable, Equatable, KeyedRecord, CodedRecord {
    /// What answers and exchanges call it.
    static let tokenType = "urn:x-oath:params:oauth:token-type:device-secret"
    /// ours: as long as a refresh token of the org server.
    static let lifetime = Duration.seconds(90 * 86_400)
    /// The scopes that ask for one.
    static let scopes = ["openid", "offline_access", "device_sso"]

    var id = ""
    /// The device session, `sid` of ID tokens.
    var sessionID = ""
    var grant = 0
    /// How the user signed in in the first app.
    var authorization = OktaAuthorization()
    var expires = Moment(unixSeconds: 0)
    var isEnded = false

    func isActive(at moment: Moment) -> Bool { !isEnded && moment < expires }

    /// The claim `ds_hash` (observed, swift).
    var hash: String { OktaTokenMaker.hash(of: id) }

    /// What introspection says of it; `nil` once it has ended, which the journal explains.
    func describe(at moment: Moment, noting findings: inout Findings<OktaFailure>) -> JSONObject? {
        guard isActive(at: moment) else {
            let end = isEnded ? "that was revoked" : "that ended at \(expires.rfc3339)"
            findings.note("device-secret-active", found: .text("a device secret \(end)"))
            return nil
        }
        return [
            "active": true, "sid": .string(sessionID), "token_type": .string(Self.tokenType),
            "exp": JSON(expires.wholeSeconds),
        ]
    }

    var key: ExactText { ExactText(id) }
    var names: [ExactText] { [ExactText(sessionID)] }
    var secretText: String? { id }

    func clash(over name: ExactText?) -> String {
        name == nil ? "another device has this secret" : "another device has the session \(sessionID)"
    }

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("id", &id)
        coder.member("session", &sessionID)
        coder.member("grant", &grant, in: 1...Ordinal.largest)
        coder.member("authorization", &authorization)
        coder.end("expires", &expires)
        coder.member("ended", &isEnded, or: false)
    }
}

extension OktaDeviceSecret {
    /// The secret of a device on which a user signs in now, if the scopes ask for one; the authorization gets its
    /// session.
    init?(for authorization: inout OktaAuthorization, _ identifiers: IdentifierSource, at moment: Moment) {
        let scopes = authorization.scopes
        // The grants of guests cannot be found by their user, so nothing could end their device sessions.
        guard authorization.userID != nil, Self.scopes.allSatisfy({ scopes.contains($0) }) else { return nil }
        self.init(
            id: identifiers.opaque(ofLength: 43), sessionID: identifiers.oktaID(ofLength: 20),
            expires: moment + Self.lifetime)
        authorization.deviceSession = sessionID
        self.authorization = authorization
    }
}

extension OktaState {
    mutating func add(_ secret: OktaDeviceSecret, of grant: OktaGrant) {
        var secret = secret
        secret.grant = grant.number
        deviceSecrets.add(secret, within: Self.bound)
    }

    /// Ends a device session, and all tokens that were made in it.
    mutating func end(_ secret: OktaDeviceSecret) {
        deviceSecrets.change(secret.key) { $0.isEnded = true }
        let userID = secret.authorization.userID ?? ""
        revokeGrants(of: userID) { $0.authorization.deviceSession?.hasSameBytes(as: secret.sessionID) == true }
    }

    /// Ends the device session that began with a grant, if one did.
    mutating func endDeviceSession(of grant: OktaGrant) {
        guard let session = grant.authorization.deviceSession, let secret = deviceSecrets[named: ExactText(session)],
            secret.grant == grant.number
        else { return }
        deviceSecrets.change(secret.key) { $0.isEnded = true }
    }
}
