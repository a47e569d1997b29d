import Emulation
import Foundation
import JSON
import Support
import Testing
import Understudy

/// What a call's handler asked for.
struct ObservedReading: Sendable {
    let vendor: String
    let route: String
    let isAccepted: Bool
    let reading: RequestReading
}

/// What each route reads of a request, by the readings of all contract cases: `requests.yaml`.
struct RequestList {
    private typealias Schemas = (all: [JSONObject], accepted: [JSONObject])

    private let readings: [ObservedReading]

    init(_ readings: [ObservedReading]) { self.readings = readings }

    /// The file of a vendor, with its routes in their order.
    func file(_ vendor: String, _ routes: [String]) -> String {
        let lines = routes.flatMap { route -> [String] in
            let own = readings.filter { $0.vendor == vendor && $0.route == route }
            let members: [(String, JSONObject)] = [
                ("query", Self.query(own)), ("form", Self.form(own.flatMap(\.reading.content.names))),
                ("body", Self.body(own)),
            ].filter { !$0.1.isEmpty }
            return members.isEmpty
                ? [] : Self.lines(route, .object(JSONObject(members.map { ($0.0, .object($0.1)) })), 2)
        }
        let head = [
            "# What each route of the vendor reads of a request, as JSON Schema: the names that readers asked for in all",
            "# contract cases. Written and held by RequestListTests; copy the file that it names when it fails.",
            "requests:",
        ]
        return ((lines.isEmpty ? Array(head.dropLast()) + ["requests: {}"] : head + lines) + [""]).joined(
            separator: "\n")
    }

    private static func query(_ readings: [ObservedReading]) -> JSONObject {
        let schemas = readings.compactMap(\.reading.query.schema)
        var query = merged(schemas)["properties"]?.object ?? [:]
        for name in readings.flatMap(\.reading.query.names) where query[name] == nil {
            query[name] = ["type": "string"]
        }
        return query
    }

    private static func form(_ names: [String]) -> JSONObject {
        let distinct = names.reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
        let members = JSONObject(distinct.map { ($0, ["type": "string"]) })
        return members.isEmpty ? [:] : ["type": "object", "properties": .object(members)]
    }

    private static func body(_ readings: [ObservedReading]) -> JSONObject {
        let schema = settled(
            merged(readings.compactMap(\.reading.content.schema)),
            readings.filter(\.isAccepted).compactMap(\.reading.content.schema))
        let isEmpty = schema["properties"]?.object?.isEmpty ?? true
        if isEmpty && schema["additionalProperties"] == nil { return [:] }
        // A list has its elements under an empty name.
        return schema["properties"]?[FieldReader.elements]?.object ?? schema
    }

    private static func merged(_ schemas: [JSONObject]) -> JSONObject {
        schemas.reduce(into: [:]) { $0 = FieldSchema.merged($0, $1) }
    }

    /// Leaves a name required only where each accepted call required it.
    private static func settled(_ schema: JSONObject, _ accepted: [JSONObject]) -> JSONObject {
        var schema = schema
        let required = (schema["required"]?.array ?? []).filter { name in
            accepted.allSatisfy { $0["required"]?.array?.contains(name) == true }
        }
        schema["required"] = required.isEmpty ? JSON?.none : .array(required)
        if let items = schema["items"]?.object {
            schema["items"] = .object(settled(items, accepted.compactMap { $0["items"]?.object }))
        }
        if let properties = schema["properties"]?.object {
            schema["properties"] = .object(
                JSONObject(
                    properties.map { member in
                        let below = accepted.compactMap { $0["properties"]?[member.name]?.object }
                        return (member.name, .object(settled(member.value.object ?? [:], below)))
                    }))
        }
        return schema
    }

    // MARK: YAML

    /// A member in one line, if it fits, or else with a line for each of its own.
    private static func lines(_ name: String, _ value: JSON, _ indent: Int) -> [String] {
        let start = String(repeating: " ", count: indent) + quoted(name) + ":"
        let line = start + " " + flow(value)
        guard line.count > 120, let object = value.object, !object.isEmpty else { return [line] }
        return [start] + object.flatMap { lines($0.name, $0.value, indent + 2) }
    }

    private static func flow(_ value: JSON) -> String {
        switch value {
        case .object(let object):
            object.isEmpty
                ? "{}" : "{ " + object.map { "\(quoted($0.name)): \(flow($0.value))" }.joined(separator: ", ") + " }"
        case .array(let elements): "[" + elements.map(flow).joined(separator: ", ") + "]"
        case .string(let text): quoted(text)
        default: value.text
        }
    }

    private static func quoted(_ text: String) -> String {
        let isPlain = text.wholeMatch(of: /[A-Za-z_][A-Za-z0-9_.-]*/) != nil
        let isWord = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"].contains(text.lowercased())
        return isPlain && !isWord ? text : JSON.string(text).text
    }
}

@Suite("The list of what routes read") struct RequestListTests {
    @Test(
        "is what the readers ask for in all contract cases",
        arguments: try Stage.shared().emulator.vendors.map(\.identity.id))
    func list(_ vendor: String) async throws {
        var readings: [ObservedReading] = []
        for file in ContractFile.all where file.vendor == vendor {
            readings += try await ContractRun.once(file).occurrences.readings
        }
        let routes = try Stage.shared().emulator.vendors.first { $0.identity.id == vendor }?.routes.map(\.id) ?? []
        let text = RequestList(readings).file(vendor, routes)
        let known = try? String(contentsOfFile: "\(Repository.root)/Fixtures/\(vendor)/requests.yaml", encoding: .utf8)
        guard text != known else { return }
        let folder = "\(Repository.root)/.build/requests"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try text.write(toFile: "\(folder)/\(vendor).yaml", atomically: true, encoding: .utf8)
        Issue.record("\(folder)/\(vendor).yaml differs from Fixtures/\(vendor)/requests.yaml")
    }

    /// Accepted calls of the cases that have a field which nobody reads, as intended.
    private static let intended: Set<String> = [
        // What was pushed decides, and not what comes with its address.
        #"authorize: "state" in the query is read by nobody"#
    ]

    @Test("has every name that accepted contract cases send") func unread() async throws {
        var unread: [String] = []
        for file in ContractFile.all { unread += try await ContractRun.once(file).occurrences.unread }
        let others = unread.filter { !Self.intended.contains($0) }
        #expect(others.isEmpty, "\(Set(others).sorted().joined(separator: "\n"))")
        #expect(Self.intended.subtracting(unread).isEmpty)
    }
}
