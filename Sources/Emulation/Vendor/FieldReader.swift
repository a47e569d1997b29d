public import JSON

/// What is wrong with a member of a request body.
public struct FieldProblem: Sendable, Hashable {
    /// The kinds of wrong.
    public enum Kind: Sendable, Hashable {
        /// A required member is absent.
        case missing
        /// The value has another JSON type.
        case wrongType(expected: String, found: String)
        /// A string has fewer characters than allowed.
        case tooShort(minimum: Int, length: Int)
    }

    /// The member's name.
    public let name: String
    /// What is wrong with it.
    public let kind: Kind
}

extension FieldProblem: CustomStringConvertible {
    /// The problem for people: which member, what was found and what would be right.
    public var description: String {
        switch kind {
        case .missing: "there is no member \(name); expected a string"
        case .wrongType(let expected, let found): "\(name) is a JSON \(found), not a \(expected)"
        case .tooShort(let minimum, let length):
            length == 0
                ? "\(name) is empty; expected at least \(minimum) character\(minimum == 1 ? "" : "s")"
                : "\(name) has \(length) characters; expected at least \(minimum)"
        }
    }
}

extension Sequence<FieldProblem> {
    /// The problems for people, as one reason: all members that are not there together, then the others.
    public var reason: String {
        let names = filter { $0.kind == .missing }.map(\.name)
        let others = filter { $0.kind != .missing }.map(\.description)
        guard names.count > 1 else { return map(\.description).joined(separator: "; ") }
        let missing = "there are no members \(names.joined(separator: ", ")); expected a string each"
        return ([missing] + others).joined(separator: "; ")
    }
}

/// Reads the members of a request body and collects everything that is wrong with them, in the order of reading.
public struct FieldReader {
    private let object: JSONObject
    /// What was wrong so far.
    public private(set) var problems: [FieldProblem] = []

    /// A reader of that object's members.
    public init(_ object: JSONObject) {
        self.object = object
    }

    /// A string member; `nil` when it is absent, wrong, or `null` where that is allowed.
    ///
    /// - Parameters:
    ///   - name: the member's name.
    ///   - otherNames: spellings that count when there is no member of that name.
    ///   - isRequired: whether its absence is a problem.
    ///   - acceptsNull: whether `null` is no problem; it satisfies a requirement.
    ///   - minimumLength: the fewest characters.
    public mutating func string(
        _ name: String, or otherNames: String..., isRequired: Bool = false, acceptsNull: Bool = false,
        minimumLength: Int = 0
    ) -> String? {
        guard let member = member(name, or: otherNames) else {
            if isRequired { problems.append(FieldProblem(name: name, kind: .missing)) }
            return nil
        }
        if acceptsNull, member.isNull { return nil }
        guard let string = member.string else { return wrong(name, "string", member) }
        guard Self.hasCharacters(minimumLength, string) else {
            problems.append(FieldProblem(name: name, kind: .tooShort(minimum: minimumLength, length: string.count)))
            return nil
        }
        return string
    }

    /// Whether a text has that many characters; counting them takes long, and whether there is one its bytes tell.
    private static func hasCharacters(_ minimum: Int, _ text: String) -> Bool {
        minimum <= 1 ? text.utf8.count >= minimum : text.prefix(minimum).count == minimum
    }

    private func member(_ name: String, or otherNames: [String]) -> JSON? {
        if let member = object[name] { return member }
        for name in otherNames {
            if let member = object[name] { return member }
        }
        return nil
    }

    /// A boolean member; `nil` when it is absent or wrong.
    public mutating func bool(_ name: String) -> Bool? {
        guard let member = object[name] else { return nil }
        return member.bool ?? wrong(name, "boolean", member)
    }

    private mutating func wrong<Value>(_ name: String, _ expected: String, _ member: JSON) -> Value? {
        problems.append(FieldProblem(name: name, kind: .wrongType(expected: expected, found: member.typeName)))
        return nil
    }
}
