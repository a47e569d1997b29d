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

    /// Reads the files of a vendor with these routes and failures.
    ///
    /// - Throws: the first problem with them, also when they leave out a route.
    init(_ fixtures: VendorFixtures, routes known: [String], failures: [String]) throws(FixtureProblem) {
        var files: [FixtureMapping] = []
        for name in fixtures.names(in: "answers") where name.hasSuffix(".yaml") {
            files.append(
                try fixtures.document("answers/\(name)").mapping("schemas", "refusals", "answers", "frames"))
        }
        let shared = try Self.entries("schemas", of: files)
        let reader = SchemaReader(parts: shared.map(\.name))
        var parts: [(String, Shape)] = []
        for (name, node) in shared { parts.append((name, try Shape(node, reader))) }
        self.parts = parts
        let sets = try Self.sets(Self.entries("refusals", of: files), failures)
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

    private static func sets(
        _ entries: [(name: String, value: FixtureNode)], _ failures: [String]
    ) throws(FixtureProblem) -> [String: [String]] {
        var sets: [String: [String]] = [:]
        for (name, node) in entries {
            guard !failures.contains(name) else {
                throw node.nameProblem("“\(name)” is a failure; expected another name")
            }
            sets[name] = try names(node, [:], failures, "failure")
        }
        return sets
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
            var query: [(String, JSON)] = []
            for (name, node) in try members["query"]?.members() ?? [] { query.append((name, try reader.schema(node))) }
            if let form = members["form"], members["body"] != nil {
                throw form.nameProblem("a route reads a body or a form, not both")
            }
            var content: (String, JSON)?
            if let node = members["body"] { content = ("application/json", try reader.schema(node)) }
            if let node = members["form"] { content = ("application/x-www-form-urlencoded", try reader.schema(node)) }
            requests[name] = Request(query: query, content: content)
        }
    }
}

extension AnswerCatalog.Route {
    fileprivate init(
        _ node: FixtureNode, _ sets: [String: [String]], _ failures: [String], _ reader: SchemaReader
    ) throws(FixtureProblem) {
        var answers: [(Int, AnswerCatalog.Shape)] = []
        var refused: [String] = []
        for (name, value) in try node.members() {
            if name == "refused" {
                refused = try AnswerCatalog.names(value, sets, failures, "failure or set of failures")
            } else if let status = Int(name), 100...599 ~= status {
                answers.append((status, try AnswerCatalog.Shape(value, or: ["content"], reader)))
            } else {
                throw value.nameProblem("“\(name)” is not a number between 100 and 599, nor “refused”")
            }
        }
        (self.answers, self.refused) = (answers, refused)
    }
}

extension FixtureNode {
    fileprivate func check(_ name: String, _ kind: String, among known: [String]) throws(FixtureProblem) {
        if known.contains(name) { return }
        throw nameProblem("unknown \(kind) “\(name)”\(Nearest.hint(to: name, among: known))")
    }

    /// The text here, which must be known.
    func known(_ kind: String, among known: [String]) throws(FixtureProblem) -> String {
        let name = try string()
        if known.contains(name) { return name }
        throw problem("unknown \(kind) “\(name)”\(Nearest.hint(to: name, among: known))")
    }
}
