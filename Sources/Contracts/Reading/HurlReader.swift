#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Reads a Hurl file; this is the cursor, the extensions read the parts.
///
/// The grammar is at hurl.dev (`docs/grammar.html`).
struct HurlReader {
    let file: String
    let scalars: [Unicode.Scalar]
    var position = 0
    private let lineStarts: [Int]

    init(file: String, bytes: [UInt8]) throws(HurlProblem) {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw HurlProblem(
                file: file, place: HurlPlace(line: 1, column: 1), message: "the file is not UTF-8; save it as such")
        }
        self.file = file
        let scalars = Array(text.unicodeScalars)
        self.scalars = scalars
        lineStarts = [0] + scalars.indices.filter { scalars[$0] == "\n" }.map { $0 + 1 }
    }

    var peek: Unicode.Scalar? { position < scalars.count ? scalars[position] : nil }

    var place: HurlPlace { place(of: position) }

    func place(of position: Int) -> HurlPlace {
        // Binary search: every part of a file records its place.
        var (line, end) = (0, lineStarts.count)
        while end - line > 1 {
            let middle = (line + end) / 2
            if lineStarts[middle] <= position { line = middle } else { end = middle }
        }
        return HurlPlace(line: line + 1, column: position - lineStarts[line] + 1)
    }

    func begins(with word: String) -> Bool { scalars[position...].starts(with: word.unicodeScalars) }

    /// Consumes a word if it comes next.
    mutating func take(_ word: String) -> Bool {
        guard begins(with: word) else { return false }
        position += word.unicodeScalars.count
        return true
    }

    /// Consumes characters while a condition holds.
    mutating func take(while condition: (Unicode.Scalar) -> Bool) -> String {
        let start = position
        while let scalar = peek, condition(scalar) { position += 1 }
        return text(from: start)
    }

    func text(from start: Int) -> String { String(String.UnicodeScalarView(scalars[start..<position])) }

    mutating func skipBlanks() {
        while let scalar = peek, scalar == " " || scalar == "\t" { position += 1 }
    }

    /// Consumes at least one blank.
    mutating func expectBlank(before what: String) throws(HurlProblem) {
        guard peek == " " || peek == "\t" else { throw unexpected("expected a space and \(what)") }
        skipBlanks()
    }

    mutating func endLine() throws(HurlProblem) {
        skipBlanks()
        if peek == "#" { skipComment() }
        guard takeNewline() || peek == nil else { throw unexpected("expected the end of the line") }
    }

    /// Consumes empty lines and comments.
    ///
    /// - Returns: The text of the comments directly above what follows.
    mutating func skipLines() -> String {
        var remarks: [String] = []
        while true {
            skipBlanks()
            if peek == "#" {
                remarks.append(skipComment())
                _ = takeNewline()
            } else if takeNewline() {
                remarks = []
            } else {
                return remarks.joined(separator: " ")
            }
        }
    }

    private mutating func takeNewline() -> Bool { take("\n") || take("\r\n") }

    /// - Returns: The comment's text without its `#` and surrounding blanks.
    @discardableResult
    private mutating func skipComment() -> String {
        let line = take(while: { $0 != "\n" && $0 != "\r" })
        let words = line.drop { $0 == "#" }.split(separator: " ")
        return words.joined(separator: " ")
    }

    /// A problem with what stands at a position, by default the current one.
    func unexpected(_ expected: String, at position: Int? = nil) -> HurlProblem {
        let position = position ?? self.position
        return problem("found \(found(at: position)); \(expected)", at: position)
    }

    /// A problem at a position, by default the current one.
    func problem(_ message: String, at position: Int? = nil) -> HurlProblem {
        HurlProblem(file: file, place: place(of: position ?? self.position), message: message)
    }

    /// What stands there, for messages; long words are cut.
    private func found(at position: Int) -> String {
        guard position < scalars.count else { return "the end of the file" }
        let next = scalars[position]
        if next == "\n" || next == "\r" { return "the end of the line" }
        if next == " " || next == "\t" { return "a blank" }
        let word = scalars[position...].prefix(while: { $0.value > 0x20 })
        let text = String(String.UnicodeScalarView(word.prefix(40)))
        return "“\(text)\(word.count > 40 ? "…" : "")”"
    }
}

extension HurlReader {
    /// Text and variables up to a stop character.
    ///
    /// - Parameters:
    ///   - escapes: The characters allowed after a backslash besides `u`; `nil` if a backslash is literal.
    ///   - trimsBlanks: Whether to drop trailing blanks that are not escaped.
    ///   - isStop: Whether a character ends the text.
    mutating func template(
        escapes: String?, trimsBlanks: Bool = false, isStop: (Unicode.Scalar) -> Bool
    ) throws(HurlProblem) -> HurlTemplate {
        let place = place
        var parts: [HurlTemplate.Part] = []
        var text = ""
        var blanks = 0
        while let scalar = peek {
            if begins(with: "{{") {
                if !text.isEmpty { parts.append(.text(text)) }
                (text, blanks) = ("", 0)
                parts.append(.variable(try placeholder()))
            } else if scalar == "\\", let escapes {
                text.unicodeScalars.append(try escape(among: escapes))
                blanks = 0
            } else if isStop(scalar) {
                break
            } else {
                text.unicodeScalars.append(scalar)
                blanks = scalar == " " || scalar == "\t" ? blanks + 1 : 0
                position += 1
            }
        }
        if trimsBlanks { text.unicodeScalars.removeLast(blanks) }
        if !text.isEmpty { parts.append(.text(text)) }
        return HurlTemplate(parts: parts, place: place)
    }

    /// The value of a line `name: value`: up to the end of the line or a comment, without trailing blanks.
    mutating func lineValue() throws(HurlProblem) -> HurlTemplate {
        let value = try template(escapes: "#\"\\/bfnrt", trimsBlanks: true) {
            $0 == "#" || $0 == "\n" || $0 == "\r" || $0 == "\t"
        }
        let end = position
        skipBlanks()
        guard [nil, "#", "\n", "\r"].contains(peek) else {
            throw problem("found a tab inside a value; it is written \\t there", at: end)
        }
        return value
    }

    mutating func quoted() throws(HurlProblem) -> HurlTemplate {
        let start = position
        guard take("\"") else { throw unexpected("expected a string in quotes") }
        let text = try template(escapes: "#\"\\/bfnrt") { $0 == "\"" || $0 == "\n" }
        guard take("\"") else { throw problem("the string that begins here has no end on its line", at: start) }
        return text
    }

    mutating func placeholder() throws(HurlProblem) -> HurlVariable {
        let place = place
        position += 2
        skipBlanks()
        let start = position
        let name = try variableName()
        guard !HurlVariable.functions.contains(name) else {
            throw problem("found the function \(name); expected the name of a variable between the braces", at: start)
        }
        skipBlanks()
        guard take("}}") else { throw unexpected("expected “}}” after the name of a variable") }
        return HurlVariable(name: name, place: place)
    }

    /// A letter, then letters, digits, `_` and `-`.
    mutating func variableName() throws(HurlProblem) -> String {
        let start = position
        let name = take(while: HurlVariable.isInName)
        guard let first = name.unicodeScalars.first, first.properties.isAlphabetic else {
            throw unexpected("expected the name of a variable: a letter, then letters, digits, “_” and “-”", at: start)
        }
        return name
    }

    /// A regular expression between slashes, where braces are literal, or in quotes.
    mutating func pattern() throws(HurlProblem) -> HurlTemplate {
        try expectBlank(before: "a regular expression")
        let start = position
        guard take("/") else {
            guard peek == "\"" else { throw unexpected("expected a regular expression, such as /[0-9]+/") }
            return try quoted()
        }
        var pattern = ""
        while let scalar = peek, scalar != "/", scalar != "\n" {
            if begins(with: "\\/") {
                position += 1
            } else if scalar == "\\" {
                pattern.unicodeScalars.append(scalar)
                position += 1
            }
            guard let next = peek, next != "\n" else { break }
            pattern.unicodeScalars.append(next)
            position += 1
        }
        guard take("/") else { throw problem("the pattern that begins here has no end on its line", at: start) }
        guard (try? Regex(pattern)) != nil else {
            throw problem("found /\(pattern)/, which is not a supported regular expression", at: start)
        }
        return HurlTemplate(parts: [.text(pattern)], place: place(of: start))
    }

    private mutating func escape(among escapes: String) throws(HurlProblem) -> Unicode.Scalar {
        let start = position
        position += 1
        guard let scalar = peek, scalar == "u" || escapes.unicodeScalars.contains(scalar) else {
            throw problem(
                "found a backslash before no sign that is escaped here; expected one of \(escapes) or u{HEX}", at: start
            )
        }
        position += 1
        switch scalar {
        case "b": return "\u{8}"
        case "f": return "\u{c}"
        case "n": return "\n"
        case "r": return "\r"
        case "t": return "\t"
        case "u": return try codePoint(from: start)
        default: return scalar
        }
    }

    private mutating func codePoint(from start: Int) throws(HurlProblem) -> Unicode.Scalar {
        if take("{") {
            let digits = take(while: { $0.properties.isASCIIHexDigit })
            if let value = UInt32(digits, radix: 16), let scalar = Unicode.Scalar(value), take("}") { return scalar }
        }
        throw problem("found a \\u that names no character; expected a form such as \\u{e9}", at: start)
    }

    /// `base64,…;` or `hex,…;`, if one follows.
    mutating func bytes() throws(HurlProblem) -> [UInt8]? {
        let start = position
        let isBase64 = take("base64,")
        guard isBase64 || take("hex,") else { return nil }
        let content = take(while: { $0 != ";" }).unicodeScalars
        guard take(";") else { throw problem("the bytes that begin here have no “;” at their end", at: start) }
        guard let bytes = isBase64 ? Self.base64(content) : Self.hexadecimal(content) else {
            throw problem("found bytes that are no \(isBase64 ? "base64" : "pairs of hexadecimal digits")", at: start)
        }
        return bytes
    }

    private static func base64(_ content: String.UnicodeScalarView) -> [UInt8]? {
        let text = String(content.filter { !$0.properties.isWhitespace })
        // Hurl accepts missing padding.
        let padding = String(repeating: "=", count: text.hasSuffix("=") ? 0 : (4 - text.utf8.count % 4) % 4)
        return Data(base64Encoded: text + padding).map { [UInt8]($0) }
    }

    /// Blanks are allowed around the digits, not between them.
    private static func hexadecimal(_ content: String.UnicodeScalarView) -> [UInt8]? {
        let isBlank = { (scalar: Unicode.Scalar) in scalar == " " || scalar == "\t" }
        let text = content.drop(while: isBlank).reversed().drop(while: isBlank).reversed()
        let digits: [Int] = text.compactMap { $0.isASCII ? Character($0).hexDigitValue : nil }
        guard digits.count == text.count, digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            bytes.append(UInt8(digits[index] << 4 | digits[index + 1]))
        }
        return bytes
    }
}
