import Emulation
import JSON
import Wire

/// What is read of customers, and forgotten.
///
/// Source: attributes are documented (seed), the calls with a private key are observed in the vendor's Python client.
extension Bloomreach {
    /// Single attributes of a customer, in the order in which they were asked for.
    static func readAttributes(
        _ call: inout BloomreachCall, _ state: inout BloomreachState
    ) throws(BloomreachRefusal) -> Reply {
        let body = try call.bodyObject()
        let ids = try call.customerIDs(of: body)
        let attributes = try attributes(of: body)
        let owner = try call.bind(ids)
        let customer = try state.customer(owner, of: call.project())
        // Recommendations alone are also made for somebody unknown.
        guard customer != nil || attributes.allSatisfy(isForAnybody) else { throw unknownCustomer(owner) }
        var results: [JSON] = []
        for attribute in attributes {
            results.append(try result(for: attribute, of: customer ?? BloomreachCustomer(number: 0), call, state))
        }
        return .json(["success": true, "results": .array(results)])
    }

    private static func attributes(of body: JSONObject) throws(BloomreachRefusal) -> [BloomreachAttribute] {
        let list = try body.requiredArray("attributes")
        guard !list.isEmpty else { throw .invalidField("attributes", because: "attributes is empty") }
        var attributes: [BloomreachAttribute] = []
        for (index, value) in list.enumerated() {
            guard let attribute = BloomreachAttribute(value) else {
                throw Refusal(
                    .attributeInvalidType, ["index": .string(String(index))],
                    because: "attribute \(index) is \(value.text.prefix(100))")
            }
            attributes.append(attribute)
        }
        return attributes
    }

    private static func result(
        for attribute: BloomreachAttribute, of customer: BloomreachCustomer, _ call: BloomreachCall,
        _ state: BloomreachState
    ) throws(BloomreachRefusal) -> JSON {
        switch attribute {
        case .property(let name):
            if let key = call.credentials.publicKey, !key.mayUse(property: name) {
                return ["success": false, "error": "No permission"]
            }
            return ["success": true, "value": customer.properties[name] ?? .null]
        case .id(let name):
            let isCookie = name.hasSameBytes(as: BloomreachID.cookie)
            let value = isCookie ? .array(customer.cookies.map(JSON.string)) : JSON(customer.ids[name])
            return ["success": true, "value": value]
        case .consent, .computed, .recommendation:
            return try contentResult(for: attribute, of: customer, call, state)
        }
    }

    /// Everything about one customer.
    static func exportCustomer(
        _ call: inout BloomreachCall, _ state: inout BloomreachState
    ) throws(BloomreachRefusal) -> Reply {
        let customer = try namedCustomer(try call.bodyObject(), call, state)
        let customers = try state.customers(of: call.project())
        return .json([
            "success": true, "ids": customer.idsJSON, "properties": .object(customer.properties),
            "events": .array(customers.events(of: customer).map(\.json)),
        ])
    }

    /// The events of some types of one customer, in the order of their arrival.
    static func readEvents(
        _ call: inout BloomreachCall, _ state: inout BloomreachState
    ) throws(BloomreachRefusal) -> Reply {
        let body = try call.bodyObject()
        let ids = try call.customerIDs(of: body)
        let types = Set(try body.requiredTexts("event_types"))
        let customers = try state.customers(of: call.project())
        guard let customer = customers.customer(ids) else { throw unknownCustomer(ids) }
        let events = customers.events(of: customer).filter { types.contains($0.type) }
        return .json(["success": true, "data": .array(events.map(\.json))])
    }

    /// All customers as a table: ids first, then every property that anybody has.
    static func exportCustomers(
        _ call: inout BloomreachCall, _ state: inout BloomreachState
    ) throws(BloomreachRefusal) -> Reply {
        let body = try call.bodyObject()
        let format = try body.text("format") ?? "native_json"
        guard format == "native_json" else { throw .invalidField("format", because: "format is \(format)") }
        let customers = try state.customers(of: call.project()).all
        let ids = idNames(of: customers)
        let properties = Set(customers.flatMap { $0.properties.map(\.name) }).sorted()
        let rows = customers.map { customer in
            JSON.array(
                ids.map { name in
                    name == BloomreachID.cookie
                        ? .array(customer.cookies.map(JSON.string)) : JSON(customer.ids[name])
                } + properties.map { customer.properties[$0] ?? .null })
        }
        let fields =
            ids.map { JSON.object(["type": "id", "id": .string($0)]) }
            + properties.map { JSON.object(["type": "property", "property": .string($0)]) }
        return .json(["success": true, "fields": .array(fields), "data": .array(rows)])
    }

    private static func idNames(of customers: [BloomreachCustomer]) -> [String] {
        let others = Set(customers.flatMap { $0.ids.hard.map(\.name) }).subtracting([BloomreachID.registered])
        return [BloomreachID.registered, BloomreachID.cookie] + others.sorted()
    }

    /// Takes hard ids, properties and inbox from a customer; events and cookies stay (ours).
    static func anonymizeCustomer(
        _ call: inout BloomreachCall, _ state: inout BloomreachState
    ) throws(BloomreachRefusal) -> Reply {
        let customer = try namedCustomer(try call.bodyObject(), call, state)
        state.anonymize(customer.number, in: try call.project().token)
        return .json(["success": true])
    }

    private static func namedCustomer(
        _ body: JSONObject, _ call: BloomreachCall, _ state: BloomreachState
    ) throws(BloomreachRefusal) -> BloomreachCustomer {
        let ids = try call.customerIDs(of: body)
        guard let customer = try state.customer(ids, of: call.project()) else { throw unknownCustomer(ids) }
        return customer
    }

    private static func unknownCustomer(_ ids: BloomreachIDs) -> BloomreachRefusal {
        Refusal(.customerNotFound, because: "nobody has one of the ids \(ids.json.text)")
    }
}
