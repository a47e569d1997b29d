package import JSON

/// A node of a YAML fixture that knows its position, so that every complaint names line and column.
///
/// Scalars follow the core schema of YAML 1.2: plain `true`, `12`, `1.5` and `null` are not strings; anything in quotes
/// is.
///
/// A node can also be part of a JSON value, so that control calls, state files and fixtures share the same code. The
/// JSON is not copied: a node holds only the value and the path to it.
public struct FixtureNode {
    enum Content {
        /// A node, and for a member's value the position of the member's name.
        case yaml(YAMLNode, name: YAMLNode?)
        case json(JSON, FixturePath)
    }

    private let file: String
    private let content: Content
    /// Collects records that cannot be read; `nil` when the first problem ends the reading.
    private let salvage: Salvage?

    package init(file: FixtureStore.File) throws(FixtureProblem) {
        self.init(file: file.path, .yaml(try YAMLReader.root(of: file), name: nil))
    }

    /// Reads JSON as if it stood in a fixture; its problems name a path such as `users[3].id` instead of a line.
    ///
    /// - Parameter salvage: collects records that cannot be read; see ``forEachRecord(_:)``.
    package init(_ json: JSON, from source: String, settingAside salvage: Salvage? = nil) {
        self.init(file: source, .json(json, .root), salvage)
    }

    init(file: String, _ content: Content, _ salvage: Salvage? = nil) {
        (self.file, self.content, self.salvage) = (file, content, salvage)
    }

    package func problem(_ message: String) -> FixtureProblem {
        switch content {
        case .yaml(let node, _): node.problem(message, in: file)
        case .json(_, let path):
            FixtureProblem(file: file, message: [path.text, message].filter { !$0.isEmpty }.joined(separator: ": "))
        }
    }

    package func nameProblem(_ message: String) -> FixtureProblem {
        if case .yaml(_, let name?) = content { name.problem(message, in: file) } else { problem(message) }
    }

    /// Remarks on what loads but probably was not meant; what is no file is not remarked on.
    package func warn(_ message: String) {
        if case .yaml(let node, _) = content { node.warnings?.add(problem(message)) }
    }

    /// JSON as a client sent it: repeated names stay, since clients may send them and no one refuses them.
    ///
    /// Looking up members in it gives what the routes find.
    package func verbatim() throws(FixtureProblem) -> JSON {
        if case .json(let json, _) = content { json } else { try json() }
    }

    /// Throws a problem after which the rest can be read, unless all problems with files are collected.
    package func report(_ problem: FixtureProblem, leavingOut: Bool = false) throws(FixtureProblem) {
        guard case .yaml(let node, _) = content, let warnings = node.warnings else { throw problem }
        try warnings.take(problem, leavingOut: leavingOut)
    }

    /// The value as JSON, members in order, each name unique.
    package func json() throws(FixtureProblem) -> JSON {
        switch content {
        case .json(let json, _):
            // Reports the position of the repeated member.
            if json.repeatsNames { try checkNames() }
            return json
        case .yaml(let node, _):
            switch node.content {
            case .scalar(let text, let isPlain): return YAMLNode.value(text, isPlain: isPlain)
            case .sequence: return .array(try elements().map { (node) throws(FixtureProblem) in try node.json() })
            case .mapping: return .object(try object())
            }
        }
    }

    func object() throws(FixtureProblem) -> JSONObject {
        var object = JSONObject()
        for (name, value) in try members() { object.append(name, try value.json()) }
        return object
    }

    private func checkNames() throws(FixtureProblem) {
        switch content {
        case .json(.object, _): for (_, value) in try members() { try value.checkNames() }
        case .json(.array, _): for element in try elements() { try element.checkNames() }
        case .json, .yaml: break
        }
    }

    package func members() throws(FixtureProblem) -> [(name: String, value: FixtureNode)] {
        switch content {
        case .yaml(let node, _):
            guard case .mapping(let mapping) = node.content else { throw expected("a mapping") }
            // The YAML reader has already refused repeated members.
            return try mapping.map { member throws(FixtureProblem) in
                guard let name = member.name.text else {
                    throw member.name.problem("a member's name must be a string", in: file)
                }
                return (name, FixtureNode(file: file, .yaml(member.value, name: member.name)))
            }
        case .json(.object(let object), let path):
            if object.repeatsName, let repeated = object.duplicateNames.first {
                throw problem("the member \(repeated) occurs twice")
            }
            return object.members.map {
                ($0.name, FixtureNode(file: file, .json($0.value, .member($0.name, of: path)), salvage))
            }
        case .json: throw expected("a mapping")
        }
    }

    package func mapping(_ allowed: String...) throws(FixtureProblem) -> FixtureMapping { try mapping(allowed) }

    package func mapping(_ allowed: [String]) throws(FixtureProblem) -> FixtureMapping {
        // Checked before creating a node per member: there may be a million.
        if case .json(.object(let object), let path) = content {
            let unknown = object.members.first { !allowed.contains($0.name) }
            if let unknown {
                throw FixtureNode(file: file, .json(unknown.value, .member(unknown.name, of: path)))
                    .unknown(unknown.name, among: allowed)
            }
        }
        var members = try members()
        for index in members.indices where !allowed.contains(members[index].name) {
            let (name, value) = members[index]
            try value.report(value.unknown(name, among: allowed))
            // Taken as it was meant, so that nothing else is wrong because of it.
            let meant = Nearest.names(to: name, among: allowed, count: 1).first { near in
                !members.contains { $0.name == near }
            }
            if let meant { members[index].name = meant }
        }
        return FixtureMapping(node: self, members: members)
    }

    private func unknown(_ name: String, among allowed: [String]) -> FixtureProblem {
        nameProblem("unknown member “\(name)”\(Nearest.hint(to: name, among: allowed))")
    }

    /// The elements of a list with at most `limit` elements.
    ///
    /// Anything beyond a limit is refused before any of it is read, and never dropped silently.
    package func elements(atMost limit: Int = .max) throws(FixtureProblem) -> FixtureElements {
        let elements: FixtureElements
        switch content {
        case .yaml(let node, _):
            guard case .sequence(let sequence) = node.content else { throw expected("a list") }
            elements = FixtureElements(count: sequence.count) { [file] in
                FixtureNode(file: file, .yaml(sequence[$0], name: nil))
            }
        case .json(.array(let array), let path):
            elements = FixtureElements(count: array.count) { [file, salvage] in
                FixtureNode(file: file, .json(array[$0], .element($0, of: path)), salvage)
            }
        case .json: throw expected("a list")
        }
        guard elements.count <= limit else {
            throw problem("the list has \(elements.count) elements; at most \(limit) are kept")
        }
        return elements
    }

    /// Reads each element of the list here, up to the limit, as a separate record.
    ///
    /// When records are set aside, an unreadable one does not affect the others. `read` must not change anything before
    /// it has validated the record.
    package func forEachRecord(
        atMost limit: Int = .max, _ read: (FixtureNode) throws(FixtureProblem) -> Void
    ) throws(FixtureProblem) {
        for element in try elements(atMost: limit) { try element.readRecord(read) }
    }

    /// Reads the record here, or sets it aside if enabled; one of a file is left out where problems are collected.
    package func readRecord(_ read: (FixtureNode) throws(FixtureProblem) -> Void) throws(FixtureProblem) {
        guard let salvage, case .json(let value, let path) = content else {
            do { return try read(self) } catch {
                // As a whole it may be wrong only since it refers to another one that was left out.
                if case .yaml(let node, _) = content, node.warnings?.collected?.incomplete.contains(file) == true,
                    error == problem(error.message)
                {
                    return
                }
                return try report(error, leavingOut: true)
            }
        }
        let count = salvage.parts.count
        do {
            try read(self)
        } catch {
            // Parts already set aside inside it go with it.
            salvage.setAside(
                Salvage.Part(path: path.text, problem: error.message, value: value), insteadOfAllAfter: count)
        }
    }

    package func string() throws(FixtureProblem) -> String { try present(scalar?.string, "a string") }
    package func int() throws(FixtureProblem) -> Int { try present(scalar?.int, "a whole number") }
    package func bool() throws(FixtureProblem) -> Bool { try present(scalar?.bool, "true or false") }

    package func number() throws(FixtureProblem) -> Double {
        let number = scalar?.number?.double
        return try present(number?.isFinite == true ? number : nil, "a number")
    }

    private func present<Value>(_ value: Value?, _ what: String) throws(FixtureProblem) -> Value {
        if let value { return value }
        throw expected(what)
    }

    /// The address here, such as an issuer's: one with a blank or a line break in a file fits nothing that is sent.
    package func address() throws(FixtureProblem) -> String {
        let text = try string()
        if case .yaml = content, text.contains(where: \.isWhitespace) {
            throw problem("found \(text.debugDescription); expected an address without blanks and line breaks")
        }
        return text
    }

    /// The moment here, within the clock's range, in Unix seconds.
    package func moment() throws(FixtureProblem) -> Moment {
        let number = try number()
        let (moment, reduced) = (Moment(unixSeconds: number), number / 1000)
        guard Moment.representable.contains(moment) else {
            let hint =
                Moment.representable.contains(Moment(unixSeconds: reduced))
                ? "; found milliseconds, expected \(JSONNumber(reduced))" : ""
            throw problem("the number is not a Unix time from 1970 to 9999 in seconds\(hint)")
        }
        return moment
    }

    /// The moment here, in Unix seconds, as written in an export.
    ///
    /// There it may lie outside the clock's range: what begins on the last day of 9999 ends after it.
    package func keptMoment() throws(FixtureProblem) -> Moment {
        if case .yaml = content { try moment() } else { Moment(unixSeconds: try number()) }
    }

    package func int(in range: ClosedRange<Int>) throws(FixtureProblem) -> Int {
        let number = try int()
        guard range.contains(number) else {
            throw problem("\(number) is not between \(range.lowerBound) and \(range.upperBound)")
        }
        return number
    }

    func wholeNumber(from minimum: Int = 0) throws(FixtureProblem) -> Int {
        let count = try int()
        guard count >= minimum else { throw problem("\(count) is not a whole number from \(minimum)") }
        return count
    }

    /// A duration such as `250ms`, `5s` or `-2m`.
    func duration() throws(FixtureProblem) -> Duration {
        let value = try json()
        if let duration = value.string.flatMap(Duration.init(text:)) { return duration }
        throw problem("\(value.text) is not a duration such as 250ms, 90s, 31m or 2h")
    }

    package func choice<Choice: RawRepresentable<String> & CaseIterable>(
        of type: Choice.Type
    ) throws(FixtureProblem) -> Choice {
        let text = try string()
        if let choice = Choice(rawValue: text) { return choice }
        throw problem("“\(text)” is not one of \(Choice.allCases.map(\.rawValue).joined(separator: ", "))")
    }

    private var scalar: JSON? {
        switch content {
        case .yaml(let node, _):
            guard case .scalar(let text, let isPlain) = node.content else { return nil }
            return YAMLNode.value(text, isPlain: isPlain)
        case .json(.object, _), .json(.array, _): return nil
        case .json(let value, _): return value
        }
    }

    private var isMapping: Bool {
        switch content {
        case .yaml(let node, _): if case .mapping = node.content { true } else { false }
        case .json(let value, _): value.object != nil
        }
    }

    private func expected(_ what: String) -> FixtureProblem {
        let found =
            switch scalar {
            case .string(let text)?: "the string “\(text)”"
            case .null?: "nothing"
            case let other?: "the \(other.typeName) \(other.text)"
            case nil: isMapping ? "a mapping" : "a list"
            }
        let advice = what == "a string" && scalar != nil ? "; write it in quotes" : ""
        return problem("found \(found); expected \(what)\(advice)")
    }
}

package struct FixtureMapping {
    package let node: FixtureNode
    package let members: [(name: String, value: FixtureNode)]

    package subscript(name: String) -> FixtureNode? { members.first { $0.name == name }?.value }

    /// The one of these members that is there; two of them exclude each other.
    func one(of names: String...) throws(FixtureProblem) -> (name: String, node: FixtureNode)? {
        let given = names.compactMap { name in self[name].map { (name: name, node: $0) } }
        if given.count > 1 {
            let (name, node) = given[1]
            throw node.nameProblem("\(name) cannot be combined with \(given[0].name); give one of them")
        }
        return given.first
    }

    package func required(_ name: String) throws(FixtureProblem) -> FixtureNode {
        guard let value = self[name] else { throw node.problem("member “\(name)” is missing") }
        return value
    }
}

/// The path to a value in a JSON document; it is rendered only when a problem names it.
indirect enum FixturePath {
    case root
    case member(String, of: FixturePath)
    case element(Int, of: FixturePath)

    /// The path in the form `users[3].id`; empty for the document itself.
    var text: String {
        switch self {
        case .root: return ""
        case .member(let name, let parent):
            let beginning = parent.text
            return beginning.isEmpty ? name : "\(beginning).\(name)"
        case .element(let index, let parent): return "\(parent.text)[\(index)]"
        }
    }
}
