import Emulation
import JSON

/// The schemas of a vendor's `answers/*.yaml` and `requests.yaml`, with its routes and failures by name.
struct AnswerSchema {
    private let vendor: any AnyLoadedVendor

    init(_ vendor: any AnyLoadedVendor) { self.vendor = vendor }

    var answers: JSON {
        let shape = Schema.content("Content that has a name.", required: ["evidence", "source", "schema"], Self.shape)
        let direction = Schema.word(
            "Who sends it, as the vendor sees it.", AnswerCatalog.Frame.Direction.allCases.map(\.rawValue))
        let frame = Schema.content(
            "A message of a socket.", required: ["direction", "evidence", "source", "schema"],
            Schema.joined(["direction": direction], Self.shape))
        let failures = Schema.list("Failures.", of: ["enum": .array(vendor.failureNames.map(JSON.string))])
        return document(
            "What the vendor answers; all files of the folder together describe every route.", required: [],
            [
                "schemas": Schema.map("What several share, by name.", of: shape),
                "refusals": Schema.map("Failures that several routes share, by the name of the set.", of: failures),
                "answers": byRoute("Answers by route.", route), "frames": Schema.map("Messages by name.", of: frame),
            ])
    }

    var requests: JSON {
        var request =
            Schema.content(
                "What a route reads.",
                ["query": Schema.map("Parameters by name.", of: Self.schema), "body": Self.schema, "form": Self.schema]
            ).object ?? [:]
        request["not"] = ["required": ["body", "form"]]
        return document(
            "What routes read.", required: ["requests"], ["requests": byRoute("By route.", .object(request))])
    }

    private func document(_ about: String, required: [String], _ members: JSONObject) -> JSON {
        var document = Schema.content(about, required: required, members).object ?? [:]
        document["$defs"] = ["schema": Self.keywords]
        return .object(document)
    }

    private func byRoute(_ about: String, _ entry: JSON) -> JSON {
        var schema = Schema.map(about, of: entry).object ?? [:]
        schema["propertyNames"] = ["enum": .array(vendor.routes.map { .string($0.id) })]
        return .object(schema)
    }

    private var route: JSON {
        let answer = Schema.content(
            "Without schema and content, an answer has none.", required: ["evidence", "source"],
            Schema.joined(Self.shape, ["content": Schema.string("The media type of content that is not JSON.")]))
        var schema =
            Schema.content(
                "Answers by status.",
                ["refused": Schema.list("Failures, or sets of failures.", of: ["type": "string"])]
            ).object ?? [:]
        schema["patternProperties"] = ["^[1-5][0-9][0-9]$": answer]
        return .object(schema)
    }

    private static let schema: JSON = ["$ref": "#/$defs/schema"]

    private static let shape: JSONObject = [
        "evidence": Schema.word("Where it is known from.", Evidence.allCases.map(\.rawValue)),
        "source": Schema.string("The source in words."), "schema": schema,
    ]

    /// The words of JSON Schema that the reader knows.
    private static var keywords: JSON {
        let type = Schema.word("A type.", SchemaReader.types)
        var members: JSONObject = [
            "$ref": Schema.string("The name of a shared part."),
            "type": Schema.either("One type or several.", type, Schema.list("Types.", of: type, atLeast: 1)),
            "const": Schema.any("The only value."), "enum": Schema.list("All values.", of: [:], atLeast: 1),
            "properties": Schema.map(
                "Members by name; there are no others unless additionalProperties says so.", of: schema),
            "required": Schema.list("Members that are always there.", of: ["type": "string"], atLeast: 1),
            "additionalProperties": schema, "items": schema,
            "anyOf": Schema.list("Schemas, one of which fits.", of: schema, atLeast: 1),
        ]
        for name in SchemaReader.keywords where members[name] == nil {
            switch name {
            case "minimum", "maximum": members[name] = ["type": "number"]
            case "format", "pattern", "description": members[name] = ["type": "string"]
            default: members[name] = ["type": "integer", "minimum": 0]
            }
        }
        return Schema.either("JSON Schema.", ["type": "boolean"], Schema.content("Keywords.", members))
    }
}
