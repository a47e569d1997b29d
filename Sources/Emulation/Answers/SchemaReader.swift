package import JSON

/// Reads the JSON Schema in fixtures: a few keywords, references by the name of a shared part, and closed objects.
package struct SchemaReader {
    package static let types = ["string", "integer", "number", "boolean", "object", "array", "null"]
    package static let keywords = [
        "$ref", "type", "const", "enum", "format", "pattern", "properties", "required", "additionalProperties", "items",
        "anyOf", "minItems", "maxItems", "minimum", "maximum", "minLength", "maxLength", "description",
    ]
    /// Where references find the shared parts.
    package static let place = "#/components/schemas/"

    let parts: [String]

    /// The schema as JSON Schema; an object with properties has no others unless it says so.
    func schema(_ node: FixtureNode) throws(FixtureProblem) -> JSON {
        // What may be anything, or must be absent.
        if let bool = try? node.bool() { return .bool(bool) }
        let members = try node.mapping(Self.keywords)
        if let reference = members["$ref"],
            members.members.contains(where: { !["$ref", "description"].contains($0.name) })
        {
            throw reference.nameProblem("found other keywords beside $ref; expected at most a description")
        }
        var schema = JSONObject()
        for (name, value) in members.members { schema.append(name, try self.value(of: name, value)) }
        if let properties = schema["properties"] {
            let known = (properties.object ?? [:]).map(\.name)
            for name in try members["required"]?.elements() ?? [] { _ = try name.known("property", among: known) }
            if schema["additionalProperties"] == nil { schema.append("additionalProperties", false) }
        }
        return .object(schema)
    }

    private func value(of keyword: String, _ node: FixtureNode) throws(FixtureProblem) -> JSON {
        switch keyword {
        case "$ref": return .string(Self.place + (try node.known("shared part", among: parts)))
        case "type":
            func type(_ node: FixtureNode) throws(FixtureProblem) -> JSON {
                .string(try node.known("type", among: Self.types))
            }
            return (try? node.elements()) == nil ? try type(node) : .array(try list(node, type))
        case "properties":
            var properties = JSONObject()
            for (name, value) in try node.members() { properties.append(name, try schema(value)) }
            return .object(properties)
        case "items", "additionalProperties": return try schema(node)
        case "anyOf": return .array(try list(node, schema))
        case "enum": return .array(try list(node) { node throws(FixtureProblem) in try node.json() })
        case "required": return .array(try list(node) { node throws(FixtureProblem) in .string(try node.string()) })
        case "format", "pattern", "description": return .string(try node.string())
        case "minItems", "maxItems", "minLength", "maxLength": return JSON(try node.int(in: 0...Int.max))
        case "minimum", "maximum":
            _ = try node.number()
            return try node.json()
        default: return try node.json()
        }
    }

    private func list(
        _ node: FixtureNode, _ read: (FixtureNode) throws(FixtureProblem) -> JSON
    ) throws(FixtureProblem) -> [JSON] {
        let list = try node.elements().map(read)
        guard !list.isEmpty else { throw node.problem("found an empty list; expected at least one element") }
        return list
    }
}

extension JSON {
    /// The schema of what fits one of these; each counts once.
    package static func either(_ schemas: [JSON]) -> JSON {
        let distinct = schemas.enumerated().filter { !schemas[..<$0.offset].contains($0.element) }.map(\.element)
        return distinct.count == 1 ? distinct[0] : ["anyOf": .array(distinct)]
    }
}
