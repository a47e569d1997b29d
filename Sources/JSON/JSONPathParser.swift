/// A recursive-descent parser of JSONPath queries; ``JSONPathParser/condition()`` parses filters.
struct JSONPathParser {
    /// The nesting limit for conditions, so that no text can exhaust the stack.
    static let maximumDepth = 32

    let path: String
    let scalars: [Unicode.Scalar]
    var position = 0
    var depth = 0

    init(_ path: String) {
        self.path = path
        scalars = Array(path.unicodeScalars)
    }

    /// Parses the whole text as one query from the root.
    mutating func document() throws(JSONPathError) -> JSONPathQuery {
        guard take("$") else { throw unexpected("a query begins with “$”") }
        let query = JSONPathQuery(start: .root, segments: try segments())
        guard position == scalars.count else {
            throw unexpected("a step is followed by “.name”, “[…]”, “..” or the end")
        }
        return query
    }

    /// Parses the segments that follow, without consuming trailing whitespace.
    mutating func segments() throws(JSONPathError) -> [JSONPathQuery.Segment] {
        var segments: [JSONPathQuery.Segment] = []
        while let segment = try segment() { segments.append(segment) }
        return segments
    }

    private mutating func segment() throws(JSONPathError) -> JSONPathQuery.Segment? {
        let start = position
        skipBlanks()
        if take("..") {
            let selectors = peek == "[" ? try bracketed() : [try shorthand()]
            return JSONPathQuery.Segment(reachesDescendants: true, selectors: selectors)
        }
        if take(".") { return JSONPathQuery.Segment(reachesDescendants: false, selectors: [try shorthand()]) }
        if peek == "[" { return JSONPathQuery.Segment(reachesDescendants: false, selectors: try bracketed()) }
        position = start
        return nil
    }

    /// `*` or an unquoted name.
    private mutating func shorthand() throws(JSONPathError) -> JSONPathSelector {
        if take("*") { return .all }
        let start = position
        while let scalar = peek, Self.isName(scalar, isFirst: position == start) { position += 1 }
        guard position > start else {
            throw unexpected("expected “*” or a name of letters, digits and “_”; write other names as ['name']")
        }
        return .name(text(from: start))
    }

    private static func isName(_ scalar: Unicode.Scalar, isFirst: Bool) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "_": true
        case "0"..."9": !isFirst
        default: scalar.value >= 0x80
        }
    }

    private mutating func bracketed() throws(JSONPathError) -> [JSONPathSelector] {
        position += 1
        var selectors: [JSONPathSelector] = []
        repeat {
            skipBlanks()
            selectors.append(try selector())
            skipBlanks()
        } while take(",")
        guard take("]") else { throw unexpected("a selector is followed by “,” or “]”") }
        return selectors
    }

    private mutating func selector() throws(JSONPathError) -> JSONPathSelector {
        switch peek {
        case "'", "\"": return .name(try string())
        case "*":
            position += 1
            return .all
        case "?":
            position += 1
            skipBlanks()
            return .filter(try condition())
        case let scalar? where Self.beginsIndex(scalar): return try indexOrSlice()
        default:
            throw unexpected(
                "brackets contain 'name', an index, a slice such as 1:3, “*” or a filter such as ?@.id=='x'")
        }
    }

    private static func beginsIndex(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "-", "0"..."9", ":": true
        default: false
        }
    }

    private mutating func indexOrSlice() throws(JSONPathError) -> JSONPathSelector {
        let first = try integer()
        skipBlanks()
        guard take(":") else {
            guard let first else { throw unexpected("an index is an integer") }
            return .index(first)
        }
        skipBlanks()
        let last = try integer()
        skipBlanks()
        guard take(":") else { return .slice(from: first, to: last, step: 1) }
        skipBlanks()
        return .slice(from: first, to: last, step: try integer() ?? 1)
    }

    /// An integer, or `nil` where none begins.
    private mutating func integer() throws(JSONPathError) -> Int? {
        let start = position
        _ = take("-")
        while let scalar = peek, "0"..."9" ~= scalar { position += 1 }
        guard position > start else { return nil }
        let digits = text(from: start)
        // The range of RFC 9535 section 2.1; sums below cannot overflow.
        let range = -9_007_199_254_740_991...9_007_199_254_740_991
        guard let value = Int(digits), range.contains(value), String(value) == digits else {
            position = start
            throw error("“\(digits)”", "an index is an integer without leading zeros within ±(2⁵³ − 1)")
        }
        return value
    }

    /// A string in single or double quotes, with JSON's escapes.
    mutating func string() throws(JSONPathError) -> String {
        let start = position
        let quote = scalars[position]
        position += 1
        var json = "\""
        while let scalar = peek, scalar != quote {
            position += 1
            guard scalar == "\\", let escaped = peek else {
                // The other quote needs no escape here, but does in JSON.
                json += scalar == "\"" ? "\\\"" : String(scalar)
                continue
            }
            position += 1
            let isOtherQuote = escaped != quote && (escaped == "'" || escaped == "\"")
            // JSON has no `\'`, and a quote that needs no escape must not have one.
            json += isOtherQuote ? "\\'" : escaped == "'" ? "'" : "\\" + String(escaped)
        }
        guard peek == quote else {
            throw unexpected("the string that begins at character \(start + 1) ends with \(quote)")
        }
        position += 1
        do { return try JSON.parse((json + "\"").utf8).string ?? "" } catch {
            position = start
            throw self.error("a string in which \(error.reason)", "strings are escaped as in JSON")
        }
    }
}

extension JSONPathParser {
    /// The next character, or `nil` at the end.
    var peek: Unicode.Scalar? { position < scalars.count ? scalars[position] : nil }

    /// Consumes a word if it comes next.
    mutating func take(_ word: String) -> Bool {
        guard scalars[position...].starts(with: word.unicodeScalars) else { return false }
        position += word.unicodeScalars.count
        return true
    }

    mutating func skipBlanks() {
        while let scalar = peek, scalar == " " || scalar == "\t" || scalar == "\n" || scalar == "\r" { position += 1 }
    }

    /// The text read since `start`.
    func text(from start: Int) -> String { String(String.UnicodeScalarView(scalars[start..<position])) }

    /// An error about the next character.
    func unexpected(_ expected: String) -> JSONPathError {
        error(peek.map { "“\(String($0))”" } ?? "the end", expected)
    }

    /// An error at the current position.
    func error(_ found: String, _ expected: String) -> JSONPathError {
        JSONPathError(path: path, position: position + 1, found: found, expected: expected)
    }
}

extension JSONPathParser {
    /// A filter's condition: comparisons and existence tests joined by `||` and by `&&`, which binds tighter.
    mutating func condition() throws(JSONPathError) -> JSONPathCondition {
        guard depth < Self.maximumDepth else { throw unexpected("conditions nest at most \(Self.maximumDepth) deep") }
        depth += 1
        var condition = try conjunction()
        while takeBehindBlanks("||") { condition = .or(condition, try conjunction()) }
        depth -= 1
        return condition
    }

    private mutating func conjunction() throws(JSONPathError) -> JSONPathCondition {
        var condition = try term()
        while takeBehindBlanks("&&") { condition = .and(condition, try term()) }
        return condition
    }

    private mutating func term() throws(JSONPathError) -> JSONPathCondition {
        skipBlanks()
        guard peek == "!" else { return peek == "(" ? try parenthesized() : try comparisonOrExistence() }
        position += 1
        skipBlanks()
        if peek == "(" { return .not(try parenthesized()) }
        guard peek == "@" || peek == "$" else { throw unexpected("“!” stands before “(”, “@” or “$”") }
        return .not(.exists(try query()))
    }

    private mutating func parenthesized() throws(JSONPathError) -> JSONPathCondition {
        position += 1
        let condition = try condition()
        skipBlanks()
        guard take(")") else { throw unexpected("a condition in parentheses ends with “)”") }
        return condition
    }

    private mutating func comparisonOrExistence() throws(JSONPathError) -> JSONPathCondition {
        let left = try operand()
        let end = position
        skipBlanks()
        guard let relation = JSONPathCondition.Relation.allCases.first(where: { take($0.rawValue) }) else {
            if case .query(let query) = left { return .exists(query) }
            throw unexpected("a literal is compared: ==, !=, <, <=, > or >=")
        }
        try checkSingular(left, endingAt: end)
        skipBlanks()
        let right = try operand()
        try checkSingular(right, endingAt: position)
        return .comparison(left, relation, right)
    }

    /// RFC 9535 section 2.3.5.1: only queries for at most one value can be compared.
    private func checkSingular(_ operand: JSONPathCondition.Operand, endingAt end: Int) throws(JSONPathError) {
        guard case .query(let query) = operand, !query.isSingular else { return }
        throw JSONPathError(
            path: path, position: end, found: "the end of a query for several values",
            expected: "only what names and indexes find can be compared")
    }

    private mutating func operand() throws(JSONPathError) -> JSONPathCondition.Operand {
        switch peek {
        case "@", "$": return .query(try query())
        case "'", "\"": return .literal(.string(try string()))
        default: return .literal(try literal())
        }
    }

    private mutating func query() throws(JSONPathError) -> JSONPathQuery {
        let start: JSONPathQuery.Start = peek == "$" ? .root : .current
        position += 1
        return JSONPathQuery(start: start, segments: try segments())
    }

    /// A number, `true`, `false` or `null`.
    private mutating func literal() throws(JSONPathError) -> JSON {
        let start = position
        while let scalar = peek, Self.isLiteral(scalar) { position += 1 }
        let word = text(from: start)
        do { return try JSON.parse(word.utf8) } catch {
            position = start
            throw self.error(
                word.isEmpty ? peek.map { "“\(String($0))”" } ?? "the end" : "“\(word)”",
                "expected “@”, “$”, a string, a number, true, false or null; functions are not supported")
        }
    }

    private static func isLiteral(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "+", "-", ".", "_": true
        default: false
        }
    }

    /// Skips whitespace and consumes the word; consumes neither if the word does not follow.
    private mutating func takeBehindBlanks(_ word: String) -> Bool {
        let start = position
        skipBlanks()
        if take(word) { return true }
        position = start
        return false
    }
}
