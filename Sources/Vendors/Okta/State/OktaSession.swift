import Emulation
import JSON

struct OktaAuthentication: Sendable, Equatable, CodedRecord, RecordValue {
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
    var memory: Int {
        request.memory + [idClaims, accessClaims].reduce(200) { $0 + ($1?.text.utf8.count ?? 0) }
    }
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

/// Consents that a user gives or revokes elsewhere (all ours).
extension Okta {
    private static let place = [
        whoseUser, .required("client", "id of the client"),
        .optional("server", "id of the authorization server; by default the first custom one"),
    ]

    static let consentActions = [
        action(
            "consent", about: "Records a user's consent to scopes for a client.",
            members: place + [.required("scopes", "the scopes, as a list, or separated by spaces")]
        ) { (call, state) throws(ControlRefusal) in
            var consent = try consent(call, state)
            let server = call.vendor.accounts.server(consent.serverID)
            for scope in try scopes(call) {
                try ControlRefusal.require(
                    server?.scope(scope) != nil || OktaServerMetadata.scopes.contains(scope),
                    "server \(consent.serverID) has no scope", scope, among: server?.scopes.map(\.name) ?? [])
                if !consent.scopes.contains(scope) { consent.scopes.append(scope) }
            }
            state.consents.add(consent, within: OktaState.bound)
            return shown(consent)
        },
        action("revoke-consent", about: "Revokes a user's consent to a client's scopes.", members: place) {
            (call, state) throws(ControlRefusal) in
            let consent = try consent(call, state)
            try ControlRefusal.require(
                state.consents.remove(consent.key) != nil,
                "the user has not consented to scopes of \(consent.serverID) for \(consent.clientID)")
            return shown(consent)
        },
    ]

    /// The consent that an action is about; without scopes if there is none yet.
    private static func consent(_ call: Action, _ state: State) throws(ControlRefusal) -> OktaConsent {
        let user = try user(call, state)
        let client = try state.client(named: try call.required("client"))
        let server = try call.vendor.accounts.server(named: try call.text("server"))
        let consent = OktaConsent(userID: user.id, clientID: client.id, serverID: server.id)
        return state.consents[consent.key] ?? consent
    }

    private static func scopes(_ call: Action) throws(ControlRefusal) -> [String] {
        try call.read { members in
            members.value("scopes", expecting: "a list of scopes, or their names separated by spaces") { value in
                if let text = value.string { return text.split(separator: " ").map(String.init) }
                let names = value.array?.compactMap(\.string)
                return names?.count == value.array?.count ? names : nil
            }
        } ?? []
    }

    private static func shown(_ consent: OktaConsent) -> JSON {
        [
            "user": .string(consent.userID), "client": .string(consent.clientID), "server": .string(consent.serverID),
            "scopes": .array(consent.scopes.map(JSON.string)),
        ]
    }
}
