import Emulation
import JSON

/// Activation through the SDK. Source: that id, code and email must match, and that a code is good once and for a while,
/// is documented (site); the call and its distinct failures are ours.
extension IMS {
    static func submitActivation(_ call: inout IMSCall, _ state: inout IMSState) throws(IMSRefusal) -> Reply {
        let body = try call.body()
        let activationID = try body.requiredText("activation_id")
        let code = try body.requiredText("activation_code")
        let email = try body.requiredText("email")
        let (tenant, subject) = try call.subject()
        guard var user = state.users.user(of: tenant, activationID: activationID) else {
            throw Refusal(
                .activationUnknown, because: "nobody of tenant \(tenant) has the activation id \(activationID)")
        }
        try check(user, code: code, email: email, at: call.moment)
        try checkSubject(subject, of: user, state)
        user.enterpriseID = subject
        user.activate(at: call.moment)
        state.users.store(user)
        return .json(user.ownJSON)
    }

    private static func check(
        _ user: IMSUser, code: String, email: String, at moment: Moment
    ) throws(IMSRefusal) {
        switch user.state {
        case .active: throw Refusal(.activationCodeUsed, because: "\(user.id) is active")
        case .deactivated: throw Refusal(.userDeactivated, because: "\(user.id) is deactivated")
        case .enrolled: break
        }
        guard email.caseFolded == user.email.caseFolded else {
            throw Refusal(.activationEmailMismatch, because: "\(user.id) was enrolled with \(user.email)")
        }
        guard let activation = user.activation, code.hasSameBytes(as: activation.code) else {
            throw Refusal(.activationCodeWrong, because: "the code of \(user.id) is another one")
        }
        guard moment < activation.expires else {
            throw Refusal(.activationCodeExpired, because: "the code expired at \(activation.expires.rfc3339)")
        }
    }

    private static func checkSubject(
        _ subject: String, of user: IMSUser, _ state: IMSState
    ) throws(IMSRefusal) {
        if let enrolled = user.enterpriseID {
            guard enrolled.hasSameBytes(as: subject) else {
                throw Refusal(
                    .subjectMismatch, because: "\(user.id) was enrolled as \(enrolled), the token is for \(subject)")
            }
            return
        }
        if let other = state.users.user(of: user.tenant, enterpriseID: subject) {
            throw Refusal(.subjectTaken, because: "\(other.id) has the enterprise id \(subject)")
        }
        // ours: what an enrollment could not have is no enterprise id.
        guard subject.unicodeScalars.count <= IMSBody.longestText else {
            throw Refusal(.subjectMismatch, because: "sub is longer than an enterprise id may be")
        }
    }
}
