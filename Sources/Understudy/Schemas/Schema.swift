import JSON

/// Helpers for writing JSON Schema, draft 2020-12.
enum Schema {
    /// A string, with a pattern if the code enforces one.
    static func string(_ about: String, pattern: String? = nil) -> JSON {
        var schema = described("string", about)
        schema["pattern"] = pattern.map(JSON.string)
        return .object(schema)
    }

    /// One of a few strings.
    static func word(_ about: String, _ words: [String]) -> JSON {
        var schema = described("string", about)
        schema["enum"] = .array(words.map(JSON.string))
        return .object(schema)
    }

    /// A whole number.
    static func integer(_ about: String, from minimum: Int? = nil, to maximum: Int? = nil) -> JSON {
        var schema = described("integer", about)
        schema["minimum"] = minimum.map { JSON($0) }
        schema["maximum"] = maximum.map { JSON($0) }
        return .object(schema)
    }

    static func number(_ about: String, from minimum: Int? = nil, to maximum: Int? = nil) -> JSON {
        var schema = described("number", about)
        schema["minimum"] = minimum.map { JSON($0) }
        schema["maximum"] = maximum.map { JSON($0) }
        return .object(schema)
    }

    /// True or false.
    static func boolean(_ about: String) -> JSON { .object(described("boolean", about)) }

    static func list(_ about: String, of element: JSON, atLeast minimum: Int? = nil) -> JSON {
        var schema = described("array", about)
        schema["items"] = element
        schema["minItems"] = minimum.map { JSON($0) }
        return .object(schema)
    }

    /// An object with arbitrary member names and values of one kind.
    static func map(_ about: String, of value: JSON) -> JSON {
        var schema = described("object", about)
        schema["additionalProperties"] = value
        return .object(schema)
    }

    static func object(_ about: String) -> JSON { .object(described("object", about)) }

    static func any(_ about: String) -> JSON { ["description": .string(about)] }

    /// The input of a call: it refuses members that are not named here, unless others are of a kind.
    static func content(
        _ about: String, required: [String] = [], others: JSON = false, _ members: JSONObject
    ) -> JSON {
        var schema = Self.members(about, members, required)
        schema["additionalProperties"] = others
        return .object(schema)
    }

    /// The output of a call: all members are always present except the optional ones, and future releases may add more.
    static func answer(_ about: String, optional: Set<String> = [], _ members: JSONObject) -> JSON {
        .object(Self.members(about, members, members.map(\.name).filter { !optional.contains($0) }))
    }

    /// The input of a call that passes further members on to other code, which may refuse them.
    static func open(_ about: String, _ members: JSONObject) -> JSON {
        .object(Self.members(about, members, []))
    }

    static func joined(_ members: JSONObject, _ others: JSONObject) -> JSONObject {
        others.reduce(into: members) { $0.append($1.name, $1.value) }
    }

    static func nullable(_ schema: JSON) -> JSON {
        // A type can be extended with `null`; everything else needs a choice.
        guard var object = schema.object, let type = object["type"], object["enum"] == nil else {
            return ["anyOf": [schema, ["type": "null"]]]
        }
        object["type"] = [type, "null"]
        return .object(object)
    }

    /// A value that matches at least one of several schemas.
    static func either(_ about: String, _ schemas: JSON...) -> JSON {
        ["description": .string(about), "anyOf": .array(schemas)]
    }

    private static func described(_ type: String, _ about: String) -> JSONObject {
        ["type": .string(type), "description": .string(about)]
    }

    private static func members(
        _ about: String, _ members: JSONObject, _ required: [String]
    ) -> JSONObject {
        var schema = described("object", about)
        schema["properties"] = .object(members)
        if !required.isEmpty { schema["required"] = .array(required.map(JSON.string)) }
        return schema
    }
}
