import Emulation
import JSON

/// What Rezolve and RUA remember in one sandbox.
struct RezolveState: Sendable {
    /// Registered customers beyond this number push out the ones that registered first; customers of the fixtures stay.
    /// ours: a bound, so that a load test cannot fill the machine.
    static let capacity = 50_000

    /// A user of a partner, as the partner numbers its users.
    struct PartnerUser: Hashable, Sendable {
        let partnerID: String
        @ExactText var partnerEntityID: String
    }

    private(set) var customers = ExactTextMap<RezolveCustomer>()
    private(set) var users = RUAUsers()
    private var entities: [PartnerUser: String] = [:]
    /// The entity ids of those who are not of the fixtures, in the order in which they registered.
    private(set) var registered = ArrivalOrder<ExactText>()

    init(_ accounts: RezolveAccounts) {
        for customer in accounts.customers { insert(customer) }
        for user in accounts.users { users.store(user) }
    }

    /// No customers and no users.
    init() {}

    /// The entity id of the customer whom a partner knows by that id.
    func entityID(partner: String, partnerEntityID: String) -> String? {
        entities[PartnerUser(partnerID: partner, partnerEntityID: partnerEntityID)]
    }

    /// The customer whom a partner knows by that id.
    func customer(partner: String, partnerEntityID: String) -> RezolveCustomer? {
        entityID(partner: partner, partnerEntityID: partnerEntityID).flatMap { customers[$0] }
    }

    /// What to tell of a token that names no customer: who has that name in its other claim, or why there may be nobody.
    func absence(of token: RezolveToken) -> String {
        if token.kind == .registration, token.entityID.hasSameBytes(as: RezolveToken.noEntity) {
            return "A registration JWT names its user by partner_entity_id; nobody registered \(token.partnerEntityID)."
        }
        if let known = customers.values.first(where: { $0.partnerEntityID.hasSameBytes(as: token.entityID) }) {
            return "It is the partner_entity_id of \(known.entityID), so the two claims may be swapped."
        }
        if let known = customers.values.first(where: { $0.partnerEntityID.hasSameBytes(as: token.partnerEntityID) }) {
            return "Its partner_entity_id \(token.partnerEntityID) is that of \(known.entityID)."
        }
        return "The customer was never registered here, was removed, or a reset forgot it."
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
        registered.append(ExactText(customer.entityID))
        if registered.count > Self.capacity {
            // A hundredth at once: taking single elements off the front would move all the others each time.
            for entity in registered.removeFirst(Self.capacity / 100) { forget(entity.text) }
        }
    }

    /// Removes a customer with the user that stands for it.
    mutating func remove(entity: String) {
        forget(entity)
        registered.remove(ExactText(entity))
    }

    /// Stores a customer who may have changed.
    mutating func store(_ customer: RezolveCustomer) {
        if customers.updateValue(customer, forKey: customer.entityID) == nil { register(customer) }
    }

    private mutating func insert(_ customer: RezolveCustomer) {
        customers[customer.entityID] = customer
        entities[customer.partnerUser] = customer.entityID
    }

    private mutating func forget(_ entity: String) {
        guard let customer = customers.removeValue(forKey: entity) else { return }
        entities[customer.partnerUser] = nil
        users.remove(entity: entity)
    }
}

// MARK: - Whole records

extension RezolveState {
    /// Puts a customer in the place of all who have its entity id, or its name at the partner.
    ///
    /// - Parameter isOfFixtures: whether the customer stays whoever else registers.
    mutating func put(_ customer: RezolveCustomer, isOfFixtures: Bool) {
        if let other = entities[customer.partnerUser], !other.hasSameBytes(as: customer.entityID) {
            remove(entity: other)
        }
        if let old = customers[customer.entityID] { entities[old.partnerUser] = nil }
        if isOfFixtures { insert(customer) } else { register(customer) }
    }

    /// Puts a user in the place of all who have its id or stand for its customer.
    mutating func put(_ user: RUAUser) {
        users.remove(entity: user.entityID)
        if let other = users[user.id] { users.remove(entity: other.entityID) }
        users.store(user)
    }

    /// Removes a user, its customer staying.
    mutating func removeUser(_ id: Int) {
        if let user = users[id] { users.remove(entity: user.entityID) }
    }

    /// Gives a customer another key pair.
    mutating func setKeyPair(_ keyPair: DeferredKeyPair, of entity: String) {
        customers[entity]?.keyPair = keyPair
    }

    /// Has the ids of users count on from there, if they have not come so far.
    mutating func countUsers(from lastID: Int) { users.count(from: lastID) }
}

// MARK: - RUA

extension RezolveState {
    /// What RUA calls a user towards Rezolve (ours).
    static func partnerEntityID(ofUser id: Int) -> String { "rua-\(id)" }

    /// The id of the next user of a partner, for whom ``partnerEntityID(ofUser:)`` is still free.
    func nextUserID(of partner: String) -> Int {
        users.nextID { entityID(partner: partner, partnerEntityID: Self.partnerEntityID(ofUser: $0)) != nil }
    }

    /// Stores a new or changed user.
    mutating func store(_ user: RUAUser) { users.store(user) }

    /// Stores a user whose names may have changed.
    mutating func rename(_ user: RUAUser) { users.rename(user) }

    /// The user that stands for a customer.
    func user(entity: String) -> RUAUser? { users.user(entity: entity) }
}
