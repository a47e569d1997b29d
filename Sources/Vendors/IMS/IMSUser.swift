import Emulation
import JSON

/// A person enrolled in a tenant.
struct IMSUser: Sendable, Hashable, KeyedRecord {
    /// Source: documented, site.
    enum State: String, CaseIterable, Sendable { case enrolled, active, deactivated }

    /// Stands in for the mail that invites a user to activate the app.
    struct Activation: Sendable, Hashable {
        /// Eight digits (ours).
        let code: String
        /// The first moment at which the code no longer works.
        let expires: Moment
        /// 72 hours; the number is ours.
        static let lifetime = Duration.seconds(72 * 3600)
    }

    fileprivate(set) var number = 0
    var tenant = ""
    /// The `sub` of the user's tokens; `nil` until an activation links it.
    var enterpriseID: String?
    /// Like a username; at an enrollment, the email by default (ours).
    var activationID = ""
    var email = ""
    var firstName = ""
    var lastName = ""
    var phone = ""
    var locale = "en"
    var state = State.enrolled
    /// `nil` once used, or when none was needed.
    var activation: Activation?
    fileprivate(set) var created = Moment(unixSeconds: 0)
    var activated: Moment?
    var deactivated: Moment?

    var id: String { Self.id(number) }

    static func id(_ number: Int) -> String { "usr-\(number)" }

    /// The number in an id; `nil` for anything else.
    static func number(_ id: String) -> Int? {
        guard id.hasPrefix("usr-"), let number = Int(id.dropFirst(4)), number > 0, Self.id(number) == id else {
            return nil
        }
        return number
    }

    /// Activates the user and discards the code.
    mutating func activate(at moment: Moment) {
        (state, activation, activated, deactivated) = (.active, nil, moment, nil)
    }

    /// Deactivates the user; data and code stay.
    mutating func deactivate(at moment: Moment) { (state, deactivated) = (.deactivated, moment) }

    /// The user as operators see it, with the code in place of the mail.
    var operatorJSON: JSON {
        [
            "id": .string(id), "tenant": .string(tenant), "enterprise_id": JSON(enterpriseID),
            "activation_id": .string(activationID), "email": .string(email), "first_name": .string(firstName),
            "last_name": .string(lastName), "state": .string(state.rawValue),
            "activation_code": JSON(activation?.code),
            "activation_code_expires_at": Self.time(activation?.expires), "created_at": JSON(created.wholeSeconds),
            "activated_at": Self.time(activated), "deactivated_at": Self.time(deactivated),
        ]
    }

    var ownJSON: JSON {
        [
            "id": .string(id), "enterprise_id": JSON(enterpriseID), "email": .string(email),
            "first_name": .string(firstName), "last_name": .string(lastName), "phone": .string(phone),
            "locale": .string(locale), "state": .string(state.rawValue), "activated_at": Self.time(activated),
        ]
    }

    private static func time(_ moment: Moment?) -> JSON { moment.map { JSON($0.wholeSeconds) } ?? .null }

    /// A value that is unique in a tenant.
    struct Name: Hashable, Sendable {
        enum Kind: String { case enterpriseID = "enterprise_id", activationID = "activation_id", email }

        let tenant: String
        let kind: Kind
        let text: ExactText

        init(_ kind: Kind, _ text: String, in tenant: String) {
            (self.tenant, self.kind) = (tenant, kind)
            // Activation ignores the case of an email, so uniqueness does too.
            self.text = kind == .email ? text.caseFolded : ExactText(text)
        }
    }

    var key: Int { number }
    var names: [Name] {
        let others = [Name(.activationID, activationID, in: tenant), Name(.email, email, in: tenant)]
        return enterpriseID.map { [Name(.enterpriseID, $0, in: tenant)] + others } ?? others
    }
    var secretText: String? { activation?.code }
    var memory: Int {
        let texts = [tenant, enterpriseID ?? "", activationID, email, firstName, lastName, phone, locale]
        return texts.reduce(1024) { $0 + $1.utf8.count }
    }
    static var keyOrder: ((Int, Int) -> Bool)? { { $0 < $1 } }

    func clash(over name: Name?) -> String {
        name.map { "another user of tenant \(tenant) has the same \($0.kind.rawValue)" }
            ?? "another user has the id \(id)"
    }

    mutating func keepSecrets(of known: IMSUser, fromWhole isWhole: Bool) {
        let isSamePerson = tenant == known.tenant && activationID == known.activationID && email == known.email
        // Changes leave out no code, so whose code is missing there has none.
        if isWhole, activation == nil, state != .active, isSamePerson { activation = known.activation }
    }
}

extension IMSUser.Activation {
    init(_ identifiers: IdentifierSource, at moment: Moment) {
        let digits = String(identifiers.next() % 100_000_000)
        self.init(code: String(repeating: "0", count: 8 - digits.count) + digits, expires: moment + Self.lifetime)
    }
}

// MARK: - As a record

/// Users as fixtures and exports list them; empty members are left out.
extension IMSUser: CodedRecord {
    mutating func code(_ coder: inout RecordCoder) {
        coder.member("id", &number, or: nil, write: { .string(Self.id($0)) }) { (node) throws(FixtureProblem) in
            guard let number = Self.number(try node.string()), IMSUserStore.numbers.contains(number) else {
                throw node.problem("is not an id of the form usr-1")
            }
            return number
        }
        coder.text("tenant", &tenant)
        coder.text("enterprise_id", &enterpriseID)
        var ownID: String? = activationID
        coder.text("activation_id", &ownID)
        coder.text("email", &email)
        activationID = ownID ?? email
        coder.member("first_name", &firstName, omitting: "")
        coder.member("last_name", &lastName, omitting: "")
        coder.member("phone", &phone, omitting: "")
        coder.member("locale", &locale, or: "en")
        coder.member("state", &state)
        codeActivation(&coder)
        coder.member("created_at", &created)
        coder.member("activated_at", &activated)
        coder.member("deactivated_at", &deactivated)
        coder.check(state != .active || enterpriseID != nil, or: "user \(id) is active without an enterprise_id")
    }

    /// The code allows anybody to activate the user.
    private mutating func codeActivation(_ coder: inout RecordCoder) {
        var (code, end) = (activation?.code, activation?.expires)
        let isShown = coder.extent != .whole
        coder.text("activation_code", &code, isShown: isShown)
        coder.member(
            "activation_code_expires_at", &end, or: .some(nil), write: { isShown ? $0?.written : nil },
            read: { (node) throws(FixtureProblem) in try node.keptMoment() })
        coder.check(code == nil || end != nil, or: "member “activation_code_expires_at” is missing")
        activation = code.flatMap { code in end.map { Activation(code: code, expires: $0) } }
        if state == .active { activation = nil }
    }
}

extension IMSUser.State: RecordValue {}

extension RecordCoder {
    fileprivate mutating func text(_ name: String, _ value: inout String) {
        member(name, &value, or: nil, write: { $0.written }, read: Self.text)
    }

    fileprivate mutating func text(_ name: String, _ value: inout String?, isShown: Bool = true) {
        member(name, &value, or: .some(nil), write: { isShown ? $0?.written : nil }, read: Self.text)
    }

    private static func text(_ node: FixtureNode) throws(FixtureProblem) -> String {
        let text = try node.string()
        guard (1...IMSBody.longestText).contains(text.unicodeScalars.count) else {
            throw node.problem("a text of 1 to \(IMSBody.longestText) characters is expected")
        }
        return text
    }
}

/// The users of a sandbox, found by id, or within a tenant by its unique names.
typealias IMSUserStore = RecordTable<IMSUser>

extension IMSUserStore {
    /// ours: leaves room for further numbers.
    static var numbers: ClosedRange<Int> { 1...1_000_000_000 }

    func user(of tenant: String, _ kind: IMSUser.Name.Kind, _ text: String) -> IMSUser? {
        self[named: IMSUser.Name(kind, text, in: tenant)]
    }

    /// The oldest user with that enterprise id in any tenant.
    func user(enterpriseID: String) -> IMSUser? {
        all.first { $0.enterpriseID?.hasSameBytes(as: enterpriseID) == true }
    }

    /// The member in which a user to be enrolled equals another one of its tenant, and that other user.
    func conflict(with user: IMSUser) -> (field: String, other: IMSUser)? {
        for name in user.names { if let other = self[named: name] { return (name.kind.rawValue, other) } }
        return nil
    }

    /// Enrolls a user without conflicts in its tenant.
    ///
    /// - Returns: the user with its number, and with a code unless it is active at once.
    mutating func enroll(_ user: IMSUser, _ identifiers: IdentifierSource, at moment: Moment) -> IMSUser {
        var user = user
        (user.number, user.created) = (nextNumber(upTo: Self.numbers.upperBound), moment)
        if user.state == .active {
            user.activate(at: moment)
        } else {
            user.activation = IMSUser.Activation(identifiers, at: moment)
        }
        store(user)
        return user
    }
}

extension String {
    /// The text with ASCII letters in lower case, for comparisons that ignore case.
    var caseFolded: ExactText {
        ExactText(
            String(
                decoding: utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 },
                as: UTF8.self))
    }
}

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
