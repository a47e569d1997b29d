extension JSONPathParser {
    /// A filter's condition: comparisons and existence tests joined by `||` and by `&&`, which binds tighter.
    mutating func condition() throws(JSONPathError) -> JSONPathCondition {
        guard depth < Self.maximumDepth else {
            throw unexpected("conditions nest at most \(Self.maximumDepth) deep")
        }
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
