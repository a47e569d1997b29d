import Emulation
import JSON

/// An engine that recommends items of a catalog.
struct RecommendationEngine: Sendable {
    let id: String
    let name: String
    /// A string or null.
    let variantID: JSON
    /// The ids of the recommended items, best first.
    let itemIDs: [String]

    fileprivate init(_ node: FixtureNode, of catalog: RecommendationCatalog) throws(FixtureProblem) {
        let entry = try node.mapping("id", "name", "variant_id", "items")
        try ContentShape.record([
            .required("id", .name), .required("name", .name), .nullable("variant_id", .text),
            .required("items", .list(of: .name)),
        ]).check(node)
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

    func engine(_ id: String) -> RecommendationEngine? { engines.first { $0.id.hasSameBytes(as: id) } }

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
