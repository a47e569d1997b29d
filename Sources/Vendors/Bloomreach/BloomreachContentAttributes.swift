import Emulation
import JSON

/// Attributes whose values are content.
extension Bloomreach {
    /// The result of an attribute that is neither a property nor an id: the object that stands in `results` for it.
    ///
    /// - Throws: ``BloomreachFailure/attributeUnknownID``
    static func contentResult(
        for attribute: BloomreachAttribute, of customer: BloomreachCustomer, _ call: BloomreachCall,
        _ state: BloomreachState
    ) throws(BloomreachRefusal) -> JSON {
        switch attribute {
        case .property, .id: nil
        case .consent: ["success": true, "value": false]
        case .computed(let kind, let id):
            throw Refusal(.attributeUnknownID, ["kind": .string(kind.title), "id": .string(id)])
        case .recommendation: ["success": false, "error": "Not Found"]
        }
    }

    /// Whether an attribute is answered for a customer who does not exist: recommendations are.
    static func isForAnybody(_ attribute: BloomreachAttribute) -> Bool {
        if case .recommendation = attribute { true } else { false }
    }
}
