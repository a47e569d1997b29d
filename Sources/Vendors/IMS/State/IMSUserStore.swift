import Emulation
import JSON

/// The users of a sandbox, found by id, or within a tenant by its unique names.
typealias IMSUserStore = RecordTable<IMSUser>

extension IMSUser: KeyedRecord {
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

    mutating func keepSecrets(of known: IMSUser, leftOutBy _: StateExtent?) {
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

extension IMSUserStore {
    /// ours: leaves room for further numbers.
    static var numbers: ClosedRange<Int> { 1...1_000_000_000 }

    /// The user with that `sub` in a tenant.
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
