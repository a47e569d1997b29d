/// The remaining work of an evaluation, in steps: visiting a value costs one, and so do sixteen bytes of text.
///
/// ours: a query such as `$..*..*..*` visits every value once per chain of ancestors, and a filter may repeat that for
/// every value, so anyone who can supply a query could block a thread forever. A time limit would differ between
/// machines.
public struct WorkBudget: Sendable {
    /// As many values as a megabyte of JSON can hold.
    public static let standardSteps = 500_000

    /// The remaining steps.
    package private(set) var left: Int

    public init(steps: Int = standardSteps) { left = steps }

    /// Whether nothing is left; the result may then be incomplete.
    package var isSpent: Bool { left <= 0 }

    /// Spends steps.
    ///
    /// - Returns: whether any are left.
    @discardableResult
    package mutating func spend(_ steps: Int = 1) -> Bool {
        // No count comes near the limits of `Int`. A spent budget stays spent.
        left = max(left - steps, 0)
        return !isSpent
    }

    /// Spends what reading that many bytes of one text costs.
    @discardableResult
    package mutating func spend(onBytes count: Int) -> Bool { spend(1 + count / 16) }

    /// Spends what looking up a member by name costs.
    @discardableResult
    package mutating func spend(onMemberOf value: JSON) -> Bool {
        // The lookup compares lengths by index, which is cheaper than visiting values.
        if case .object(let object) = value { spend(1 + object.count / 16) } else { spend() }
    }

    /// Spends what comparing two values costs, either of which may be absent: all of one of them if they may be equal.
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

    /// Spends what visiting a value and all its descendants costs.
    package mutating func spend(onAllOf value: JSON) {
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
