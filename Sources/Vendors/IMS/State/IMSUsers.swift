import Emulation
import JSON

/// The users of a sandbox, found by id, and within a tenant by what is unique there.
struct IMSUsers: Sendable {
    /// Users beyond this number push out the ones that were enrolled first; users of the fixtures stay.
    private let capacity: Int
    /// ours: a bound, so that a load test cannot fill the machine.
    static let standardCapacity = 50_000
    /// ours: numbers that leave room for counting on.
    static let numbers = 1...1_000_000_000

    /// What only one user of a tenant has.
    private struct Name: Hashable {
        enum Kind: String { case enterpriseID = "enterprise_id", activationID = "activation_id", email }

        let tenant: String
        let kind: Kind
        let text: ExactText
    }

    private var users: [Int: IMSUser] = [:]
    private var numbers: [Name: Int] = [:]
    /// The activation codes that users have, or had.
    private(set) var codes = SecretLedger()
    /// The numbers of those who are not of the fixtures, in the order of their enrollment.
    private(set) var enrolled = ArrivalOrder<Int>()
    /// The largest number that was given out.
    private(set) var lastNumber = 0

    /// Nobody yet.
    init(capacity: Int = IMSUsers.standardCapacity) {
        self.capacity = capacity
    }

    /// All users, in the order of their numbers.
    var all: [IMSUser] { users.values.sorted { $0.number < $1.number } }

    subscript(number: Int) -> IMSUser? { users[number] }

    /// The user of a tenant with that `sub`.
    func user(of tenant: String, enterpriseID: String) -> IMSUser? {
        user(Name(tenant: tenant, kind: .enterpriseID, text: ExactText(enterpriseID)))
    }

    /// The user of a tenant with that activation id.
    func user(of tenant: String, activationID: String) -> IMSUser? {
        user(Name(tenant: tenant, kind: .activationID, text: ExactText(activationID)))
    }

    /// The user of a tenant with that email, whose case does not matter.
    func user(of tenant: String, email: String) -> IMSUser? {
        user(Name(tenant: tenant, kind: .email, text: email.caseFolded))
    }

    private func user(_ name: Name) -> IMSUser? { numbers[name].flatMap { users[$0] } }

    /// The oldest user with that enterprise id in any tenant.
    func user(enterpriseID: String) -> IMSUser? {
        users.values.filter { $0.enterpriseID?.hasSameBytes(as: enterpriseID) == true }.min { $0.number < $1.number }
    }

    /// The member in which an enrollment equals another user of its tenant, and that user.
    func conflict(with enrollment: IMSEnrollment) -> (field: String, other: IMSUser)? {
        for name in Self.names(
            of: enrollment.tenant, enrollment.enterpriseID, enrollment.effectiveActivationID, enrollment.email)
        {
            if let other = user(name) { return (name.kind.rawValue, other) }
        }
        return nil
    }

    /// The member in which a user equals another one of its tenant.
    func conflict(with user: IMSUser) -> String? {
        Self.names(of: user).first { numbers[$0].map { $0 != user.number } ?? false }?.kind.rawValue
    }

    private static func names(of user: IMSUser) -> [Name] {
        names(of: user.tenant, user.enterpriseID, user.activationID, user.email)
    }

    private static func names(
        of tenant: String, _ enterpriseID: String?, _ activationID: String, _ email: String
    ) -> [Name] {
        (enterpriseID.map { [Name(tenant: tenant, kind: .enterpriseID, text: ExactText($0))] } ?? [])
            + [
                Name(tenant: tenant, kind: .activationID, text: ExactText(activationID)),
                // The case of an email is ignored at activation, so two of them are one here as well.
                Name(tenant: tenant, kind: .email, text: email.caseFolded),
            ]
    }
}

// MARK: - Changes

extension IMSUsers {
    /// Enrolls a user with whom nobody of the tenant is in conflict.
    ///
    /// - Returns: the user, with a code unless it is active at once.
    mutating func enroll(
        _ enrollment: IMSEnrollment, _ identifiers: IdentifierSource, at moment: Moment
    ) -> IMSUser {
        var user = IMSUser(
            number: Ordinal.free(after: lastNumber, upTo: Self.numbers.upperBound) { users[$0] != nil },
            tenant: enrollment.tenant, enterpriseID: enrollment.enterpriseID,
            activationID: enrollment.effectiveActivationID, email: enrollment.email, created: moment)
        (user.firstName, user.lastName) = (enrollment.firstName, enrollment.lastName)
        if enrollment.isActive {
            user.activate(at: moment)
        } else {
            user.activation = IMSUser.Activation(identifiers, at: moment)
        }
        put(user, isOfFixtures: false)
        return user
    }

    /// Stores a user who is there already.
    mutating func store(_ user: IMSUser) {
        forgetNames(of: user.number)
        insert(user)
    }

    /// Puts a user in the place of all who have its number, or a name of it.
    ///
    /// - Parameter isOfFixtures: whether the user stays whoever else is enrolled.
    mutating func put(_ user: IMSUser, isOfFixtures: Bool) {
        for number in Self.names(of: user).compactMap({ numbers[$0] }) where number != user.number { remove(number) }
        let isNew = users[user.number] == nil
        store(user)
        guard isNew, !isOfFixtures else { return }
        enrolled.append(user.number)
        guard enrolled.count > capacity else { return }
        // A hundredth at once: taking single elements off the front would move all the others each time.
        for number in enrolled.removeFirst(capacity / 100) { forget(number) }
    }

    /// Removes a user.
    mutating func remove(_ number: Int) {
        forget(number)
        enrolled.remove(number)
    }

    /// Has numbers count on from there, if they have not come so far.
    mutating func count(from number: Int) { lastNumber = max(lastNumber, number) }

    private mutating func insert(_ user: IMSUser) {
        if let code = user.activation?.code, users[user.number]?.activation?.code != code { codes.add(code) }
        users[user.number] = user
        for name in Self.names(of: user) { numbers[name] = user.number }
        lastNumber = max(lastNumber, user.number)
    }

    private mutating func forget(_ number: Int) {
        forgetNames(of: number)
        users[number] = nil
    }

    private mutating func forgetNames(of number: Int) {
        guard let user = users[number] else { return }
        for name in Self.names(of: user) where numbers[name] == number { numbers[name] = nil }
    }
}
