import Emulation
import JSON

/// The schemas of a vendor's `failures.yaml` and `failures/*.yaml`, with its failures, switches and routes by name.
struct FailureSchema {
    private let vendor: any LoadedVendor

    init(_ vendor: any LoadedVendor) {
        self.vendor = vendor
    }

    /// `failures.yaml`, which names every failure.
    var complete: JSON {
        document(
            "How each failure looks on the wire.", required: vendor.failureNames,
            [
                "sources": Schema.any("What the short names in source stand for."),
                "envelopes": Schema.list(
                    "What is wrapped around every body while a condition holds.",
                    of: Schema.content(
                        "A wrapper.", required: ["when", "body"],
                        ["when": condition, "body": Schema.any("Where {{body}} stands for the failure's own.")])),
            ])
    }

    /// `failures/*.yaml`, which names those that it changes.
    var changes: JSON {
        document("How some failures look on the wire; the others stay as they are.", required: [], [:])
    }

    private func document(_ about: String, required: [String], _ members: JSONObject) -> JSON {
        let entries = JSONObject(
            vendor.failures.map { failure in
                (failure.name, ["description": .string(failure.about), "allOf": [["$ref": "#/$defs/failure"]]])
            })
        var schema =
            Schema.content(
                about, required: ["failures"],
                Schema.joined(
                    members, ["failures": Schema.content("By name.", required: required, entries)])
            ).object ?? [:]
        schema["$defs"] = ["failure": failure, "condition": conditionMembers]
        return .object(schema)
    }

    private static let headers = Schema.map("Field values by name.", of: ["type": "string"])
    private static let status = Schema.integer("The status code.", from: 200, to: 599)

    private var failure: JSON {
        let members: JSONObject = [
            "about": Schema.string("When it occurs."), "status": Self.status, "headers": Self.headers,
            "parameters": Schema.object(
                "What {{NAME}} in texts stands for, unless an answer or a scenario says other values."),
            "body": Schema.any("The content as JSON."),
            "text": Schema.string("The content as it is, instead of a body."),
            "variants": Schema.list(
                "How it looks in special situations; the first one that fits decides.", of: variant),
            "evidence": Schema.word("Where it is known from.", Evidence.allCases.map(\.rawValue)),
            "source": Schema.string("The source in words."),
        ]
        let required = ["about", "status", "evidence", "source"]
        return Self.oneContent(Schema.content("A failure.", required: required, members))
    }

    private var variant: JSON {
        let members: JSONObject = [
            "when": condition, "status": Self.status, "headers": Self.headers,
            "body": Schema.any("The content as JSON."),
            "text": Schema.string("The content as it is, instead of a body."),
        ]
        var schema = Self.oneContent(Schema.content("A special situation.", required: ["when"], members)).object ?? [:]
        schema["anyOf"] = [["required": ["body"]], ["required": ["text"]], ["required": ["headers"]]]
        return .object(schema)
    }

    private static func oneContent(_ schema: JSON) -> JSON {
        var schema = schema.object ?? [:]
        schema["not"] = ["required": ["body", "text"]]
        return .object(schema)
    }

    private var condition: JSON { ["$ref": "#/$defs/condition"] }

    private var conditionMembers: JSON {
        var members: JSONObject = [
            "route": Schema.list(
                "Routes, one of which it is.", of: ["enum": .array(vendor.routes.map { .string($0.id) })])
        ]
        for declaration in vendor.switchDeclarations { members.append(declaration.name, declaration.schema) }
        return Schema.content("What must hold: values of switches, and routes.", members)
    }
}

extension SwitchDeclaration {
    /// A value of the switch as a text.
    var schema: JSON {
        switch domain {
        case .choice(let words): return Schema.word(about, words)
        case .count(orWord: nil), .number: return Schema.string(about, pattern: "^[0-9]+$")
        case .count(let word?): return Schema.string(about, pattern: "^([0-9]+|\(word))$")
        case .hosts: return Schema.string(about, pattern: "^([A-Za-z0-9.:_-]+(,[A-Za-z0-9.:_-]+)*)?$")
        }
    }
}
