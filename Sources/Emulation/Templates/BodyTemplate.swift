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
        /// The name of a member is nearly always plain text.
        case object([(name: String, template: TextTemplate?, Part)])
    }

    private let root: Part

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
    }

    /// The body with these values, for a vendor that limits its answers itself; truncated when the values exceed 16 MB.
    package func body(_ values: JSONObject) -> JSON {
        body(values, within: TemplateBudget(bytes: TemplateBudget.mostBytesOfVendor))
    }

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
            for (name, template, part) in parts {
                let schema = schema(part, value)
                if template == nil { properties.append(name, schema) } else { others.append(schema) }
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
            var parts: [(String, TextTemplate?, Part)] = []
            for member in object {
                let name = member.name
                let template =
                    name.opensTag ? try TextTemplate(name, roots: roots, escaping: .none, at: node) : nil
                parts.append((name, template, try part(member.value, at: node, roots, keepsText: keepsText)))
            }
            return .object(parts)
        case .null, .bool, .number, .string: return .fixed(value)
        }
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
            return .object(
                JSONObject(
                    parts.map { name, template, part in
                        (template?.text(values, within: budget) ?? name, fill(part, values, budget))
                    }))
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
    var sectionLength = 0

    /// Which limit was exceeded, in words; `nil` while none was. Anything made since then is incomplete.
    private(set) var excess: String?

    init(bytes: Int = mostBytes) { (mostBytes, self.bytes) = (bytes, bytes) }


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

    func text(of value: JSON) -> String {
        takeAll(of: value)
        return excess == nil ? value.string ?? value.text : ""
    }

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
