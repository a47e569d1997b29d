/// The steps of a JSONPath query, from the root or, in a filter, from the value that is judged.
struct JSONPathQuery: Sendable, Hashable {
    /// One step: what is taken from each value that the steps before it found.
    struct Segment: Sendable, Hashable {
        /// Whether the selectors also apply to everything below the value (`..`).
        var reachesDescendants: Bool
        /// What is taken, one after the other.
        var selectors: [JSONPathSelector]
    }

    /// Where the steps begin.
    enum Start: Sendable, Hashable {
        /// `$`: the whole value.
        case root
        /// `@`: the element or member that a filter judges.
        case current
    }

    /// Where the steps begin.
    var start: Start
    /// The steps in order.
    var segments: [Segment] = []

    /// Whether it finds at most one value, whatever it is asked about.
    var isSingular: Bool {
        segments.allSatisfy { segment in
            !segment.reachesDescendants && segment.selectors.count == 1 && segment.selectors.allSatisfy(\.isSingular)
        }
    }

    /// The values found, in order.
    func values(from current: JSON, root: JSON, _ budget: inout WorkBudget) -> [JSON] {
        var values = [start == .root ? root : current]
        for segment in segments {
            var found: [JSON] = []
            for value in values where !budget.isSpent {
                segment.select(from: value, root: root, into: &found, &budget)
            }
            values = found
        }
        return values
    }
}

extension JSONPathQuery.Segment {
    /// Appends what the step finds in a value: the value itself first, then what lies below it, parents before children.
    fileprivate func select(
        from value: JSON, root: JSON, into found: inout [JSON], _ budget: inout WorkBudget
    ) {
        guard budget.spend() else { return }
        for selector in selectors { selector.select(from: value, root: root, into: &found, &budget) }
        guard reachesDescendants else { return }
        switch value {
        case .array(let elements):
            for element in elements { select(from: element, root: root, into: &found, &budget) }
        case .object(let object):
            for member in object { select(from: member.value, root: root, into: &found, &budget) }
        case .null, .bool, .number, .string: return
        }
    }
}
