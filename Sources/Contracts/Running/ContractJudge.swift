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
        for capture in response.captures {
            note(&failures) { () throws(ContractFailure) in try self.capture(capture) }
        }
        for field in response.fields {
            note(&failures) { () throws(ContractFailure) in try check(field) }
        }
        if let body = response.body { note(&failures) { () throws(ContractFailure) in try check(body) } }
        for assert in response.asserts {
            note(&failures) { () throws(ContractFailure) in try check(assert) }
        }
        return failures
    }

    private func note(_ failures: inout [ContractFailure], _ check: () throws(ContractFailure) -> Void) {
        do {
            try check()
        } catch {
            failures.append(error)
        }
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
        case .holds: return predicate.isNegated ? "found \(value.shown), for which it does hold" : nil
        case .fails: return predicate.isNegated ? nil : "found \(value.shown)"
        // A predicate that does not apply to a value fails even when negated.
        case .makesNoSense: return "found \(value.kind), \(value.shown), to which this predicate does not apply"
        }
    }

    private enum Judgement {
        case holds
        case fails
        case makesNoSense

        init(_ holds: Bool?) { self = holds.map { $0 ? .holds : .fails } ?? .makesNoSense }
    }

    private func judge(
        _ function: HurlPredicate.Function, _ value: ContractValue, at place: HurlPlace
    ) throws(ContractFailure) -> Judgement {
        switch function {
        case .exists: return .holds
        case .equal(let literal): return Judgement(value.equals(try self.value(of: literal)))
        case .unequal(let literal): return Judgement(!value.equals(try self.value(of: literal)))
        case .compared(let relation, let literal):
            return Judgement(Self.compare(value, relation, try self.value(of: literal)))
        case .holds(let position, let literal):
            return Judgement(Self.look(for: try self.value(of: literal), at: position, in: value))
        case .includes(let literal):
            guard case .json(.array(let elements)) = value else { return .makesNoSense }
            let wanted = try self.value(of: literal)
            return Judgement(elements.contains { ContractValue.json($0).equals(wanted) })
        case .matches(let pattern):
            guard let text = value.string else { return .makesNoSense }
            return Judgement(text.firstMatch(of: try regex(pattern, at: place)) != nil)
        case .isEmpty: return Judgement(Self.isEmpty(value))
        case .isKind(let kind): return Judgement(Self.isKind(kind, value))
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

    private static func isEmpty(_ value: ContractValue) -> Bool? {
        switch value {
        case .bytes(let bytes): bytes.isEmpty
        case .json(.array(let elements)): elements.isEmpty
        case .json(.object(let object)): object.isEmpty
        case .json(.string(let text)): text.isEmpty
        case .json: nil
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
