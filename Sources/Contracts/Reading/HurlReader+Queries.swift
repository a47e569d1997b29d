internal import JSON

extension HurlReader {
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
            position = start
            throw unexpected("expected status, header, body, bytes, jsonpath, regex or variable")
        }
    }

    /// The next filter, if one follows.
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
            position = start
            throw unexpected("expected an index from 0")
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
