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

struct TemplateFilling {
    struct Place {
        let index: Int
        let isLast: Bool
    }

    let escaping: TextTemplate.Escaping
    let budget: TemplateBudget

    /// - Parameter values: the nested values in which names are looked up.
    func fill(_ parts: [TemplatePart], _ values: [JSON], _ place: Place?, _ text: inout String) {
        for part in parts {
            switch part {
            case .text(let fixed): text += fixed
            case .value(let name, let isRaw):
                guard let value = find(name, values, place) else { continue }
                let found = value.bool.map(String.init) ?? budget.text(of: value)
                text += isRaw ? found : escaping.escape(found)
            case .section(let name, let inner):
                repeatSection(inner, for: find(name, values, place), values, place, &text)
            case .invertedSection(let name, let inner):
                switch find(name, values, place) {
                case nil, .bool(false)?: fill(inner, values, place, &text)
                case .array([])?: fill(inner, values + [[]], nil, &text)
                default: break
                }
            }
        }
    }

    private func repeatSection(
        _ parts: [TemplatePart], for value: JSON?, _ values: [JSON], _ place: Place?, _ text: inout String
    ) {
        switch value {
        case nil, .bool(false)?: break
        case .bool(true)?: fill(parts, values, place, &text)
        case .array(let elements)?:
            for (index, element) in elements.enumerated() {
                guard budget.canRepeat() else { return }
                let place = Place(index: index, isLast: index == elements.count - 1)
                fill(parts, values + [element], place, &text)
            }
        case let value?: fill(parts, values + [value], nil, &text)
        }
    }

    /// The value of a name, looked up from the inside out; `nil` for null, too.
    private func find(_ name: TemplateName, _ values: [JSON], _ place: Place?) -> JSON? {
        guard name.questions.isEmpty else {
            // Values do not answer these: Mustache has no such feature.
            return name.path.isEmpty && !name.isInnermost ? place.flatMap { answer(name.questions, $0) } : nil
        }
        guard let first = name.path.first else { return values.last.flatMap(Self.unlessNull) }
        let around = name.isInnermost ? values.suffix(1) : values[...]
        for value in around.reversed() {
            guard let found = member(first, of: value) else { continue }
            return name.path.dropFirst().reduce(JSON?.some(found)) { value, name in
                value.flatMap { member(name, of: $0) }
            }.flatMap(Self.unlessNull)
        }
        return nil
    }

    /// A list has no members: in a text, a section iterates it.
    private func member(_ name: String, of value: JSON) -> JSON? {
        value.array == nil ? budget.member(name, of: value) : nil
    }

    private static func unlessNull(_ value: JSON) -> JSON? { value.isNull ? .none : value }

    /// The answer from an element's position: `last` whether it is the last one, `plusone(index)` its number from 1.
    private func answer(_ questions: [String], _ place: Place) -> JSON? {
        var number = place.index
        for (position, question) in questions.reversed().enumerated() {
            let isLast = position == questions.count - 1
            switch (question, position) {
            case ("index", 0): continue
            case ("first", 0) where isLast: return .bool(place.index == 0)
            case ("last", 0) where isLast: return .bool(place.isLast)
            case ("equalzero", 1...) where isLast: return .bool(number == 0)
            case ("even", _) where isLast: return .bool(number.isMultiple(of: 2))
            case ("odd", _) where isLast: return .bool(!number.isMultiple(of: 2))
            case ("plusone", 1...): number += 1
            case ("minusone", 1...): number -= 1
            default: return nil
            }
        }
        return JSON(number)
    }
}

indirect enum TemplatePart: Sendable {
    case text(String)
    /// A value as text; a raw one is not escaped.
    case value(TemplateName, isRaw: Bool)
    /// Content repeated for each element of a list, or shown once for a value other than `false`.
    case section(TemplateName, [TemplatePart])
    /// Content shown where the section of that name would be empty.
    case invertedSection(TemplateName, [TemplatePart])
}

struct TemplateName: Sendable {
    /// The member names and element indices, from the outside in; empty for the innermost value itself.
    let path: [String]
    /// Whether only the innermost value may have the first of them, not the values around it.
    let isInnermost: Bool
    /// The questions about the list position, last one first: `index` in `{{index()}}`.
    let questions: [String]

    /// - Returns: `nil` when brackets are not closed or misplaced.
    init?(_ text: Substring) {
        let (open, close, dot) = (UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "."))
        let parts = text.utf8.split(separator: open, omittingEmptySubsequences: false)
        guard let last = parts.last else { return nil }
        let name = last.prefix { $0 != close }
        guard last[name.endIndex...].allSatisfy({ $0 == close }), last.count - name.count == parts.count - 1,
            !parts.dropLast().contains(where: { $0.contains(close) })
        else { return nil }
        path = name.split(separator: dot).map { String(Substring($0)) }
        isInnermost = name.first == dot
        questions = parts.dropLast().map { String(Substring($0)) }
    }
}

package struct TemplateExcess: Error, CustomStringConvertible {
    package let description: String
}
