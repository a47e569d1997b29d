import Emulation
import JSON
import Tokens

/// A user of a partner as Rezolve knows it: the entity that tokens name, with profile, books and wallet.
struct RezolveCustomer: Sendable, KeyedRecord, CodedRecord {
    /// The id that Rezolve assigned at registration.
    private(set) var entityID: String
    private(set) var partnerID: String
    /// The partner's id for the customer; unique per partner.
    private(set) var partnerEntityID: String
    private(set) var created: Moment
    /// The pair whose public half encrypts card numbers.
    var keyPair = DeferredKeyPair()
    /// Whether the fixtures hold the pair, so that it need not be exported.
    private(set) var hasKeyFile = false
    var profile: RezolveProfile
    var phones: [RezolvePhone] = []
    var addresses: [RezolveAddress] = []
    var cards: [RezolveCard] = []

    /// ours: the limit for each book and the wallet, each of which is one answer.
    private static let maximumEntries = 1000

    /// Refuses another entry when a book is full.
    ///
    /// - Throws: ``RezolveFailure/bodyTooLarge`` (ours: the vendor's own limits are unknown).
    static func checkRoom(for count: Int) throws(Rezolve.Refused) {
        try Rezolve.Refused.require(
            count < maximumEntries, .bodyTooLarge,
            "the customer's book has \(count) entries; at most \(maximumEntries) are kept")
    }

    init(entityID: String, partnerID: String, partnerEntityID: String, email: String = "", created: Moment) {
        (self.entityID, self.partnerID, self.partnerEntityID) = (entityID, partnerID, partnerEntityID)
        self.created = created
        profile = RezolveProfile(email: email, updated: created)
    }

    // MARK: - As a record

    struct PartnerUser: Hashable, Sendable {
        let partnerID: String
        @ExactText var partnerEntityID: String
    }

    var key: ExactText { ExactText(entityID) }
    var names: [PartnerUser] { [PartnerUser(partnerID: partnerID, partnerEntityID: partnerEntityID)] }
    var memory: Int {
        let texts = [partnerEntityID, profile.title, profile.name, profile.firstName, profile.lastName, profile.email]
        return 2048 + texts.reduce(0) { $0 + $1.utf8.count } + phones.reduce(0) { $0 + $1.byteCount }
            + addresses.reduce(0) { $0 + $1.byteCount } + cards.reduce(0) { $0 + $1.byteCount }
    }

    func clash(over name: PartnerUser?) -> String {
        "another customer is \(entityID) or \(partnerEntityID) of the partner"
    }

    /// Requests do not change the key pair, so it is not compared.
    func isSame(as other: RezolveCustomer) -> Bool { isExported(like: other, .whole) }

    mutating func keepSecrets(of known: RezolveCustomer, fromWhole isWhole: Bool) {
        // Changes leave out no pair but one that is not made yet, as of a customer who registered again under the same id.
        if !isWhole, keyPair.made == nil { return }
        // An equal pair becomes the known one: calls may wait for it, and the fixtures may name it.
        if let own = keyPair.made, own.publicPEM != known.keyPair.made?.publicPEM { return }
        (keyPair, hasKeyFile) = (known.keyPair, known.hasKeyFile)
    }

    init() { self.init(entityID: "", partnerID: "", partnerEntityID: "", created: Moment(unixSeconds: 0)) }

    mutating func code(_ coder: inout RecordCoder) {
        coder.writesLast("private_key")
        coder.member("entity", &entityID)
        coder.member("partner", &partnerID)
        coder.member("partner_entity_id", &partnerEntityID)
        coder.member("created", &created)
        codeKeyPair(&coder)
        let blank = RezolveProfile(updated: created)
        coder.member("profile", &profile, or: blank, write: { $0.json(.changes) }) { (node) throws(FixtureProblem) in
            var profile = blank
            try profile.read(node, .export(.changes))
            return profile
        }
        coder.list("phones", &phones)
        let phoneIDs = Set(phones.map { ExactText($0.id) })
        coder.list("addresses", &addresses) { address in
            address.phoneID.isEmpty || phoneIDs.contains(ExactText(address.phoneID))
                ? nil : "address \(address.id) has the unknown phone \(address.phoneID)"
        }
        let addressIDs = Set(addresses.map { ExactText($0.id) })
        coder.list("cards", &cards) { card in
            addressIDs.contains(ExactText(card.addressID))
                ? nil : "card \(card.id) has the unknown address \(card.addressID)"
        }
        coder.check(!entityID.isEmpty && entityID != RezolveToken.noEntity, or: "“\(entityID)” cannot be an entity id")
        let lists: [[String]] = [phones.map(\.id), addresses.map(\.id), cards.map(\.id)]
        coder.check(
            lists.allSatisfy { Set($0.map { ExactText($0) }).count == $0.count },
            or: "two records of customer \(entityID) have the same id")
    }

    /// In the fixtures the pair is a separate file; an export contains it, or omits it.
    private mutating func codeKeyPair(_ coder: inout RecordCoder) {
        switch coder.form {
        case .fixture(let fixtures):
            coder.member("key_pair", &keyPair, or: keyPair, write: { _ in nil }) { (node) throws(FixtureProblem) in
                try DeferredKeyPair(file: node, fixtures)
            }
            hasKeyFile = keyPair.isGiven
        case .export, .order:
            let isShown = coder.extent == .changes
            coder.member(
                "private_key", &keyPair, or: keyPair,
                write: { isShown ? ($0.made?.privatePEM).map(JSON.string) : nil }, read: DeferredKeyPair.read)
        }
    }
}

/// A pair made for a fixture customer without one.
struct RezolveKeyPair: CodedRecord {
    var entityID = ""
    var keyPair = DeferredKeyPair()

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("entity", &entityID)
        coder.member("private_key", &keyPair)
    }
}

extension Rezolve {
    typealias CustomerHandler = @Sendable (inout RezolveCall, inout RezolveCustomer) throws(Refused) -> Reply

    /// A route's handler that finds the customer, passes a copy to `handler`, and stores the copy unless the handler
    /// threw.
    static func forCustomer(_ handler: @escaping CustomerHandler) -> Handler {
        { (call, state) throws(Refused) in
            var customer = try owner(of: call, in: state)
            let reply = try handler(&call, &customer)
            state.store(customer)
            return reply
        }
    }

    /// A route's handler that only reads a customer; an adopted customer is stored.
    static func forCustomer(
        reading handler: @escaping @Sendable (RezolveCall, RezolveCustomer) throws(Refused) -> Reply
    ) -> Handler {
        { (call, state) throws(Refused) in
            if let known = state.customers[call.parameters["entity"]] { return try handler(call, known) }
            let adopted = try owner(of: call, in: state)
            let reply = try handler(call, adopted)
            state.store(adopted)
            return reply
        }
    }

    /// The customer of the path, whom authorization matched with the token; a new one if adopted.
    private static func owner(of call: RezolveCall, in state: State) throws(Refused) -> RezolveCustomer {
        if let customer = state.customers[call.parameters["entity"]] { return customer }
        guard let partner = call.credentials.partner, let token = call.credentials.token else {
            throw Refused(.maskedOtherUser, because: "nobody was authorized; expected the token of a customer")
        }
        if let other = state.customer(partner: partner.id, partnerEntityID: token.partnerEntityID) {
            throw Refused(
                .maskedOtherUser,
                because:
                    "partner_entity_id \(token.partnerEntityID) belongs to \(other.entityID), not to \(token.entityID)")
        }
        return RezolveCustomer(
            entityID: token.entityID, partnerID: partner.id, partnerEntityID: token.partnerEntityID,
            created: call.moment)
    }
}

/// The customer's key pair. Source: creating it at registration is documented (JWT page); the call is observed.
extension Rezolve {
    /// Answers with the public half in PEM once the pair has been made.
    static func readPublicKey(_ call: inout RezolveCall, _ customer: inout RezolveCustomer) throws(Refused) -> Reply {
        guard let key = try keyPair(of: customer) else { return .wait(customer.keyPair.make) }
        return .json(["public_key": JSON(key.publicPEM)])
    }

    /// The customer's key pair; `nil` while it is being made.
    static func keyPair(of customer: RezolveCustomer) throws(Refused) -> SigningKey? {
        do {
            return try customer.keyPair.key()
        } catch {
            throw Refused(.serviceUnavailable, because: "no key pair could be made: \(error); expected one of RSA")
        }
    }
}

/// What customers enter about themselves.
struct RezolveProfile: Sendable, Hashable, CodedRecord {
    var title = ""
    var name = ""
    var firstName = ""
    var lastName = ""
    var email = ""
    var timeZone = "GMT"
    var allowsMarketing = false
    var updated = Moment(unixSeconds: 0)

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("title", &title, or: "")
        coder.member("name", &name, or: "")
        coder.member("first_name", &firstName, or: "")
        coder.member("last_name", &lastName, or: "")
        coder.member("email", &email, or: "")
        coder.member("timezone", &timeZone, or: "GMT")
        coder.member("use_data_for_marketing", &allowsMarketing, or: false)
        coder.member("updated", &updated, or: updated)
    }
}

/// The profile. Source: observed, vendor QA tests; the members are the union of those and of the documented object.
extension Rezolve {
    static func readProfile(_ call: RezolveCall, _ customer: RezolveCustomer) throws(Refused) -> Reply {
        .json(profileJSON(of: customer, dates: call.switches.profileDates))
    }

    /// Changes the members that were sent; ids, dates and devices cannot be changed (documented).
    static func updateProfile(_ call: inout RezolveCall, _ customer: inout RezolveCustomer) throws(Refused) -> Reply {
        let old = customer.profile
        customer.profile = try call.body {
            $0.accept([
                "id", "entity_id", "phone", "country_code", "metadata", "devices", "date_created", "date_updated",
            ])
            return RezolveProfile(
                title: $0.optionalText("title") ?? old.title, name: $0.optionalText("name") ?? old.name,
                firstName: $0.optionalText("first_name") ?? old.firstName,
                lastName: $0.optionalText("last_name") ?? old.lastName, email: $0.optionalText("email") ?? old.email,
                timeZone: $0.optionalText("timezone") ?? old.timeZone,
                allowsMarketing: $0.bool("use_data_for_marketing") ?? old.allowsMarketing, updated: call.moment)
        }
        return .json(profileJSON(of: customer, dates: call.switches.profileDates))
    }

    private static func profileJSON(of customer: RezolveCustomer, dates: RezolveSwitches.ProfileDates) -> JSON {
        let profile = customer.profile
        return [
            "id": .string(customer.entityID), "entity_id": .string(customer.entityID),
            "title": .string(profile.title), "name": .string(profile.name),
            "first_name": .string(profile.firstName), "last_name": .string(profile.lastName),
            "email": .string(profile.email), "phone": nil, "country_code": nil, "metadata": nil,
            "timezone": .string(profile.timeZone), "use_data_for_marketing": .bool(profile.allowsMarketing),
            "devices": [], "date_created": date(customer.created, dates), "date_updated": date(profile.updated, dates),
        ]
    }

    private static func date(_ moment: Moment, _ form: RezolveSwitches.ProfileDates) -> JSON {
        switch form {
        case .unixSeconds: JSON(moment.wholeSeconds)
        case .iso: .string(moment.rfc3339)
        }
    }
}
