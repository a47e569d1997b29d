import ArgumentParser
import Contracts
import Emulation
import JSON
import Synchronization
import Understudy

struct ContractRunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Sends the requests of Hurl files and compares the answers.",
        discussion: """
            Example: understudy contract run
            Example: understudy contract run FILES --against http://127.0.0.1:8080
            Example: understudy contract run FILES --against https://vendor.example \\
              --variables-file credentials.env --report drift.md

            Without --against, an emulator inside this process answers. If --against names a running emulator, each \
            file gets its own sandbox, unless the URL names one (/~NAME). If it names another server, such as the \
            vendor's, control calls are skipped, and variables supply what they would have captured.

            --report compares every answer with the vendor's document (understudy routes --openapi) and says by route \
            which members are new, gone or of another type, and which statuses are not described. It shows no values.

            {{base}} in a file is the server's URL. Hurl runs the same files:
            hurl --test --jobs 1 --variable base=http://127.0.0.1:8080 FILES

            Exit codes: 0 all answers are as expected, 1 one is not, or differs from its document, or no case was run, \
            2 misuse.
            """)

    @Argument(
        help: "Hurl files, or folders of them (default: the contract cases of the fixtures).",
        completion: .file(extensions: ["hurl"]))
    var files: [String] = []

    @Option(help: "The server to call, such as http://127.0.0.1:8080 (default: an emulator inside this process).")
    var against: String?

    @Option(name: .customLong("variable"), help: "A variable: NAME=VALUE.")
    var variables: [String] = []

    @Option(help: "A file of variables, NAME=VALUE on each line.", completion: .file())
    var variablesFile: String?

    @Option(help: "A file for the results as JUnit XML.", completion: .file(extensions: ["xml"]))
    var junit: String?

    @Option(
        help: "A file for how the answers differ from the vendors' documents, as Markdown; also in --junit and --json.",
        completion: .file(extensions: ["md"]))
    var report: String?

    @Option(help: "The token of the server's control API, or @FILE (default: $UNDERSTUDY_CONTROL_TOKEN).")
    var controlToken: String?

    @Option(help: "How long to wait for each answer of the server (default: 30s).")
    var within: String?

    @Flag(help: "Write JSON.")
    var json = false

    @OptionGroup var fixtureOptions: FixtureOptions

    func run() throws {
        let sources = try fixtureOptions.sources()
        let files = try ContractFiles.read(files, else: try fixtureOptions.store(sources))
        let given = try ContractVariables(variables, file: variablesFile)
        try Misuse.require(
            given["base"] == nil,
            "the variable base is the server's URL; leave it out, and name the server with --against.")
        let contractTarget = try contractTarget(sources)
        for path in [junit, report].compactMap(\.self) { try ReportFile.check(path) }
        let drift = report == nil ? nil : try Drift(from: try fixtureOptions.emulator())
        if !json, let note = contractTarget.note { Output.complaint(note) }
        var results: [ContractResult] = []
        for file in files {
            let result = Waiting.until { await contractTarget.run(file, given, comparing: drift) }
            if !json { for line in result.lines { Output.line(Output.printable(line)) } }
            results.append(result)
        }
        var summary = [ContractResult.summary(of: results)]
        if let report, let drift {
            let (text, result, line) = drift.report(report, of: against ?? "the emulator in this process")
            try ReportFile.write(text, to: report)
            results.append(result)
            summary.append(line)
        }
        if let junit { try ReportFile.write(JUnitReport.text(results), to: junit) }
        if json { Output.json(.array(results.map(\.json))) } else { for line in summary { Output.line(line) } }
        guard results.allSatisfy(\.hasPassed) else { throw AnswerIsNo() }
        guard results.contains(where: \.hasRun) else { throw AnswerIsNo(message: "no case was run.") }
    }

    private func contractTarget(_ sources: OptionSources) throws -> ContractTarget {
        guard let against else {
            guard within == nil, controlToken == nil else {
                throw Misuse(
                    "--within and --control-token are for a server; name one with --against, or leave them out.")
            }
            return .inProcess(try fixtureOptions.emulator())
        }
        let limit = try Duration.patience(within ?? "30s")
        let trust = try LocalAuthority.trust(at: against, sources)
        let token = try sources.controlToken(flag: controlToken)
        OptionSources.warning(ofControlToken: controlToken).map(Output.complaint)
        return try .server(against, ServerAccess(trust: trust, limit: limit), controlToken: token)
    }
}

struct ContractCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "contract", abstract: "Works on contract cases: requests and their documented answers.",
        subcommands: [ContractRunCommand.self])
}

/// Variables from flags and files in Hurl's form, `NAME=VALUE`: `true`, `null`, `42` and `1.5` keep their type unless
/// quoted. A backslash between quotes is literal.
extension ContractVariables {
    init(_ flags: [String], file: String?) throws {
        self.init()
        if let file {
            let bytes = try Files.read(file, "the file of variables")
            // By bytes: as a `Character`, “\r\n” is not “\n”.
            for (index, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
                .enumerated()
            {
                let line = String(decoding: line, as: UTF8.self).withoutOuterBlanks
                guard !line.isEmpty, line.utf8.first != UInt8(ascii: "#") else { continue }
                try set(line, from: "\(file):\(index + 1):")
            }
        }
        for flag in flags { try set(flag, from: "--variable") }
    }

    private mutating func set(_ text: String, from source: String) throws {
        let (name, value) = try NamedValue.parse(text, option: source)
        try Misuse.require(
            HurlVariable.isName(name),
            "\(source) \(name) cannot stand between {{ and }}; a name is a letter, then letters, digits, “_” and “-”.")
        self[name] = try Misuse.require(
            Self.typed(value), "\(source) the value of \(name) begins with a quote and does not end with one.")
    }

    /// The value of a text; `nil` if a quote is missing.
    private static func typed(_ text: String) -> JSON? {
        if text.utf8.first == UInt8(ascii: "\"") {
            guard text.utf8.count > 1, text.utf8.last == UInt8(ascii: "\"") else { return nil }
            return .string(String(text.unicodeScalars.dropFirst().dropLast()))
        }
        // Anything that is not JSON is a string, and so are JSON's arrays and objects.
        guard let value = try? JSON.parse(text.utf8), value.array == nil, value.object == nil else {
            return .string(text)
        }
        return value
    }
}

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
