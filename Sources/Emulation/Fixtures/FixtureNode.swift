public import JSON

/// A place in a YAML fixture that knows where it stands, so that every complaint names line and column.
///
/// Scalars follow the core schema of YAML 1.2: plain `true`, `12`, `1.5` and `null` are no strings, and quotes make
/// one of anything.
public struct FixtureNode {
    private let file: String
    private let node: YAMLNode
    /// Where the member's name stands whose value this is.
    private let name: YAMLNode?
    /// The place as a path through members and elements; `nil` in YAML, which has lines.
    private let path: String?

    init(file: FixtureStore.File) throws(FixtureProblem) {
        self.file = file.path
        (name, path) = (nil, nil)
        node = try YAMLReader.root(of: file)
    }

    /// JSON read as if it stood in a fixture, so that a control call and a file are read by the same code; its problems
    /// name a path such as `users[3].id` instead of a line.
    public init(_ json: JSON, from source: String) {
        self.init(file: source, node: Self.node(json), path: "")
    }

    private static func node(_ json: JSON) -> YAMLNode {
        let content: YAMLNode.Content =
            switch json {
            case .null: .scalar("null", isPlain: true)
            case .bool(let value): .scalar(value ? "true" : "false", isPlain: true)
            case .number(let number): .scalar(number.literal, isPlain: true)
            case .string(let text): .scalar(text, isPlain: false)
            case .array(let elements): .sequence(elements.map(node))
            case .object(let object):
                .mapping(object.map { .init(name: node(.string($0.name)), value: node($0.value)) })
            }
        // Its problems name a path instead.
        return YAMLNode(content, line: 1, column: 1)
    }

    private init(file: String, node: YAMLNode, name: YAMLNode? = nil, path: String?) {
        self.file = file
        self.node = node
        self.name = name
        self.path = path
    }

    /// A problem at this place.
    public func problem(_ message: String) -> FixtureProblem {
        if let path { return FixtureProblem(file: file, message: path.isEmpty ? message : "\(path): \(message)") }
        return FixtureProblem(file: file, line: node.line, column: node.column, message: message)
    }

    /// A problem with the name of the member whose value this is.
    public func nameProblem(_ message: String) -> FixtureProblem {
        name.map { FixtureNode(file: file, node: $0, path: path).problem(message) } ?? problem(message)
    }

    /// The value as JSON, members in order.
    public func json() throws(FixtureProblem) -> JSON {
        switch node.content {
        case .scalar(let text, let isPlain): return Self.value(text, isPlain: isPlain)
        case .sequence(let elements):
            var values: [JSON] = []
            for (index, element) in elements.enumerated() { values.append(try child(element, "[\(index)]").json()) }
            return .array(values)
        case .mapping:
            var object = JSONObject()
            for (name, value) in try members() { object.append(name, try value.json()) }
            return .object(object)
        }
    }

    /// The members of a mapping, in order.
    public func members() throws(FixtureProblem) -> [(name: String, value: FixtureNode)] {
        guard case .mapping(let mapping) = node.content else { throw expected("a mapping") }
        var members: [(name: String, value: FixtureNode)] = []
        members.reserveCapacity(mapping.count)
        for member in mapping {
            guard let name = member.name.text else {
                throw child(member.name, "").problem("a member's name must be a string")
            }
            let path = path.map { $0.isEmpty ? name : "\($0).\(name)" }
            members.append((name, FixtureNode(file: file, node: member.value, name: member.name, path: path)))
        }
        // The reader of YAML has refused repeated members before this.
        if path != nil, let repeated = JSONObject(members.map { ($0.name, JSON.null) }).duplicateNames.first {
            throw problem("the member \(repeated) stands there twice")
        }
        return members
    }

    /// The mapping here, which may have these members and no other.
    public func mapping(_ allowed: String...) throws(FixtureProblem) -> FixtureMapping { try mapping(allowed) }

    /// The mapping here, which may have these members and no other.
    public func mapping(_ allowed: [String]) throws(FixtureProblem) -> FixtureMapping {
        let members = try members()
        for (name, value) in members where !allowed.contains(name) {
            throw value.nameProblem("unknown member “\(name)”\(Nearest.hint(to: name, among: allowed))")
        }
        return FixtureMapping(node: self, members: members)
    }

    /// The elements of a sequence.
    public func elements() throws(FixtureProblem) -> [FixtureNode] {
        guard case .sequence(let sequence) = node.content else { throw expected("a list") }
        return sequence.enumerated().map { child($0.element, "[\($0.offset)]") }
    }

    /// The string here.
    public func string() throws(FixtureProblem) -> String {
        guard let string = scalar?.string else { throw expected("a string") }
        return string
    }

    /// The whole number here.
    public func int() throws(FixtureProblem) -> Int {
        guard let int = scalar?.int else { throw expected("a whole number") }
        return int
    }

    /// The number here, which may have a fraction.
    public func number() throws(FixtureProblem) -> Double {
        guard let number = scalar?.number?.double, number.isFinite else { throw expected("a number") }
        return number
    }

    /// The boolean here.
    public func bool() throws(FixtureProblem) -> Bool {
        guard let bool = scalar?.bool else { throw expected("true or false") }
        return bool
    }

    /// The string here as a case of a type.
    public func choice<Choice: RawRepresentable<String> & CaseIterable>(
        of type: Choice.Type
    ) throws(FixtureProblem) -> Choice {
        let text = try string()
        guard let choice = Choice(rawValue: text) else {
            let words = Choice.allCases.map(\.rawValue)
            throw problem("“\(text)” is none of \(words.joined(separator: ", "))")
        }
        return choice
    }

    /// The value here that is neither mapping nor list; `nil` for those.
    private var scalar: JSON? {
        guard case .scalar(let text, let isPlain) = node.content else { return nil }
        return Self.value(text, isPlain: isPlain)
    }

    private func child(_ node: YAMLNode, _ step: String) -> FixtureNode {
        FixtureNode(file: file, node: node, path: path.map { $0 + step })
    }

    private func expected(_ what: String) -> FixtureProblem {
        let found =
            switch node.content {
            case .scalar(let text, let isPlain):
                switch Self.value(text, isPlain: isPlain) {
                case .string(let text): "the string “\(text)”"
                case .null: "nothing"
                case let other: "the \(other.typeName) \(other.text)"
                }
            case .mapping: "a mapping"
            case .sequence: "a list"
            }
        let advice = what == "a string" && scalar != nil ? "; write it in quotes" : ""
        return problem("\(found) stands where \(what) is expected\(advice)")
    }

    private static func value(_ text: String, isPlain: Bool) -> JSON {
        guard isPlain else { return .string(text) }
        switch text {
        case "", "~", "null": return .null
        case "true": return true
        case "false": return false
        default:
            // A plain scalar that reads as a JSON number is one; everything else is a string.
            guard let first = text.utf8.first, first == UInt8(ascii: "-") || (0x30...0x39).contains(first),
                case .number(let number)? = try? JSON.parse(text.utf8)
            else { return .string(text) }
            return .number(number)
        }
    }
}

/// The members of a mapping whose names have been checked.
public struct FixtureMapping {
    /// The mapping itself.
    public let node: FixtureNode
    /// The members, in order.
    public let members: [(name: String, value: FixtureNode)]

    init(node: FixtureNode, members: [(name: String, value: FixtureNode)]) {
        self.node = node
        self.members = members
    }

    /// The member of that name, or `nil`.
    public subscript(name: String) -> FixtureNode? { members.first { $0.name == name }?.value }

    /// The member of that name, which must be there.
    public func required(_ name: String) throws(FixtureProblem) -> FixtureNode {
        guard let value = self[name] else { throw node.problem("member “\(name)” is missing") }
        return value
    }
}
