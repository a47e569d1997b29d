import Emulation
import JSON

/// The schemas of a vendor's `failures.yaml` and `failures/*.yaml`, with its failures, switches and routes by name.
struct FailureSchema {
    let vendor: any AnyLoadedVendor

    /// `failures.yaml`; what it lacks is as installed.
    var complete: JSON {
        document(
            "How each failure looks on the wire; what is missing is as installed.",
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
    var changes: JSON { document("How some failures look on the wire; the others stay as they are.", [:]) }

    private func document(_ about: String, _ members: JSONObject) -> JSON {
        let entries = JSONObject(
            vendor.failures.map { failure in
                (failure.name, ["description": .string(failure.about), "allOf": [["$ref": "#/$defs/failure"]]])
            })
        return Schema.content(
            about, required: ["failures"], Schema.joined(members, ["failures": Schema.content("By name.", entries)])
        ).with(["$defs": ["failure": failure, "condition": conditionMembers]])
    }

    private static let headers = Schema.map("Field values by name.", of: ["type": "string"])
    private static let status = Schema.integer("The status code.", from: 200, to: 599)

    private var failure: JSON {
        let members: JSONObject = [
            "about": Schema.string("When it occurs."), "status": Self.status, "headers": Self.headers,
            "parameters": Schema.described(
                "object", "What {{NAME}} in texts stands for, unless an answer or a scenario sets other values."),
            "body": Schema.any("The content as JSON."),
            "text": Schema.string("The content as plain text, instead of a body."),
            "variants": Schema.list(
                "How it looks in special situations; the first match decides.", of: variant),
            "evidence": Schema.word("Where it is known from.", Evidence.allCases.map(\.rawValue)),
            "source": Schema.string("The source in words."),
        ]
        let required = ["about", "status", "evidence", "source"]
        return Schema.content("A failure.", required: required, members).with(Self.oneContent)
    }

    private var variant: JSON {
        let members: JSONObject = [
            "when": condition, "status": Self.status, "headers": Self.headers,
            "body": Schema.any("The content as JSON."),
            "text": Schema.string("The content as plain text, instead of a body."),
        ]
        return Schema.content("A special situation.", required: ["when"], members).with(Self.oneContent)
            .with(["anyOf": [["required": ["body"]], ["required": ["text"]], ["required": ["headers"]]]])
    }

    private static let oneContent: JSONObject = ["not": ["required": ["body", "text"]]]

    private var condition: JSON { ["$ref": "#/$defs/condition"] }

    private var conditionMembers: JSON {
        var members: JSONObject = [
            "route": Schema.list(
                "Routes, one of which must match.", of: ["enum": .array(vendor.routes.map { .string($0.id) })])
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

/// The schema of a vendor's `scenarios/*.yaml`, with its routes, failures and actions by name.
struct ScenarioSchema {
    let vendor: any AnyLoadedVendor

    var states: JSON {
        let rules = Schema.list("The first matching rule decides.", of: rule)
        return Schema.map("The states by name, the initial one first, each with its rules.", of: rules)
            .with(["minProperties": 1])
    }

    var schema: JSON {
        Schema.content(
            "A state machine over the calls to one vendor.", required: ["scenario", "about", "vendor", "states"],
            [
                "scenario": Schema.string("The name that starts it."),
                "about": Schema.string("What it shows, in a sentence or two."),
                "vendor": [
                    "description": "The vendor in whose folder the file lies.", "const": .string(vendor.identity.id),
                ],
                "states": states,
            ])
    }

    private var rule: JSON {
        let members: JSONObject = [
            "on": route, "when": condition, "go": Schema.string("The next state; left out to stay."),
            "call": Schema.integer("Only the matching call of that number since the state began.", from: 1, to: .max),
            "every": Schema.integer("Only every nth matching call.", from: 1, to: .max),
            "probability": Schema.described(
                "number", "Each matching call with that probability.", ["minimum": 0, "maximum": 1]),
            "seed": Schema.integer("The seed of the random draws.", from: 0, to: .max),
        ]
        let order = ControlDocument.members("FaultOrder")
        var effect = JSONObject(
            ["fail", "parameters", "respond", "do", "fault", "defects", "advance"].map { ($0, order[$0] ?? .null) })
        effect["fail"] = Schema.word("The failure that is answered.", vendor.failureNames)
        effect["respond"] = response
        effect["do"] = action
        let exclusions: JSON = [
            Self.not("fail", "respond"), Self.not("call", "every"), Self.not("call", "probability"),
            Self.not("every", "probability"), Self.not("fail", "defects"), Self.ifThere("parameters", "fail"),
            Self.ifThere("seed", "probability"),
        ]
        return Schema.content("A rule.", required: ["on"], Schema.joined(members, effect)).with(["allOf": exclusions])
    }

    private static func not(_ one: String, _ other: String) -> JSON {
        ["not": ["required": [.string(one), .string(other)]]]
    }

    private static func ifThere(_ one: String, _ other: String) -> JSON {
        ["if": ["required": [.string(one)]], "then": ["required": [.string(other)]]]
    }

    private var route: JSON {
        let one: JSON = [
            "anyOf": [["enum": .array(vendor.routes.map { .string($0.id) })], ["type": "string", "pattern": "[*]"]]
        ]
        return Schema.either(
            "A route, a pattern with *, or a list of these.", one, ["type": "array", "items": one, "minItems": 1])
    }

    private var condition: JSON {
        let token = Schema.word(
            "Whether there is a readable token, or one that expires later than all that were refused here.",
            Scenario.tokenConditions)
        return Schema.content(
            "What the call must be like; all parts must hold.",
            Schema.joined(["token": token], ControlDocument.members("ExchangeCondition")))
    }

    /// A response of fixtures may also come from a file.
    private var response: JSON {
        let file = Schema.string("A file with the body, from the vendor's folder.")
        let members = JSON.object(ControlDocument.members("OwnResponse")).with(["body_file": file])
        return (ControlDocument.schema("OwnResponse") ?? [:])
            .with(["properties": members, "not": ["required": ["body", "body_file"]]])
    }

    private var action: JSON {
        let bare = vendor.actions.filter { action in !action.members.contains(where: \.isRequired) }.map(\.name)
        let entries = vendor.actions.map { action in
            let members = JSONObject(action.members.map { ($0.name, Schema.any($0.about)) })
            let required = action.members.filter(\.isRequired).map(\.name)
            return (action.name, Schema.content(action.about, required: required, members))
        }
        let mapping = Schema.content("One action with its members.", JSONObject(entries))
            .with(["minProperties": 1, "maxProperties": 1])
        let name: [JSON] = bare.isEmpty ? [] : [Schema.word("An action without members.", bare)]
        return ["description": "What happens behind the app's back.", "anyOf": .array(name + [mapping])]
    }
}

/// The schemas of a vendor's `answers/*.yaml` and `requests.yaml`, with its routes and failures by name.
struct AnswerSchema {
    let vendor: any AnyLoadedVendor

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
        let request = Schema.content(
            "What a route reads.",
            ["query": Schema.map("Parameters by name.", of: Self.schema), "body": Self.schema, "form": Self.schema]
        ).with(["not": ["required": ["body", "form"]]])
        return document("What routes read.", required: ["requests"], ["requests": byRoute("By route.", request)])
    }

    private func document(_ about: String, required: [String], _ members: JSONObject) -> JSON {
        Schema.content(about, required: required, members).with(["$defs": ["schema": Self.keywords]])
    }

    private func byRoute(_ about: String, _ entry: JSON) -> JSON {
        Schema.map(about, of: entry)
            .with(["propertyNames": ["enum": .array(vendor.routes.map { .string($0.id) })]])
    }

    private var route: JSON {
        let answer = Schema.content(
            "Without schema and content, an answer has none.", required: ["evidence", "source"],
            Schema.joined(Self.shape, ["content": Schema.string("The media type of content that is not JSON.")]))
        return Schema.content(
            "Answers by status.", ["refused": Schema.list("Failures, or sets of failures.", of: ["type": "string"])]
        ).with(["patternProperties": ["^[1-5][0-9][0-9]$": answer]])
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
