import Emulation
import JSON

/// An attribute that the vendor computes per customer: a segmentation, an expression, an aggregate or a prediction.
///
/// Nothing is computed here; the fixture gives the results.
struct ComputedAttribute: Sendable {
    let kind: BloomreachAttribute.Computation
    let id: String
    private var values: [Int: JSON] = [:]
    private let otherwise: JSON

    func value(for customer: Int) -> JSON { values[customer] ?? otherwise }

    /// Reads an entry of `content/computed-attributes.yaml`.
    init(_ node: FixtureNode, of project: String, _ directory: ContentDirectory) throws(FixtureProblem) {
        let entry = try node.mapping("type", "id", "otherwise", "values")
        let type = try entry.required("type")
        try ContentShape.word(["segmentation", "expression", "aggregate", "prediction"]).check(type)
        guard let kind = BloomreachAttribute.Computation(rawValue: try type.string()) else {
            throw type.problem("nothing of that type is computed")
        }
        self.kind = kind
        let idNode = try entry.required("id")
        try ContentShape.name.check(idNode)
        id = try idNode.string()
        otherwise = try entry["otherwise"]?.json() ?? .null
        guard let list = entry["values"] else { return }
        for (customer, entry) in try directory.entries(list, of: project, "value") {
            values[customer.number] = try entry.required("value").json()
        }
    }
}
