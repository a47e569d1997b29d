import Emulation
import JSON
import Tokens

/// A company whose sign-in server signs tokens with a secret that it shares with Rezolve.
final class RezolvePartner: Sendable {
    /// Digits, usually two to four.
    let id: String
    /// Opaque, compared byte for byte.
    let apiKey: String
    /// `nil` for a partner that has none.
    let authKey: RezolveAuthKey?

    init(id: String, apiKey: String, authKey: RezolveAuthKey?) {
        self.id = id
        self.apiKey = apiKey
        self.authKey = authKey
    }
}

/// The secret that a partner shares with Rezolve: the UTF-8 bytes of a text, nothing decoded.
final class RezolveAuthKey: Sendable {
    /// The text as printed, from which wrong encodings are diagnosed.
    let text: String
    let signing: SigningKey
    let verification: VerificationKey

    init(_ text: String) throws(KeyError) {
        self.text = text
        signing = try SigningKey.secret(text)
        verification = signing.verificationKey
    }
}

/// What never changes: partners, and the customers and users that every sandbox starts with.
struct RezolveAccounts: Sendable {
    let partners: [RezolvePartner]
    let customers: [RezolveCustomer]
    let users: [RUAUser]
    /// The device id that minted login tokens carry unless the order says otherwise.
    let sampleDeviceID: String

    /// The partner with that api key.
    func partner(apiKey: String) -> RezolvePartner? { partners.first { $0.apiKey.hasSameBytes(as: apiKey) } }

    /// The partner of that id.
    func partner(id: String) -> RezolvePartner? { partners.first { $0.id.hasSameBytes(as: id) } }
}

// MARK: - accounts.yaml

extension RezolveAccounts {
    /// Reads `accounts.yaml`.
    init(_ fixtures: VendorFixtures) throws(FixtureProblem) {
        let document = try fixtures.document("accounts.yaml").mapping("partners", "customers", "users", "device_id")
        sampleDeviceID = try document.required("device_id").string()
        var partners: [RezolvePartner] = []
        for node in try document.required("partners").elements() {
            let partner = try RezolvePartner(node)
            guard !partner.id.isEmpty, partner.id.allSatisfy({ $0.isASCII && $0.isNumber }) else {
                throw node.problem("the partner id “\(partner.id)” is not made of digits")
            }
            guard !partners.contains(where: { $0.id == partner.id || $0.apiKey == partner.apiKey }) else {
                throw node.problem("another partner has the id \(partner.id) or its api key")
            }
            partners.append(partner)
        }
        var customers: [RezolveCustomer] = []
        for node in try document.required("customers").elements() {
            let customer = try RezolveCustomer(node, fixtures)
            guard partners.contains(where: { $0.id == customer.partnerID }) else {
                throw node.problem("customer \(customer.entityID) has the unknown partner \(customer.partnerID)")
            }
            let isTaken = customers.contains {
                $0.entityID == customer.entityID
                    || $0.partnerID == customer.partnerID && $0.partnerEntityID == customer.partnerEntityID
            }
            guard !isTaken else {
                throw node.problem(
                    "another customer is \(customer.entityID) or \(customer.partnerEntityID) of the partner")
            }
            customers.append(customer)
        }
        var users: [RUAUser] = []
        for node in try document.required("users").elements() {
            let user = try RUAUser(node, customers)
            guard (1...1_000_000_000).contains(user.id) else {
                throw node.problem("user id \(user.id) is not between 1 and 1000000000")
            }
            guard !users.contains(where: { $0.id == user.id || $0.entityID == user.entityID }) else {
                throw node.problem("another user has the id \(user.id) or stands for the same customer")
            }
            users.append(user)
        }
        self.partners = partners
        self.customers = customers
        self.users = users
    }
}

extension RezolvePartner {
    fileprivate convenience init(_ node: FixtureNode) throws(FixtureProblem) {
        let entry = try node.mapping("id", "api_key", "auth_key")
        let text = try entry["auth_key"]?.string()
        let authKey: RezolveAuthKey?
        do {
            authKey = try text.map { text throws(KeyError) in try RezolveAuthKey(text) }
        } catch {
            throw node.problem("the auth key cannot be used: \(error)")
        }
        self.init(
            id: try entry.required("id").string(), apiKey: try entry.required("api_key").string(), authKey: authKey)
    }
}

extension RezolveCustomer {
    fileprivate init(_ node: FixtureNode, _ fixtures: VendorFixtures) throws(FixtureProblem) {
        let entry = try node.mapping(
            "entity", "partner", "partner_entity_id", "created", "key_pair", "profile", "phones", "addresses", "cards")
        self.init(
            entityID: try entry.required("entity").string(), partnerID: try entry.required("partner").string(),
            partnerEntityID: try entry.required("partner_entity_id").string(),
            created: Moment(unixSeconds: Double(try entry.required("created").int())))
        if let node = entry["key_pair"] { keyPair = try Self.keyPair(node, fixtures) }
        if let node = entry["profile"] { profile = try RezolveProfile(node, created: created) }
        for node in try entry["phones"]?.elements() ?? [] { phones.append(try RezolvePhone(node)) }
        for node in try entry["addresses"]?.elements() ?? [] {
            let address = try RezolveAddress(node)
            guard address.phoneID.isEmpty || phones.contains(where: { $0.id == address.phoneID }) else {
                throw node.problem("address \(address.id) has the unknown phone \(address.phoneID)")
            }
            addresses.append(address)
        }
        for node in try entry["cards"]?.elements() ?? [] {
            let card = try RezolveCard(node)
            guard addresses.contains(where: { $0.id == card.addressID }) else {
                throw node.problem("card \(card.id) has the unknown address \(card.addressID)")
            }
            cards.append(card)
        }
    }

    private static func keyPair(
        _ node: FixtureNode, _ fixtures: VendorFixtures
    ) throws(FixtureProblem) -> DeferredKeyPair {
        let file = try fixtures.file(try node.string())
        do {
            return DeferredKeyPair(try SigningKey.pem(String(decoding: file.bytes, as: UTF8.self)))
        } catch {
            throw FixtureProblem(file: file.path, message: "is no private key in PEM: \(error)")
        }
    }
}

extension RezolveProfile {
    fileprivate init(_ node: FixtureNode, created: Moment) throws(FixtureProblem) {
        let entry = try node.mapping("title", "name", "first_name", "last_name", "email", "timezone")
        self.init(
            title: try entry["title"]?.string() ?? "", name: try entry["name"]?.string() ?? "",
            firstName: try entry["first_name"]?.string() ?? "", lastName: try entry["last_name"]?.string() ?? "",
            email: try entry["email"]?.string() ?? "", timeZone: try entry["timezone"]?.string() ?? "GMT",
            updated: created)
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
    fileprivate init(_ node: FixtureNode, _ customers: [RezolveCustomer]) throws(FixtureProblem) {
        let entry = try node.mapping(
            "id", "customer", "username", "password", "first_name", "last_name", "email", "phone", "confirmed")
        let entity = try entry.required("customer").string()
        guard let customer = customers.first(where: { $0.entityID == entity }) else {
            throw node.problem("the customer \(entity) is unknown")
        }
        self.init(
            id: try entry.required("id").int(), customer: customer,
            username: try entry.required("username").string(), password: try entry.required("password").string(),
            firstName: try entry["first_name"]?.string(), lastName: try entry["last_name"]?.string(),
            email: try entry["email"]?.string() ?? "", phone: try entry["phone"]?.string() ?? "",
            created: customer.created)
        isConfirmed = try entry["confirmed"]?.bool() ?? false
    }
}
