/// The condition of a JSONPath filter (RFC 9535 section 2.3.5).
indirect enum JSONPathCondition: Sendable, Hashable {
    /// The query finds something.
    case exists(JSONPathQuery)
    /// The relation holds between two values.
    case comparison(Operand, Relation, Operand)
    case not(JSONPathCondition)
    case and(JSONPathCondition, JSONPathCondition)
    case or(JSONPathCondition, JSONPathCondition)

    enum Operand: Sendable, Hashable {
        case literal(JSON)
        case query(JSONPathQuery)

        fileprivate func value(current: JSON, root: JSON, _ budget: inout WorkBudget) -> JSON? {
            switch self {
            case .literal(let value): value
            case .query(let query): query.values(from: current, root: root, &budget).first
            }
        }
    }

    enum Relation: String, Sendable, Hashable, CaseIterable {
        // Longer operators first: tried in order, `<=` must match before `<`.
        case equal = "=="
        case unequal = "!="
        case atMost = "<="
        case atLeast = ">="
        case less = "<"
        case greater = ">"
    }

    func holds(for current: JSON, root: JSON, _ budget: inout WorkBudget) -> Bool {
        switch self {
        case .exists(let query): return !query.values(from: current, root: root, &budget).isEmpty
        case .comparison(let left, let relation, let right):
            let (own, other) = (
                left.value(current: current, root: root, &budget), right.value(current: current, root: root, &budget)
            )
            budget.spend(onComparing: own, with: other)
            return !budget.isSpent && relation.holds(own, other)
        case .not(let condition): return !condition.holds(for: current, root: root, &budget)
        case .and(let first, let second):
            return first.holds(for: current, root: root, &budget) && second.holds(for: current, root: root, &budget)
        case .or(let first, let second):
            return first.holds(for: current, root: root, &budget) || second.holds(for: current, root: root, &budget)
        }
    }
}

extension JSONPathCondition.Relation {
    /// Compares two values, either of which may be absent (RFC 9535 section 2.3.5.2.2).
    fileprivate func holds(_ left: JSON?, _ right: JSON?) -> Bool {
        switch self {
        case .equal: Self.areEqual(left, right)
        case .unequal: !Self.areEqual(left, right)
        case .less: Self.isLess(left, right)
        case .greater: Self.isLess(right, left)
        case .atMost: Self.isLess(left, right) || Self.areEqual(left, right)
        case .atLeast: Self.isLess(right, left) || Self.areEqual(left, right)
        }
    }

    private static func areEqual(_ left: JSON?, _ right: JSON?) -> Bool {
        guard let left, let right else { return left == nil && right == nil }
        return left.isEquivalent(to: right)
    }

    /// Numbers by value, strings by code points; other types are unordered.
    private static func isLess(_ left: JSON?, _ right: JSON?) -> Bool {
        switch (left, right) {
        case (.number(let left)?, .number(let right)?): left.isLess(than: right)
        case (.string(let left)?, .string(let right)?): left.utf8.lexicographicallyPrecedes(right.utf8)
        default: false
        }
    }
}
