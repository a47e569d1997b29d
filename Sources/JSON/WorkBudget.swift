/// How much work an evaluation may still do, in steps: a value that is looked at is one, and so are sixteen bytes of text.
///
/// ours: a query such as `$..*..*..*` looks at every value once for each chain of its ancestors, and a filter may do so for
/// every value again; whoever can name a query could keep a thread for ever. Time would be another bound on each machine.
public struct WorkBudget: Sendable {
    /// As many values as a megabyte of JSON can hold.
    public static let standardSteps = 500_000

    /// The steps that are left.
    public private(set) var left: Int

    /// A budget of so many steps.
    public init(steps: Int = standardSteps) { left = steps }

    /// Whether there is nothing left, and so what was found may not be all.
    public var isSpent: Bool { left <= 0 }

    /// Does so many steps.
    ///
    /// - Returns: whether they were still allowed.
    @discardableResult
    public mutating func spend(_ steps: Int = 1) -> Bool {
        // Nothing that is counted comes near the ends of the range; what is spent stays spent.
        left = max(left - steps, 0)
        return !isSpent
    }

    /// Looks at so many bytes of one text.
    @discardableResult
    public mutating func spend(onBytes count: Int) -> Bool { spend(1 + count / 16) }

    /// Looks for a member by its name.
    @discardableResult
    public mutating func spend(onMemberOf value: JSON) -> Bool {
        // By index and length, which is quicker than looking at values.
        if case .object(let object) = value { spend(1 + object.count / 16) } else { spend() }
    }

    /// Compares two values, of which each may be nothing: looks at all that lies below one of them where they may be equal.
    mutating func spend(onComparing value: JSON?, with other: JSON?) {
        switch (value, other) {
        case (.array(let own)?, .array(let others)?) where own.count == others.count: spend(onAllOf: .array(own))
        case (.object(let own)?, .object(let others)?) where own.count == others.count: spend(onAllOf: .object(own))
        case (.string(let own)?, .string(let others)?): spend(onBytes: min(own.utf8.count, others.utf8.count))
        case (.number(let own)?, .number(let others)?):
            spend(onBytes: min(own.literal.utf8.count, others.literal.utf8.count))
        default: spend()
        }
    }

    /// Looks at a value and all below it.
    public mutating func spend(onAllOf value: JSON) {
        switch value {
        case .array(let elements):
            guard spend() else { return }
            for element in elements where !isSpent { spend(onAllOf: element) }
        case .object(let object):
            guard spend() else { return }
            for member in object where !isSpent {
                spend(onBytes: member.name.utf8.count)
                spend(onAllOf: member.value)
            }
        case .string(let text): spend(onBytes: text.utf8.count)
        case .number(let number): spend(onBytes: number.literal.utf8.count)
        case .null, .bool: spend()
        }
    }
}
