import Emulation
import JSON
import Tokens

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
    func hint(about token: RezolveToken) -> String {
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
    func freshEntityID(_ draw: () -> String) -> String {
        while true {
            let id = draw()
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

    // MARK: - RUA

    /// RUA's name for a user at Rezolve (ours).
    static func partnerEntityID(ofUser id: Int) -> String { "rua-\(id)" }

    /// The id of a partner's next user, whose ``partnerEntityID(ofUser:)`` is still free.
    func nextUserID(of partner: String) -> Int {
        users.nextNumber(upTo: RUAUser.largestID) {
            entityID(partner: partner, partnerEntityID: Self.partnerEntityID(ofUser: $0)) != nil
        }
    }
}

/// State as JSON. Records have the members of `accounts.yaml`, and those that only requests change.
extension Rezolve {
    func size(of state: State) -> StateSize { state.customers.size + state.users.size }
    func hasNews(_ state: State) -> Bool { state.customers.hasNews || state.users.hasNews }

    func code(_ state: inout State, _ coder: inout RecordCoder) {
        let isPart = coder.extent == .changes
        let complaint = accounts.partners.complaint(about:)
        var (owners, pairs) = (state.owners, state.madeKeyPairs)
        // Read first, since whole states lack it: without it, the input is no set of changes.
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
        adopted.customers = adopted.customers.with(changesOf: state.customers)
        adopted.add(owners: state.owners)
        adopted.users = adopted.users.with(changesOf: state.users)
        adopted.settle(state.madeKeyPairs)
        return adopted
    }
}

extension RezolveState {
    /// Unchanged customers whose user changed, in case other fixtures lack them.
    fileprivate var owners: [RezolveCustomer] {
        users.changed.compactMap { customers.changed(ExactText($0.entityID)) == nil ? customers[$0.entityID] : nil }
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

/// A company whose sign-in server signs tokens with a secret shared with Rezolve.
final class RezolvePartner: Sendable {
    /// Digits, usually two to four.
    let id: String
    /// Opaque, compared byte for byte.
    let apiKey: String
    /// The secret that the partner shares with Rezolve; `nil` for a partner without one.
    let authKey: SecretKey?

    fileprivate init(id: String, apiKey: String, authKey: SecretKey?) {
        (self.id, self.apiKey, self.authKey) = (id, apiKey, authKey)
    }
}

/// What the fixtures provide: partners, and the customers and users that every sandbox starts with.
struct RezolveAccounts: Sendable {
    let partners: [RezolvePartner]
    let customers: [RezolveCustomer]
    let users: [RUAUser]
    /// The device id of minted login tokens unless the request gives another.
    let sampleDeviceID: String

    func partner(apiKey: ArraySlice<UInt8>) -> RezolvePartner? {
        partners.first { $0.apiKey.hasSameBytes(as: apiKey) }
    }

    func partner(id: String) -> RezolvePartner? { partners.first { $0.id.hasSameBytes(as: id) } }

    /// The partner that a mint request or an action names.
    func partner(named id: String) throws(ControlRefusal) -> RezolvePartner {
        try ControlRefusal.require(partner(id: id), "no partner has the id", id, among: partners.map(\.id))
    }
}

extension [RezolvePartner] {
    /// What is wrong with a customer, given these partners.
    func complaint(about customer: RezolveCustomer) -> String? {
        contains { $0.id == customer.partnerID }
            ? nil : "customer \(customer.entityID) has the unknown partner \(customer.partnerID)"
    }
}

// MARK: - accounts.yaml

extension RezolveAccounts {
    /// Reads `accounts.yaml`.
    init(_ fixtures: VendorFixtures) throws(FixtureProblem) {
        let document = try fixtures.document("accounts.yaml").mapping("partners", "customers", "users", "device_id")
        sampleDeviceID = try document.required("device_id").string()
        var partners: [RezolvePartner] = []
        try document.required("partners").forEachRecord { (node) throws(FixtureProblem) in
            let entry = try node.mapping("id", "api_key", "auth_key")
            let id = try entry.required("id").string()
            let authKey = try entry["auth_key"].map { (text) throws(FixtureProblem) in
                try SecretKey(try text.string(), of: "partner \(id)", for: .hs512, called: "auth key", at: node)
            }
            let partner = RezolvePartner(id: id, apiKey: try entry.required("api_key").string(), authKey: authKey)
            guard !partner.id.isEmpty, partner.id.allSatisfy({ $0.isASCII && $0.isNumber }) else {
                throw node.problem("the partner id “\(partner.id)” is not made of digits")
            }
            guard !partners.contains(where: { $0.id == partner.id || $0.apiKey.hasSameBytes(as: partner.apiKey) })
            else { throw node.problem("another partner has the id \(partner.id) or its api key") }
            partners.append(partner)
        }
        self.partners = partners
        customers = try document.records("customers", fixtures, complaint: partners.complaint(about:))
        users = try document.records(
            "users", fixtures, prepare: RecordTable.preparation(RecordTable(fixtures: customers)))
    }
}

/// Actions on customers and users without a request from the app (all ours).
extension Rezolve {
    static let actions = [
        action(
            "register-customer", about: "Registers a customer, as the partner's sign-in server would.",
            members: [
                .required("partner_entity_id", "the partner's id of the user"),
                .optional("partner", "id of the partner; by default the first one"),
                .optional("entity", "the entity id that the customer gets; by default a new one"),
                .optional("email", "email address of the profile; by default none"),
            ], body: registerCustomer),
        action(
            "remove-customer",
            about: "Removes a customer with all records, so that their tokens no longer name anybody.",
            members: [.required("entity", "entity id of the customer")], body: removeCustomer),
        action(
            "log-out", about: "Ends the session of a RUA user on a device, as a support desk could.",
            members: [
                .required("entity", "entity id of the user's customer"),
                .optional("device_id", "the device; by default the sample device"),
            ], body: logOutUser),
    ]

    private static func registerCustomer(_ call: Action, _ state: inout State) throws(ControlRefusal) -> JSON {
        let accounts = call.vendor.accounts
        let partnerEntityID = try call.required("partner_entity_id")
        let partner = try accounts.partner(named: try call.text("partner") ?? accounts.partners.first?.id ?? "")
        if let other = state.customer(partner: partner.id, partnerEntityID: partnerEntityID) {
            throw ControlRefusal(
                "partner \(partner.id) has already registered \(partnerEntityID), as \(other.entityID)")
        }
        let entity = try call.text("entity") ?? state.freshEntityID(call.identifiers.uuid)
        guard !entity.isEmpty, entity != RezolveToken.noEntity, state.customers[entity] == nil else {
            throw ControlRefusal("entity “\(entity)” is taken, or cannot be an entity id")
        }
        state.store(
            RezolveCustomer(
                entityID: entity, partnerID: partner.id, partnerEntityID: partnerEntityID,
                email: try call.text("email") ?? "", created: call.moment))
        return ["entity_id": .string(entity), "partner_id": .string(partner.id)]
    }

    private static func removeCustomer(_ call: Action, _ state: inout State) throws(ControlRefusal) -> JSON {
        let entity = try existingEntity(call, state)
        state.remove(entity: entity)
        return ["entity_id": .string(entity)]
    }

    private static func logOutUser(_ call: Action, _ state: inout State) throws(ControlRefusal) -> JSON {
        let entity = try existingEntity(call, state)
        var user = try ControlRefusal.require(state.users.user(entity: entity), "customer \(entity) has no user at RUA")
        user.logOut(on: try call.text("device_id") ?? call.vendor.accounts.sampleDeviceID)
        state.users.store(user)
        return ["id": JSON(user.id), "username": .string(user.username)]
    }

    private static func existingEntity(_ call: Action, _ state: State) throws(ControlRefusal) -> String {
        let entity = try call.required("entity")
        try ControlRefusal.require(
            state.customers[entity] != nil, "no customer has the entity id", entity,
            among: state.customers.keys.sorted().prefix(20).map(\.text))
        return entity
    }
}
