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

    private init(rest: Substring.UnicodeScalarView) { self.rest = rest }

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
        switch rest.first {
        case "&":
            rest.removeFirst()
            return .value(try takeName().name, isRaw: true)
        case "{":
            rest.removeFirst()
            let name = try takeName().name
            guard take("}") else { throw Malformed() }
            return .value(name, isRaw: true)
        default: return .value(try takeName().name, isRaw: false)
        }
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
