import Emulation
import JSON

/// What Rezolve and RUA remember in one sandbox.
struct RezolveState: Sendable {
    /// Fixture customers by entity id, then the others in order of registration.
    var customers: RecordTable<RezolveCustomer>
    var users: RecordTable<RUAUser>

    init(_ accounts: RezolveAccounts) {
        customers = RecordTable(fixtures: accounts.customers.sorted { $0.key < $1.key })
        users = RecordTable(fixtures: accounts.users, lastNumber: 1000)
    }

    func entityID(partner: String, partnerEntityID: String) -> String? {
        customers.key(named: RezolveCustomer.PartnerUser(partnerID: partner, partnerEntityID: partnerEntityID))?.text
    }

    func customer(partner: String, partnerEntityID: String) -> RezolveCustomer? {
        customers[named: RezolveCustomer.PartnerUser(partnerID: partner, partnerEntityID: partnerEntityID)]
    }

    /// Explains a token that names no customer: whose name its other claim has, or why the customer may be missing.
    func absence(of token: RezolveToken) -> String {
        if token.kind == .registration, token.entityID.hasSameBytes(as: RezolveToken.noEntity) {
            return "A registration JWT names its user by partner_entity_id; nobody registered \(token.partnerEntityID)."
        }
        if let known = customers.all.first(where: { $0.partnerEntityID.hasSameBytes(as: token.entityID) }) {
            return "It is the partner_entity_id of \(known.entityID), so the two claims may be swapped."
        }
        if let known = customers.all.first(where: { $0.partnerEntityID.hasSameBytes(as: token.partnerEntityID) }) {
            return "Its partner_entity_id \(token.partnerEntityID) is that of \(known.entityID)."
        }
        return "The customer was never registered here, was removed, or a reset forgot it."
    }

    /// An unused entity id; setting a seed again repeats ids.
    func freshEntityID(_ identifiers: IdentifierSource) -> String {
        while true {
            let id = identifiers.uuid()
            if customers[id] == nil { return id }
        }
    }

    /// Adds a newly registered customer, or stores a changed one.
    mutating func store(_ customer: RezolveCustomer) {
        if customers.change(customer.key, { $0 = customer }) != nil { return }
        customers.store(customer)
    }

    /// Removes a customer and the user that represents it.
    mutating func remove(entity: String) {
        customers.remove(ExactText(entity))
        if let id = users.key(named: .customer(entity)) { users.remove(id) }
    }
}

// MARK: - RUA

extension RezolveState {
    /// RUA's name for a user at Rezolve (ours).
    static func partnerEntityID(ofUser id: Int) -> String { "rua-\(id)" }

    /// The id of a partner's next user, whose ``partnerEntityID(ofUser:)`` is still free.
    func nextUserID(of partner: String) -> Int {
        users.nextNumber(upTo: RUAUser.largestID) {
            entityID(partner: partner, partnerEntityID: Self.partnerEntityID(ofUser: $0)) != nil
        }
    }
}
