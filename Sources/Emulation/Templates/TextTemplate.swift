package import JSON

/// A text with Mustache tags whose names begin with one of the given roots.
package struct TextTemplate: Sendable {
    package enum Escaping: Sendable {
        case none
        /// As inside a JSON string, so that no value can terminate it.
        case json
        /// As in text and quoted attributes of HTML.
        case html

        func escape(_ text: String) -> String {
            switch self {
            case .none: text
            case .json: String(JSON.string(text).text.dropFirst().dropLast())
            case .html: Self.escapeHTML(text)
            }
        }

        /// Controls stay as they are, since a form must send a value back as it came; but for a parser a carriage
        /// return is a line feed, and NUL is no character (HTML, sections 13.2.3.5 and 13.2.5).
        private static func escapeHTML(_ text: String) -> String {
            var bytes: [UInt8] = []
            for byte in text.utf8 {
                switch byte {
                case UInt8(ascii: "&"): bytes += "&amp;".utf8
                case UInt8(ascii: "<"): bytes += "&lt;".utf8
                case UInt8(ascii: ">"): bytes += "&gt;".utf8
                case UInt8(ascii: "\""): bytes += "&quot;".utf8
                case UInt8(ascii: "'"): bytes += "&#39;".utf8
                case UInt8(ascii: "\r"): bytes += "&#13;".utf8
                case 0: bytes += "\u{FFFD}".utf8
                default: bytes.append(byte)
                }
            }
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    private let parts: [TemplatePart]
    private let escaping: Escaping
    /// The bytes of the longest section, counted for each repetition.
    private let sectionLength: Int

    /// - Throws: a problem when the text is not a template, or a tag refers to an unknown name.
    package init(_ text: String, roots: [String], escaping: Escaping, at node: FixtureNode) throws(FixtureProblem) {
        try Self.check(text, roots, at: node)
        self.escaping = escaping
        sectionLength = Self.longestSection(of: text)
        do {
            parts = try TemplateReader.parts(of: text)
        } catch {
            throw node.problem("“\(text)” is not a Mustache template; \(error)")
        }
    }

    func text(_ values: JSONObject, within budget: TemplateBudget) -> String {
        budget.sectionLength = sectionLength
        var text = ""
        TemplateFilling(escaping: escaping, budget: budget).fill(parts, [.object(values)], nil, &text)
        return text
    }

    /// The text with these values, for a vendor that limits its answers itself.
    package func text(_ values: JSONObject) -> String {
        text(values, within: TemplateBudget(bytes: TemplateBudget.mostBytesOfVendor))
    }

    var schema: JSON {
        var text = ""
        for part in parts {
            guard case .text(let fixed) = part else { return ["type": "string"] }
            text += fixed
        }
        return ["const": .string(text)]
    }

    /// The bytes from the first beginning of a section to the last end; 0 when there are none.
    private static func longestSection(of text: String) -> Int {
        guard text.opensTag, tags(in: text).contains(where: { $0.first == "#" }) else { return 0 }
        let bytes = text.utf8
        var (first, last): (String.Index?, String.Index?)
        var index = bytes.startIndex
        while let brace = bytes[index...].firstIndex(of: UInt8(ascii: "{")) {
            index = bytes.index(after: brace)
            if bytes[index...].starts(with: "{#".utf8) { first = first ?? brace }
            if bytes[index...].starts(with: "{/".utf8) { last = brace }
        }
        guard let first, let last, first < last else { return 0 }
        return bytes.distance(from: first, to: last)
    }

    /// How deeply sections may be nested (ours): nested lists multiply the output.
    private static let maximumDepth = 4

    /// - Throws: what is wrong with the tags: a name outside any section that begins with no root (inside, names may
    ///   belong to an element), sections nested too deeply, or characters that would change the form of a tag.
    static func check(_ text: String, _ roots: [String], at node: FixtureNode) throws(FixtureProblem) {
        var openSections = 0
        for tag in tags(in: text) {
            guard let sigil = tag.first else {
                throw node.problem("“{{}}” names nothing; each {{ needs a name and its }}")
            }
            switch sigil {
            case "!": continue
            case "=", ">", "<", "$", "%": throw node.problem("“{{\(tag)}}” is not a supported tag")
            case "/": openSections -= 1
            default:
                let name = tag.drop { "#^&{ ".contains($0) }
                // A transform encloses the name, or another transform.
                let inner = name.lastIndex(of: "(").map { name[name.index(after: $0)...] } ?? name
                let path = String(inner.prefix { $0 != ")" && $0 != " " })
                if openSections == 0, !roots.contains(where: { names(path, $0) }) {
                    throw node.problem("“{{\(name)}}” names nothing that exists\(Nearest.hint(to: path, among: roots))")
                }
                if sigil == "#" || sigil == "^" { openSections += 1 }
                if openSections > maximumDepth { throw node.problem("sections nest at most \(maximumDepth) deep") }
            }
        }
    }

    /// Whether a path names a root, what it leads to, or what encloses it.
    private static func names(_ path: String, _ root: String) -> Bool {
        path == root || path.hasPrefix(root + ".") || root.hasPrefix(path + ".")
    }

    /// The contents between `{{` and `}}`; found by bytes, since every start scans all bodies.
    static func tags(in text: String) -> [String] {
        let (open, close) = (UInt8(ascii: "{"), UInt8(ascii: "}"))
        var tags: [String] = []
        var rest = text.utf8[...]
        while let brace = rest.firstIndex(of: open) {
            rest = rest[brace...].dropFirst()
            guard rest.first == open else { continue }
            rest = rest.drop { $0 == open }
            let name = rest.prefix { $0 != open && $0 != close }
            rest = rest[name.endIndex...]
            if rest.starts(with: [close, close]) { tags.append(String(Substring(name))) }
        }
        return tags
    }
}

extension String {
    /// Whether the text may contain a tag.
    var opensTag: Bool {
        var previous: UInt8 = 0
        for byte in utf8 {
            if byte == UInt8(ascii: "{"), previous == byte { return true }
            previous = byte
        }
        return false
    }
}

package struct TemplateExcess: Error, CustomStringConvertible {
    package let description: String
}

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
        constant = Self.isConstant(root) ? .some(json) : .none
    }

    /// The body with these values, for a vendor that limits its answers itself; truncated when the values exceed 16 MB.
    package func body(_ values: JSONObject) -> JSON {
        constant ?? body(values, within: TemplateBudget(bytes: TemplateBudget.mostBytesOfVendor))
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

    private static func isConstant(_ part: Part) -> Bool {
        switch part {
        case .fixed: true
        case .value, .text: false
        case .array(let parts): parts.allSatisfy(isConstant)
        case .object(let parts): parts.allSatisfy { _, template, part in template == nil && isConstant(part) }
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
