import Emulation
import HTTPTypes
import JSON
import Tokens

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// An entry of one of a customer's books: phones, addresses, cards.
///
/// Source of the calls: observed, vendor QA tests; reading and replacing a single address or card follow from the SDK's
/// calls, reading a single phone is ours.
protocol RezolveEntry {
    static var noun: String { get }
    /// The failure for a request with an unknown id.
    static var unknown: RezolveFailure { get }
    static var book: WritableKeyPath<RezolveCustomer, [Self]> { get }

    var id: String { get set }
    var json: JSON { get }
    /// Its texts, as far as clients choose them.
    var texts: [String] { get }

    /// Reads what a client sends, except the id.
    ///
    /// - Parameter old: the entry to change, if there is one with that id.
    init(_ body: inout FieldReader, isNew: Bool, over old: Self?, _ switches: RezolveSwitches)

    /// Checks whether the customer may have the entry; returns what to wait for until this is known.
    func check(_ body: JSONObject, _ call: RezolveCall, _ customer: RezolveCustomer) throws(Rezolve.Refused) -> Reply?

    /// Checks that no other record of the customer refers to the entry.
    func checkRemoval(from customer: RezolveCustomer) throws(Rezolve.Refused)

    static func list(_ entries: [JSON]) -> JSON
}

extension RezolveEntry {
    func check(_: JSONObject, _: RezolveCall, _: RezolveCustomer) throws(Rezolve.Refused) -> Reply? { nil }

    func checkRemoval(from _: RezolveCustomer) throws(Rezolve.Refused) {}

    /// An estimate of the entry's memory.
    var byteCount: Int { texts.reduce(256) { $0 + $1.utf8.count } }

    static func list(_ entries: [JSON]) -> JSON { .array(entries) }

    // MARK: Calls

    static func list(_ call: RezolveCall, _ customer: RezolveCustomer) throws(Rezolve.Refused) -> Reply {
        .json(list(customer[keyPath: book].map(\.json)))
    }

    static func create(_ call: inout RezolveCall, _ customer: inout RezolveCustomer) throws(Rezolve.Refused) -> Reply {
        let body = try call.body()
        var entry = try body.read { Self(&$0, isNew: true, over: nil, call.switches) }
        if let wait = try entry.check(body.object, call, customer) { return wait }
        try RezolveCustomer.checkRoom(for: customer[keyPath: book].count)
        // Drawn last: a refused request must not advance the ids of a sandbox with a seed.
        entry.id = call.identifiers.uuid()
        customer[keyPath: book].append(entry)
        return .json(entry.json, status: .created)
    }

    static func read(_ call: RezolveCall, _ customer: RezolveCustomer) throws(Rezolve.Refused) -> Reply {
        .json(customer[keyPath: book][try customer.place(of: Self.self, call.parameters["id"])].json)
    }

    static func update(_ call: inout RezolveCall, _ customer: inout RezolveCustomer) throws(Rezolve.Refused) -> Reply {
        let id = call.parameters["id"]
        let body = try call.body()
        let old = customer[keyPath: book].first { $0.id.hasSameBytes(as: id) }
        // An entry may be sent back as it was answered.
        var entry = try body.passing("id").read { Self(&$0, isNew: false, over: old, call.switches) }
        let place = try customer.place(of: Self.self, id)
        if let wait = try entry.check(body.object, call, customer) { return wait }
        entry.id = id
        customer[keyPath: book][place] = entry
        return .json(entry.json)
    }

    static func delete(_ call: inout RezolveCall, _ customer: inout RezolveCustomer) throws(Rezolve.Refused) -> Reply {
        let place = try customer.place(of: Self.self, call.parameters["id"])
        try customer[keyPath: book][place].checkRemoval(from: customer)
        customer[keyPath: book].remove(at: place)
        return .empty()
    }
}

extension RezolveCustomer {
    /// The place of an entry in its book.
    ///
    /// - Parameter member: the member of the body that names the entry; `nil` for the path.
    @discardableResult
    func place<Entry: RezolveEntry>(
        of _: Entry.Type, _ id: String, namedBy member: String? = nil
    ) throws(Rezolve.Refused) -> Int {
        let entries = self[keyPath: Entry.book]
        if let place = entries.firstIndex(where: { $0.id.hasSameBytes(as: id) }) { return place }
        let found =
            member.map { "\($0) \(id.shown) names no \(Entry.noun) of \(entityID)" }
            ?? "no \(Entry.noun) of \(entityID) has the id \(id)"
        throw Rezolve.Refused(Entry.unknown, because: found, known: entries.lazy.map(\.id))
    }
}

/// An entry of a customer's phone book.
struct RezolvePhone: Sendable, Hashable {
    var id = ""
    var name = ""
    var phone = ""

    var json: JSON { ["id": .string(id), "name": .string(name), "phone": .string(phone)] }
}

extension RezolvePhone: RezolveEntry, CodedRecord {
    static let noun = "phone"
    static let unknown = RezolveFailure.phoneNotFound
    static var book: WritableKeyPath<RezolveCustomer, [RezolvePhone]> { \.phones }

    var texts: [String] { [name, phone] }

    static func list(_ entries: [JSON]) -> JSON { ["phones": .array(entries)] }

    /// The lengths come from the staging servers' messages.
    init(_ body: inout FieldReader, isNew: Bool, over old: RezolvePhone?, _ switches: RezolveSwitches) {
        self.init(id: "", name: body.text("name", atLeast: 1), phone: body.text("phone", atLeast: 4))
    }

    func checkRemoval(from customer: RezolveCustomer) throws(Rezolve.Refused) {
        guard let address = customer.addresses.first(where: { $0.phoneID.hasSameBytes(as: id) }) else { return }
        throw Rezolve.Refused(
            .phoneInUse,
            because: "address \(address.id) refers to phone \(id); expected a phone that no address refers to")
    }

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("id", &id)
        coder.member("name", &name)
        coder.member("phone", &phone)
    }
}

/// An entry of a customer's address book.
struct RezolveAddress: Sendable, Hashable {
    var id = ""
    var shortName = ""
    var fullName = ""
    var line1 = ""
    var line2 = ""
    var city = ""
    var state = ""
    var zip = ""
    var country = ""
    /// The phone of the same customer; empty for none.
    var phoneID = ""

    /// The address as answered; `country_alpha2` is always null, whatever was sent (observed).
    var json: JSON {
        [
            "id": .string(id), "short_name": .string(shortName), "full_name": .string(fullName),
            "line_1": .string(line1), "line_2": .string(line2), "city": .string(city), "state": .string(state),
            "zip": .string(zip), "country": .string(country), "country_alpha2": nil, "phone_id": .string(phoneID),
        ]
    }
}

extension RezolveAddress: RezolveEntry, CodedRecord {
    static let noun = "address"
    static let unknown = RezolveFailure.addressNotFound
    static var book: WritableKeyPath<RezolveCustomer, [RezolveAddress]> { \.addresses }

    var texts: [String] { [shortName, fullName, line1, line2, city, state, zip, country, phoneID] }

    /// A change replaces the whole address: missing members become empty (ours). The spellings without an underscore
    /// are from the vendor's older pages.
    init(_ body: inout FieldReader, isNew: Bool, over old: RezolveAddress?, _ switches: RezolveSwitches) {
        let isNeeded = switches.addressRequiredFields == .shop
        func text(_ name: String, or other: String? = nil, isRequired: Bool) -> String {
            body.optionalText(name, or: other, isRequired: isRequired) ?? ""
        }
        self.init(
            id: "", shortName: text("short_name", isRequired: false), fullName: text("full_name", isRequired: false),
            line1: text("line_1", or: "line1", isRequired: isNeeded),
            line2: text("line_2", or: "line2", isRequired: false), city: text("city", isRequired: isNeeded),
            state: text("state", isRequired: isNeeded), zip: text("zip", isRequired: isNeeded),
            country: text("country", isRequired: isNeeded), phoneID: "")
        _ = body.optionalText("country_alpha2", acceptsNull: true)
        phoneID = body.optionalText("phone_id", or: "phone_book_id", acceptsNull: true) ?? ""
    }

    func check(_: JSONObject, _: RezolveCall, _ customer: RezolveCustomer) throws(Rezolve.Refused) -> Reply? {
        if !phoneID.isEmpty { try customer.place(of: RezolvePhone.self, phoneID, namedBy: "phone_id") }
        return nil
    }

    func checkRemoval(from customer: RezolveCustomer) throws(Rezolve.Refused) {
        guard let card = customer.cards.first(where: { $0.addressID.hasSameBytes(as: id) }) else { return }
        throw Rezolve.Refused(
            .addressInUse,
            because: "card \(card.id) refers to address \(id); expected an address that no card refers to")
    }

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("id", &id)
        coder.member("short_name", &shortName, or: "")
        coder.member("full_name", &fullName, or: "")
        coder.member("line_1", &line1, or: "")
        coder.member("line_2", &line2, or: "")
        coder.member("city", &city, or: "")
        coder.member("state", &state, or: "")
        coder.member("zip", &zip, or: "")
        coder.member("country", &country, or: "")
        coder.member("phone_id", &phoneID, or: "")
    }
}

/// A customer's payment card; its number is never stored.
struct RezolveCard: Sendable, Hashable {
    var id = ""
    var type = ""
    var brand = ""
    /// The first six digits of the number.
    var pan6 = ""
    /// The last four digits of the number.
    var pan4 = ""
    var shortName = ""
    var nameOnCard = ""
    /// As given, usually `MMYY`; `nil` if null was sent.
    var validFrom: String?
    var expiresOn = ""
    var addressID = ""

    var json: JSON {
        [
            "id": .string(id), "type": .string(type), "brand": .string(brand), "pan6": .string(pan6),
            "pan4": .string(pan4), "short_name": .string(shortName), "name_on_card": .string(nameOnCard),
            "valid_from": JSON(validFrom), "expires_on": .string(expiresOn), "address_id": .string(addressID),
        ]
    }
}

extension RezolveCard: RezolveEntry, CodedRecord {
    static let noun = "card"
    static let unknown = RezolveFailure.cardNotFound
    static var book: WritableKeyPath<RezolveCustomer, [RezolveCard]> { \.cards }

    var texts: [String] { [type, brand, pan6, pan4, shortName, nameOnCard, validFrom ?? "", expiresOn, addressID] }

    private static let members = [
        "short_name", "pan", "pan6", "pan4", "brand", "type", "name_on_card", "expires_on", "address_id", "valid_from",
    ]
    /// Required in a change; other members stay as they are unless sent.
    private static let lasting = ["short_name", "name_on_card", "address_id"]

    init(_ body: inout FieldReader, isNew: Bool, over old: RezolveCard?, _ switches: RezolveSwitches) {
        let needed = isNew ? Self.members : Self.lasting
        var texts: [String: String] = [:]
        for name in needed + Self.members.filter({ !needed.contains($0) }) {
            texts[name] = body.optionalText(name, isRequired: needed.contains(name), acceptsNull: name == "valid_from")
        }
        self.init(
            id: "", type: texts["type"] ?? old?.type ?? "", brand: texts["brand"] ?? old?.brand ?? "",
            pan6: texts["pan6"] ?? old?.pan6 ?? "", pan4: texts["pan4"] ?? old?.pan4 ?? "",
            shortName: texts["short_name"] ?? "", nameOnCard: texts["name_on_card"] ?? "",
            validFrom: body["valid_from"] == nil ? old?.validFrom : texts["valid_from"],
            expiresOn: texts["expires_on"] ?? old?.expiresOn ?? "", addressID: texts["address_id"] ?? "")
    }

    func check(_ body: JSONObject, _ call: RezolveCall, _ customer: RezolveCustomer) throws(Rezolve.Refused) -> Reply? {
        if let wait = try check(pan: body["pan"]?.string, call, customer) { return wait }
        try customer.place(of: RezolveAddress.self, addressID, namedBy: "address_id")
        return nil
    }

    /// Compares the encrypted number with the card's other members, if switch `pan-check` wants that (ours).
    ///
    /// - Returns: the reply that waits for the customer's key pair, if it has not been made.
    private func check(
        pan: String?, _ call: RezolveCall, _ customer: RezolveCustomer
    ) throws(Rezolve.Refused) -> Reply? {
        guard call.switches.panCheck == .decrypt, let pan else { return nil }
        guard let key = try Rezolve.keyPair(of: customer) else { return .wait(customer.keyPair.make) }
        guard let cipher = Data(base64Encoded: pan) else {
            throw Self.wrongPAN("pan is not base64; expected the encrypted number in base64")
        }
        guard let plain = key.decryptOAEP([UInt8](cipher), hash: .sha1) else {
            throw Self.wrongPAN("pan does not decrypt; expected RSA-OAEP with SHA-1 under the customer's key")
        }
        let number = String(decoding: plain, as: UTF8.self)
        guard (12...19).contains(plain.count), plain.allSatisfy(\.isDigit) else {
            throw Self.wrongPAN("pan decrypts to \(plain.count) bytes; expected 12 to 19 digits")
        }
        guard number.hasPrefix(pan6), number.hasSuffix(pan4), pan6.count == 6, pan4.count == 4 else {
            throw Self.wrongPAN(
                "pan6 and pan4 are not those of the decrypted number; expected its first 6 and last 4 digits")
        }
        return nil
    }

    /// The wording is the staging servers'; using it for this case is ours.
    private static func wrongPAN(_ reason: String) -> Rezolve.Refused {
        Rezolve.Refused(
            .bodyWrongType, ["validation": "[Type mismatch. Expected String but got String. - #/pan]"], because: reason)
    }

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("id", &id)
        coder.member("type", &type)
        coder.member("brand", &brand)
        coder.member("pan6", &pan6)
        coder.member("pan4", &pan4)
        coder.member("short_name", &shortName)
        coder.member("name_on_card", &nameOnCard)
        coder.member("valid_from", &validFrom)
        coder.member("expires_on", &expiresOn)
        coder.member("address_id", &addressID)
    }
}
