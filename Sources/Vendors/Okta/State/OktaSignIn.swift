import Emulation
import JSON

/// A sign-in on the page, from the request of an app or device until its answer.
struct OktaSignIn: Sendable, Equatable {
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
}

extension OktaSignIn: KeyedRecord, CodedRecord {
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
    /// The sign-in with that `tx` that still goes on.
    ///
    /// - Throws: ``OktaFailure/loginUnknown``
    func openSignIn(_ id: String?, at moment: Moment) throws(OktaRefusal) -> OktaSignIn {
        func unknown(_ found: String) -> OktaRefusal {
            OktaRefusal(.loginUnknown, because: "\(found); expected one that authorize began within the last hour")
        }
        guard let id, let signIn = signIns[id] else { throw unknown("tx is \(id ?? "absent")") }
        if signIn.isFinished { throw unknown("the sign-in \(id) is finished; expected one that is open") }
        if moment >= signIn.began + OktaSignIn.lifetime { throw unknown("the sign-in began \(signIn.began.rfc3339)") }
        if let pushedID = signIn.request.pushedID, pushedRequests[pushedID]?.isUsed == true {
            throw unknown("the pushed request of the sign-in \(id) is used up")
        }
        return signIn
    }

    /// Notes that the client of a request has got its answer.
    mutating func finish(_ signIn: OktaSignIn) {
        signIns.change(signIn.key) { $0.isFinished = true }
        if let pushedID = signIn.request.pushedID { pushedRequests.change(ExactText(pushedID)) { $0.isUsed = true } }
    }
}
