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

    private(set) var number: Int
    private(set) var tenant: String
    /// The `sub` of the user's tokens; `nil` until an activation links it.
    var enterpriseID: String?
    private(set) var activationID: String
    private(set) var email: String
    var firstName = ""
    var lastName = ""
    var phone = ""
    var locale = "en"
    var state = State.enrolled
    /// `nil` once used, or when none was needed.
    var activation: Activation?
    private(set) var created: Moment
    var activated: Moment?
    var deactivated: Moment?

    /// The user's id in paths and answers.
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

    /// The value of a member that is unique in a tenant.
    func text(of member: String) -> String { record[member]?.string ?? "" }

    /// The user as operators see it, with the code in place of the mail.
    var operatorJSON: JSON {
        var record = record
        record["activation_code"] = JSON(activation?.code)
        return .object(record)
    }

    /// The operator's members in order; the code is `null`.
    var record: JSONObject {
        [
            "id": .string(id), "tenant": .string(tenant), "enterprise_id": JSON(enterpriseID),
            "activation_id": .string(activationID), "email": .string(email), "first_name": .string(firstName),
            "last_name": .string(lastName), "state": .string(state.rawValue), "activation_code": nil,
            "activation_code_expires_at": Self.time(activation?.expires), "created_at": JSON(created.wholeSeconds),
            "activated_at": Self.time(activated), "deactivated_at": Self.time(deactivated),
        ]
    }

    /// The user as it sees itself.
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
    }

    var key: Int { number }
    var names: [Name] { Self.names(of: tenant, enterpriseID, activationID, email) }
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

    mutating func keepSecrets(of known: IMSUser, fromWhole _: Bool) {
        let isSamePerson = tenant == known.tenant && activationID == known.activationID && email == known.email
        if activation == nil, state != .active, isSamePerson { activation = known.activation }
    }

    fileprivate static func names(
        of tenant: String, _ enterpriseID: String?, _ activationID: String, _ email: String
    ) -> [Name] {
        (enterpriseID.map { [Name(tenant: tenant, kind: .enterpriseID, text: ExactText($0))] } ?? [])
            + [
                Name(tenant: tenant, kind: .activationID, text: ExactText(activationID)),
                // Activation ignores the case of an email, so uniqueness does too.
                Name(tenant: tenant, kind: .email, text: email.caseFolded),
            ]
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
    init() { self.init(number: 0, tenant: "", activationID: "", email: "", created: Moment(unixSeconds: 0)) }

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

struct IMSEnrollment: Sendable {
    let tenant: String
    let email: String
    var enterpriseID: String?
    /// Like a username; defaults to the email (ours).
    var activationID: String?
    var firstName = ""
    var lastName = ""
    /// Whether no activation is needed.
    var isActive = false

    /// What the user enters to activate the app.
    var effectiveActivationID: String { activationID ?? email }
}

/// The users of a sandbox, found by id, or within a tenant by its unique names.
typealias IMSUserStore = RecordTable<IMSUser>

extension IMSUserStore {
    /// ours: leaves room for further numbers.
    static var numbers: ClosedRange<Int> { 1...1_000_000_000 }

    func user(of tenant: String, enterpriseID: String) -> IMSUser? {
        self[named: IMSUser.Name(tenant: tenant, kind: .enterpriseID, text: ExactText(enterpriseID))]
    }

    func user(of tenant: String, activationID: String) -> IMSUser? {
        self[named: IMSUser.Name(tenant: tenant, kind: .activationID, text: ExactText(activationID))]
    }

    /// The user with that email in a tenant, ignoring case.
    func user(of tenant: String, email: String) -> IMSUser? {
        self[named: IMSUser.Name(tenant: tenant, kind: .email, text: email.caseFolded)]
    }

    /// The oldest user with that enterprise id in any tenant.
    func user(enterpriseID: String) -> IMSUser? {
        all.first { $0.enterpriseID?.hasSameBytes(as: enterpriseID) == true }
    }

    /// The member in which an enrollment equals another user of its tenant, and that user.
    func conflict(with enrollment: IMSEnrollment) -> (field: String, other: IMSUser)? {
        let names = IMSUser.names(
            of: enrollment.tenant, enrollment.enterpriseID, enrollment.effectiveActivationID, enrollment.email)
        for name in names { if let other = self[named: name] { return (name.kind.rawValue, other) } }
        return nil
    }

    /// Enrolls a user without conflicts in its tenant.
    ///
    /// - Returns: the user, with a code unless it is active at once.
    mutating func enroll(_ enrollment: IMSEnrollment, _ identifiers: IdentifierSource, at moment: Moment) -> IMSUser {
        var user = IMSUser(
            number: nextNumber(upTo: Self.numbers.upperBound), tenant: enrollment.tenant,
            enterpriseID: enrollment.enterpriseID, activationID: enrollment.effectiveActivationID,
            email: enrollment.email, created: moment)
        (user.firstName, user.lastName) = (enrollment.firstName, enrollment.lastName)
        if enrollment.isActive {
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
