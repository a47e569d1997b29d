import Emulation
import JSON
import Tokens

/// Where records stand that are read: it decides in which form a key pair stands there, and what may be left out.
enum RezolveRecordSource {
    /// `accounts.yaml`, whose key pairs are files beside it.
    case accounts(VendorFixtures)
    /// An exported state, whose key pairs stand in it or nowhere; secrets that it leaves out come from this other one.
    case export(over: RezolveState)

    /// The largest id of a user; ids go on from the largest one of the fixtures, and an export has those too.
    var largestUserID: Int {
        switch self {
        case .accounts: 1_000_000_000
        case .export: RUAUsers.largestID
        }
    }
}

/// Customers and the users that stand for them, as a file or a control call lists them, checked against each other.
struct RezolveRecords: Sendable {
    private(set) var customers: [RezolveCustomer] = []
    private(set) var users: [RUAUser] = []

    /// Reads the members `customers` and `users`.
    ///
    /// - Parameter others: customers who are not listed, and whom users may stand for all the same.
    init(
        _ document: FixtureMapping, of partners: [RezolvePartner], from source: RezolveRecordSource,
        besides others: ExactTextMap<RezolveCustomer> = ExactTextMap()
    ) throws(FixtureProblem) {
        var known = others
        customers = try Self.customers(try document.required("customers"), of: partners, from: source)
        for customer in customers { known[customer.entityID] = customer }
        var (ids, entities, names): (Set<Int>, Set<ExactText>, Set<RUAUsers.Name>) = ([], [], [])
        try document.required("users").forEachRecord { (node) throws(FixtureProblem) in
            let user = try RUAUser(node, known, from: source)
            guard (1...source.largestUserID).contains(user.id) else {
                throw node.problem("user id \(user.id) is not between 1 and \(source.largestUserID)")
            }
            guard ids.insert(user.id).inserted, entities.insert(ExactText(user.entityID)).inserted else {
                throw node.problem("another user has the id \(user.id) or stands for the same customer")
            }
            for name in user.names where !names.insert(name).inserted {
                throw node.problem("another user of partner \(user.partnerID) signs in with “\(name.text)” too")
            }
            users.append(user)
        }
    }

    /// Reads a list of customers.
    static func customers(
        _ list: FixtureNode, of partners: [RezolvePartner], from source: RezolveRecordSource
    ) throws(FixtureProblem) -> [RezolveCustomer] {
        var customers: [RezolveCustomer] = []
        var (entities, names): (Set<ExactText>, Set<RezolveState.PartnerUser>) = ([], [])
        try list.forEachRecord { (node) throws(FixtureProblem) in
            let customer = try RezolveCustomer(node, from: source)
            guard partners.contains(where: { $0.id == customer.partnerID }) else {
                throw node.problem("customer \(customer.entityID) has the unknown partner \(customer.partnerID)")
            }
            guard !customer.entityID.isEmpty, customer.entityID != RezolveToken.noEntity else {
                throw node.problem("“\(customer.entityID)” can be no entity id")
            }
            try customer.checkIDs(at: node)
            guard entities.insert(ExactText(customer.entityID)).inserted, names.insert(customer.partnerUser).inserted
            else {
                throw node.problem(
                    "another customer is \(customer.entityID) or \(customer.partnerEntityID) of the partner")
            }
            customers.append(customer)
        }
        return customers
    }
}

extension RezolveCustomer {
    fileprivate init(_ node: FixtureNode, from source: RezolveRecordSource) throws(FixtureProblem) {
        let keyMember =
            switch source {
            case .accounts: "key_pair"
            case .export: "private_key"
            }
        let entry = try node.mapping(
            "entity", "partner", "partner_entity_id", "created", keyMember, "profile", "phones", "addresses", "cards")
        self.init(
            entityID: try entry.required("entity").string(), partnerID: try entry.required("partner").string(),
            partnerEntityID: try entry.required("partner_entity_id").string(),
            created: try entry.required("created").moment())
        try readKeyPair(entry[keyMember], from: source)
        if let node = entry["profile"] { profile = try RezolveProfile(node, created: created) }
        try entry["phones"]?.forEachRecord { (node) throws(FixtureProblem) in phones.append(try RezolvePhone(node)) }
        let phoneIDs = Set(phones.map { ExactText($0.id) })
        try entry["addresses"]?.forEachRecord { (node) throws(FixtureProblem) in
            let address = try RezolveAddress(node)
            guard address.phoneID.isEmpty || phoneIDs.contains(ExactText(address.phoneID)) else {
                throw node.problem("address \(address.id) has the unknown phone \(address.phoneID)")
            }
            addresses.append(address)
        }
        let addressIDs = Set(addresses.map { ExactText($0.id) })
        try entry["cards"]?.forEachRecord { (node) throws(FixtureProblem) in
            let card = try RezolveCard(node)
            guard addressIDs.contains(ExactText(card.addressID)) else {
                throw node.problem("card \(card.id) has the unknown address \(card.addressID)")
            }
            cards.append(card)
        }
    }

    /// Refuses ids that stand for several records.
    fileprivate func checkIDs(at node: FixtureNode) throws(FixtureProblem) {
        for ids in [phones.map(\.id), addresses.map(\.id), cards.map(\.id)]
        where Set(ids.map { ExactText($0) }).count < ids.count {
            throw node.problem("two records of customer \(entityID) have the same id")
        }
    }

    private mutating func readKeyPair(
        _ node: FixtureNode?, from source: RezolveRecordSource
    ) throws(FixtureProblem) {
        switch source {
        case .accounts(let fixtures):
            guard let node else { return }
            let file = try fixtures.file(named: node)
            do {
                keyPair = DeferredKeyPair(try SigningKey.pem(String(decoding: file.bytes, as: UTF8.self)))
            } catch {
                throw FixtureProblem(file: file.path, message: "is no private key in PEM: \(error)")
            }
            hasKeyFile = true
        case .export(let state):
            if let known = state.customers[entityID] { (keyPair, hasKeyFile) = (known.keyPair, known.hasKeyFile) }
            guard let node else { return }
            let key = try Self.privateKey(node)
            // A pair that is there already stays the one that is waited for, and that the fixtures name.
            if keyPair.made?.publicPEM == key.publicPEM { return }
            (keyPair, hasKeyFile) = (DeferredKeyPair(key), false)
        }
    }

    /// The private key in PEM that stands there.
    static func privateKey(_ node: FixtureNode) throws(FixtureProblem) -> SigningKey {
        let text = try node.string()
        do {
            return try SigningKey.pem(text)
        } catch {
            throw node.problem("is no private key in PEM: \(error)")
        }
    }
}

extension RezolveProfile {
    fileprivate init(_ node: FixtureNode, created: Moment) throws(FixtureProblem) {
        let entry = try node.mapping(
            "title", "name", "first_name", "last_name", "email", "timezone", "use_data_for_marketing", "updated")
        self.init(
            title: try entry["title"]?.string() ?? "", name: try entry["name"]?.string() ?? "",
            firstName: try entry["first_name"]?.string() ?? "", lastName: try entry["last_name"]?.string() ?? "",
            email: try entry["email"]?.string() ?? "", timeZone: try entry["timezone"]?.string() ?? "GMT",
            allowsMarketing: try entry["use_data_for_marketing"]?.bool() ?? false,
            updated: try entry["updated"]?.moment() ?? created)
    }
}

extension RezolvePhone {
    fileprivate init(_ node: FixtureNode) throws(FixtureProblem) {
        let entry = try node.mapping("id", "name", "phone")
        self.init(
            id: try entry.required("id").string(), name: try entry.required("name").string(),
            phone: try entry.required("phone").string())
    }
}

extension RezolveAddress {
    fileprivate init(_ node: FixtureNode) throws(FixtureProblem) {
        let entry = try node.mapping(
            "id", "short_name", "full_name", "line_1", "line_2", "city", "state", "zip", "country", "phone_id")
        self.init(
            id: try entry.required("id").string(), shortName: try entry["short_name"]?.string() ?? "",
            fullName: try entry["full_name"]?.string() ?? "", line1: try entry["line_1"]?.string() ?? "",
            line2: try entry["line_2"]?.string() ?? "", city: try entry["city"]?.string() ?? "",
            state: try entry["state"]?.string() ?? "", zip: try entry["zip"]?.string() ?? "",
            country: try entry["country"]?.string() ?? "", phoneID: try entry["phone_id"]?.string() ?? "")
    }
}

extension RezolveCard {
    fileprivate init(_ node: FixtureNode) throws(FixtureProblem) {
        let entry = try node.mapping(
            "id", "type", "brand", "pan6", "pan4", "short_name", "name_on_card", "valid_from", "expires_on",
            "address_id")
        self.init(
            id: try entry.required("id").string(), type: try entry.required("type").string(),
            brand: try entry.required("brand").string(), pan6: try entry.required("pan6").string(),
            pan4: try entry.required("pan4").string(), shortName: try entry.required("short_name").string(),
            nameOnCard: try entry.required("name_on_card").string(), validFrom: try entry["valid_from"]?.string(),
            expiresOn: try entry.required("expires_on").string(),
            addressID: try entry.required("address_id").string())
    }
}

extension RUAUser {
    fileprivate init(
        _ node: FixtureNode, _ customers: ExactTextMap<RezolveCustomer>, from source: RezolveRecordSource
    ) throws(FixtureProblem) {
        let entry = try node.mapping(
            "id", "customer", "username", "password", "first_name", "last_name", "email", "phone", "created",
            "updated", "guest", "confirmed", "times_logged_in", "logged_out_devices")
        let entity = try entry.required("customer").string()
        guard let customer = customers[entity] else { throw node.problem("the customer \(entity) is unknown") }
        let isGuest = try entry["guest"]?.bool() ?? false
        self.init(
            id: try entry.required("id").int(), customer: customer,
            username: try entry.required("username").string(), password: try entry["password"]?.string(),
            firstName: try entry["first_name"]?.string(), lastName: try entry["last_name"]?.string(),
            email: try entry["email"]?.string() ?? "", phone: try entry["phone"]?.string() ?? "",
            created: try entry["created"]?.moment() ?? customer.created)
        updated = try entry["updated"]?.moment() ?? created
        self.isGuest = isGuest
        isConfirmed = try entry["confirmed"]?.bool() ?? false
        timesLoggedIn = try entry["times_logged_in"]?.int(in: 0...RUAUser.mostLogins)
        try entry["logged_out_devices"]?.forEachRecord(atMost: Self.maximumLoggedOutDevices) {
            (node) throws(FixtureProblem) in
            logOut(on: try node.string())
        }
        guard password == nil, !isGuest else { return }
        switch source {
        case .accounts: throw entry.node.problem("member “password” is missing")
        case .export(let state):
            if let known = state.users[id], known.isSamePerson(as: self) { password = known.password }
        }
    }

    private func isSamePerson(as other: RUAUser) -> Bool {
        entityID.hasSameBytes(as: other.entityID) && partnerID == other.partnerID
            && username.hasSameBytes(as: other.username)
    }
}
