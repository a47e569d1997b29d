internal import JSON

extension HurlReader {
    /// The next assert, if one follows.
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
            position = start
            throw unexpected(
                "expected a filter (count, first, last, nth, regex, replace, split, jsonpath, toInt, toFloat) or a "
                    + "predicate (==, !=, >, >=, <, <=, startsWith, endsWith, contains, includes, matches, exists, "
                    + "isEmpty, \(HurlPredicate.Kind.allCases.map(\.rawValue).joined(separator: ", ")))")
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
            position = start
            throw unexpected("expected a string in quotes, a number, true, false, null, {{name}}, hex,…; or base64,…;")
        }
        return .constant(constant)
    }
}
