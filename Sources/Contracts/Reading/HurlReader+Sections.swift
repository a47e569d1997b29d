import JSON

extension HurlReader {
    /// A section's name and the position of its bracket.
    typealias Section = (name: String, position: Int)

    /// Consumes the line `[Name]`, if it follows.
    ///
    /// A JSON array starts with the same bracket, but a single bare word in brackets is not JSON.
    ///
    /// - Parameter seen: the names so far, none of which may occur again.
    mutating func sectionName(of message: String, _ seen: inout Set<String>) throws(HurlProblem) -> Section? {
        let start = position
        _ = skipLines()
        let bracket = position
        if take("[") {
            let name = take(while: { $0.properties.isAlphabetic })
            if !name.isEmpty, !["true", "false", "null"].contains(name), take("]") {
                try endLine()
                guard seen.insert(name).inserted else {
                    throw problem("a second [\(name)]; a section may occur once in a \(message)", at: bracket)
                }
                return (name, bracket)
            }
        }
        position = start
        return nil
    }

    mutating func readRequestSection(_ section: Section, into request: inout HurlRequest) throws(HurlProblem) {
        switch section.name {
        case "Query", "QueryStringParams": request.query = try pairs()
        case "Form", "FormParams": request.form = try pairs()
        case "Cookies": request.cookies = try pairs()
        case "BasicAuth":
            let credentials = try pairs()
            guard credentials.count == 1 else {
                throw problem(
                    "found \(credentials.count) lines in [BasicAuth]; expected one, user: password",
                    at: section.position)
            }
            request.credentials = credentials[0]
        case "Options": request.options = try options()
        default:
            throw problem(
                "found [\(section.name)]; a request may have [Query], [Form], [Cookies], [BasicAuth] and [Options]",
                at: section.position)
        }
    }

    mutating func readResponseSection(_ section: Section, into response: inout HurlResponse) throws(HurlProblem) {
        switch section.name {
        case "Captures":
            while let name = try key() {
                response.captures.append(HurlCapture(name: name, query: try query()))
                try endLine()
            }
        case "Asserts":
            while let assert = try assert() { response.asserts.append(assert) }
        default:
            throw problem("found [\(section.name)]; a response may have [Captures] and [Asserts]", at: section.position)
        }
    }

    /// The lines `name: value` that follow.
    mutating func pairs() throws(HurlProblem) -> [HurlPair] {
        var pairs: [HurlPair] = []
        while let name = try key() {
            pairs.append(HurlPair(name: name, value: try lineValue()))
            try endLine()
        }
        return pairs
    }

    /// Consumes the name of a line `name: value`, the colon and the blanks after it; nothing if no such line follows.
    mutating func key() throws(HurlProblem) -> HurlTemplate? {
        let start = position
        _ = skipLines()
        guard peek != "[", peek != nil else {
            position = start
            return nil
        }
        let name = try template(escapes: "#:\\/bfnrt", isStop: { !Self.isKey($0) })
        skipBlanks()
        guard !name.isEmpty, take(":") else {
            position = start
            return nil
        }
        skipBlanks()
        return name
    }

    private static func isKey(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isAlphabetic || scalar.properties.numericType != nil
            || "_-.[]@$".unicodeScalars.contains(scalar)
    }

    private mutating func options() throws(HurlProblem) -> [HurlOption] {
        var options: [HurlOption] = []
        while true {
            let start = position
            guard let name = try key() else { return options }
            switch name.source {
            case "variable": options.append(try variableOption())
            case "skip": options.append(.skip(try boolean()))
            default:
                position = start
                _ = skipLines()
                throw unexpected("expected a supported option, “variable” or “skip”")
            }
            try endLine()
        }
    }

    private mutating func variableOption() throws(HurlProblem) -> HurlOption {
        let place = place
        let name = try variableName()
        skipBlanks()
        guard take("=") else { throw unexpected("expected “=”, as in variable: name=value") }
        skipBlanks()
        return .variable(name: name, value: try optionValue(), place)
    }

    private mutating func optionValue() throws(HurlProblem) -> HurlOptionValue {
        if peek == "\"" { return .text(try quoted()) }
        let start = position
        let value = try template(escapes: "#:\\/bfnrt", isStop: { !Self.isKey($0) })
        guard !value.isEmpty else { throw unexpected("expected a value; put a text with other characters in quotes") }
        guard case .text(let text)? = value.parts.first else { return .text(value) }
        if value.parts.count == 1, let constant = HurlConstant.of(text) { return .constant(constant) }
        guard !HurlConstant.begins(text) else {
            throw unexpected("put a text that begins with a number, true, false or null in quotes", at: start)
        }
        return .text(value)
    }

    private mutating func boolean() throws(HurlProblem) -> Bool {
        if take("true") { return true }
        if take("false") { return false }
        throw unexpected("expected true or false")
    }
}

/// Bare words that are constants: `null`, booleans and numbers.
enum HurlConstant {
    /// The value of a word; `nil` for text.
    static func of(_ word: String) -> JSON? {
        // For all practical words, JSON's constants are Hurl's.
        guard let value = try? JSON.parse(word.utf8) else { return nil }
        switch value {
        case .null, .bool, .number: return value
        case .string, .array, .object: return nil
        }
    }

    /// Whether Hurl would read the start of a text as a constant and reject the rest.
    static func begins(_ text: String) -> Bool {
        let digits = text.utf8.first == UInt8(ascii: "-") ? text.utf8.dropFirst() : text.utf8[...]
        return digits.first.map { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 } == true
            || ["true", "false", "null"].contains { text.utf8.starts(with: $0.utf8) }
    }
}

extension HurlReader {
    mutating func assert() throws(HurlProblem) -> HurlAssert? {
        let start = position
        _ = skipLines()
        guard let first = peek, "a"..."z" ~= first, !beginsBody else {
            position = start
            return nil
        }
        let beginning = position
        let query = try query()
        try expectBlank(before: "a predicate, such as == 1")
        let predicate = try predicate()
        let source = text(from: beginning)
        try endLine()
        return HurlAssert(query: query, predicate: predicate, source: source)
    }

    /// Whether the lowercase letter that comes next starts a body and not an assert.
    private var beginsBody: Bool {
        begins(with: "base64,") || begins(with: "hex,") || begins(with: "file,") || beginsJSON
    }

    private mutating func predicate() throws(HurlProblem) -> HurlPredicate {
        let start = position
        var isNegated = false
        if word() == "not" {
            try expectBlank(before: "a predicate")
            isNegated = true
        } else {
            position = start
        }
        return HurlPredicate(isNegated: isNegated, function: try function())
    }

    private mutating func function() throws(HurlProblem) -> HurlPredicate.Function {
        if take("==") { return .equal(try literal()) }
        if take("!=") { return .unequal(try literal()) }
        for relation in [HurlPredicate.Relation.atLeast, .greater, .atMost, .less] where take(relation.rawValue) {
            return .compared(relation, try literal())
        }
        let start = position
        let word = word()
        if let position = HurlPredicate.Position(rawValue: word) { return .holds(position, try literal()) }
        if let kind = HurlPredicate.Kind(rawValue: word) { return .isKind(kind) }
        switch word {
        case "exists": return .exists
        case "isEmpty": return .isEmpty
        case "includes": return .includes(try literal())
        case "matches":
            try expectBlank(before: "a regular expression")
            return .matches(try pattern())
        default:
            throw unexpected(
                "expected a filter (count, first, last, nth, regex, replace, split, jsonpath, toInt, toFloat) or a "
                    + "predicate (==, !=, >, >=, <, <=, startsWith, endsWith, contains, includes, matches, exists, "
                    + "isEmpty, \(HurlPredicate.Kind.allCases.map(\.rawValue).joined(separator: ", ")))",
                at: start)
        }
    }

    private mutating func literal() throws(HurlProblem) -> HurlLiteral {
        skipBlanks()
        let start = position
        if peek == "\"" { return .text(try quoted()) }
        if begins(with: "{{") { return .variable(try placeholder()) }
        if let bytes = try bytes() { return .bytes(bytes) }
        let word = take(while: { $0.value > 0x20 && $0 != "#" })
        guard let constant = HurlConstant.of(word) else {
            throw unexpected(
                "expected a string in quotes, a number, true, false, null, {{name}}, hex,…; or base64,…;", at: start)
        }
        return .constant(constant)
    }
}
