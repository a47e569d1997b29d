import Emulation
import JSON
import Wire

/// Reading customers' data, and anonymizing them.
///
/// Source: attributes are documented (SDK page); calls with a private key are observed in the vendor's Python client.
extension Bloomreach {
    /// The maximum number of attributes per call (ours).
    static let maximumAttributes = 100
    /// The maximum number of cells in a table of all customers, and the maximum bytes of their content (ours).
    static let maximumCells = 500_000
    static let maximumTableBytes = 64 << 20

    /// Returns single attributes of a customer, in the order of the request.
    static func readAttributes(_ call: inout BloomreachCall, _ state: inout State) throws(Refused) -> Reply {
        let (body, ids) = try call.customerBody()
        let attributes = try attributes(of: body)
        let owner = try call.bind(ids)
        let customer = try state.customer(owner, of: call.project())
        // Only recommendations are also available for an unknown customer.
        guard customer != nil || attributes.allSatisfy(isForAnybody) else { throw unknownCustomer(owner) }
        var results: [JSON] = []
        var bound = AnswerBound()
        for attribute in attributes {
            let result = try result(for: attribute, of: customer ?? BloomreachCustomer(number: 0), call, state)
            try bound.add(result)
            results.append(result)
        }
        return .json(["success": true, "results": .array(results)])
    }

    private static func attributes(of body: Fields<Bloomreach>) throws(Refused) -> [BloomreachAttribute] {
        let list = try body.read { body in
            let list = body.list("attributes", isRequired: true) ?? []
            if list.isEmpty { body.refuse("attributes", "attributes is empty; expected at least one") }
            if list.count > maximumAttributes {
                body.refuse("attributes", "\(list.count) attributes; expected at most \(maximumAttributes)")
            }
            return list
        }
        var attributes: [BloomreachAttribute] = []
        for (index, value) in list.enumerated() {
            guard let attribute = BloomreachAttribute(value) else {
                throw Refusal(
                    .attributeInvalidType, ["index": .string(String(index))],
                    because: "attribute \(index) is \(value.text.prefix(100)); expected \(BloomreachAttribute.expected)"
                )
            }
            attributes.append(attribute)
        }
        return attributes
    }

    private static func result(
        for attribute: BloomreachAttribute, of customer: BloomreachCustomer, _ call: BloomreachCall,
        _ state: State
    ) throws(Refused) -> JSON {
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

    /// Returns everything about one customer.
    static func exportCustomer(_ call: inout BloomreachCall, _ state: inout State) throws(Refused) -> Reply {
        let customer = try namedCustomer(call, state)
        return .json([
            "success": true, "ids": customer.idsJSON, "properties": .object(customer.properties),
            "events": .array(customer.events.entries.map(\.event.json)),
        ])
    }

    /// Returns a customer's events of some types, in order of arrival.
    static func readEvents(_ call: inout BloomreachCall, _ state: inout State) throws(Refused) -> Reply {
        let (body, ids) = try call.customerBody()
        let types = try body.read { Set(($0.texts("event_types", isRequired: true) ?? []).map(ExactText.init)) }
        guard let customer = try state.customer(ids, of: call.project()) else { throw unknownCustomer(ids) }
        let events = customer.events.entries.filter { types.contains(ExactText($0.type)) }
        return .json(["success": true, "data": .array(events.map(\.event.json))])
    }

    /// Returns all customers as a table: ids first, then every property that any customer has.
    static func exportCustomers(_ call: inout BloomreachCall, _ state: inout State) throws(Refused) -> Reply {
        try call.body { body in
            if let format = body.optionalText("format"), format != "native_json" {
                body.refuse("format", "format is \(format.shown); expected native_json")
            }
        }
        let customers = try state.customers(of: call.project()).all
        let ids = idNames(of: customers)
        var names: Set<ExactText> = []
        for customer in customers { for member in customer.properties { names.insert(ExactText(member.name)) } }
        let (cells, _) = customers.count.multipliedReportingOverflow(by: ids.count + names.count)
        let bytes = customers.reduce(0) { $0 + $1.recordByteCount }
        try Refused.require(
            cells <= maximumCells && bytes <= maximumTableBytes, .bodyTooLarge,
            "the table would have \(cells) cells of \(bytes) bytes; expected at most \(maximumCells) of "
                + "\(maximumTableBytes)")
        let properties = names.sorted().map(\.text)
        var columns: [ExactText: Int] = [:]
        for (column, name) in properties.enumerated() { columns[ExactText(name)] = column }
        let rows = customers.map { customer in
            var values = [JSON](repeating: .null, count: properties.count)
            for member in customer.properties {
                if let column = columns[ExactText(member.name)] { values[column] = member.value }
            }
            return JSON.array(ids.map { value(ofID: $0, customer) } + values)
        }
        let fields =
            ids.map { JSON.object(["type": "id", "id": .string($0)]) }
            + properties.map { JSON.object(["type": "property", "property": .string($0)]) }
        return .json(["success": true, "fields": .array(fields), "data": .array(rows)])
    }

    private static func value(ofID name: String, _ customer: BloomreachCustomer) -> JSON {
        name.hasSameBytes(as: BloomreachID.cookie)
            ? .array(customer.cookies.map(JSON.string)) : JSON(customer.ids[name])
    }

    private static func idNames(of customers: [BloomreachCustomer]) -> [String] {
        var others: Set<ExactText> = []
        for customer in customers { for id in customer.ids.hard { others.insert(ExactText(id.name)) } }
        others.remove(ExactText(BloomreachID.registered))
        return [BloomreachID.registered, BloomreachID.cookie] + others.sorted().map(\.text)
    }

    /// Removes a customer's hard ids, properties and inbox; events and cookies stay (ours).
    static func anonymizeCustomer(_ call: inout BloomreachCall, _ state: inout State) throws(Refused) -> Reply {
        let customer = try namedCustomer(call, state)
        state.anonymize(customer.number, in: try call.project().token)
        return .json(["success": true])
    }

    private static func namedCustomer(_ call: BloomreachCall, _ state: State) throws(Refused) -> BloomreachCustomer {
        let ids = try call.customerBody().ids
        guard let customer = try state.customer(ids, of: call.project()) else { throw unknownCustomer(ids) }
        return customer
    }

    private static func unknownCustomer(_ ids: BloomreachIDs) -> Refused {
        Refusal(
            .customerNotFound, because: "nobody has one of the ids \(ids.json.text); expected an id that was tracked")
    }
}
