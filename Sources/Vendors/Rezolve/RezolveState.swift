import Emulation

/// What Rezolve and RUA remember in one sandbox.
struct RezolveState: Sendable {
    /// Registered customers beyond this number push out the ones that registered first; customers of the fixtures stay.
    /// ours: a bound, so that a load test cannot fill the machine.
    static let capacity = 50_000

    /// A user of a partner, as the partner numbers its users.
    struct PartnerUser: Hashable, Sendable {
        let partnerID: String
        let partnerEntityID: String
    }

    /// A sign-in of a user on a device.
    struct SessionKey: Hashable, Sendable {
        let userID: Int
        let deviceID: String
    }

    private(set) var customers: [String: RezolveCustomer] = [:]
    private(set) var users: [Int: RUAUser] = [:]
    private var entities: [PartnerUser: String] = [:]
    private var userIDs: [String: Int] = [:]
    private var registered: [String] = []
    private var loggedOut: Set<SessionKey> = []
    private var lastUserID = 1000

    init(_ accounts: RezolveAccounts) {
        for customer in accounts.customers { insert(customer) }
        for user in accounts.users { store(user) }
    }

    /// The customer whom a partner knows by that id.
    func customer(partner: String, partnerEntityID: String) -> RezolveCustomer? {
        entities[PartnerUser(partnerID: partner, partnerEntityID: partnerEntityID)].flatMap { customers[$0] }
    }

    /// Adds a customer who registers.
    mutating func register(_ customer: RezolveCustomer) {
        insert(customer)
        registered.append(customer.entityID)
        if registered.count > Self.capacity {
            // A hundredth at once: taking single elements off the front would move all the others each time.
            let oldest = registered.prefix(Self.capacity / 100)
            for entity in oldest { forget(entity) }
            registered.removeFirst(oldest.count)
        }
    }

    /// Stores a customer who may have changed.
    mutating func store(_ customer: RezolveCustomer) {
        if customers.updateValue(customer, forKey: customer.entityID) == nil { register(customer) }
    }

    private mutating func insert(_ customer: RezolveCustomer) {
        customers[customer.entityID] = customer
        entities[PartnerUser(partnerID: customer.partnerID, partnerEntityID: customer.partnerEntityID)] =
            customer.entityID
    }

    private mutating func forget(_ entity: String) {
        guard let customer = customers.removeValue(forKey: entity) else { return }
        entities[PartnerUser(partnerID: customer.partnerID, partnerEntityID: customer.partnerEntityID)] = nil
        if let user = userIDs.removeValue(forKey: entity) { users[user] = nil }
    }
}

// MARK: - RUA

extension RezolveState {
    /// The id of the next user that registers.
    var nextUserID: Int { lastUserID + 1 }

    /// The id of the next user of a partner, for whom ``partnerEntityID(ofUser:)`` is still free.
    func nextUserID(of partner: String) -> Int {
        var id = nextUserID
        while customer(partner: partner, partnerEntityID: Self.partnerEntityID(ofUser: id)) != nil { id += 1 }
        return id
    }

    /// What RUA calls a user towards Rezolve (ours).
    static func partnerEntityID(ofUser id: Int) -> String { "rua-\(id)" }

    /// Stores a new or changed user.
    mutating func store(_ user: RUAUser) {
        users[user.id] = user
        userIDs[user.entityID] = user.id
        lastUserID = max(lastUserID, user.id)
    }

    /// The user that stands for a customer.
    func user(entity: String) -> RUAUser? { userIDs[entity].flatMap { users[$0] } }

    /// The first user of a partner whom a condition describes.
    func user(partner: String, where matches: (RUAUser) -> Bool) -> RUAUser? {
        users.values.filter { $0.partnerID == partner && matches($0) }.min { $0.id < $1.id }
    }

    /// Whether the user's session on that device was logged out. One that was never opened counts as open: a partner's
    /// own server may have signed its token (ours).
    func isLoggedOut(_ user: RUAUser, device: String) -> Bool {
        loggedOut.contains(SessionKey(userID: user.id, deviceID: device))
    }

    /// Opens the user's session on that device, also after a logout, and counts the sign-in.
    ///
    /// - Returns: the user as changed.
    mutating func logIn(_ user: RUAUser, device: String) -> RUAUser {
        var user = user
        user.timesLoggedIn = (user.timesLoggedIn ?? 0) + 1
        store(user)
        loggedOut.remove(SessionKey(userID: user.id, deviceID: device))
        return user
    }

    /// Closes the user's session on that device.
    mutating func logOut(_ user: RUAUser, device: String) {
        loggedOut.insert(SessionKey(userID: user.id, deviceID: device))
    }
}
