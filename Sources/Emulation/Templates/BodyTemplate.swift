package import JSON

/// A JSON body in which strings and member names may refer to values.
///
/// A string consisting only of `{{name}}` or `{{name.of.member}}` becomes the value itself, of any type, unless strings
/// are to stay strings; elsewhere in a string, and in a member's name, a value becomes text. The result is JSON again,
/// whatever the values contain.
package struct BodyTemplate: Sendable {
    private indirect enum Part: Sendable {
        case fixed(JSON)
        case value([String])
        case text(TextTemplate)
        case array([Part])
        case object([(name: Name, Part)])
    }

    /// The name of a member: nearly always plain text.
    private enum Name: Sendable {
        case fixed(String)
        case text(TextTemplate)

        func text(_ values: JSONObject, within budget: TemplateBudget) -> String {
            switch self {
            case .fixed(let name): name
            case .text(let template): template.text(values, within: budget)
            }
        }
    }

    private let root: Part
    /// The body when it refers to no values, as most failures do not.
    private let constant: JSON?

    /// Reads the template at a fixture node.
    ///
    /// - Throws: a problem when a string is not a Mustache template or refers to a name outside `roots`.
    init(_ node: FixtureNode, roots: [String]) throws(FixtureProblem) {
        try self.init(try node.json(), at: node, roots: roots, keepsText: false)
    }

    /// Reads a template derived from a fixture node.
    ///
    /// - Parameter keepsText: whether a string stays a string even when it is only a value's name.
    /// - Throws: a problem when a string is not a Mustache template or refers to a name outside `roots`.
    package init(_ json: JSON, at node: FixtureNode, roots: [String], keepsText: Bool) throws(FixtureProblem) {
        root = try Self.part(json, at: node, roots, keepsText: keepsText)
        constant = Self.isConstant(root) ? json : nil
    }

    /// The body with these values, for a vendor that limits its answers itself; truncated when the values exceed 16 MB.
    package func body(_ values: JSONObject) -> JSON {
        constant ?? body(values, within: TemplateBudget(bytes: TemplateBudget.mostBytesOfVendor))
    }

    /// The body with these values; truncated when the budget is exceeded.
    func body(_ values: JSONObject, within budget: TemplateBudget) -> JSON { Self.fill(root, values, budget) }

    /// The JSON Schema of the bodies: texts with values are strings, all else is constant.
    ///
    /// - Parameter value: the schema of the value at a path.
    func schema(_ value: ([String]) -> JSON) -> JSON { Self.schema(root, value) }

    private static func schema(_ part: Part, _ value: ([String]) -> JSON) -> JSON {
        switch part {
        case .fixed(let value): return ["const": value]
        case .value(let path): return value(path)
        case .text(let template): return template.schema
        case .array(let parts) where parts.isEmpty: return ["const": []]
        case .array(let parts):
            let items = JSON.either(parts.map { schema($0, value) })
            return ["type": "array", "items": items, "minItems": JSON(parts.count), "maxItems": JSON(parts.count)]
        case .object(let parts):
            var (properties, others): (JSONObject, [JSON]) = ([:], [])
            for (name, part) in parts {
                let schema = schema(part, value)
                if case .fixed(let name) = name { properties.append(name, schema) } else { others.append(schema) }
            }
            return [
                "type": "object", "required": .array(properties.map { .string($0.name) }),
                "properties": .object(properties),
                "additionalProperties": others.isEmpty ? false : JSON.either(others),
            ]
        }
    }

    private static func part(
        _ value: JSON, at node: FixtureNode, _ roots: [String], keepsText: Bool
    ) throws(FixtureProblem) -> Part {
        switch value {
        case .string(let text) where text.opensTag:
            return try part(text: text, at: node, roots, keepsText: keepsText)
        case .array(let elements):
            var parts: [Part] = []
            for element in elements { parts.append(try part(element, at: node, roots, keepsText: keepsText)) }
            return .array(parts)
        case .object(let object):
            var parts: [(Name, Part)] = []
            for member in object {
                let name = try name(member.name, at: node, roots)
                parts.append((name, try part(member.value, at: node, roots, keepsText: keepsText)))
            }
            return .object(parts)
        case .null, .bool, .number, .string: return .fixed(value)
        }
    }

    private static func name(_ text: String, at node: FixtureNode, _ roots: [String]) throws(FixtureProblem) -> Name {
        guard text.opensTag else { return .fixed(text) }
        return .text(try TextTemplate(text, roots: roots, escaping: .none, at: node))
    }

    private static func part(
        text: String, at node: FixtureNode, _ roots: [String], keepsText: Bool
    ) throws(FixtureProblem) -> Part {
        let tags = TextTemplate.tags(in: text)
        guard !keepsText, tags.count == 1, text == "{{\(tags[0])}}", tags[0].utf8.allSatisfy(isNamePart) else {
            return .text(try TextTemplate(text, roots: roots, escaping: .none, at: node))
        }
        // Most values only name something, and need not be parsed as templates.
        try TextTemplate.check(text, roots, at: node)
        return .value(tags[0].split(separator: ".").map(String.init))
    }

    private static func isNamePart(_ byte: UInt8) -> Bool { byte.isBase64URL || byte == UInt8(ascii: ".") }

    private static func isConstant(_ part: Part) -> Bool {
        switch part {
        case .fixed: true
        case .value, .text: false
        case .array(let parts): parts.allSatisfy(isConstant)
        case .object(let parts):
            parts.allSatisfy { name, part in if case .fixed = name { isConstant(part) } else { false } }
        }
    }

    private static func fill(_ part: Part, _ values: JSONObject, _ budget: TemplateBudget) -> JSON {
        // The rest of a template over budget is not filled.
        if budget.excess != nil { return .null }
        switch part {
        case .fixed(let value): return value
        case .value(let path):
            let found = path.reduce(JSON?.some(.object(values))) { value, name in
                value.flatMap { budget.member(name, of: $0) }
            }
            return budget.affordable(found ?? .null)
        case .text(let template): return .string(template.text(values, within: budget))
        case .array(let parts): return .array(parts.map { fill($0, values, budget) })
        case .object(let parts):
            return .object(JSONObject(parts.map { ($0.name.text(values, within: budget), fill($0.1, values, budget)) }))
        }
    }
}

/// Limits the size of one answer (ours): a value may be used many times and nested lists multiply, and both come with
/// the request.
final class TemplateBudget {
    /// The maximum total bytes of the values in a rule's answer, including repeated sections.
    static let mostBytes = 4 << 20
    /// The same for answers whose size the vendor limits itself, to less than that.
    static let mostBytesOfVendor = 16 << 20
    static let mostRepetitions = 10_000

    private let mostBytes: Int
    private var bytes: Int
    private var repetitions = mostRepetitions
    private var lookups = WorkBudget(steps: 1_000_000)
    /// The cost of repeating a section besides its values: the longest section of the current template.
    private var sectionLength = 0

    /// Which limit was exceeded, in words; `nil` while none was. Anything made since then is incomplete.
    private(set) var excess: String?

    init(bytes: Int = mostBytes) { (mostBytes, self.bytes) = (bytes, bytes) }

    /// Fills a template whose sections have at most that many bytes.
    func filling<Value>(sectionsOf length: Int, _ fill: () -> Value) -> Value {
        sectionLength = length
        return fill()
    }

    func canRepeat() -> Bool {
        if excess != nil { return false }
        repetitions -= 1
        if repetitions < 0 { excess = "its sections repeat more than \(Self.mostRepetitions) times" }
        take(sectionLength)
        return excess == nil
    }

    func member(_ name: String, of value: JSON) -> JSON? {
        guard excess == nil else { return nil }
        guard lookups.spend(onMemberOf: value) else {
            excess = "its tags search too many names"
            return nil
        }
        return value[name] ?? Int(name).flatMap { value[$0] }
    }

    /// The value as text, or empty once over budget.
    func text(of value: JSON) -> String {
        takeAll(of: value)
        return excess == nil ? value.string ?? value.text : ""
    }

    /// The value, or null once over budget.
    func affordable(_ value: JSON) -> JSON {
        takeAll(of: value)
        return excess == nil ? value : .null
    }

    /// Charges the approximate size of a value as JSON, stopping once over budget.
    private func takeAll(of value: JSON) {
        switch value {
        case .null, .bool: take(4)
        case .number(let number): take(number.literal.utf8.count + 1)
        case .string(let text): take(text.utf8.count + 3)
        case .array(let elements):
            take(2)
            for element in elements where excess == nil { takeAll(of: element) }
        case .object(let object):
            take(2)
            for member in object where excess == nil {
                take(member.name.utf8.count + 4)
                takeAll(of: member.value)
            }
        }
    }

    private func take(_ count: Int) {
        bytes -= count
        if bytes < 0, excess == nil { excess = "the values of its tags have more than \(mostBytes) bytes" }
    }
}
