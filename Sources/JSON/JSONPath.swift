/// A JSONPath query (RFC 9535).
///
/// Supported are the identifiers `$` and `@`, `.name`, `['name']`, `[0]`, `[-1]`, `[1:3]`, `[::2]`, `.*`, `[*]`, lists
/// such as `[0,'a']`, `..` before each of them, and filters: existence, comparison with `==`, `!=`, `<`, `<=`, `>`,
/// `>=`, `&&`, `||`, `!` and parentheses. Function extensions (section 2.4), such as `length(@.items)`, are rejected.
package struct JSONPath: Sendable, Hashable {
    /// The query as written.
    package let text: String

    private let query: JSONPathQuery

    /// The maximum length in characters (ours): a longer query could join more conditions than the stack can hold.
    static let maximumLength = 1000

    /// Parses a query.
    ///
    /// - Throws: where the text violates the grammar, and how.
    package init(_ text: String) throws(JSONPathError) {
        guard text.unicodeScalars.count <= Self.maximumLength else {
            throw JSONPathError(
                path: String(text.unicodeScalars.prefix(40)) + "…", position: Self.maximumLength + 1,
                found: "another character", expected: "a query has at most \(Self.maximumLength)")
        }
        var parser = JSONPathParser(text)
        query = try parser.document()
        self.text = text
    }

    /// A query for one member of the outermost object; the name may contain any characters.
    package init(member name: String) {
        query = JSONPathQuery(
            start: .root, segments: [JSONPathQuery.Segment(reachesDescendants: false, selectors: [.name(name)])])
        text = name
    }

    /// Whether the query can find at most one value (RFC 9535 section 2.3.5.1): it consists of names and indexes only.
    package var isSingular: Bool { query.isSingular }

    /// The values found, in the order of RFC 9535.
    ///
    /// Of members with the same name the first counts, as everywhere in this module. A query that would visit more than
    /// half a million values finds none (ours).
    package func values(in value: JSON) -> [JSON] {
        var budget = WorkBudget()
        return values(in: value, within: &budget)
    }

    /// The values found within a budget; none when it runs out, which ``WorkBudget/isSpent`` then shows.
    package func values(in value: JSON, within budget: inout WorkBudget) -> [JSON] {
        let values = query.values(from: value, root: value, &budget)
        return budget.isSpent ? [] : values
    }
}

extension JSONPath: CustomStringConvertible {
    /// The query as written.
    package var description: String { text }
}

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
    fileprivate func select(from value: JSON, root: JSON, into found: inout [JSON], _ budget: inout WorkBudget) {
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

/// A JSONPath selector (RFC 9535 section 2.3).
enum JSONPathSelector: Sendable, Hashable {
    case name(String)
    /// The element at that index; negative indexes count from the end.
    case index(Int)
    case all
    case slice(from: Int?, to: Int?, step: Int)
    case filter(JSONPathCondition)

    var isSingular: Bool {
        switch self {
        case .name, .index: true
        case .all, .slice, .filter: false
        }
    }

    func select(from value: JSON, root: JSON, into found: inout [JSON], _ budget: inout WorkBudget) {
        switch self {
        case .name(let name):
            if budget.spend(onMemberOf: value), let member = value[name] { found.append(member) }
        case .index(let index):
            guard let elements = value.array else { return }
            let position = index < 0 ? elements.count + index : index
            if elements.indices.contains(position) { found.append(elements[position]) }
        case .all:
            let children = value.children
            if budget.spend(children.count) { found.append(contentsOf: children) }
        case .slice(let start, let end, let step):
            guard let elements = value.array else { return }
            if budget.spend(elements.count) {
                found.append(contentsOf: Self.slice(elements, from: start, to: end, step: step))
            }
        case .filter(let condition):
            for child in value.children where budget.spend() {
                if condition.holds(for: child, root: root, &budget) { found.append(child) }
            }
        }
    }

    /// The elements that RFC 9535 section 2.3.4.2 selects; none for a step of zero.
    private static func slice(_ elements: [JSON], from start: Int?, to end: Int?, step: Int) -> [JSON] {
        guard step != 0 else { return [] }
        let isForward = step > 0
        // Backward, the bounds are one lower: from the last element down to the one before the first.
        let bounds = isForward ? 0...elements.count : -1...(elements.count - 1)
        func bound(_ index: Int?, else other: Int) -> Int {
            guard let index else { return other }
            let position = index < 0 ? elements.count + index : index
            return min(max(position, bounds.lowerBound), bounds.upperBound)
        }
        let first = bound(start, else: isForward ? bounds.lowerBound : bounds.upperBound)
        let last = bound(end, else: isForward ? bounds.upperBound : bounds.lowerBound)
        return stride(from: first, to: last, by: step).map { elements[$0] }
    }
}

extension JSON {
    /// The elements of an array or the member values of an object; empty for other types.
    fileprivate var children: [JSON] {
        switch self {
        case .array(let elements): elements
        case .object(let object): object.map(\.value)
        case .null, .bool, .number, .string: []
        }
    }
}

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

/// Why a text is not a JSONPath query, and where.
package struct JSONPathError: Error, Sendable, Hashable {
    package let path: String
    /// The position of the error, in Unicode scalars from 1.
    package let position: Int
    package let found: String
    package let expected: String
}

extension JSONPathError: CustomStringConvertible {
    /// The text, the position, what was found and what was expected, in one line.
    package var description: String { "“\(path)”, character \(position): found \(found); \(expected)" }
}
