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
        guard var user = state.users.user(of: tenant, .activationID, activationID) else {
            throw Refused(
                .activationUnknown,
                because: "no user of tenant \(tenant) has the activation id \(activationID); expected that of an "
                    + "imported user")
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
            throw Refused(
                .activationCodeUsed,
                because: "\(user.id) is active: its code was used, or it needed none; expected a user who is enrolled")
        case .deactivated:
            throw Refused(.userDeactivated, because: "\(user.id) is deactivated; expected a user who is enrolled")
        case .enrolled: break
        }
        try Refused.require(
            email.caseFolded == user.email.caseFolded, .activationEmailMismatch,
            "\(user.id) was enrolled with \(user.email), not \(email)")
        let activation = try Refused.require(
            user.activation, .activationCodeWrong,
            "\(user.id) has no activation code, as after an import without secrets; "
                + "POST /ims/v1/users/\(user.id)/activation-code gives it one; expected that one")
        try Refused.require(
            code.hasSameBytes(as: activation.code), .activationCodeWrong,
            Self.difference(of: code, from: activation.code, of: user))
        try Refused.require(
            moment < activation.expires, .activationCodeExpired,
            "the code of \(user.id) expired at \(activation.expires.rfc3339), and it is now \(moment.rfc3339); expected one that has not expired"
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
        if let other = state.users.user(of: user.tenant, .enterpriseID, subject) {
            throw Refused(
                .subjectTaken,
                because: "\(other.id) has the enterprise id \(subject), so it cannot become that of \(user.id); "
                    + "expected an unused one")
        }
        // ours: a text that an enrollment could not contain is not an enterprise id.
        try Refused.require(
            subject.unicodeScalars.count <= IMSBody.longestText, .subjectMismatch,
            "sub has \(subject.unicodeScalars.count) characters; expected at most \(IMSBody.longestText)")
    }
}

/// A user's view of itself. Source: that it can be retrieved and updated is documented (site); the calls are ours.
extension IMS {
    static func readMe(_ call: inout IMSCall, _ user: IMSUser, _ state: inout State) throws(Refused) -> Reply {
        .json(user.ownJSON)
    }

    /// Changes the members that were sent; ignores those that cannot be changed.
    static func updateMe(_ call: inout IMSCall, _ user: IMSUser, _ state: inout State) throws(Refused) -> Reply {
        let changed = try call.body { body in
            body.accept(["id", "enterprise_id", "email", "state", "activated_at"])
            var user = user
            user.firstName = body.optionalText("first_name") ?? user.firstName
            user.lastName = body.optionalText("last_name") ?? user.lastName
            user.phone = body.optionalText("phone") ?? user.phone
            user.locale = body.optionalText("locale") ?? user.locale
            return user
        }
        state.users.store(changed)
        return .json(changed.ownJSON)
    }
}

/// An invitation that a user sends. Source: the SDK's calls are documented (site); the members are ours.
struct IMSInvitation: KeyedRecord {
    enum Kind: String, CaseIterable, Sendable {
        case account
        case vehicle

        /// The member that lists what is shared.
        var member: String { self == .account ? "account_ids" : "vehicle_ids" }
    }

    /// ours: a limit.
    private static let mostShared = 100

    let kind: Kind
    let name: String
    let email: String
    let phone: String
    let sharedIDs: [String]
    let number: Int
    let user: Int
    let created: Moment

    init(_ body: inout FieldReader, number: Int, user: Int, created: Moment) {
        kind = body.choice("kind", isRequired: true) ?? .account
        name = body.text("name")
        email = body.email("email") ?? ""
        phone = body.optionalText("phone") ?? ""
        if email.isEmpty, phone.isEmpty {
            body.refuse("email", "was not sent, and neither was phone; expected one of them")
        }
        sharedIDs = Self.ids(kind.member, &body)
        (self.number, self.user, self.created) = (number, user, created)
    }

    private static func ids(_ name: String, _ body: inout FieldReader) -> [String] {
        let values = body.list(name) ?? []
        if values.count > mostShared { body.refuse(name, "has more than \(mostShared) elements") }
        for (index, value) in values.prefix(mostShared).enumerated()
        where !(1...IMSBody.longestText).contains(value.string?.unicodeScalars.count ?? 0) {
            body.refuse("\(name).\(index)", "is not a string of 1 to \(IMSBody.longestText) characters")
        }
        return values.compactMap(\.string)
    }

    var key: Int { number }
    var group: Int? { user }
    var memory: Int { ([name, email, phone] + sharedIDs).reduce(256) { $0 + $1.utf8.count } }

    func isSame(as other: IMSInvitation) -> Bool { json == other.json }

    var json: JSON {
        [
            "kind": .string(kind.rawValue), "name": .string(name), "email": .string(email), "phone": .string(phone),
            kind.member: .array(sharedIDs.map(JSON.string)), "invitation_id": .string("inv-\(number)"),
            "from_user_id": .string(IMSUser.id(user)), "status": "sent", "created_at": JSON(created.wholeSeconds),
        ]
    }
}

/// Invitations to others. Source: the SDK's calls are documented (site); the requests are ours, and no mail is sent.
extension IMS {
    static func sendInvitation(_ call: inout IMSCall, _ user: IMSUser, _ state: inout State) throws(Refused) -> Reply {
        let number = state.invitations.nextNumber(upTo: IMSUserStore.numbers.upperBound)
        let invitation = try call.body { IMSInvitation(&$0, number: number, user: user.number, created: call.moment) }
        state.invitations.store(invitation)
        return .json(invitation.json, status: .created)
    }

    static func listInvitations(_ call: inout IMSCall, _ user: IMSUser, _ state: inout State) throws(Refused) -> Reply {
        .json(["invitations": .array(state.invitations.records(in: user.number).map(\.json))])
    }
}
