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

    /// The address as answered; `country_alpha2` is always null, whatever was sent (observed).
    var json: JSON {
        [
            "id": .string(id), "short_name": .string(shortName), "full_name": .string(fullName),
            "line_1": .string(line1), "line_2": .string(line2), "city": .string(city), "state": .string(state),
            "zip": .string(zip), "country": .string(country), "country_alpha2": nil, "phone_id": .string(phoneID),
        ]
    }
}

extension RezolveAddress: RezolveEntry {
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

    func check(_: JSONObject, _: RezolveCall, _ customer: RezolveCustomer) throws(RezolveRefusal) -> Reply? {
        if !phoneID.isEmpty { try customer.place(of: RezolvePhone.self, phoneID, namedBy: "phone_id") }
        return nil
    }

    func checkRemoval(from customer: RezolveCustomer) throws(RezolveRefusal) {
        guard let card = customer.cards.first(where: { $0.addressID.hasSameBytes(as: id) }) else { return }
        throw Refusal(
            .addressInUse,
            because: "card \(card.id) refers to address \(id); expected an address that no card refers to")
    }
}
