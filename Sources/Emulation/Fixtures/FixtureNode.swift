public import JSON
import Yams

/// A place in a YAML fixture that knows where it stands, so that every complaint names line and column.
///
/// Scalars follow the core schema of YAML 1.2: plain `true`, `12`, `1.5` and `null` are no strings, and quotes make
/// one of anything.
///
/// A place can also be one in JSON, so that a control call, a state file and a fixture are read by the same code. The JSON
/// is not copied: a place takes no more than the value and the way to it.
public struct FixtureNode {
    private enum Content {
        /// A node, and where the member's name stands whose value it is.
        case yaml(Node, name: Node?)
        case json(JSON, FixturePath)
    }

    private let file: String
    private let content: Content

    init(file: FixtureStore.File) throws(FixtureProblem) {
        guard let text = String(validating: file.bytes, as: UTF8.self) else {
            throw FixtureProblem(file: file.path, message: "is not UTF-8")
        }
        do {
            // The basic resolver: Yams' own would read `yes` as a boolean, and costs a regular expression each. Nothing
            // is constructed either, and the standard encoding would be looked for in the environment.
            guard let root = try Yams.compose(yaml: text, .basic, Constructor([:], [:], [:]), .utf8) else {
                throw FixtureProblem(file: file.path, line: 1, column: 1, message: "the file is empty")
            }
            self.init(file: file.path, .yaml(root, name: nil))
        } catch let problem as FixtureProblem {
            throw problem
        } catch {
            throw FixtureProblem(file: file.path, yaml: error)
        }
    }

    /// JSON read as if it stood in a fixture; its problems name a path such as `users[3].id` instead of a line.
    public init(_ json: JSON, from source: String) {
        self.init(file: source, .json(json, .root))
    }

    private init(file: String, _ content: Content) {
        self.file = file
        self.content = content
    }

    /// A problem at this place.
    public func problem(_ message: String) -> FixtureProblem {
        switch content {
        case .yaml(let node, _): problem(message, at: node)
        case .json(_, let path):
            FixtureProblem(file: file, message: [path.text, message].filter { !$0.isEmpty }.joined(separator: ": "))
        }
    }

    /// A problem with the name of the member whose value this is.
    public func nameProblem(_ message: String) -> FixtureProblem {
        if case .yaml(_, let name?) = content { problem(message, at: name) } else { problem(message) }
    }

    private func problem(_ message: String, at node: Node) -> FixtureProblem {
        FixtureProblem(file: file, line: node.mark?.line, column: node.mark?.column, message: message)
    }

    /// The value as JSON, members in order.
    public func json() throws(FixtureProblem) -> JSON {
        switch content {
        case .json(let json, _):
            // Names the place of the repeated member.
            if json.repeatsNames { try checkNames() }
            return json
        case .yaml(.scalar(let scalar), _): return Self.value(of: scalar)
        case .yaml(.sequence, _): return .array(try Self.values(of: try elements()))
        case .yaml(.mapping, _):
            var object = JSONObject()
            for (name, value) in try members() { object.append(name, try value.json()) }
            return .object(object)
        case .yaml(.alias, _): throw problem("an alias must name an anchor of this file")
        }
    }

    private static func values(of elements: [FixtureNode]) throws(FixtureProblem) -> [JSON] {
        var values: [JSON] = []
        for element in elements { values.append(try element.json()) }
        return values
    }

    private func checkNames() throws(FixtureProblem) {
        switch content {
        case .json(.object, _): for (_, value) in try members() { try value.checkNames() }
        case .json(.array, _): for element in try elements() { try element.checkNames() }
        case .json, .yaml: break
        }
    }

    /// The members of a mapping, in order.
    public func members() throws(FixtureProblem) -> [(name: String, value: FixtureNode)] {
        switch content {
        case .yaml(.mapping(let mapping), _): return try members(of: mapping)
        case .json(.object(let object), let path): return try members(of: object, at: path)
        case .json, .yaml: throw expected("a mapping")
        }
    }

    /// YAML's parser has refused repeated members before this.
    private func members(of mapping: Node.Mapping) throws(FixtureProblem) -> [(name: String, value: FixtureNode)] {
        var members: [(name: String, value: FixtureNode)] = []
        for (key, value) in mapping {
            guard let name = key.scalar?.string else { throw problem("a member's name must be a string", at: key) }
            members.append((name, FixtureNode(file: file, .yaml(value, name: key))))
        }
        return members
    }

    private func members(
        of object: JSONObject, at path: FixturePath
    ) throws(FixtureProblem) -> [(name: String, value: FixtureNode)] {
        if object.repeatsName, let repeated = object.duplicateNames.first {
            throw problem("the member \(repeated) stands there twice")
        }
        return object.members.map { ($0.name, FixtureNode(file: file, .json($0.value, .member($0.name, of: path)))) }
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
        switch content {
        case .yaml(.sequence(let sequence), _):
            return sequence.map { FixtureNode(file: file, .yaml($0, name: nil)) }
        case .json(.array(let elements), let path):
            return elements.indices.map { FixtureNode(file: file, .json(elements[$0], .element($0, of: path))) }
        case .json, .yaml: throw expected("a list")
        }
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
        switch content {
        case .yaml(.scalar(let scalar), _): return Self.value(of: scalar)
        case .json(.object, _), .json(.array, _), .yaml: return nil
        case .json(let value, _): return value
        }
    }

    private func expected(_ what: String) -> FixtureProblem {
        let found =
            switch (content, scalar) {
            case (_, .string(let text)?): "the string “\(text)”"
            case (_, .null?): "nothing"
            case (_, let other?): "the \(other.typeName) \(other.text)"
            case (.yaml(.mapping, _), nil), (.json(.object, _), nil): "a mapping"
            case (.yaml(.alias, _), nil): "an alias"
            case (.yaml, nil), (.json, nil): "a list"
            }
        let advice = what == "a string" && scalar != nil ? "; write it in quotes" : ""
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
