import Emulation
import JSON

/// Attributes whose values are content.
extension Bloomreach {
    /// The result of an attribute that is neither a property nor an id: its object in `results`.
    ///
    /// - Throws: ``BloomreachFailure/attributeUnknownID``
    static func contentResult(
        for attribute: BloomreachAttribute, of customer: BloomreachCustomer, _ call: BloomreachCall,
        _ state: State
    ) throws(Refused) -> JSON {
        let project = try call.project().token
        let content = call.vendor.content[project]
        let key = BloomreachCustomerKey(project: project, number: customer.number)
        switch attribute {
        case .property, .id: return ["success": false, "error": "Not Found"]
        case .consent(let category):
            return ["success": true, "value": .bool(state.content.consent(to: category, of: key))]
        case .computed(let kind, let id):
            guard let attribute = content.computed.first(where: { $0.kind == kind && $0.id.hasSameBytes(as: id) })
            else {
                let known = Nearest.known(content.computed.filter { $0.kind == kind }.map(\.id))
                throw Refusal(
                    .attributeUnknownID, ["kind": .string(kind.title), "id": .string(id)],
                    because: "the project has no \(kind.rawValue) \(id.shown)\(known)")
            }
            return ["success": true, "value": attribute.value(for: customer.number)]
        case .recommendation(let order):
            let customer = customer.number > 0 ? customer.number : nil
            guard let items = content.recommendations.items(order, for: customer) else {
                return ["success": false, "error": "Not Found"]
            }
            return ["success": true, "value": .array(items)]
        }
    }

    /// Whether the attribute has a value even for an unknown customer: recommendations do.
    static func isForAnybody(_ attribute: BloomreachAttribute) -> Bool {
        if case .recommendation = attribute { true } else { false }
    }
}
