import Emulation
import JSON

/// Activation through the SDK. Source: it is documented that id, code and email must match, and that a code works once
/// and expires (site); the call and its distinct failures are ours.
extension IMS {
    static func submitActivation(_ call: inout IMSCall, _ state: inout State) throws(Refused) -> Reply {
        let (activationID, code, email) = try call.body {
            ($0.text("activation_id"), $0.text("activation_code"), $0.text("email"))
        }
        let (tenant, subject) = try call.subject()
        guard var user = state.users.user(of: tenant, activationID: activationID) else {
            throw Refusal(
                .activationUnknown,
                because:
                    "nobody of tenant \(tenant) has the activation id \(activationID); expected that of an imported user"
            )
        }
        try check(user, code: code, email: email, at: call.moment)
        try checkSubject(subject, of: user, state)
        user.enterpriseID = subject
        user.activate(at: call.moment)
        state.users.store(user)
        return .json(user.ownJSON)
    }

    private static func check(_ user: IMSUser, code: String, email: String, at moment: Moment) throws(Refused) {
        switch user.state {
        case .active:
            throw Refusal(
                .activationCodeUsed,
                because: "\(user.id) is active: its code was used, or it needed none; expected a user who is enrolled")
        case .deactivated:
            throw Refusal(.userDeactivated, because: "\(user.id) is deactivated; expected a user who is enrolled")
        case .enrolled: break
        }
        guard email.caseFolded == user.email.caseFolded else {
            throw Refusal(.activationEmailMismatch, because: "\(user.id) was enrolled with \(user.email), not \(email)")
        }
        let activation = try Refused.require(
            user.activation, .activationCodeWrong,
            "\(user.id) has no activation code, as after an import without secrets; "
                + "POST /ims/v1/users/\(user.id)/activation-code gives it one; expected that one")
        guard code.hasSameBytes(as: activation.code) else {
            throw Refusal(.activationCodeWrong, because: Self.difference(of: code, from: activation.code, of: user))
        }
        try Refused.require(
            moment < activation.expires, .activationCodeExpired,
            "the code of \(user.id) ended at \(activation.expires.rfc3339), and now is \(moment.rfc3339); expected one that has not ended"
        )
    }

    /// How a code differs from the right one; shows neither.
    private static func difference(of code: String, from right: String, of user: IMSUser) -> String {
        let core = code.filter { !$0.isWhitespace && $0 != "-" }
        let mistake =
            core.hasSameBytes(as: right)
            ? "it is the code with blanks or hyphens in it; expected none"
            : code.utf8.count == right.utf8.count
                ? "an earlier one is wrong once there is a new one; expected the latest"
                : "it has \(code.utf8.count) characters; expected \(right.utf8.count)"
        return "the code that was sent is not that of \(user.id) (activation id \(user.activationID)); \(mistake)"
    }

    private static func checkSubject(_ subject: String, of user: IMSUser, _ state: State) throws(Refused) {
        if let enrolled = user.enterpriseID {
            try Refused.require(
                enrolled.hasSameBytes(as: subject), .subjectMismatch,
                "\(user.id) was enrolled as \(enrolled), not as \(subject), for whom the token is")
            return
        }
        if let other = state.users.user(of: user.tenant, enterpriseID: subject) {
            throw Refusal(
                .subjectTaken,
                because:
                    "\(other.id) has the enterprise id \(subject), so it cannot become that of \(user.id); expected one that nobody has"
            )
        }
        // ours: a text that an enrollment could not contain is not an enterprise id.
        try Refused.require(
            subject.unicodeScalars.count <= IMSBody.longestText, .subjectMismatch,
            "sub has \(subject.unicodeScalars.count) characters; expected at most \(IMSBody.longestText)")
    }
}
