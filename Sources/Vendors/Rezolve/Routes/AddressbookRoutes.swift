import Emulation
import JSON

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

    /// The address as answered; `country_alpha2` is null whatever was sent (observed).
    var json: JSON {
        [
            "id": .string(id), "short_name": .string(shortName), "full_name": .string(fullName),
            "line_1": .string(line1), "line_2": .string(line2), "city": .string(city), "state": .string(state),
            "zip": .string(zip), "country": .string(country), "country_alpha2": nil, "phone_id": .string(phoneID),
        ]
    }
}

/// The address book. Source: the call is documented (seed), shapes are observed in vendor QA tests, reading and
/// replacing a single address follow from the SDK's calls.
extension Rezolve {
    static func listAddresses(
        _ call: inout RezolveCall, _ customer: inout RezolveCustomer
    ) throws(RezolveRefusal) -> Reply {
        .json(.array(customer.addresses.map(\.json)))
    }

    static func createAddress(
        _ call: inout RezolveCall, _ customer: inout RezolveCustomer
    ) throws(RezolveRefusal) -> Reply {
        let draft = try AddressDraft(call)
        let phone = try draft.phone(of: customer)
        try RezolveCustomer.checkRoom(for: customer.addresses.count)
        let address = draft.address(id: call.identifiers.uuid(), phone: phone)
        customer.addresses.append(address)
        return .json(address.json, status: .created)
    }

    static func readAddress(
        _ call: inout RezolveCall, _ customer: inout RezolveCustomer
    ) throws(RezolveRefusal) -> Reply {
        .json(customer.addresses[try addressIndex(call, customer)].json)
    }

    /// Replaces the whole address; members that were left out become empty (ours).
    static func updateAddress(
        _ call: inout RezolveCall, _ customer: inout RezolveCustomer
    ) throws(RezolveRefusal) -> Reply {
        let draft = try AddressDraft(call)
        let index = try addressIndex(call, customer)
        let phone = try draft.phone(of: customer)
        customer.addresses[index] = draft.address(id: customer.addresses[index].id, phone: phone)
        return .json(customer.addresses[index].json)
    }

    static func deleteAddress(
        _ call: inout RezolveCall, _ customer: inout RezolveCustomer
    ) throws(RezolveRefusal) -> Reply {
        let index = try addressIndex(call, customer)
        let id = customer.addresses[index].id
        if let card = customer.cards.first(where: { $0.addressID.hasSameBytes(as: id) }) {
            throw Refusal(
                .addressInUse,
                because: "card \(card.id) refers to address \(id); expected an address that no card refers to")
        }
        customer.addresses.remove(at: index)
        return .empty()
    }

    private static func addressIndex(_ call: RezolveCall, _ customer: RezolveCustomer) throws(RezolveRefusal) -> Int {
        let id = call.parameters["id"]
        guard let index = customer.addresses.firstIndex(where: { $0.id.hasSameBytes(as: id) }) else {
            let known = Nearest.known(customer.addresses.lazy.map(\.id))
            throw Refusal(.addressNotFound, because: "no address of \(customer.entityID) has the id \(id)\(known)")
        }
        return index
    }
}

/// What a client sends for an address.
private struct AddressDraft {
    private var texts: [String: String] = [:]
    private let phoneID: String

    init(_ call: RezolveCall) throws(RezolveRefusal) {
        var reader = FieldReader(try call.bodyObject())
        let shop = call.switches.addressRequiredFields == .shop
        for (name, otherName, isRequiredByShop) in Self.members {
            texts[name] = reader.string(name, or: otherName, isRequired: shop && isRequiredByShop)
        }
        _ = reader.string("country_alpha2", acceptsNull: true)
        phoneID = reader.string("phone_id", or: "phone_book_id", acceptsNull: true) ?? ""
        try call.refuse(reader.problems)
    }

    /// Name, other spelling (documented in the vendor's older pages), and whether the vendor's shop needs it.
    private static let members: [(name: String, otherName: String, isRequiredByShop: Bool)] = [
        ("short_name", "short_name", false), ("full_name", "full_name", false), ("line_1", "line1", true),
        ("line_2", "line2", false), ("city", "city", true), ("state", "state", true), ("zip", "zip", true),
        ("country", "country", true),
    ]

    /// The phone that the draft refers to; empty for none.
    func phone(of customer: RezolveCustomer) throws(RezolveRefusal) -> String {
        guard phoneID.isEmpty || customer.phones.contains(where: { $0.id.hasSameBytes(as: phoneID) }) else {
            let known = Nearest.known(customer.phones.lazy.map(\.id))
            throw Refusal(
                .phoneNotFound, because: "phone_id \(phoneID.shown) names no phone of \(customer.entityID)\(known)")
        }
        return phoneID
    }

    func address(id: String, phone: String) -> RezolveAddress {
        RezolveAddress(
            id: id, shortName: texts["short_name"] ?? "", fullName: texts["full_name"] ?? "",
            line1: texts["line_1"] ?? "", line2: texts["line_2"] ?? "", city: texts["city"] ?? "",
            state: texts["state"] ?? "", zip: texts["zip"] ?? "", country: texts["country"] ?? "", phoneID: phone)
    }
}
