extension JSON {
    /// Whether both say the same, as RFC 9535 section 2.3.5.2.2 compares: numbers by value, so that `1` is `1.0`, and
    /// objects without regard to the order of their members. Where a name is repeated, its members are compared in order.
    ///
    /// `==` is stricter, since a number's form and the order of members can decide what a client does.
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
    /// The members by the bytes of their names; those of one name stay in order, which `sort` does not promise.
    fileprivate var sortedByName: [Member] {
        let order = members.indices.sorted { left, right in
            let (one, other) = (members[left].name, members[right].name)
            return one.hasSameBytes(as: other) ? left < right : one.utf8.lexicographicallyPrecedes(other.utf8)
        }
        return order.map { members[$0] }
    }
}

extension JSONNumber {
    /// Whether both are the same number, however they are written.
    public func isEquivalent(to other: JSONNumber) -> Bool {
        if let own = int, let other = other.int { return own == other }
        // Different numbers share a nearest binary value beyond 2⁵³, and beyond all of them infinity.
        return double == other.double && isExactly(other)
    }

    private func isExactly(_ other: JSONNumber) -> Bool {
        if literal.utf8.elementsEqual(other.literal.utf8) { return true }
        guard let own = DecimalForm(literal), let other = DecimalForm(other.literal) else { return false }
        return own == other
    }

    /// Whether this number is the smaller one.
    public func isLess(than other: JSONNumber) -> Bool {
        if let own = int, let other = other.int { return own < other }
        return double < other.double
    }
}
