public import JSON
import Yams

/// A place in a YAML fixture that knows where it stands, so that every complaint names line and column.
///
/// Scalars follow the core schema of YAML 1.2: plain `true`, `12`, `1.5` and `null` are no strings, and quotes make
/// one of anything.
public struct FixtureNode {
    private let file: String
    private let node: Node
    /// Where the member's name stands whose value this is.
    private let name: Node?
    /// The place as a path through members and elements; `nil` in YAML, which has lines.
    private let path: String?

    init(file: FixtureStore.File) throws(FixtureProblem) {
        self.file = file.path
        (name, path) = (nil, nil)
        guard let text = String(validating: file.bytes, as: UTF8.self) else {
            throw FixtureProblem(file: file.path, message: "is not UTF-8")
        }
        do {
            // The basic resolver: Yams' own would read `yes` as a boolean, and costs a regular expression each. Nothing
            // is constructed either, and the standard encoding would be looked for in the environment.
            guard let root = try Yams.compose(yaml: text, .basic, Constructor([:], [:], [:]), .utf8) else {
                throw FixtureProblem(file: file.path, line: 1, column: 1, message: "the file is empty")
            }
            node = root
        } catch let problem as FixtureProblem {
            throw problem
        } catch {
            throw FixtureProblem(file: file.path, yaml: error)
        }
    }

    /// JSON read as if it stood in a fixture, so that a control call and a file are read by the same code; its problems
    /// name a path such as `users[3].id` instead of a line.
    public init(_ json: JSON, from source: String) {
        self.init(file: source, node: Self.node(json), path: "")
    }

    private static func node(_ json: JSON) -> Node {
        switch json {
        case .null: Node("null", .implicit, .plain)
        case .bool(let value): Node(value ? "true" : "false", .implicit, .plain)
        case .number(let number): Node(number.literal, .implicit, .plain)
        case .string(let text): Node(text, .implicit, .doubleQuoted)
        case .array(let elements): Node(elements.map(node))
        case .object(let object): Node(object.map { (Node($0.name, .implicit, .doubleQuoted), node($0.value)) })
        }
    }

    private init(file: String, node: Node, name: Node? = nil, path: String?) {
        self.file = file
        self.node = node
        self.name = name
        self.path = path
    }

    /// A problem at this place.
    public func problem(_ message: String) -> FixtureProblem {
        if let path { return FixtureProblem(file: file, message: path.isEmpty ? message : "\(path): \(message)") }
        return FixtureProblem(file: file, line: node.mark?.line, column: node.mark?.column, message: message)
    }

    /// A problem with the name of the member whose value this is.
    public func nameProblem(_ message: String) -> FixtureProblem {
        name.map { FixtureNode(file: file, node: $0, path: path).problem(message) } ?? problem(message)
    }

    /// The value as JSON, members in order.
    public func json() throws(FixtureProblem) -> JSON {
        switch node {
        case .scalar(let scalar): return Self.value(of: scalar)
        case .sequence(let elements):
            var values: [JSON] = []
            for (index, element) in elements.enumerated() { values.append(try child(element, "[\(index)]").json()) }
            return .array(values)
        case .mapping:
            var object = JSONObject()
            for (name, value) in try members() { object.append(name, try value.json()) }
            return .object(object)
        case .alias: throw problem("an alias must name an anchor of this file")
        }
    }

    /// The members of a mapping, in order.
    public func members() throws(FixtureProblem) -> [(name: String, value: FixtureNode)] {
        guard case .mapping(let mapping) = node else { throw expected("a mapping") }
        var members: [(name: String, value: FixtureNode)] = []
        for (key, value) in mapping {
            guard let name = key.scalar?.string else {
                throw child(key, "").problem("a member's name must be a string")
            }
            let path = path.map { $0.isEmpty ? name : "\($0).\(name)" }
            members.append((name, FixtureNode(file: file, node: value, name: key, path: path)))
        }
        // YAML's parser has refused repeated members before this.
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
        guard case .sequence(let sequence) = node else { throw expected("a list") }
        return sequence.enumerated().map { child($0.element, "[\($0.offset)]") }
    }

    /// The string here.
    public func string() throws(FixtureProblem) -> String {
        guard case .scalar(let scalar) = node, let string = Self.value(of: scalar).string else {
            throw expected("a string")
        }
        return string
    }

    /// The whole number here.
    public func int() throws(FixtureProblem) -> Int {
        guard case .scalar(let scalar) = node, let int = Self.value(of: scalar).int else {
            throw expected("a whole number")
        }
        return int
    }

    /// The number here, which may have a fraction.
    public func number() throws(FixtureProblem) -> Double {
        guard case .scalar(let scalar) = node, let number = Self.value(of: scalar).number, number.double.isFinite else {
            throw expected("a number")
        }
        return number.double
    }

    /// The boolean here.
    public func bool() throws(FixtureProblem) -> Bool {
        guard case .scalar(let scalar) = node, let bool = Self.value(of: scalar).bool else {
            throw expected("true or false")
        }
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

    private func child(_ node: Node, _ step: String) -> FixtureNode {
        FixtureNode(file: file, node: node, path: path.map { $0 + step })
    }

    private func expected(_ what: String) -> FixtureProblem {
        let found =
            switch node {
            case .scalar(let scalar):
                switch Self.value(of: scalar) {
                case .string(let text): "the string “\(text)”"
                case .null: "nothing"
                case let other: "the \(other.typeName) \(other.text)"
                }
            case .mapping: "a mapping"
            case .sequence: "a list"
            case .alias: "an alias"
            }
        let advice = what == "a string" && node.scalar != nil ? "; write it in quotes" : ""
        return problem("\(found) stands where \(what) is expected\(advice)")
    }

    private static func value(of scalar: Node.Scalar) -> JSON {
        guard scalar.style == .plain || scalar.style == .any else { return .string(scalar.string) }
        switch scalar.string {
        case "", "~", "null": return .null
        case "true": return true
        case "false": return false
        default:
            // A plain scalar that reads as a JSON number is one; everything else is a string.
            if case .number(let number)? = try? JSON.parse(scalar.string.utf8) { return .number(number) }
            return .string(scalar.string)
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

extension FixtureProblem {
    fileprivate init(file: String, yaml error: any Error) {
        switch error as? YamlError {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            self.init(file: file, line: mark.line, column: mark.column, message: "not YAML: \(problem)")
        case .duplicatedKeysInMapping(let names, let context):
            let list = names.sorted().joined(separator: ", ")
            self.init(
                file: file, line: context.mark.line, column: context.mark.column,
                message: "this mapping has the same member twice: \(list)")
        default: self.init(file: file, message: "not YAML: \(error)")
        }
    }
}
