import Emulation
import JSON
import Tokens

/// State as JSON. Records have the members that they have in `accounts.yaml`, and those that only requests change.
extension Rezolve {
    func export(_ state: RezolveState, _ extent: StateExtent) -> JSON? {
        switch extent {
        case .whole:
            let registered = Set(state.registered)
            let ofFixtures = state.customers.sorted.map(\.key).filter { !registered.contains(ExactText($0)) }
            let customers = (ofFixtures + state.registered.map(\.text)).compactMap { state.customers[$0] }
            return [
                "customers": .array(customers.map { $0.record(withSecrets: false) }),
                "users": .array(state.users.all.map { $0.record(withSecrets: false) }),
                "last_user_id": JSON(state.users.lastID),
            ]
        case .changes:
            let changes = RezolveChanges(of: state, since: initialState)
            if changes.isEmpty(since: initialState) { return nil }
            return changes.json
        }
    }

    func state(
        importing node: FixtureNode, _ extent: StateExtent, over current: RezolveState
    ) throws(FixtureProblem) -> RezolveState {
        switch extent {
        case .whole: return try whole(node, over: current)
        case .changes:
            let changes = try RezolveChanges(node, accounts, over: current)
            try checkRoom(for: changes.customers + changes.owners, at: node)
            return current.with(changes)
        }
    }

    /// Refuses more customers than are kept, of whom the first would be dropped.
    private func checkRoom(for customers: [RezolveCustomer], at node: FixtureNode) throws(FixtureProblem) {
        let registered = customers.count { initialState.customers[$0.entityID] == nil }
        guard registered <= RezolveState.capacity else {
            throw node.problem(
                "customers: \(registered) of them are not of the fixtures, and at most \(RezolveState.capacity) are kept"
            )
        }
    }

    private func whole(_ node: FixtureNode, over current: RezolveState) throws(FixtureProblem) -> RezolveState {
        let document = try node.mapping("customers", "users", "last_user_id")
        let records = try RezolveRecords(document, of: accounts.partners, from: .export(over: current))
        try checkRoom(for: records.customers, at: node)
        var state = RezolveState()
        for customer in records.customers {
            state.put(customer, isOfFixtures: initialState.customers[customer.entityID] != nil)
        }
        for user in records.users { state.put(user) }
        // An id of the fixtures is not given out again, whether its user is in the import or not.
        state.countUsers(from: initialState.users.lastID)
        if let node = document["last_user_id"] { state.countUsers(from: try node.userID()) }
        return state
    }

    func adopt(_ state: RezolveState, startedFrom old: Rezolve) -> RezolveState {
        initialState.with(RezolveChanges(of: state, since: old.initialState))
    }
}

extension RezolveChanges {
    fileprivate var json: JSON {
        [
            "customers": .array(customers.map { $0.record(withSecrets: true) }),
            "owners": .array(owners.map { $0.record(withSecrets: true) }),
            "users": .array(users.map { $0.record(withSecrets: true) }),
            "key_pairs": .array(
                keyPairs.map { ["entity": .string($0.entity), "private_key": JSON($0.keyPair.made?.privatePEM)] }),
            "removed_customers": .array(removedCustomers.map(JSON.string)),
            "removed_users": .array(removedUsers.map { JSON($0) }), "last_user_id": JSON(lastUserID),
        ]
    }

    fileprivate init(
        _ node: FixtureNode, _ accounts: RezolveAccounts, over start: RezolveState
    ) throws(FixtureProblem) {
        let document = try node.mapping(
            "customers", "owners", "users", "key_pairs", "removed_customers", "removed_users", "last_user_id")
        let source = RezolveRecordSource.export(over: start)
        owners = try RezolveRecords.customers(try document.required("owners"), of: accounts.partners, from: source)
        var others = start.customers
        for owner in owners { others[owner.entityID] = owner }
        let records = try RezolveRecords(document, of: accounts.partners, from: source, besides: others)
        (customers, users) = (records.customers, records.users)
        lastUserID = try document.required("last_user_id").userID()
        try document.required("removed_customers").forEachRecord { (node) throws(FixtureProblem) in
            removedCustomers.append(try node.string())
        }
        try document.required("removed_users").forEachRecord { (node) throws(FixtureProblem) in
            removedUsers.append(try node.int())
        }
        try document.required("key_pairs").forEachRecord { (node) throws(FixtureProblem) in
            let entry = try node.mapping("entity", "private_key")
            let key = try RezolveCustomer.privateKey(try entry.required("private_key"))
            keyPairs.append((try entry.required("entity").string(), DeferredKeyPair(key)))
        }
    }
}

// MARK: - Records

extension RezolveCustomer {
    /// The customer as it is exported.
    func record(withSecrets: Bool) -> JSON {
        var record: JSONObject = [
            "entity": .string(entityID), "partner": .string(partnerID), "partner_entity_id": .string(partnerEntityID),
            "created": created.json, "profile": profile.record, "phones": .array(phones.map(\.json)),
            "addresses": .array(addresses.map(\.record)), "cards": .array(cards.map(\.record)),
        ]
        if withSecrets, let key = keyPair.made?.privatePEM { record["private_key"] = .string(key) }
        return .object(record)
    }
}

extension RezolveProfile {
    fileprivate var record: JSON {
        [
            "title": .string(title), "name": .string(name), "first_name": .string(firstName),
            "last_name": .string(lastName), "email": .string(email), "timezone": .string(timeZone),
            "use_data_for_marketing": .bool(allowsMarketing), "updated": updated.json,
        ]
    }
}

extension RezolveAddress {
    /// As answered, without the member that is null in every answer.
    fileprivate var record: JSON {
        var record = json.object ?? [:]
        record["country_alpha2"] = nil
        return .object(record)
    }
}

extension RezolveCard {
    /// As answered; what is null there is left out.
    fileprivate var record: JSON {
        var record = json.object ?? [:]
        if validFrom == nil { record["valid_from"] = nil }
        return .object(record)
    }
}

extension RUAUser {
    /// The user as it is exported.
    func record(withSecrets: Bool) -> JSON {
        var record: JSONObject = [
            "id": JSON(id), "customer": .string(entityID), "username": .string(username), "email": .string(email),
            "phone": .string(phone), "created": created.json, "guest": .bool(isGuest),
            "confirmed": .bool(isConfirmed),
            "logged_out_devices": .array(loggedOutDevices.map(JSON.string)),
        ]
        if updated != created { record["updated"] = updated.json }
        if let firstName { record["first_name"] = .string(firstName) }
        if let lastName { record["last_name"] = .string(lastName) }
        if let timesLoggedIn { record["times_logged_in"] = JSON(timesLoggedIn) }
        if withSecrets, let password { record["password"] = .string(password) }
        return .object(record)
    }
}

extension Moment {
    /// The Unix seconds, to be read back as the same moment.
    fileprivate var json: JSON { .number(JSONNumber(unixSeconds)) }
}

extension FixtureNode {
    /// The id here that a user could have.
    fileprivate func userID() throws(FixtureProblem) -> Int {
        let id = try int()
        guard (0...RUAUsers.largestID).contains(id) else {
            throw problem("user id \(id) is not between 0 and \(RUAUsers.largestID)")
        }
        return id
    }
}
