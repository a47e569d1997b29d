import JSON

/// Compares an answer with what an entry expects.
struct ContractJudge {
    let answer: ContractAnswer
    var variables: ContractVariables

    /// What is wrong with the answer; captures go into ``variables``.
    ///
    /// With another status nothing else is checked or captured, since everything would differ.
    mutating func failures(_ response: HurlResponse) -> [ContractFailure] {
        if let failure = status(response) { return [failure] }
        var failures: [ContractFailure] = []
        func note(_ check: () throws(ContractFailure) -> Void) {
            do { try check() } catch { failures.append(error) }
        }
        for capture in response.captures { note { () throws(ContractFailure) in try self.capture(capture) } }
        for field in response.fields { note { () throws(ContractFailure) in try check(field) } }
        if let body = response.body { note { () throws(ContractFailure) in try check(body) } }
        for assert in response.asserts { note { () throws(ContractFailure) in try check(assert) } }
        return failures
    }

    /// Shows the content too, which usually explains the other status.
    private func status(_ response: HurlResponse) -> ContractFailure? {
        guard let expected = response.status, expected != answer.status else { return nil }
        var difference = ["-HTTP \(expected)", "+HTTP \(answer.status)"]
        if let body = response.body, let bytes = try? variables.bytes(body) {
            difference += BodyDifference(expected: bytes, found: answer.body).lines
        } else if !answer.body.isEmpty {
            difference += BodyDifference.shown(answer.body).map { "+" + $0 }
        }
        return ContractFailure(
            place: response.place, message: "status \(answer.status) instead of \(expected)", difference: difference)
    }

    private mutating func capture(_ capture: HurlCapture) throws(ContractFailure) {
        let name = try variables.text(capture.name)
        switch try value(of: capture.query) {
        case .json(let value)?: variables[name] = value
        case .bytes?:
            throw ContractFailure(place: capture.query.place, message: "bytes cannot become the variable \(name)")
        case nil:
            throw ContractFailure(
                place: capture.query.place, message: "nothing was found that could become the variable \(name)")
        }
    }

    private func check(_ field: HurlPair) throws(ContractFailure) {
        let name = try variables.text(field.name)
        let expected = try variables.text(field.value)
        let values = answer.values(of: name)
        guard !values.contains(where: { $0.hasSameBytes(as: expected) }) else { return }
        let found = values.isEmpty ? "none" : values.map { "“\($0)”" }.joined(separator: ", ")
        throw ContractFailure(place: field.name.place, message: "field \(name): expected “\(expected)”, found \(found)")
    }

    private func check(_ body: HurlBody) throws(ContractFailure) {
        let expected = try variables.bytes(body)
        guard expected != answer.body else { return }
        let difference = BodyDifference(expected: expected, found: answer.body)
        throw ContractFailure(place: body.place, message: difference.message, difference: difference.lines)
    }

    private func check(_ assert: HurlAssert) throws(ContractFailure) {
        let found = try value(of: assert.query)
        guard let complaint = try verdict(assert.predicate, found, at: assert.query.place) else { return }
        throw ContractFailure(place: assert.query.place, message: "\(assert.source): \(complaint)")
    }
}

extension ContractJudge {
    /// What is wrong with a value; `nil` if the predicate holds.
    func verdict(
        _ predicate: HurlPredicate, _ value: ContractValue?, at place: HurlPlace
    ) throws(ContractFailure) -> String? {
        guard let value else { return predicate.isNegated ? nil : "found nothing" }
        switch try judge(predicate.function, value, at: place) {
        case true?: return predicate.isNegated ? "found \(value.shown), for which it does hold" : nil
        case false?: return predicate.isNegated ? nil : "found \(value.shown)"
        // A predicate that does not apply to a value fails even when negated.
        case nil: return "found \(value.kind), \(value.shown), to which this predicate does not apply"
        }
    }

    /// Whether the predicate holds; `nil` when it does not apply to the value.
    private func judge(
        _ function: HurlPredicate.Function, _ value: ContractValue, at place: HurlPlace
    ) throws(ContractFailure) -> Bool? {
        switch function {
        case .exists: return true
        case .equal(let literal): return value.equals(try self.value(of: literal))
        case .unequal(let literal): return !value.equals(try self.value(of: literal))
        case .compared(let relation, let literal): return Self.compare(value, relation, try self.value(of: literal))
        case .holds(let position, let literal):
            return Self.look(for: try self.value(of: literal), at: position, in: value)
        case .includes(let literal):
            guard let elements = value.elements else { return nil }
            let wanted = try self.value(of: literal)
            return elements.contains { ContractValue.json($0).equals(wanted) }
        case .matches(let pattern):
            guard let text = value.string else { return nil }
            return text.firstMatch(of: try regex(pattern, at: place)) != nil
        case .isEmpty: return value.string?.isEmpty ?? value.count.map { $0 == 0 }
        case .isKind(let kind): return Self.isKind(kind, value)
        }
    }

    private func value(of literal: HurlLiteral) throws(ContractFailure) -> ContractValue {
        switch literal {
        case .constant(let value): .json(value)
        case .text(let template): .json(.string(try variables.text(template)))
        case .variable(let variable): .json(try variables.value(of: variable))
        case .bytes(let bytes): .bytes(bytes)
        }
    }

    private static func compare(
        _ value: ContractValue, _ relation: HurlPredicate.Relation, _ other: ContractValue
    ) -> Bool? {
        let (isLess, isGreater): (Bool, Bool)
        switch (value, other) {
        case (.json(.number(let own)), .json(.number(let other))):
            (isLess, isGreater) = (own.isLess(than: other), other.isLess(than: own))
        case (.json(.string(let own)), .json(.string(let other))):
            isLess = own.utf8.lexicographicallyPrecedes(other.utf8)
            isGreater = other.utf8.lexicographicallyPrecedes(own.utf8)
        default: return nil
        }
        return switch relation {
        case .less: isLess
        case .greater: isGreater
        case .atMost: !isGreater
        case .atLeast: !isLess
        }
    }

    private static func look(
        for wanted: ContractValue, at position: HurlPredicate.Position, in value: ContractValue
    ) -> Bool? {
        let (whole, piece): ([UInt8], [UInt8])
        switch (value, wanted) {
        case (.json(.string(let text)), .json(.string(let wanted))):
            (whole, piece) = (Array(text.utf8), Array(wanted.utf8))
        case (.bytes(let bytes), .bytes(let wanted)): (whole, piece) = (bytes, wanted)
        default: return nil
        }
        return switch position {
        case .start: whole.starts(with: piece)
        case .end: whole.suffix(piece.count).elementsEqual(piece)
        case .anywhere: piece.isEmpty || whole.contains(piece)
        }
    }

    private static func isKind(_ kind: HurlPredicate.Kind, _ value: ContractValue) -> Bool {
        guard case .json(let value) = value else { return kind == .collection }
        return switch kind {
        case .integer: value.number?.isInteger == true
        case .float: value.number?.isInteger == false
        case .number: value.number != nil
        case .boolean: value.bool != nil
        case .string: value.string != nil
        case .collection: value.array != nil || value.object != nil
        }
    }
}

extension ContractJudge {
    func value(of query: HurlQuery) throws(ContractFailure) -> ContractValue? {
        var value = try value(of: query.subject, at: query.place)
        for filter in query.filters {
            guard let input = value else {
                throw ContractFailure(
                    place: query.place, message: "nothing was found for the filter \(filter.word) to work on")
            }
            value = try apply(filter, to: input, at: query.place)
        }
        return value
    }

    private func value(of subject: HurlQuery.Subject, at place: HurlPlace) throws(ContractFailure) -> ContractValue? {
        switch subject {
        case .status: return .json(JSON(answer.status))
        case .body: return .json(.string(answer.text))
        case .bytes: return .bytes(answer.body)
        case .header(let name):
            let values = answer.values(of: try variables.text(name)).map(JSON.string)
            return values.count > 1 ? .json(.array(values)) : values.first.map(ContractValue.json)
        case .variable(let name): return variables[try variables.text(name)].map(ContractValue.json)
        case .regex(let pattern): return try group(of: pattern, in: answer.text, at: place)
        case .jsonPath(let path): return try find(path, in: answer.body, at: place)
        }
    }

    /// The value for a singular path, otherwise the list of all values found.
    private func find(
        _ path: HurlTemplate, in content: [UInt8], at place: HurlPlace
    ) throws(ContractFailure) -> ContractValue? {
        let query: JSONPath
        let value: JSON
        let text = try variables.text(path)
        do { query = try JSONPath(text) } catch {
            throw ContractFailure(place: path.place, message: "\(error)")
        }
        do { value = try JSON.parse(content) } catch {
            throw ContractFailure(place: place, message: "the content is not JSON: \(error)")
        }
        let values = query.values(in: value)
        return query.isSingular ? values.first.map(ContractValue.json) : .json(.array(values))
    }

    private func apply(
        _ filter: HurlFilter, to value: ContractValue, at place: HurlPlace
    ) throws(ContractFailure) -> ContractValue? {
        func taken<Part>(_ part: Part?) throws(ContractFailure) -> Part {
            if let part { return part }
            throw ContractFailure(
                place: place, message: "the filter \(filter.word) cannot work on \(value.kind), \(value.shown)")
        }
        switch filter {
        case .count: return .json(JSON(try taken(value.count)))
        case .first: return try taken(value.elements).first.map(ContractValue.json)
        case .last: return try taken(value.elements).last.map(ContractValue.json)
        case .nth(let index):
            let elements = try taken(value.elements)
            return elements.indices.contains(index) ? .json(elements[index]) : nil
        case .regex(let pattern): return try group(of: pattern, in: try taken(value.string), at: place)
        case .replace(let old, let new):
            let (old, new) = (try variables.text(old), try variables.text(new))
            // By scalars here and below: “\r\n” is one `Character`, so “\n” would not be found in it.
            let text = try taken(value.string).unicodeScalars.replacing(old.unicodeScalars, with: new.unicodeScalars)
            return .json(.string(String(text)))
        case .split(let separator):
            let pieces = try taken(value.string).unicodeScalars.split(
                separator: try variables.text(separator).unicodeScalars, omittingEmptySubsequences: false)
            return .json(.array(pieces.map { .string(String($0)) }))
        case .jsonPath(let path): return try find(path, in: Array(try taken(value.string).utf8), at: place)
        case .toInt: return .json(JSON(try taken(value.numeral.flatMap { Int($0) })))
        case .toFloat: return .json(.number(JSONNumber(try taken(value.numeral.flatMap { Double($0) }))))
        }
    }

    /// The first group of the pattern's first match.
    private func group(
        of pattern: HurlTemplate, in text: String, at place: HurlPlace
    ) throws(ContractFailure) -> ContractValue? {
        guard let match = text.firstMatch(of: try regex(pattern, at: place)) else { return nil }
        guard match.output.count > 1 else {
            throw ContractFailure(
                place: place, message: "the regular expression has no group whose text could be taken")
        }
        return match.output[1].substring.map { .json(.string(String($0))) }
    }

    func regex(_ pattern: HurlTemplate, at place: HurlPlace) throws(ContractFailure) -> Regex<AnyRegexOutput> {
        let text = try variables.text(pattern)
        do { return try Regex(text).matchingSemantics(.unicodeScalar) } catch {
            throw ContractFailure(place: place, message: "“\(text)” is not a supported regular expression")
        }
    }
}

enum ContractValue: Sendable, Hashable {
    case json(JSON)
    case bytes([UInt8])

    var shown: String {
        switch self {
        case .json(.null): "null"
        case .json(.string(let text)): "“\(text)”"
        case .json(let value): value.text
        case .bytes(let bytes): "\(bytes.count) bytes"
        }
    }

    var kind: String {
        switch self {
        case .json(let value): value.isNull ? "null" : "a JSON \(value.typeName)"
        case .bytes: "bytes"
        }
    }

    var string: String? {
        if case .json(.string(let text)) = self { text } else { nil }
    }

    var elements: [JSON]? {
        if case .json(.array(let elements)) = self { elements } else { nil }
    }

    /// The number of bytes, elements or members.
    var count: Int? {
        switch self {
        case .bytes(let bytes): bytes.count
        case .json(let value): value.array?.count ?? value.object?.count
        }
    }

    /// A number as written, or a text that may be one.
    var numeral: String? {
        if case .json(.number(let number)) = self { number.literal } else { string }
    }

    /// Whether both are equal: numbers by value, everything else as written.
    func equals(_ other: ContractValue) -> Bool {
        switch (self, other) {
        case (.json(let own), .json(let other)): own.isEquivalent(to: other)
        case (.bytes(let own), .bytes(let other)): own == other
        case (.json, .bytes), (.bytes, .json): false
        }
    }
}
