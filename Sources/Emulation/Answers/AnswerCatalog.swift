package import JSON

/// What a vendor's answers look like by `answers/*.yaml`, and what its routes read of a request by `requests.yaml`.
///
/// No call needs it, so it is read when somebody first asks for it, and judged by `fixtures check` and by tests.
public struct AnswerCatalog: Sendable {
    /// The content of an answer, of a frame, or of a part that several share.
    package struct Shape: Sendable {
        /// The content as JSON Schema; `nil` when it is never JSON.
        package let schema: JSON?
        /// The media type of content that is not JSON; `nil` for no such content.
        package let type: String?
        package let evidence: Evidence
        package let source: String

        fileprivate init(_ node: FixtureNode, or others: [String] = [], _ reader: SchemaReader) throws(FixtureProblem) {
            let members = try node.mapping(["evidence", "source", "schema"] + others)
            evidence = try members.required("evidence").choice(of: Evidence.self)
            source = try members.required("source").string()
            type = try members["content"]?.string()
            if others.first != "content" { _ = try members.required("schema") }
            schema = try members["schema"].map(reader.schema)
        }
    }

    package struct Route: Sendable {
        package let answers: [(status: Int, shape: Shape)]
        /// The failures that it can answer, each once.
        package let refused: [String]

        fileprivate init(
            _ node: FixtureNode, _ sets: [String: [String]], _ failures: [String], _ reader: SchemaReader
        ) throws(FixtureProblem) {
            var answers: [(Int, Shape)] = []
            var refused: [String] = []
            for (name, value) in try node.members() {
                if name == "refused" {
                    refused = try AnswerCatalog.names(value, sets, failures, "failure or set of failures")
                } else if let status = Int(name), 100...599 ~= status {
                    answers.append((status, try Shape(value, or: ["content"], reader)))
                } else {
                    throw value.nameProblem("“\(name)” is not a number between 100 and 599, nor “refused”")
                }
            }
            (self.answers, self.refused) = (answers, refused)
        }
    }

    package struct Frame: Sendable {
        package enum Direction: String, CaseIterable, Sendable { case sent, received }

        package let name: String
        /// As the vendor sees it.
        package let direction: Direction
        package let shape: Shape
    }

    package struct Request: Sendable {
        package let query: [(name: String, schema: JSON)]
        /// The media type and schema of the content; `nil` for a route that reads none.
        package let content: (type: String, schema: JSON)?
    }

    /// The shared parts, which references name.
    package let parts: [(name: String, shape: Shape)]
    /// By route; empty for a vendor without such files.
    package private(set) var routes: [String: Route] = [:]
    package private(set) var frames: [Frame] = []
    package private(set) var requests: [String: Request] = [:]

    /// - Throws: the first problem with them, also when they leave out a route.
    init(_ fixtures: VendorFixtures, routes known: [String], failures: [String]) throws(FixtureProblem) {
        let names = fixtures.names(in: "answers").filter { $0.hasSuffix(".yaml") }
        let files = try names.map { name throws(FixtureProblem) in
            try fixtures.document("answers/\(name)").mapping("schemas", "refusals", "answers", "frames")
        }
        let shared = try Self.entries("schemas", of: files)
        let reader = SchemaReader(parts: shared.map(\.name))
        parts = try shared.map { name, node throws(FixtureProblem) in (name, try Shape(node, reader)) }
        var sets: [String: [String]] = [:]
        for (name, node) in try Self.entries("refusals", of: files) {
            if failures.contains(name) { throw node.nameProblem("“\(name)” is a failure; expected another name") }
            sets[name] = try Self.names(node, [:], failures, "failure")
        }
        for (name, node) in try Self.entries("answers", of: files) {
            try node.check(name, "route", among: known)
            routes[name] = try Route(node, sets, failures, reader)
        }
        for (name, node) in try Self.entries("frames", of: files) {
            let direction = try node.mapping("direction", "evidence", "source", "schema").required("direction")
            frames.append(
                Frame(
                    name: name, direction: try direction.choice(of: Frame.Direction.self),
                    shape: try Shape(node, or: ["direction"], reader)))
        }
        if let file = files.first, let missing = known.first(where: { routes[$0] == nil }) {
            throw file.node.problem("no file in this folder says what the route “\(missing)” answers")
        }
        try readRequests(fixtures, known)
    }

    /// The members of that name in all files; each name is defined once.
    private static func entries(
        _ section: String, of files: [FixtureMapping]
    ) throws(FixtureProblem) -> [(name: String, value: FixtureNode)] {
        var entries: [(name: String, value: FixtureNode)] = []
        for file in files {
            for (name, node) in try file[section]?.members() ?? [] {
                if let other = entries.first(where: { $0.name == name })?.value.nameProblem("") {
                    throw node.nameProblem("“\(name)” stands already in \(other.file), line \(other.line ?? 1)")
                }
                entries.append((name, node))
            }
        }
        return entries
    }

    /// The failures that a list names, by themselves or by sets.
    fileprivate static func names(
        _ node: FixtureNode?, _ sets: [String: [String]], _ failures: [String], _ kind: String
    ) throws(FixtureProblem) -> [String] {
        var names: [String] = []
        for element in try node?.elements() ?? [] {
            let name = try element.string()
            if sets[name] == nil { _ = try element.known(kind, among: failures + sets.keys.sorted()) }
            for failure in sets[name] ?? [name] where !names.contains(failure) { names.append(failure) }
        }
        return names
    }

    /// `requests.yaml` is generated, so a vendor may not have one yet.
    private mutating func readRequests(_ fixtures: VendorFixtures, _ known: [String]) throws(FixtureProblem) {
        guard fixtures.names(in: "").contains("requests.yaml") else { return }
        let reader = SchemaReader(parts: [])
        for (name, node) in try fixtures.document("requests.yaml").mapping("requests").required("requests").members() {
            try node.check(name, "route", among: known)
            let members = try node.mapping("query", "body", "form")
            let query = try members["query"]?.members().map { name, node throws(FixtureProblem) in
                (name: name, schema: try reader.schema(node))
            }
            if let form = members["form"], members["body"] != nil {
                throw form.nameProblem("a route reads a body or a form, not both")
            }
            var content: (String, JSON)?
            if let node = members["body"] { content = ("application/json", try reader.schema(node)) }
            if let node = members["form"] { content = ("application/x-www-form-urlencoded", try reader.schema(node)) }
            requests[name] = Request(query: query ?? [], content: content)
        }
    }
}

extension FixtureNode {
    fileprivate func check(_ name: String, _ kind: String, among known: [String]) throws(FixtureProblem) {
        if known.contains(name) { return }
        throw nameProblem("unknown \(kind) “\(name)”\(Nearest.hint(to: name, among: known))")
    }

    func known(_ kind: String, among known: [String]) throws(FixtureProblem) -> String {
        let name = try string()
        if known.contains(name) { return name }
        throw problem("unknown \(kind) “\(name)”\(Nearest.hint(to: name, among: known))")
    }
}

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

    /// Whether the value satisfies a schema that ``BodyTemplate/schema(_:)`` made.
    fileprivate func fits(_ schema: JSON) -> Bool {
        if let constant = schema["const"] { return self == constant }
        if let schemas = schema["anyOf"]?.array { return schemas.contains(where: fits) }
        if let type = schema["type"]?.string, type != typeName { return false }
        if let items = schema["items"], let array {
            return array.count == schema["minItems"]?.int && array.allSatisfy { $0.fits(items) }
        }
        guard let object, let properties = schema["properties"] else { return true }
        let required = schema["required"]?.array ?? []
        return required.allSatisfy { $0.string.flatMap { object[$0] } != nil }
            && object.allSatisfy { member in
                (properties[member.name] ?? schema["additionalProperties"]).map { $0.bool ?? member.value.fits($0) }
                    ?? true
            }
    }
}

/// What a vendor's calls look like from outside, for its documents.
public struct VendorDescription: Sendable {
    package let answers: AnswerCatalog
    package let failures: [FailureShape]
    /// The ways to satisfy each route's access, in the order of the routes.
    package let security: [[[SecurityScheme]]]
}

/// The forms that a failure can have, with their content as JSON Schema.
package struct FailureShape: Sendable {
    package struct Form: Sendable {
        package let status: Int
        package let content: (type: String, schema: JSON)?
    }

    package let name: String
    package let about: String
    package let evidence: Evidence
    package let source: String
    package let forms: [Form]
    /// Its content with the usual parameters, text as a string; `nil` for none.
    let usualContent: JSON?

    /// Whether an answer is this failure's, in any of its forms.
    ///
    /// - Parameters:
    ///   - status: `nil` for any, as in a redirect that carries the content.
    ///   - content: text as a string; `nil` if it is unknown.
    package func fits(status: Int?, _ content: JSON?) -> Bool {
        forms.contains { form in
            guard status == nil || form.status == status else { return false }
            guard let content, let schema = form.content?.schema else { return content == nil || content == "" }
            // A page that is shown again has the text among others.
            if form.status < 300, let text = schema["const"]?.string, let page = content.string {
                return page.firstRange(of: text) != nil
            }
            return content.fits(schema)
        }
    }

    /// Whether that is exactly its content, without parameters of a request.
    package func isUsual(_ content: JSON?) -> Bool { content == usualContent }
}

/// A way to present a credential, named as in an OpenAPI document (version 3.1, section 4.8.27).
public struct SecurityScheme: Sendable {
    package let name: String
    package let json: JSON

    package static let bearer = authorization("bearer")

    package static func authorization(_ scheme: String) -> SecurityScheme {
        SecurityScheme(name: scheme, json: ["type": "http", "scheme": .string(scheme)])
    }

    /// In another field, in the query, or in a cookie.
    package static func key(_ name: String, in place: String = "header") -> SecurityScheme {
        SecurityScheme(name: name, json: ["type": "apiKey", "in": .string(place), "name": .string(name)])
    }
}
