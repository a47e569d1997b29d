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

    init(path: String, bytes: [UInt8]) { (self.path, self.bytes) = (path, bytes) }

    init(path: String, title: String, _ schema: JSON) {
        let (schema, definitions) = Self.withDefinitions(schema)
        var document: JSONObject = ["$schema": "https://json-schema.org/draft/2020-12/schema", "title": .string(title)]
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
        of vendor: any AnyLoadedVendor, in fixtures: FixtureStore
    ) throws(FixtureProblem) -> [EditorSchema] {
        let (id, title) = (vendor.identity.id, vendor.identity.title)
        let folder = "\(id)/schemas"
        let made = [
            ("failures", "Failures of", FailureSchema(vendor: vendor).complete),
            ("changed-failures", "Changed failures of", FailureSchema(vendor: vendor).changes),
            ("scenario", "Scenario of", ScenarioSchema(vendor: vendor).schema),
            ("drill", "Drill of", DrillSchema(vendor: vendor).schema),
            ("answers", "Answers of", AnswerSchema(vendor: vendor).answers),
            ("requests", "Requests to", AnswerSchema(vendor: vendor).requests),
        ]
        var schemas = made.map { name, kind, schema in
            EditorSchema(path: "\(folder)/\(name)\(FixtureStore.schemaSuffix)", title: "\(kind) \(title)", schema)
        }
        let folderNames = fixtures.names(in: folder)
        let accounts = "\(folder)/accounts\(FixtureStore.schemaSuffix)"
        // Of a vendor that does not describe its accounts, editors can check nothing.
        if !folderNames.contains("accounts\(FixtureStore.schemaSuffix)") {
            schemas.append(EditorSchema(path: accounts, title: "Accounts of \(title)", ["type": "object"]))
        }
        // Names of routes that fixtures describe are known to them alone.
        if vendor.addedRoutes != nil { schemas = [] }
        if !vendor.identity.accountLists.isEmpty {
            schemas.append(try added(to: vendor.identity, try fixtures.file(accounts), at: "\(folder)/added-accounts"))
        }
        for name in folderNames where name.hasSuffix(FixtureStore.schemaSuffix) {
            let path = "\(folder)/\(name)"
            // A refreshed folder may lie above the installed one.
            guard !schemas.contains(where: { $0.path == path }) else { continue }
            schemas.append(EditorSchema(path: path, bytes: try fixtures.file(path).bytes))
        }
        return schemas.sorted { $0.path < $1.path }
    }

    /// The schema of the files in `accounts/`: the lists of `accounts.yaml` that they may have, none required.
    private static func added(
        to identity: VendorIdentity, _ accounts: FixtureStore.File, at path: String
    ) throws(FixtureProblem) -> EditorSchema {
        guard var schema = (try? JSON.parse(accounts.bytes))?.object else {
            // Why it is none hardly matters: the file is of the program.
            throw FixtureProblem(file: accounts.path, message: "is not a JSON object")
        }
        let lists = (schema["properties"]?.object ?? [:]).filter { identity.accountLists.contains($0.name) }
        for name in ["$schema", "title", "required"] { schema[name] = nil }
        schema["description"] = .string("Records that are added to those of accounts.yaml.")
        schema["properties"] = .object(JSONObject(lists.map { ($0.name, $0.value) }))
        return EditorSchema(
            path: path + FixtureStore.schemaSuffix, title: "Added accounts of \(identity.title)", .object(schema))
    }

    /// The schema with its references rewritten to definitions of its own, and those definitions.
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
            let members = object.map { member in
                guard member.name == "$ref", let text = member.value.string, text.hasPrefix(ControlDocument.place)
                else { return (member.name, localized(member.value, &names)) }
                let name = String(text.dropFirst(ControlDocument.place.count))
                names.append(name)
                return ("$ref", JSON.string("#/$defs/\(name)"))
            }
            return .object(JSONObject(members))
        case .array(let elements): return .array(elements.map { localized($0, &names) })
        case .null, .bool, .number, .string: return schema
        }
    }

    /// The schema of `understudy.yaml`, with all vendors' switches by name.
    ///
    /// - Parameters:
    ///   - options: the options with a single text or number, each with what it is for.
    ///   - vendors: the vendors whose profiles and switches it lists.
    package static func configuration(
        options: [(name: String, about: String)], vendors: [VendorLoader] = Catalog.vendors
    ) -> EditorSchema {
        let profile = Schema.word(
            "As the documents say, or as the clients show.", BehaviourProfile.allCases.map(\.rawValue))
        var members = JSONObject(
            options.map { ($0.name, ["description": .string($0.about), "type": ["string", "number", "boolean"]]) })
        members["profile"] = Schema.either(
            "How the vendors behave: one word for all, or one per vendor.", profile,
            Schema.content("By vendor.", JSONObject(vendors.map { ($0.identity.id, profile) })))
        let switches = vendors.flatMap { vendor in
            vendor.switchDeclarations.map { ("\(vendor.identity.id).\($0.name)", $0.configured) }
        }
        members["switches"] = Schema.content("Single behaviours, which override the profile.", JSONObject(switches))
        return EditorSchema(
            path: "schemas/configuration\(FixtureStore.schemaSuffix)", title: "Configuration",
            Schema.content("The options of understudy serve.", members))
    }
}

extension SwitchDeclaration {
    /// A value of the switch as a text, or as a number where its digits are one.
    var configured: JSON {
        let numbers: JSON
        switch domain {
        case .choice(let words): numbers = ["enum": .array(words.compactMap { Int($0).map { JSON($0) } })]
        case .count: numbers = ["type": "integer", "minimum": 0]
        case .number(let range):
            numbers = ["type": "integer", "minimum": JSON(range.lowerBound), "maximum": JSON(range.upperBound)]
        case .hosts: return schema
        }
        if numbers["enum"]?.array?.isEmpty == true { return schema }
        return Schema.either(about, schema, numbers)
    }
}

/// Helpers for writing JSON Schema, draft 2020-12.
enum Schema {
    /// A string, with a pattern if the code enforces one.
    static func string(_ about: String, pattern: String? = nil) -> JSON {
        described("string", about, ["pattern": pattern.map(JSON.string)])
    }

    static func word(_ about: String, _ words: [String]) -> JSON {
        described("string", about, ["enum": .array(words.map(JSON.string))])
    }

    static func integer(_ about: String, from minimum: Int, to maximum: Int) -> JSON {
        described("integer", about, ["minimum": JSON(minimum), "maximum": JSON(maximum)])
    }

    static func list(_ about: String, of element: JSON, atLeast minimum: Int? = nil) -> JSON {
        described("array", about, ["items": element, "minItems": minimum.map { JSON($0) }])
    }

    /// An object with arbitrary member names and values of one kind.
    static func map(_ about: String, of value: JSON) -> JSON {
        described("object", about, ["additionalProperties": value])
    }

    static func any(_ about: String) -> JSON { ["description": .string(about)] }

    /// An object that has no members but these.
    static func content(_ about: String, required: [String] = [], _ members: JSONObject) -> JSON {
        let required: JSON? = required.isEmpty ? JSON?.none : .array(required.map(JSON.string))
        return described(
            "object", about, ["properties": .object(members), "required": required, "additionalProperties": false])
    }

    static func joined(_ members: JSONObject, _ others: JSONObject) -> JSONObject {
        others.reduce(into: members) { $0.append($1.name, $1.value) }
    }

    static func either(_ about: String, _ schemas: JSON...) -> JSON {
        ["description": .string(about), "anyOf": .array(schemas)]
    }

    static func described(_ type: String, _ about: String, _ words: KeyValuePairs<String, JSON?> = [:]) -> JSON {
        let schema: JSONObject = ["type": .string(type), "description": .string(about)]
        return .object(words.reduce(into: schema) { $0[$1.key] = $1.value })
    }
}

extension JSON {
    /// The object with further members, or other values for those that it has.
    func with(_ members: JSONObject) -> JSON { .object(members.reduce(into: object ?? [:]) { $0[$1.name] = $1.value }) }
}

struct DrillSchema {
    let vendor: any AnyLoadedVendor

    var schema: JSON {
        let id = vendor.identity.id
        let switches = JSONObject(vendor.switchDeclarations.map { ($0.name, $0.configured) })
        return Schema.content(
            "A behaviour of the vendor for which an app is drilled, and what a correct client does then.",
            required: ["drill", "about", "vendor", "client", "source", "severity", "expect"],
            [
                "drill": Schema.string("The name: the vendor, a hyphen, and the file's name.", pattern: "^\(id)-"),
                "about": Schema.string("What happens to the app, in a sentence or two."),
                "vendor": ["description": "The vendor in whose folder the file lies.", "const": .string(id)],
                "client": Schema.string("What a correct client does."),
                "source": Schema.string("Where that is known from, or what it rests on."),
                "evidence": Schema.word("How well it is known.", Evidence.allCases.map(\.rawValue)),
                "severity": Schema.word(
                    "high: users lose data, sessions or secrets; medium: it fails until a restart; low: waste.",
                    Drill.Severity.allCases.map(\.rawValue)),
                "switches": Schema.content("Switches of the vendor.", switches),
                "clock": ControlDocument.reference("Duration"),
                "states": ScenarioSchema(vendor: vendor).states,
                "reached": ControlDocument.reference("Criteria"),
                "expect": Schema.list("What the journal must hold; all.", of: demand, atLeast: 1),
            ]
        ).with(["anyOf": [["required": ["states"]], ["required": ["reached"]]]])
    }

    private var demand: JSON {
        Schema.content(
            "An expectation as journal/verify has it, and what a client does that breaks it.", required: ["otherwise"],
            Schema.joined(
                ControlDocument.members("Expectation"),
                ["otherwise": Schema.string("What such a client does, in a short sentence.")]))
    }
}
