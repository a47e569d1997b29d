import JSON

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

    /// A regular expression between slashes or in quotes.
    mutating func pattern() throws(HurlProblem) -> HurlPattern {
        let start = position
        guard take("/") else {
            guard peek == "\"" else { throw unexpected("expected a regular expression, such as /[0-9]+/") }
            return .text(try quoted())
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
        return .literal(pattern)
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

    mutating func query() throws(HurlProblem) -> HurlQuery {
        let place = place
        let subject = try subject()
        var filters: [HurlFilter] = []
        while let filter = try filter() { filters.append(filter) }
        return HurlQuery(place: place, subject: subject, filters: filters)
    }

    private mutating func subject() throws(HurlProblem) -> HurlQuery.Subject {
        let start = position
        switch word() {
        case "status": return .status
        case "body": return .body
        case "bytes": return .bytes
        case "header": return .header(try argument())
        case "variable": return .variable(try argument())
        case "jsonpath": return .jsonPath(try path())
        case "regex":
            try expectBlank(before: "a regular expression")
            return .regex(try pattern())
        default:
            throw unexpected("expected status, header, body, bytes, jsonpath, regex or variable", at: start)
        }
    }

    private mutating func filter() throws(HurlProblem) -> HurlFilter? {
        let start = position
        skipBlanks()
        guard position > start else { return nil }
        switch word() {
        case "count": return .count
        case "first": return .first
        case "last": return .last
        case "toInt": return .toInt
        case "toFloat": return .toFloat
        case "nth": return .nth(try index())
        case "split": return .split(try argument())
        case "jsonpath": return .jsonPath(try path())
        case "regex":
            try expectBlank(before: "a regular expression")
            return .regex(try pattern())
        case "replace": return .replace(try argument(), by: try argument())
        default:
            position = start
            return nil
        }
    }

    private mutating func index() throws(HurlProblem) -> Int {
        try expectBlank(before: "an index from 0")
        let start = position
        guard let index = Int(take(while: { "0"..."9" ~= $0 })) else {
            throw unexpected("expected an index from 0", at: start)
        }
        return index
    }

    private mutating func argument() throws(HurlProblem) -> HurlTemplate {
        try expectBlank(before: "a string in quotes")
        return try quoted()
    }

    /// A JSONPath, which is checked at once if it has no variables.
    private mutating func path() throws(HurlProblem) -> HurlTemplate {
        try expectBlank(before: "a JSONPath in quotes")
        let start = position
        let path = try quoted()
        guard case .text(let text)? = path.parts.first, path.parts.count == 1 else { return path }
        do {
            _ = try JSONPath(text)
        } catch {
            throw problem("\(error)", at: start)
        }
        return path
    }

    /// The letters and digits that come next.
    mutating func word() -> String {
        take(while: { scalar in
            switch scalar {
            case "a"..."z", "A"..."Z", "0"..."9": true
            default: false
            }
        })
    }
}
