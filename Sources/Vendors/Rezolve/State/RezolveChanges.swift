import Emulation
import JSON

/// What requests made of the state that the fixtures give.
///
/// Laid over the state of other fixtures, it yields the state as if the requests had met those: what nobody touched is
/// theirs, what requests made or changed is as they left it.
struct RezolveChanges: Sendable {
    /// Customers who registered, or of whom something changed.
    var customers: [RezolveCustomer] = []
    /// Customers of whom nothing changed but their user, for the case that other fixtures do not have them.
    var owners: [RezolveCustomer] = []
    /// Users who registered, or of whom something changed.
    var users: [RUAUser] = []
    /// Pairs that were made for unchanged customers, whom the fixtures give none.
    var keyPairs: [(entity: String, keyPair: DeferredKeyPair)] = []
    /// Entity ids of customers of the fixtures who were removed.
    var removedCustomers: [String] = []
    /// Ids of users of the fixtures who were removed.
    var removedUsers: [Int] = []
    /// The id of the user that registered last.
    var lastUserID: Int

    /// What makes a state differ from the one that it began as.
    init(of state: RezolveState, since start: RezolveState) {
        lastUserID = state.users.lastID
        for (entity, old) in start.customers.sorted {
            guard let customer = state.customers[entity] else {
                removedCustomers.append(entity)
                continue
            }
            if !customer.hasSameContent(as: old) {
                customers.append(customer)
            } else if !customer.hasKeyFile, customer.keyPair.made != nil {
                keyPairs.append((entity, customer.keyPair))
            }
        }
        customers += state.registered.compactMap { start.customers[$0.text] == nil ? state.customers[$0.text] : nil }
        users = state.users.all.filter { start.users[$0.id]?.hasSameContent(as: $0) != true }
        removedUsers = start.users.all.map(\.id).filter { state.users[$0] == nil }
        let listed = Set(customers.map { ExactText($0.entityID) })
        owners = users.compactMap { listed.contains(ExactText($0.entityID)) ? nil : state.customers[$0.entityID] }
    }

    /// Whether nothing differs.
    func isEmpty(since start: RezolveState) -> Bool {
        customers.isEmpty && users.isEmpty && keyPairs.isEmpty && removedCustomers.isEmpty && removedUsers.isEmpty
            && lastUserID == start.users.lastID
    }
}

extension RezolveState {
    /// The state with these changes over it.
    ///
    /// Where a record of the changes and another of this state want the same name or id, that of the changes stays: a
    /// client relies on it already.
    func with(_ changes: RezolveChanges) -> RezolveState {
        var state = self
        for entity in changes.removedCustomers { state.remove(entity: entity) }
        for id in changes.removedUsers { state.removeUser(id) }
        for customer in changes.customers { state.put(customer, isOfFixtures: customers[customer.entityID] != nil) }
        for customer in changes.owners where state.customers[customer.entityID] == nil {
            state.put(customer, isOfFixtures: false)
        }
        for user in changes.users where state.customers[user.entityID] != nil { state.put(user) }
        for (entity, keyPair) in changes.keyPairs where state.customers[entity]?.hasKeyFile == false {
            state.setKeyPair(keyPair, of: entity)
        }
        state.countUsers(from: changes.lastUserID)
        return state
    }
}

extension RezolveCustomer {
    /// Whether everything that a request can change is the same.
    func hasSameContent(as other: RezolveCustomer) -> Bool {
        // As records, whose texts are compared by their bytes.
        record(withSecrets: false) == other.record(withSecrets: false)
    }
}

extension RUAUser {
    /// Whether everything about both is the same.
    func hasSameContent(as other: RUAUser) -> Bool { record(withSecrets: true) == other.record(withSecrets: true) }
}
