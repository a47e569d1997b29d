import Emulation
import JSON

/// An entry of a customer's phone book.
struct RezolvePhone: Sendable, Hashable {
    var id = ""
    var name = ""
    var phone = ""

    var json: JSON { ["id": .string(id), "name": .string(name), "phone": .string(phone)] }
}

extension RezolvePhone: RezolveEntry {
    static let noun = "phone"
    static let unknown = RezolveFailure.phoneNotFound
    static var book: WritableKeyPath<RezolveCustomer, [RezolvePhone]> { \.phones }

    var texts: [String] { [name, phone] }

    static func list(_ entries: [JSON]) -> JSON { ["phones": .array(entries)] }

    /// The lengths come from the staging servers' messages.
    init(_ body: inout FieldReader, isNew: Bool, over old: RezolvePhone?, _ switches: RezolveSwitches) {
        self.init(id: "", name: body.text("name", atLeast: 1), phone: body.text("phone", atLeast: 4))
    }

    func checkRemoval(from customer: RezolveCustomer) throws(RezolveRefusal) {
        guard let address = customer.addresses.first(where: { $0.phoneID.hasSameBytes(as: id) }) else { return }
        throw Refusal(
            .phoneInUse,
            because: "address \(address.id) refers to phone \(id); expected a phone that no address refers to")
    }
}
