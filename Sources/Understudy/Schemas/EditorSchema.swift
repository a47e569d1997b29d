package import Emulation
import JSON

/// A JSON Schema by which editors complete and check one kind of file.
///
/// It is of draft 2020-12, and uses only words that mean the same in draft-07, which some editors read it by: so no
/// `dependentRequired`, no `prefixItems`, and no other word beside `$ref` that matters.
package struct EditorSchema: Sendable {
    /// The path in a folder of fixtures, such as `VENDOR/schemas/accounts.schema.json`.
    package let path: String
    package let bytes: [UInt8]

    init(path: String, bytes: [UInt8]) {
        self.path = path
        self.bytes = bytes
    }

    /// A schema made from what the program knows.
    init(path: String, title: String, _ schema: JSON) {
        let (schema, definitions) = Self.withDefinitions(schema)
        var document: JSONObject = [
            "$schema": "https://json-schema.org/draft/2020-12/schema", "title": .string(title),
        ]
        for member in schema.object ?? [:] { document.append(member.name, member.value) }
        if !definitions.isEmpty {
            document["$defs"] = .object(Schema.joined(document["$defs"]?.object ?? [:], definitions))
        }
        self.init(path: path, bytes: Array((JSON.object(document).prettyText + "\n").utf8))
    }

    /// The schemas of one vendor: those made from its routes, failures, switches and actions, and those that stand in
    /// its fixtures.
    ///
    /// - Throws: the problem with a schema of the fixtures.
    package static func all(
        of vendor: any LoadedVendor, in fixtures: FixtureStore
    ) throws(FixtureProblem) -> [EditorSchema] {
        let (id, title) = (vendor.identity.id, vendor.identity.title)
        let folder = "\(id)/schemas"
        var schemas = [
            EditorSchema(
                path: "\(folder)/failures\(FixtureStore.schemaSuffix)", title: "Failures of \(title)",
                FailureSchema(vendor).complete),
            EditorSchema(
                path: "\(folder)/changed-failures\(FixtureStore.schemaSuffix)", title: "Changed failures of \(title)",
                FailureSchema(vendor).changes),
            EditorSchema(
                path: "\(folder)/scenario\(FixtureStore.schemaSuffix)", title: "Scenario of \(title)",
                ScenarioSchema(vendor).schema),
        ]
        for name in fixtures.names(in: folder) where name.hasSuffix(FixtureStore.schemaSuffix) {
            let path = "\(folder)/\(name)"
            // A refreshed folder may lie above the installed one.
            guard !schemas.contains(where: { $0.path == path }) else { continue }
            schemas.append(EditorSchema(path: path, bytes: try fixtures.file(path).bytes))
        }
        return schemas.sorted { $0.path < $1.path }
    }

    /// The schema with its references turned to definitions of its own, and those definitions.
    private static func withDefinitions(_ schema: JSON) -> (JSON, JSONObject) {
        var (definitions, open): (JSONObject, [String]) = ([:], [])
        let whole = localized(schema, &open)
        while let name = open.popLast() {
            guard definitions[name] == nil, let schema = ControlDocument.schema(name) else { continue }
            definitions[name] = localized(schema, &open)
        }
        return (whole, definitions)
    }

    /// - Parameter names: receives the names of the schemas that this one refers to.
    private static func localized(_ schema: JSON, _ names: inout [String]) -> JSON {
        switch schema {
        case .object(let object):
            var result = JSONObject()
            for member in object {
                if member.name == "$ref", let name = member.value.string?.split(separator: "/").last.map(String.init),
                    member.value.string?.hasPrefix(ControlDocument.place) == true
                {
                    names.append(name)
                    result.append("$ref", .string("#/$defs/\(name)"))
                } else {
                    result.append(member.name, localized(member.value, &names))
                }
            }
            return .object(result)
        case .array(let elements):
            var result: [JSON] = []
            for element in elements { result.append(localized(element, &names)) }
            return .array(result)
        case .null, .bool, .number, .string: return schema
        }
    }
}
