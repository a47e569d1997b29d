extension JSON {
    /// Whether both are equal by RFC 9535 section 2.3.5.2.2: numbers by value (`1` equals `1.0`), objects regardless of
    /// member order. Members with the same name are compared in order.
    ///
    /// `==` is stricter: the form of a number and the order of members can matter to a client.
    public func isEquivalent(to other: JSON) -> Bool {
        switch (self, other) {
        case (.number(let own), .number(let other)): own.isEquivalent(to: other)
        case (.string(let own), .string(let other)): own.hasSameBytes(as: other)
        case (.array(let own), .array(let other)):
            own.count == other.count && zip(own, other).allSatisfy { $0.isEquivalent(to: $1) }
        case (.object(let own), .object(let other)):
            own.count == other.count
                && zip(own.sortedByName, other.sortedByName).allSatisfy { own, other in
                    own.name.hasSameBytes(as: other.name) && own.value.isEquivalent(to: other.value)
                }
        default: self == other
        }
    }
}

extension JSONObject {
    /// Members in the byte order of their names. The sort keeps the order of members with equal names, which `sort`
    /// does not promise.
    fileprivate var sortedByName: [Member] {
        let order = members.indices.sorted { left, right in
            let (one, other) = (members[left].name, members[right].name)
            return one.hasSameBytes(as: other) ? left < right : one.utf8.lexicographicallyPrecedes(other.utf8)
        }
        return order.map { members[$0] }
    }
}

extension JSONNumber {
    /// Whether both denote the same number, however it is written.
    public func isEquivalent(to other: JSONNumber) -> Bool {
        if let own = int, let other = other.int { return own == other }
        // Beyond 2⁵³ different numbers share the same nearest double, and very large ones are all infinite.
        return double == other.double && isExactly(other)
    }

    private func isExactly(_ other: JSONNumber) -> Bool {
        if literal.utf8.elementsEqual(other.literal.utf8) { return true }
        guard let own = DecimalForm(literal), let other = DecimalForm(other.literal) else { return false }
        return own == other
    }

    public func isLess(than other: JSONNumber) -> Bool {
        if let own = int, let other = other.int { return own < other }
        return double < other.double
    }
}
