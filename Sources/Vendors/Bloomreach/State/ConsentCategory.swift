import Emulation
import JSON

struct ConsentCategory: Sendable {
    let id: String
    let json: JSON

    /// Reads an entry of `content/consents.yaml`. Source: what iOS decodes; it refuses a list with a wrong entry.
    init(_ node: FixtureNode) throws(FixtureProblem) {
        try Self.shape.check(node)
        let entry = try node.mapping(Self.fields.map(\.name))
        id = try entry.required("id").string()
        var object = JSONObject()
        for field in Self.fields { object.append(field.name, try entry.required(field.name).json()) }
        json = .object(object)
    }

    private static let shape = ContentShape.record(fields)

    private static let fields: [ContentField] = [
        .required("id", .name), .required("legitimate_interest", .bool),
        .required(
            "sources",
            .record(
                ["crm", "import", "page", "private_api", "public_api", "scenario"].map { .required($0, .bool) }
                    + [.optional("list_unsubscribe", .bool)])),
        // The language may be the empty string.
        .required("translations", .map(.map(.optional(.text)))),
    ]
}
