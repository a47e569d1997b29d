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
