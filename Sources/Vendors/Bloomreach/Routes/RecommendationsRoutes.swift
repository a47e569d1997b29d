import Emulation
import JSON

/// Recommended items. Source: observed, both SDKs; the selection and order of items are ours.
extension Bloomreach {
    /// Recommendations of a stream; a project has them as attributes instead.
    static func recommendations(_ call: inout BloomreachCall, _ state: inout State) throws(Refused) -> Reply {
        let (body, ids) = try call.customerBody()
        let order = try body.read {
            BloomreachRecommendationOrder(
                &$0, engine: "engine_id", random: "fill_with_random", whitelist: "catalog_attributes_whitelist")
        }
        let owner = try call.bind(ids)
        let project = try call.project()
        let customer = state.customer(owner, of: project)?.number
        guard let items = call.vendor.content[project.token].recommendations.items(order, for: customer) else {
            let known = Nearest.known(call.vendor.content[project.token].recommendations.engines.lazy.map(\.id))
            throw .invalidField("engine_id", because: "the project has no engine \(order.engine.shown)\(known)")
        }
        // A string, not a list: the SDKs expect it so.
        return .json(["data": .array(items), "errors": "[]", "success": true])
    }
}

extension RecommendationCatalog {
    /// The engine's recommendations for a customer number, or an unknown customer; `nil` for an unknown engine.
    ///
    /// The engine's items in order, then on request the rest of the catalog, so that responses repeat (ours).
    func items(_ order: BloomreachRecommendationOrder, for customer: Int?) -> [JSON]? {
        guard let engine = engine(order.engine) else { return nil }
        let rest = order.fillsWithRandom ? self.order.filter { !engine.itemIDs.contains($0) } : []
        let id = engine.recommendationID(for: customer)
        let whitelist = order.whitelist.map { Set($0.map(ExactText.init)) }
        return (engine.itemIDs + rest).prefix(order.size).map { item in
            var entry: JSONObject = [
                "engine_name": .string(engine.name), "item_id": .string(item), "recommendation_id": .string(id),
                "recommendation_variant_id": engine.variantID,
            ]
            for field in items[item] ?? [:] where whitelist?.contains(ExactText(field.name)) ?? true {
                entry.append(field.name, field.value)
            }
            return .object(entry)
        }
    }
}

extension RecommendationEngine {
    /// A stable id for recommendations of this engine to the customer (ours): 24 hexadecimal digits.
    fileprivate func recommendationID(for customer: Int?) -> String {
        let one = StableHash("\(id)\n\(customer ?? 0)".utf8).hex
        return one + StableHash(one.utf8).hex.prefix(8)
    }
}
