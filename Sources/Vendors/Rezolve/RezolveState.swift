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

    private(set) var customers: [String: RezolveCustomer] = [:]
    private(set) var users = RUAUsers()
    private var entities: [PartnerUser: String] = [:]
    private var registered: [String] = []

    init(_ accounts: RezolveAccounts) {
        for customer in accounts.customers { insert(customer) }
        for user in accounts.users { users.store(user) }
    }

    /// The customer whom a partner knows by that id.
    func customer(partner: String, partnerEntityID: String) -> RezolveCustomer? {
        entities[PartnerUser(partnerID: partner, partnerEntityID: partnerEntityID)].flatMap { customers[$0] }
    }

    /// An entity id that nobody has; a seed that is set again gives out ids again.
    func freshEntityID(_ identifiers: IdentifierSource) -> String {
        while true {
            let id = identifiers.uuid()
            if customers[id] == nil { return id }
        }
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

    /// Removes a customer with the user that stands for it.
    mutating func remove(entity: String) {
        forget(entity)
        registered.removeAll { $0 == entity }
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
        users.remove(entity: entity)
    }
}

// MARK: - RUA

extension RezolveState {
    /// What RUA calls a user towards Rezolve (ours).
    static func partnerEntityID(ofUser id: Int) -> String { "rua-\(id)" }

    /// The id of the next user of a partner, for whom ``partnerEntityID(ofUser:)`` is still free.
    func nextUserID(of partner: String) -> Int {
        var id = users.nextID
        while customer(partner: partner, partnerEntityID: Self.partnerEntityID(ofUser: id)) != nil { id += 1 }
        return id
    }

    /// Stores a new or changed user.
    mutating func store(_ user: RUAUser) { users.store(user) }

    /// The user that stands for a customer.
    func user(entity: String) -> RUAUser? { users.user(entity: entity) }
}
