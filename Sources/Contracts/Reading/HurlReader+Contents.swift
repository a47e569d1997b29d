import JSON

extension HurlReader {
    /// The body of a request or response, if one follows.
    mutating func body() throws(HurlProblem) -> HurlBody? {
        let start = position
        _ = skipLines()
        let place = place
        guard let content = try content() else {
            position = start
            return nil
        }
        try endLine()
        return HurlBody(place: place, content: content)
    }

    private mutating func content() throws(HurlProblem) -> HurlBody.Content? {
        if begins(with: "```") { return try multiline() }
        if begins(with: "`") { return .text(try oneline(), language: nil) }
        if let bytes = try bytes() { return .bytes(bytes) }
        if begins(with: "file,") { throw unexpected("files as content are not supported; write the content here") }
        if begins(with: "<") { throw unexpected("put XML in a multiline string, between ```xml and ```") }
        guard beginsJSON else { return nil }
        return .json(try json())
    }

    /// Text between triple backquotes. The opening line may name a language and is not part of the text.
    private mutating func multiline() throws(HurlProblem) -> HurlBody.Content {
        let start = position
        position += 3
        let language = take(while: { $0.properties.isAlphabetic })
        skipBlanks()
        guard take("\n") || take("\r\n") else {
            // The one-line form: everything is text.
            position = start + 3
            return .text(try text(untilBackquotesFrom: start, isStop: { $0 == "\n" }), language: nil)
        }
        guard ["", "json", "xml"].contains(language) else {
            throw unexpected("expected json, xml or nothing after the backquotes", at: start + 3)
        }
        return .text(
            try text(untilBackquotesFrom: start, isStop: { _ in false }), language: language.isEmpty ? nil : language)
    }

    private mutating func text(
        untilBackquotesFrom start: Int, isStop: (Unicode.Scalar) -> Bool
    ) throws(HurlProblem) -> HurlTemplate {
        let place = place
        var parts: [HurlTemplate.Part] = []
        while peek != nil, !begins(with: "```") {
            // One or two backquotes are text, so it is read in pieces.
            let piece = try template(escapes: nil) { $0 == "`" || isStop($0) }
            parts += piece.parts
            if begins(with: "```") { break }
            guard take("`") else { break }
            parts.append(.text("`"))
        }
        guard take("```") else { throw problem("the text that begins here has no ``` at its end", at: start) }
        return HurlTemplate(parts: parts, place: place)
    }

    /// Text between single backquotes, on one line.
    private mutating func oneline() throws(HurlProblem) -> HurlTemplate {
        let start = position
        position += 1
        let text = try template(escapes: "`#\\/bfnrt") { $0 == "`" || $0 == "\n" }
        guard take("`") else { throw problem("the text that begins here has no ` at its end", at: start) }
        return text
    }

    var beginsJSON: Bool {
        guard let next = peek else { return false }
        switch next {
        case "{", "[", "\"", "-", "0"..."9": return true
        default: return ["true", "false", "null"].contains { begins(with: $0) && ends(behind: $0) }
        }
    }

    private func ends(behind word: String) -> Bool {
        let end = position + word.unicodeScalars.count
        return end == scalars.count || !scalars[end].properties.isAlphabetic
    }

    /// A JSON value as written, with its variables.
    mutating func json() throws(HurlProblem) -> [HurlBody.JSONPart] {
        var draft = JSONDraft()
        var depth = 0
        /// Where the string began of which this is a part.
        var string: Int?
        repeat {
            guard let scalar = peek, string == nil || scalar != "\n" else { break }
            if begins(with: "{{") {
                let variable = try placeholder()
                let part = string == nil ? HurlBody.JSONPart.value(variable) : .inString(variable)
                draft.add(part, standIn: string == nil ? "0" : "x", at: position)
                continue
            }
            switch (scalar, string) {
            case ("\"", nil): string = position
            case ("\"", _): string = nil
            case ("\\", _?):
                // What is escaped cannot end the string.
                draft.add(scalar, at: position)
                position += 1
            case ("{", nil), ("[", nil): depth += 1
            case ("}", nil), ("]", nil): depth -= 1
            default: break
            }
            guard let next = peek else { break }
            draft.add(next, at: position)
            position += 1
        } while depth > 0 || string != nil || continuesWord(draft)
        if let string { throw problem("the string that begins here has no end on its line", at: string) }
        try check(draft)
        return draft.finished
    }

    /// Whether a top-level number, `true`, `false` or `null` continues.
    private func continuesWord(_ draft: JSONDraft) -> Bool {
        guard let next = peek, draft.isWord else { return false }
        switch next {
        case "0"..."9", "a"..."z", "E", "+", "-", ".": return true
        default: return false
        }
    }

    /// Checks that it is JSON once every variable has a value.
    private func check(_ draft: JSONDraft) throws(HurlProblem) {
        do {
            _ = try JSON.parse(draft.probe)
        } catch {
            let offset = min(error.offset, draft.origins.count - 1)
            throw problem("found JSON in which \(error.reason)", at: offset < 0 ? position : draft.origins[offset])
        }
    }
}

/// JSON while it is read: its parts, and a probe with a stand-in for each variable to validate it.
private struct JSONDraft {
    private var parts: [HurlBody.JSONPart] = []
    private var text = ""
    private(set) var probe: [UInt8] = []
    /// For each byte of the probe, its position in the file.
    private(set) var origins: [Int] = []

    /// Whether the text so far is neither a string, an array nor an object.
    var isWord: Bool {
        guard let first = probe.first else { return false }
        return first != UInt8(ascii: "\"") && first != UInt8(ascii: "{") && first != UInt8(ascii: "[")
    }

    var finished: [HurlBody.JSONPart] { text.isEmpty ? parts : parts + [.text(text)] }

    mutating func add(_ scalar: Unicode.Scalar, at position: Int) {
        text.unicodeScalars.append(scalar)
        append(String(scalar), position)
    }

    mutating func add(_ variable: HurlBody.JSONPart, standIn: String, at position: Int) {
        if !text.isEmpty { parts.append(.text(text)) }
        parts.append(variable)
        text = ""
        append(standIn, position)
    }

    private mutating func append(_ piece: String, _ position: Int) {
        probe += piece.utf8
        origins += repeatElement(position, count: piece.utf8.count)
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
        case "matches": return .matches(try pattern())
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
        case "regex": return .regex(try pattern())
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
        case "regex": return .regex(try pattern())
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
