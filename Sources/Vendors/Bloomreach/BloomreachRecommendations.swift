import Emulation
import JSON

/// Recommended items. Source: observed, both SDKs; the selection and order of items are ours.
extension Bloomreach {
    /// Recommendations of a stream; a project has them as attributes instead.
    static func recommendations(_ call: inout BloomreachCall, _ state: inout State) throws(Refused) -> Reply {
        let (owner, order) = try call.ofCustomer {
            BloomreachRecommendationOrder(
                &$0, engine: "engine_id", random: "fill_with_random", whitelist: "catalog_attributes_whitelist")
        }
        let project = try call.project()
        let customer = state.customer(owner, of: project)?.number
        guard let items = call.vendor.content[project.token].recommendations.items(order, for: customer) else {
            let known = Nearest.known(call.vendor.content[project.token].recommendations.engines.lazy.map(\.id))
            throw Refused(.unknownEngine, because: "the project has no engine \(order.engine.shown)\(known)")
        }
        // A string, not a list: the SDKs expect it so.
        return .json(["data": .array(items), "errors": "[]", "success": true])
    }
}

struct RecommendationEngine: Sendable {
    let id: String
    let name: String
    /// A string or null.
    let variantID: JSON
    /// The ids of the recommended items, best first.
    let itemIDs: [String]

    fileprivate init(_ node: FixtureNode, of catalog: RecommendationCatalog) throws(FixtureProblem) {
        let fields: [ContentField] = [
            .required("id", .name), .required("name", .name), .nullable("variant_id", .text),
            .required("items", .list(of: .name)),
        ]
        let entry = try fields.mapping(node)
        id = try entry.required("id").string()
        name = try entry.required("name").string()
        variantID = try entry["variant_id"]?.json() ?? .null
        var ids: [String] = []
        for item in try entry.required("items").elements() {
            let itemID = try item.string()
            guard catalog.items[itemID] != nil else {
                throw item.problem("the catalog has no item \(itemID)\(Nearest.hint(to: itemID, among: catalog.order))")
            }
            ids.append(itemID)
        }
        itemIDs = ids
    }

    /// A stable id for recommendations of this engine to the customer (ours): 24 hexadecimal digits.
    fileprivate func recommendationID(for customer: Int?) -> String {
        let one = Array("\(id)\n\(customer ?? 0)".utf8).stableHash.hexadecimal
        return one + Array(one.utf8).stableHash.hexadecimal.prefix(8)
    }
}

/// The items of a project and the engines that recommend them.
struct RecommendationCatalog: Sendable {
    /// The fields of each item except its id, by id.
    private(set) var items: [String: JSONObject] = [:]
    /// The item ids in fixture order.
    private(set) var order: [String] = []
    private(set) var engines: [RecommendationEngine] = []

    init() {}

    /// Reads a project's entry of `content/recommendations.yaml`.
    init(_ node: FixtureNode) throws(FixtureProblem) {
        let entry = try node.mapping("catalog", "engines")
        for node in try entry.required("catalog").elements() { try add(item: node) }
        for node in try entry.required("engines").elements() {
            let engine = try RecommendationEngine(node, of: self)
            guard !engines.contains(where: { $0.id == engine.id }) else {
                throw node.problem("another engine has the id \(engine.id)")
            }
            engines.append(engine)
        }
    }

    /// The engine's recommendations for a customer number, or an unknown customer; `nil` for an unknown engine.
    ///
    /// The engine's items in order, then on request the rest of the catalog, so that responses repeat (ours).
    func items(_ order: BloomreachRecommendationOrder, for customer: Int?) -> [JSON]? {
        guard let engine = engines.first(where: { $0.id.hasSameBytes(as: order.engine) }) else { return nil }
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

    private mutating func add(item node: FixtureNode) throws(FixtureProblem) {
        try ContentShape.open([.required("item_id", .name)]).check(node)
        var fields = try node.json().object ?? [:]
        let id = fields["item_id"]?.string ?? ""
        fields["item_id"] = nil
        if let name = Self.ownNames.first(where: { fields[$0] != nil }) {
            throw node.problem("a field of an item cannot have the name \(name), which every recommendation has itself")
        }
        guard items.updateValue(fields, forKey: id) == nil else { throw node.problem("another item has the id \(id)") }
        order.append(id)
    }

    /// The members of a recommendation besides the catalog fields.
    private static let ownNames = ["engine_name", "recommendation_id", "recommendation_variant_id"]
}
