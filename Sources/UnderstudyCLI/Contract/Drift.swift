import Contracts
import Emulation
import JSON
import Synchronization
import Understudy

/// How the answers of a run differ from the vendors' documents, by route: members that are new, gone or of another type,
/// and statuses that are not described.
///
/// An answer is compared when it arrives; only places and types are kept of it, never a value.
final class Drift: Sendable {
    private struct Difference: Hashable {
        let status: Int
        let pointer: String
        let described: String
        let seen: String

        var sentence: String { "\(status) \(pointer): found \(seen); expected \(described)" }
    }

    private struct Route {
        var exchanges = 0
        /// In the order in which they were seen, with the number of exchanges that showed each.
        var differences: [(difference: Difference, count: Int)] = []

        mutating func count(_ difference: Difference) {
            if let known = differences.firstIndex(where: { $0.difference == difference }) {
                differences[known].count += 1
            } else {
                differences.append((difference, 1))
            }
        }
    }

    private let table: RouteTable
    /// What is described, by vendor and route: the responses by status.
    private let vendors: [(id: String, routes: [String], responses: [String: JSON], structure: Structure)]
    private let found = Mutex<(routes: [String: Route], others: Int)>(([:], 0))

    /// - Throws: the first problem with what the fixtures say of answers.
    init(from emulator: Emulator) throws(FixtureProblem) {
        table = emulator.routes
        vendors = try emulator.vendors.map { (vendor) throws(FixtureProblem) in
            let document = try VendorDocument(vendor).openAPI
            var responses: [String: JSON] = [:]
            for operation in (document["paths"]?.object ?? [:]).flatMap({ $0.value.object ?? [:] }) {
                responses[operation.value["x-route"]?.string ?? ""] = operation.value["responses"]
            }
            let structure = Structure(schemas: document["components"]?["schemas"]?.object ?? [:])
            return (vendor.identity.id, vendor.routes.map(\.id), responses, structure)
        }
    }

    /// Compares an answer with what is described of its route.
    ///
    /// - Parameter root: the URL below which the vendors' paths begin.
    func note(_ answer: ContractAnswer, to request: ContractRequest, below root: String) {
        let path = request.url.dropFirst(root.count).prefix { $0 != "?" && $0 != "#" }
        guard case .route(let index, let route, _) = table.match(request.method, path),
            let responses = vendors[index].responses[vendors[index].routes[route]], responses["default"] == nil
        else { return found.withLock { $0.others += 1 } }
        let differences = Self.differences(
            answer, hasContent: request.method != .head, responses, vendors[index].structure)
        found.withLock { found in
            let name = "\(vendors[index].id) \(vendors[index].routes[route])"
            found.routes[name, default: Route()].exchanges += 1
            var counted: Set<Difference> = []
            for difference in differences where counted.insert(difference).inserted {
                found.routes[name]?.count(difference)
            }
        }
    }

    private static func differences(
        _ answer: ContractAnswer, hasContent: Bool, _ responses: JSON, _ structure: Structure
    ) -> [Difference] {
        func difference(_ pointer: String, _ described: String, _ seen: String) -> Difference {
            Difference(status: answer.status, pointer: pointer, described: described, seen: seen)
        }
        guard let response = responses[String(answer.status)] else {
            let known = (responses.object ?? [:]).map(\.name).joined(separator: ", ")
            return [difference("status", known, "\(answer.status)")]
        }
        guard hasContent, answer.status != 304 else { return [] }
        let schema = response["content"]?["application/json"]?["schema"]
        if answer.body.isEmpty {
            // A failure may have no content under a status whose others have.
            return schema == nil || answer.status >= 300 ? [] : [difference("content", "JSON", "nothing")]
        }
        guard let schema else { return response["content"] == nil ? [difference("content", "nothing", "content")] : [] }
        guard let value = try? JSON.parse(answer.body) else {
            return response["content"]?.object?.count == 1 ? [difference("content", "JSON", "other content")] : []
        }
        return structure.differences(value, schema, at: "").map { difference($0.pointer, $0.described, $0.seen) }
    }
}

// MARK: - The report

extension Drift {
    /// The report as Markdown, and for build servers: a test for each route, which stands in a line of the report.
    func report(_ file: String, of server: String) -> (text: String, result: ContractResult, summary: String) {
        let (routes, others) = found.withLock { ($0.routes.sorted { $0.key < $1.key }, $0.others) }
        let drifted = routes.filter { !$0.value.differences.isEmpty }
        let exchanges = routes.reduce(0) { $0 + $1.value.exchanges }
        let all = "\(exchanges) exchanges of \(routes.count) routes"
        let rest = others == 0 ? "" : "; \(others) of no described route"
        let summary = drifted.isEmpty ? "no drift: \(all)\(rest)" : "drift at \(drifted.count) routes: \(all)\(rest)"
        var lines = ["# Drift", "", "\(Self.cell(server)): \(summary).", ""]
        var cases: [ContractCase] = []
        for (name, route) in routes {
            lines.append("## \(name)")
            let place = HurlPlace(line: lines.count, column: 1)
            let failures = route.differences.map { ContractFailure(place: place, message: $0.difference.sentence) }
            cases.append(
                ContractCase(
                    place: place, title: name, remark: "exchanges: \(route.exchanges)",
                    outcome: failures.isEmpty ? .passed : .failed(failures)))
            lines += ["", "Exchanges: \(route.exchanges)\(failures.isEmpty ? ", as described" : "")", ""]
            if failures.isEmpty { continue }
            lines += ["| status | place | described | seen | exchanges |", "|---|---|---|---|---|"]
            for (difference, count) in route.differences {
                let cells = [
                    "\(difference.status)", difference.pointer, difference.described, difference.seen, "\(count)",
                ]
                lines.append("| \(cells.map(Self.cell).joined(separator: " | ")) |")
            }
            lines.append("")
        }
        return (lines.joined(separator: "\n"), ContractResult(file: file, cases: cases), summary)
    }

    /// A text that ends no cell and is no markup.
    private static func cell(_ text: String) -> String {
        Output.printable(text).reduce(into: "") {
            $0 += "|*_`<[\\".utf8.contains($1.utf8.first ?? 0) ? "\\\($1)" : "\($1)"
        }
    }
}

/// Compares values with schemas by their structure alone: types, members and elements.
struct Structure: Sendable {
    let schemas: JSONObject

    typealias Place = (pointer: String, described: String, seen: String)

    func differences(_ value: JSON, _ schema: JSON, at pointer: String) -> [Place] {
        let schema = resolved(schema)
        if let options = schema["anyOf"]?.array {
            let nearest = options.map { differences(value, $0, at: pointer) }.min { $0.count < $1.count } ?? []
            // Of values that fit none by their type, all types are named.
            let isWhole = nearest.count == 1 && nearest[0].pointer == pointer
            if isWhole { return [(pointer, words(types(schema)), Self.shape(value))] }
            if !nearest.isEmpty { return nearest }
        }
        let types = types(schema)
        guard types.isEmpty || types.contains(where: { Self.fits(value, $0) }) else {
            return [(pointer, words(types), Self.shape(value))]
        }
        switch value {
        case .array(let elements):
            guard let items = schema["items"] else { return [] }
            return elements.flatMap { differences($0, items, at: pointer + "/*") }
        case .object(let object): return differences(object, schema, at: pointer)
        case .null, .bool, .number, .string: return []
        }
    }

    private func differences(_ object: JSONObject, _ schema: JSON, at pointer: String) -> [Place] {
        let properties = schema["properties"]?.object ?? [:]
        let gone = schema.elements("required").compactMap(\.string).filter { object[$0] == nil }
        return gone.map { (Self.pointer($0, below: pointer), words(types(properties[$0] ?? [:])), "nothing") }
            + object.flatMap { member -> [Place] in
                let place = Self.pointer(member.name, below: pointer)
                if let known = properties[member.name] { return differences(member.value, known, at: place) }
                let others = schema["additionalProperties"] ?? true
                if others == false { return [(place, "nothing", Self.shape(member.value))] }
                // The names are data there.
                return differences(member.value, others, at: pointer + "/*")
            }
    }

    /// RFC 6901 section 3.
    private static func pointer(_ name: String, below pointer: String) -> String {
        "\(pointer)/\(name.replacing("~", with: "~0").replacing("/", with: "~1"))"
    }

    private func resolved(_ schema: JSON) -> JSON {
        var schema = schema
        while let name = schema["$ref"]?.string?.split(separator: "/").last { schema = schemas[String(name)] ?? [:] }
        return schema
    }

    /// The types that a schema allows; empty for any.
    private func types(_ schema: JSON) -> [String] {
        let schema = resolved(schema)
        if let type = schema["type"] { return type.array?.compactMap(\.string) ?? [type.string ?? ""] }
        if let value = schema["const"] { return [value.typeName] }
        if let values = schema["enum"]?.array { return values.map(\.typeName) }
        return schema.elements("anyOf").flatMap(types)
    }

    private func words(_ types: [String]) -> String {
        types.isEmpty ? "anything" : Set(types).sorted().joined(separator: " or ")
    }

    private static func fits(_ value: JSON, _ type: String) -> Bool {
        guard type == "integer", let number = value.number?.double else { return value.typeName == type }
        return number == number.rounded()
    }

    /// Its type, and what it consists of.
    private static func shape(_ value: JSON) -> String {
        switch value {
        case .array(let elements):
            elements.isEmpty
                ? "empty array" : "array of \(Set(elements.map(\.typeName)).sorted().joined(separator: ", "))"
        case .object(let object): "object of \(object.count) members"
        case .null, .bool, .number, .string: value.typeName
        }
    }
}
