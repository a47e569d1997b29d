import Emulation
import JSON

/// An entry of a customer's phone book.
struct RezolvePhone: Sendable, Hashable {
    var id = ""
    var name = ""
    var phone = ""

    var json: JSON { ["id": .string(id), "name": .string(name), "phone": .string(phone)] }
}

/// The phone book. Source: observed, vendor QA tests; reading a single entry is ours.
extension Rezolve {
    static func listPhones(
        _ call: inout RezolveCall, _ customer: inout RezolveCustomer
    ) throws(RezolveRefusal) -> Reply {
        .json(["phones": .array(customer.phones.map(\.json))])
    }

    static func createPhone(
        _ call: inout RezolveCall, _ customer: inout RezolveCustomer
    ) throws(RezolveRefusal) -> Reply {
        let draft = try PhoneDraft(call)
        try RezolveCustomer.checkRoom(for: customer.phones.count)
        let phone = RezolvePhone(id: call.identifiers.uuid(), name: draft.name, phone: draft.phone)
        customer.phones.append(phone)
        return .json(phone.json, status: .created)
    }

    static func readPhone(
        _ call: inout RezolveCall, _ customer: inout RezolveCustomer
    ) throws(RezolveRefusal) -> Reply {
        .json(customer.phones[try phoneIndex(call, customer)].json)
    }

    static func updatePhone(
        _ call: inout RezolveCall, _ customer: inout RezolveCustomer
    ) throws(RezolveRefusal) -> Reply {
        let draft = try PhoneDraft(call)
        let index = try phoneIndex(call, customer)
        customer.phones[index].name = draft.name
        customer.phones[index].phone = draft.phone
        return .json(customer.phones[index].json)
    }

    static func deletePhone(
        _ call: inout RezolveCall, _ customer: inout RezolveCustomer
    ) throws(RezolveRefusal) -> Reply {
        let index = try phoneIndex(call, customer)
        let id = customer.phones[index].id
        if let address = customer.addresses.first(where: { $0.phoneID.hasSameBytes(as: id) }) {
            throw Refusal(
                .phoneInUse,
                because: "address \(address.id) refers to phone \(id); expected a phone that no address refers to")
        }
        customer.phones.remove(at: index)
        return .empty()
    }

    private static func phoneIndex(_ call: RezolveCall, _ customer: RezolveCustomer) throws(RezolveRefusal) -> Int {
        let id = call.parameters["id"]
        guard let index = customer.phones.firstIndex(where: { $0.id.hasSameBytes(as: id) }) else {
            let known = Nearest.known(customer.phones.lazy.map(\.id))
            throw Refusal(.phoneNotFound, because: "no phone of \(customer.entityID) has the id \(id)\(known)")
        }
        return index
    }
}

/// What a client sends for a phone. The lengths are those of the staging servers' messages.
private struct PhoneDraft {
    let name: String
    let phone: String

    init(_ call: RezolveCall) throws(RezolveRefusal) {
        var reader = FieldReader(try call.bodyObject())
        let name = reader.string("name", isRequired: true, minimumLength: 1)
        let phone = reader.string("phone", isRequired: true, minimumLength: 4)
        try call.refuse(reader.problems)
        self.name = name ?? ""
        self.phone = phone ?? ""
    }
}
