/// How many values an evaluation may still look at.
///
/// ours: a query such as `$..*..*..*` looks at every value once for each chain of its ancestors, and a filter may do so for
/// every value again; whoever can name a query could keep a thread for ever.
struct JSONPathBudget {
    /// As many values as a megabyte of JSON can hold.
    private var left = 500_000

    /// Whether there is nothing left.
    var isSpent: Bool { left <= 0 }

    /// Looks at that many values.
    ///
    /// - Returns: whether they were still allowed.
    mutating func spend(_ count: Int = 1) -> Bool {
        left -= count
        return !isSpent
    }

    /// Looks at a value and all below it.
    mutating func spend(onAllOf value: JSON) {
        guard spend() else { return }
        switch value {
        case .array(let elements):
            for element in elements where !isSpent { spend(onAllOf: element) }
        case .object(let object):
            for member in object where !isSpent { spend(onAllOf: member.value) }
        case .null, .bool, .number, .string: return
        }
    }
}
