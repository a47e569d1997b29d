internal import JSON

extension ContractJudge {
    /// What is wrong with a value; `nil` if the predicate holds.
    func verdict(
        _ predicate: HurlPredicate, _ value: ContractValue?, at place: HurlPlace
    ) throws(ContractFailure) -> String? {
        guard let value else {
            let holds = predicate.isNegated
            return holds ? nil : "found nothing"
        }
        switch try judge(predicate.function, value, at: place) {
        case .holds: return predicate.isNegated ? "found \(value.shown), for which it does hold" : nil
        case .fails: return predicate.isNegated ? nil : "found \(value.shown)"
        // A predicate that does not apply to a value fails even when negated.
        case .makesNoSense: return "found \(value.kind), \(value.shown), of which this cannot be asked"
        }
    }

    private enum Judgement {
        case holds
        case fails
        case makesNoSense

        init(_ holds: Bool?) {
            self = holds.map { $0 ? .holds : .fails } ?? .makesNoSense
        }
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
