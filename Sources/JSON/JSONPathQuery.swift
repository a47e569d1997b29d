/// A JSONPath query: its segments, starting at the root or, in a filter, at the current value.
struct JSONPathQuery: Sendable, Hashable {
    /// What to select from each value that the preceding segments found.
    struct Segment: Sendable, Hashable {
        /// Whether the selectors also apply to all descendants (`..`).
        var reachesDescendants: Bool
        var selectors: [JSONPathSelector]
    }

    enum Start: Sendable, Hashable {
        /// `$`: the whole value.
        case root
        /// `@`: the element or member under test.
        case current
    }

    var start: Start
    var segments: [Segment] = []

    var isSingular: Bool {
        segments.allSatisfy { segment in
            !segment.reachesDescendants && segment.selectors.count == 1 && segment.selectors.allSatisfy(\.isSingular)
        }
    }

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
    /// Appends what the segment selects: from the value first, then from its descendants, parents before children.
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
