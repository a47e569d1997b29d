import Emulation
import JSON

/// State as JSON. Records have the members of `accounts.yaml`, and those that only requests change.
extension Rezolve: RecordedVendor {
    func size(of state: State) -> StateSize { state.customers.size + state.users.size }

    func code(_ state: inout State, _ coder: inout RecordCoder) {
        let isPart = coder.extent == .changes
        let complaint = accounts.partners.complaint(about:)
        var (owners, pairs) = (state.owners, state.madeKeyPairs)
        // Read first, since whole states lack it: its absence shows that the input is no set of changes.
        let readsOwners = isPart && coder.isReading
        if readsOwners { coder.list("owners", &owners, isRequired: true, complaint: complaint) }
        coder.table("customers", &state.customers, complaint: complaint)
        if isPart, !readsOwners { coder.list("owners", &owners, isRequired: true, complaint: complaint) }
        if coder.isReading { state.add(owners: owners) }
        coder.table("users", &state.users, prepare: RecordTable.preparation(state.customers))
        if isPart {
            coder.list("key_pairs", &pairs, isRequired: true)
            coder.removals("removed_customers", &state.customers)
            coder.removals("removed_users", &state.users)
        }
        coder.lastNumber("last_user_id", &state.users, isRequired: isPart) { (node) throws(FixtureProblem) in
            let (id, largest) = (try node.int(), RUAUser.largestID)
            guard (0...largest).contains(id) else {
                throw node.problem("user id \(id) is not between 0 and \(largest)")
            }
            return id
        }
        if coder.isReading { state.settle(pairs) }
    }

    func adopt(_ state: State, startedFrom old: Rezolve) -> State {
        var adopted = initialState
        adopted.customers.take(changesOf: state.customers)
        adopted.add(owners: state.owners)
        adopted.users.take(changesOf: state.users)
        adopted.settle(state.madeKeyPairs)
        return adopted
    }
}

extension RezolveState {
    /// Unchanged customers whose user changed, in case other fixtures lack them.
    fileprivate var owners: [RezolveCustomer] {
        users.changed.compactMap {
            customers.changed(ExactText($0.entityID)) == nil ? customers[$0.entityID] : nil
        }
    }

    /// Pairs made for unchanged customers that have none in the fixtures.
    fileprivate var madeKeyPairs: [RezolveKeyPair] {
        customers.untouched.all.compactMap { fixture in
            guard let customer = customers[fixture.key], !customer.hasKeyFile, customer.keyPair.made != nil,
                customer.isSame(as: fixture)
            else { return nil }
            return RezolveKeyPair(entityID: customer.entityID, keyPair: customer.keyPair)
        }
    }

    fileprivate mutating func add(owners: [RezolveCustomer]) {
        for owner in owners where customers[owner.key] == nil { customers.put(owner) }
    }

    /// Gives unchanged customers their pairs, and removes users without a customer.
    fileprivate mutating func settle(_ pairs: [RezolveKeyPair]) {
        for pair in pairs where customers[pair.entityID]?.hasKeyFile == false {
            customers.change(ExactText(pair.entityID)) { $0.keyPair = pair.keyPair }
        }
        for user in users.all where customers[user.entityID] == nil { users.remove(user.id) }
    }
}
