import JSON

/// Parses a text with Mustache tags: values, sections, inverted sections and comments; all other Mustache is refused.
///
/// A section or comment tag that is alone on its line removes the line, as mustache(5) specifies.
struct TemplateReader {
    struct Malformed: Error, CustomStringConvertible {
        let description = "each {{ needs a name and its }}"
    }

    /// Scalars, since comparing characters would take a fifth of a start.
    private var rest: Substring.UnicodeScalarView
    /// Whether the line so far contains only blanks, or tags that remove it.
    private var beginsLine = false
    /// The leading blanks of the line: text, unless a tag removes the line.
    private var indentation: Substring = ""

    static func parts(of text: String) throws(Malformed) -> [TemplatePart] {
        var reader = TemplateReader(rest: text[...].unicodeScalars)
        // ours: an empty first line is dropped, and a tag on the first line never removes its line.
        reader.beginsLine = reader.takeEndOfLine()
        return try reader.parts(in: nil)
    }

    /// The parts up to the end of the section with that tag, or of the text.
    private mutating func parts(in section: Substring?) throws(Malformed) -> [TemplatePart] {
        var parts: [TemplatePart] = []
        while !rest.isEmpty {
            takeText(into: &parts)
            guard take("{{"), let sign = rest.first else { continue }
            guard sign == "/" else {
                try takeTag(sign, into: &parts)
                continue
            }
            rest.removeFirst()
            guard try takeName().tag == section else { throw Malformed() }
            takeLineOrIndentation(into: &parts)
            return parts
        }
        guard section == nil else { throw Malformed() }
        return parts
    }

    private mutating func takeText(into parts: inout [TemplatePart]) {
        var text = ""
        var endsLine = true
        while endsLine, !rest.isEmpty {
            if beginsLine { indentation = take { $0 == " " || $0 == "\t" } }
            let bytes = Substring(rest).utf8
            var end = bytes.startIndex
            while end < bytes.endIndex, bytes[end] != UInt8(ascii: "\n"),
                bytes[end] != UInt8(ascii: "{") || !bytes[end...].starts(with: "{{".utf8)
            {
                bytes.formIndex(after: &end)
            }
            endsLine = end < bytes.endIndex && bytes[end] == UInt8(ascii: "\n")
            if endsLine { bytes.formIndex(after: &end) }
            guard bytes.startIndex < end else { break }
            text += indentation
            text += String(rest[..<end])
            rest = rest[end...]
            (beginsLine, indentation) = (endsLine, "")
        }
        if !text.isEmpty { parts.append(.text(text)) }
    }

    private mutating func takeTag(_ sign: Unicode.Scalar, into parts: inout [TemplatePart]) throws(Malformed) {
        switch sign {
        case "#", "^":
            rest.removeFirst()
            let (tag, name) = try takeName()
            takeLineOrIndentation(into: &parts)
            let beganLine = beginsLine
            let inner = try self.parts(in: tag)
            parts.append(sign == "#" ? .section(name, inner) : .invertedSection(name, inner))
            // What follows is read as after the opening tag of the section.
            (beginsLine, indentation) = (beganLine, "")
        case "!":
            while !take("}}") { if rest.popFirst() == nil { throw Malformed() } }
            beginsLine = beginsLine && takeEndOfLine()
        default:
            keepIndentation(in: &parts)
            parts.append(try value())
            beginsLine = false
        }
    }

    /// Removes the line of a tag that is alone on it; otherwise keeps its indentation as text.
    private mutating func takeLineOrIndentation(into parts: inout [TemplatePart]) {
        beginsLine = beginsLine && takeEndOfLine()
        if !beginsLine { keepIndentation(in: &parts) }
    }

    private mutating func keepIndentation(in parts: inout [TemplatePart]) {
        if !indentation.isEmpty { parts.append(.text(String(indentation))) }
        indentation = ""
    }

    private mutating func value() throws(Malformed) -> TemplatePart {
        if take("&") { return .value(try takeName().name, isRaw: true) }
        guard take("{") else { return .value(try takeName().name, isRaw: false) }
        let name = try takeName().name
        guard take("}") else { throw Malformed() }
        return .value(name, isRaw: true)
    }

    /// Reads the name in a tag, and the end of the tag.
    private mutating func takeName() throws(Malformed) -> (tag: Substring, name: TemplateName) {
        _ = take(while: \.properties.isWhitespace)
        let tag = take { $0.isASCII && ($0.properties.isAlphabetic || ".-_?*()0123456789".unicodeScalars.contains($0)) }
        _ = take(while: \.properties.isWhitespace)
        guard take("}}"), let name = TemplateName(tag) else { throw Malformed() }
        return (tag, name)
    }

    /// Takes the end of the line, and blanks before it, if nothing else comes first.
    private mutating func takeEndOfLine() -> Bool {
        if rest.isEmpty { return true }
        let after = rest.drop { $0 == " " || $0 == "\t" }
        guard let end = Substring(after).first, end.isNewline else { return false }
        rest = after.dropFirst(end.unicodeScalars.count)
        return true
    }

    private mutating func take(_ text: String) -> Bool {
        guard rest.starts(with: text.unicodeScalars) else { return false }
        rest.removeFirst(text.unicodeScalars.count)
        return true
    }

    private mutating func take(while fits: (Unicode.Scalar) -> Bool) -> Substring {
        let taken = rest.prefix(while: fits)
        rest = rest[taken.endIndex...]
        return Substring(taken)
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
