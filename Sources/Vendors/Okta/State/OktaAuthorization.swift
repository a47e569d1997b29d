import Emulation
import JSON

/// What a user granted to a client, or a service to itself: the content of codes, and the origin of tokens.
struct OktaAuthorization: Sendable, Equatable {
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
}

extension OktaAuthorization {
    /// The same, granted by a user who signed in in a browser's session, or just now with the password.
    func signedIn(_ user: OktaUser, in session: OktaSession? = nil, at moment: Moment) -> OktaAuthorization {
        var authorization = self
        authorization.userID = user.id
        authorization.authenticated = session?.authenticated ?? moment
        authorization.methods = session?.methods ?? ["pwd"]
        authorization.sessionID = session?.id
        return authorization
    }
}

extension OktaAuthorization {
    /// The `sub` of access tokens. Source: the login in genuine tokens (jwt, tests), the id in ref.
    ///
    /// - Parameter user: the user who granted it.
    func subject(_ user: OktaUser?, _ switches: OktaSwitches) -> String {
        if let guest { return guest }
        guard let user else { return clientID }
        return switches.accessTokenSubject == .userID ? user.id : user.login
    }

    /// An estimate of the bytes that it takes.
    var memory: Int {
        let claims = [idClaims, accessClaims].reduce(0) { $0 + ($1?.text.utf8.count ?? 0) }
        return (scopes + [guest, nonce].compactMap { $0 }).reduce(400 + claims) { $0 + 16 + $1.utf8.count }
    }
}

extension OktaAuthorization: CodedRecord, RecordValue {
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
