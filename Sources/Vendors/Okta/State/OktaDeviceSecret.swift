import Emulation
import JSON
import Tokens

/// The secret that apps of a device share, so that the second one signs its user in without asking (native SSO).
///
/// Source: guide:configure-native-sso.
struct OktaDeviceSecret: Sendable, Equatable {
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
            findings.note(Finding("device-secret-active", .noted, found: .text("a device secret \(end)")))
            return nil
        }
        return [
            "active": true, "sid": .string(sessionID), "token_type": .string(Self.tokenType),
            "exp": JSON(expires.wholeSeconds),
        ]
    }
}

extension OktaDeviceSecret: KeyedRecord, CodedRecord {
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
